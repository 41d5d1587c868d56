"""Which kernels of the library run on the device, and how they are called there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.graph.ir import Node, Tensor
from engine.graph.types import TensorType
from engine.kernels.registry import Kernel, KernelContext, Value
from engine.providers.cuda.memory import device_errors
from engine.providers.cuda.raw import FASTER

DTYPES = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
})  # fmt: skip
"""What a CuPy array can hold: no bfloat16, no 8-bit or narrower floats, no int4, no strings."""


def runs_on_device(kernel: Kernel) -> bool:
    """Whether a kernel of the library may be handed CuPy arrays."""
    return kernel.generic


def device_kernel(kernel: Kernel) -> Kernel:
    """The kernel for CuPy arrays: refuses what CuPy cannot hold, and fails with `DeviceError` alone."""

    def accepts(node: Node) -> str:
        return _unfit(node) or kernel.refusal(node)

    faster = FASTER.get((kernel.domain, kernel.op_type))
    function = faster(kernel.function) if faster else kernel.function
    return replace(kernel, function=_guarded(function), accepts=accepts)


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(ctx: KernelContext, *inputs: Value, **attributes: Any) -> Any:
        with device_errors():
            return function(ctx, *inputs, **attributes)

    return call


def _unfit(node: Node) -> str:
    """What about the node CuPy cannot take, in words; empty when there is nothing."""
    if node.subgraphs:
        return f"{node.op_type} walks its subgraphs on the CPU"
    for tensor in (*node.inputs, *node.outputs):
        if tensor is None:
            continue
        if tensor.dtype is not None and tensor.dtype.name not in DTYPES:
            return f"no {tensor.dtype.name} {node.op_type} kernel"
        kind = _other_kind(tensor)
        if kind:
            return f"no {node.op_type} kernel for {kind}"
    return ""


def _other_kind(tensor: Tensor) -> str:
    known = tensor.inferred_type or tensor.stored_type
    return "" if known is None or isinstance(known, TensorType) else str(known)
