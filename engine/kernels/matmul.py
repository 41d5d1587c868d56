"""Matrix products: MatMul, Gemm, and the integer product that quantised operators share."""
from __future__ import annotations

from typing import Any

import numpy as np

from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel

EXACT_FLOAT32 = 2**24
"""Integers up to this magnitude are exact in float32."""


def product(xp: Any, a: Any, b: Any) -> Any:
    """``a @ b``; a batch of matrices by one matrix becomes a single large product."""
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:
        return xp.matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    return xp.matmul(a, b)


def integer_product(xp: Any, a: Any, b: Any) -> Any:
    """``a @ b`` of 8-bit integers, held in any dtype, in int32.

    BLAS has no integer product. Here it multiplies floats, in runs so short that no float32 sum can leave the exactly
    represented integers.
    """
    if a.size == 0 or b.size == 0:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return xp.zeros((*batch, a.shape[-2], b.shape[-1]), np.int32)
    depth = max(EXACT_FLOAT32 // max(magnitude(a) * magnitude(b), 1), 1)
    a, b = a.astype(np.float32, copy=False), b.astype(np.float32, copy=False)
    total = xp.matmul(a[..., :depth], b[..., :depth, :]).astype(np.int32)
    for start in range(depth, a.shape[-1], depth):
        total += xp.matmul(a[..., start : start + depth], b[..., start : start + depth, :]).astype(np.int32)
    return total


def magnitude(x: Any) -> int:
    """Largest absolute value of an array of integers."""
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
