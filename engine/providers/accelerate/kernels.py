"""Kernels of the Accelerate provider: float32 only, refused at placement otherwise.

Each has a fast path for the layouts that the framework takes and leaves the rest to NumPy, in the same kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.kernels.matmul import product
from engine.kernels.registry import MICROSOFT, Kernel, KernelContext, kernel, only_dtypes
from engine.providers.accelerate.convolution import conv_kernel, fused_conv_kernel, sigmoid_kernel, swish_kernel
from engine.providers.accelerate.vectors import LARGEST, VectorLibrary, is_matrix

SHORTEST_ROW = 64
"""Below this a call per row costs more than NumPy's broadcasting."""

_BINARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "Add": ("add", np.add), "Sub": ("sub", np.subtract), "Mul": ("mul", np.multiply), "Div": ("div", np.divide),
}  # fmt: skip
_UNARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "Exp": ("exp", np.exp), "Log": ("log", np.log), "Sqrt": ("sqrt", np.sqrt), "Tanh": ("tanh", np.tanh),
    "Reciprocal": ("rec", np.reciprocal),
}  # fmt: skip


def accelerate_kernels(library: VectorLibrary) -> list[Kernel]:
    """The kernels over one loaded library."""
    kernels: list[Kernel] = []

    def declare(
        op_type: str, *versions: int, inputs: tuple[int, ...], function: Callable[..., Any], domain: str = ""
    ) -> None:
        accepts = only_dtypes("float32", inputs=inputs)
        kernel(op_type, *versions, domain=domain, generic=False, accepts=accepts, into=kernels)(function)

    for op_type, (op, fallback) in _BINARY.items():
        declare(op_type, 7, 13, 14, inputs=(0, 1), function=_binary_kernel(library, op, fallback))
    for op_type, (name, fallback) in _UNARY.items():
        declare(op_type, 6, 13, inputs=(0,), function=_unary_kernel(library, name, fallback))
    declare("MatMul", 1, 9, 13, inputs=(0, 1), function=_matmul_kernel(library))
    declare("Gemm", 7, 9, 11, 13, inputs=(0, 1, 2), function=_gemm_kernel(library))
    declare("Conv", 1, 11, 22, inputs=(0, 1, 2), function=conv_kernel(library))
    declare("FusedConv", 1, inputs=(0, 1, 2, 3), function=fused_conv_kernel(library), domain=MICROSOFT)
    declare("Sigmoid", 6, 13, inputs=(0,), function=sigmoid_kernel(library))
    declare("Swish", 24, inputs=(0,), function=swish_kernel(library))
    return kernels


def _binary_kernel(library: VectorLibrary, op: str, fallback: Callable[..., Any]) -> Callable[..., Any]:
    def binary(ctx: KernelContext, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """`a op b`: same shape, a scalar on either side, or the right operand along the last axis."""
        if not (_is_vector(a) and _is_vector(b)):
            return np.asarray(fallback(a, b))
        if a.shape == b.shape:
            out = np.empty_like(a)
            library.binary(op, a, b, out)
        elif b.size == 1 and b.ndim <= a.ndim:
            out = np.empty_like(a)
            library.vector_scalar(op, a, b.item(), out)
        elif a.size == 1 and a.ndim <= b.ndim:
            out = np.empty_like(b)
            library.scalar_vector(op, a.item(), b, out)
        elif _is_row_of(b, a):
            out = np.empty_like(a)
            rows = out.reshape(-1, b.size)
            for row, result in zip(a.reshape(rows.shape), rows):
                library.binary(op, row, b, result)
        else:
            return np.asarray(fallback(a, b))
        return out

    return binary


def _is_vector(x: np.ndarray) -> bool:
    return x.flags.c_contiguous and x.flags.aligned and 0 < x.size <= LARGEST


def _is_row_of(row: np.ndarray, x: np.ndarray) -> bool:
    """Whether `row` is [C], or [1, …, C], to a wide enough last axis C of `x`."""
    return row.size >= SHORTEST_ROW and 0 < row.ndim <= x.ndim and x.shape[-1] == row.size == row.shape[-1]


def _unary_kernel(library: VectorLibrary, name: str, fallback: Callable[..., Any]) -> Callable[..., Any]:
    def unary(ctx: KernelContext, x: np.ndarray) -> np.ndarray:
        if not _is_vector(x):
            return np.asarray(fallback(x))
        out = np.empty_like(x)
        library.unary(name, x, out)
        return out

    return unary


def _matmul_kernel(library: VectorLibrary) -> Callable[..., Any]:
    def matmul(ctx: KernelContext, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Matrix product as `numpy.matmul`, one sgemm per matrix of the broadcast batch; one in all for a 2-D `b`."""
        if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2] or not (a.size and b.size):
            return np.asarray(product(np, a, b))
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        out = np.empty((*batch, a.shape[-2], b.shape[-1]), np.float32)
        if b.ndim == 2 and a.flags.c_contiguous:
            _product(library, a.reshape(-1, a.shape[-1]), b, out.reshape(-1, b.shape[-1]))
            return out
        a, b = np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:])
        for index in np.ndindex(batch):
            _product(library, a[index], b[index], out[index])
        return out

    return matmul


def _product(library: VectorLibrary, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    fits = max(*a.shape, *b.shape) <= LARGEST
    if fits and is_matrix(a) and is_matrix(b):
        library.sgemm(a, b, out)
    else:
        product(np, a, b, out)


def _gemm_kernel(library: VectorLibrary) -> Callable[..., Any]:
    def gemm(
        ctx: KernelContext,
        a: np.ndarray,
        b: np.ndarray,
        c: np.ndarray | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        transA: int = 0,
        transB: int = 0,
    ) -> np.ndarray:
        """`alpha · a' @ b' + beta · c` with `c` broadcast to [M, N]."""
        a, b = (a.T if transA else a), (b.T if transB else b)
        out = np.zeros((a.shape[0], b.shape[1]), np.float32)
        if c is not None:
            out[...] = c
        if a.size and b.size and a.shape[1] == b.shape[0] and is_matrix(a) and is_matrix(b):
            library.sgemm(a, b, out, alpha, beta)
            return out
        return np.asarray(np.float32(alpha) * product(np, a, b) + np.float32(beta) * out)

    return gemm
