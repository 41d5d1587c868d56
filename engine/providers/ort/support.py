"""What ONNX Runtime can run: asked of its own table of kernels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import onnx

from engine.graph.ir import Node, Tensor
from engine.graph.schemas import schema_of
from engine.graph.types import OptionalType
from engine.providers.groups import is_constant_node, with_subgraphs

ENDING = "ExecutionProvider"
ERRORS_ONLY, NOTHING = 3, 4  # severity of what ONNX Runtime logs; at 4 only what it does not survive
_CPU = "CPU" + ENDING
_OPEN_END = 2**31 - 1
_NOT_LOCAL = {"AzureExecutionProvider"}  # sends data to a service
_NAMES = {"float32": "float", "float64": "double"}
_NUMPY_LACKS = frozenset({
    "bfloat16", "int4", "uint4", "int2", "uint2", "float4e2m1", "float6e2m3", "float6e3m2", "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0", "complex64", "complex128",
})  # fmt: skip
"""Element types that cannot be handed over as NumPy arrays."""


def runtime() -> Any:
    """The module `onnxruntime`, which is to be imported by this function alone.

    Since 1.29 it sends names, hashes and properties of the models it runs to Microsoft unless it is told not to before
    it is imported.

    Raises
    ------
    ImportError: it is not installed.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # on Windows it does not look at the environment
    return onnxruntime


@cache
def execution_providers() -> list[str]:
    """ONNX Runtime's own execution providers on this machine, in short: ``["CPU", "CoreML"]``; imports it."""
    names = runtime().get_available_providers()
    return sorted((n.removesuffix(ENDING) for n in names if n not in _NOT_LOCAL), key=lambda n: (n != "CPU", n))


def takes(node: Node, execution_provider: str) -> bool:
    """Whether ONNX Runtime runs the node, its subgraphs included, with that execution provider or its CPU one."""
    return all(_runs(part, execution_provider + ENDING) for part in with_subgraphs(node))


def _runs(node: Node, provider: str) -> bool:
    if "function" in node.subgraphs or is_constant_node(node):
        return True  # a function's nodes are asked for one by one, and a constant is no node over there
    tensors = [t for t in (*node.inputs, *node.outputs) if t is not None]
    if any(isinstance(t.inferred_type or t.stored_type, OptionalType) for t in tensors):
        return False
    return _has_kernel(
        provider, node.domain, node.op_type, node.since_version, _dtypes(node.inputs), _dtypes(node.outputs)
    )


def _dtypes(tensors: Sequence[Tensor | None]) -> tuple[str, ...]:
    """Names of element types by slot, "" where there is none or it is not known."""
    return tuple(t.dtype.name if t is not None and t.dtype is not None else "" for t in tensors)


@cache
def _has_kernel(
    provider: str, domain: str, op_type: str, version: int, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> bool:
    if not _NUMPY_LACKS.isdisjoint((*inputs, *outputs)):
        return False
    schema = schema_of(op_type, version, domain)
    kernels = (k for k in _kernels().get((domain, op_type), ()) if k.provider in (provider, _CPU))
    if schema is None:  # an operator of its own domains, whose versions and types we do not know
        return any(kernels)
    if any(_is_for_version(k, version) and _is_for_types(k, schema, inputs, outputs) for k in kernels):
        return True
    return any(getattr(schema, f"has_{kind}") for kind in ("function", "context_dependent_function"))


@cache
def _kernels() -> dict[tuple[str, str], list[Any]]:
    runtime()
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_opkernel_def

    found: dict[tuple[str, str], list[Any]] = {}
    for kernel in get_all_opkernel_def():
        domain = "" if kernel.domain == "ai.onnx" else kernel.domain
        found.setdefault((domain, kernel.op_name), []).append(kernel)
    return found


def _is_for_version(kernel: Any, version: int) -> bool:
    """As ONNX Runtime decides: a range without an end stands for its first version alone."""
    first, last = kernel.version_range
    return bool(first == version if last == _OPEN_END else first <= version <= last)


def _is_for_types(
    kernel: Any, schema: onnx.defs.OpSchema, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> bool:
    for parameters, dtypes in ((schema.inputs, inputs), (schema.outputs, outputs)):
        for slot, dtype in enumerate(dtypes):
            allowed = kernel.type_constraints.get(parameters[min(slot, len(parameters) - 1)].type_str)
            if dtype and allowed and not any(_means(type_, dtype) for type_ in allowed):
                return False
    return True


def _means(type_: str, dtype: str) -> bool:
    """Whether ``tensor(float)``, ``seq(tensor(float))`` or the like stands for the dtype.

    Where ONNX Runtime has no float16 kernel it casts, so that float32 will do.
    """
    names = (dtype, "float32") if dtype == "float16" else (dtype,)
    return any(f"({_NAMES.get(name, name)})" in type_ for name in names)


def first_line(error: Exception) -> str:
    """The first line of an error, without ONNX Runtime's codes before it."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return text.removeprefix("[ONNXRuntimeError] : ")
