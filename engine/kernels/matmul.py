"""Matrix products: MatMul, Gemm, and the integer product that quantised operators share."""
from __future__ import annotations

from typing import Any

import numpy as np

from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel

_EXACT = {np.float32: 2**24, np.float64: 2**53}
"""Integers up to these magnitudes are exact."""


def product(xp: Any, a: Any, b: Any) -> Any:
    """``a @ b``; a batch of matrices by one matrix becomes a single large product."""
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:
        return xp.matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    return xp.matmul(a, b)


def integer_product(xp: Any, a: Any, b: Any) -> Any:
    """``a @ b`` of integers in int32, by way of floating point where every partial sum is exact there.

    BLAS has no integer product. The depth is cut so that no float32 sum can leave the exactly represented integers.
    """
    if a.size == 0 or b.size == 0:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return xp.zeros((*batch, a.shape[-2], b.shape[-1]), np.int32)
    largest = max(_magnitude(a) * _magnitude(b), 1)
    depth = _EXACT[np.float32] // largest
    if depth < 32:  # 16-bit operands: float64 holds 2**21 of their products
        return xp.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64).astype(np.int32)
    a, b = a.astype(np.float32), b.astype(np.float32)
    total = xp.matmul(a[..., :depth], b[..., :depth, :]).astype(np.int32)
    for start in range(depth, a.shape[-1], depth):
        total += xp.matmul(a[..., start : start + depth], b[..., start : start + depth, :]).astype(np.int32)
    return total


def _magnitude(x: Any) -> int:
    return max(abs(int(x.max())), abs(int(x.min())))


@kernel("MatMul", 1, 9, 13)
@in_float32
def matmul(ctx: KernelContext, a: Any, b: Any) -> Any:
    """Product over the last two axes with broadcast of the others, as ``numpy.matmul`` (MatMul 13)."""
    return product(ctx.xp, a, b)


@kernel("Gemm", 1, 6, 7, 9, 11, 13)
@in_float32
def gemm(
    ctx: KernelContext,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,  # noqa: N803, RUF100 - named by the specification
    transB: int = 0,  # noqa: N803, RUF100
) -> Any:
    """``alpha * A' @ B' + beta * C``, C broadcast to the product (Gemm 13)."""
    y = ctx.xp.matmul(a.T if transA else a, b.T if transB else b)
    if alpha != 1:
        y = (y * alpha).astype(y.dtype, copy=False)
    if c is None or beta == 0:
        return y
    y += c if beta == 1 else (c * beta).astype(y.dtype, copy=False)
    return y
