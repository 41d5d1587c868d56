"""Matrix products: MatMul, Gemm, and the integer product that quantised operators share."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from engine.kernels.parallel import piece, pieces, share
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel

EXACT_FLOAT32 = 2**24
"""Integers up to this magnitude are exact in float32."""
FARTHEST = 255
"""No 8-bit integer lies farther from its zero point."""


@dataclass(frozen=True, slots=True)
class Finish:
    """What follows a product, done part by part while the part lies in the cache.

    ``function(y, *operands)`` changes the result in place. Operands are single numbers of rank 0, or broadcast against
    the last two axes of the result and are cut as it is; for a convolution they hold one number for each filter.
    """

    function: Callable[..., object] | None = None
    operands: tuple[Any, ...] = ()

    def apply(self, y: Any) -> None:
        """Finish a result, or the part of it that the operands were cut for."""
        if self.function is not None:
            self.function(y, *self.operands)

    def with_operands(self, change: Callable[[Any], Any]) -> Finish:
        """The same with operands reshaped or cut; single numbers stay."""
        return Finish(self.function, tuple(x if x.ndim == 0 else change(x) for x in self.operands))


PLAIN = Finish()


def biased(bias: Any, activate: Callable[[Any], object] | None = None) -> Finish:
    """Add a bias where there is one, then apply an activation, which changes an array in place."""
    if bias is None:
        return PLAIN if activate is None else Finish(activate)

    def add(y: Any, bias: Any) -> None:
        y += bias
        if activate is not None:
            activate(y)

    return Finish(add, (bias,))


def product(xp: Any, a: Any, b: Any, out: Any = None, finish: Finish = PLAIN) -> Any:
    """``a @ b``, finished, into `out` where given; on the host the work is shared among threads."""
    check_inner(a, b)
    if a.ndim > 2 and b.ndim == 2 and out is None and a.flags.c_contiguous and finish is PLAIN:
        rows = prod(a.shape[:-1])  # not -1: of rows without elements NumPy can't tell how many
        return product(xp, a.reshape(rows, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    if xp is not np or a.ndim < 2 or b.ndim < 2 or a.dtype.kind != "f" or a.dtype != b.dtype:
        y = xp.matmul(a, b) if out is None else xp.matmul(a, b, out=out)
        finish.apply(y)
        return y
    if out is None:
        batch, other = a.shape[:-2], b.shape[:-2]
        if batch != other:  # of two that are the same NumPy takes 10 µs to say so
            batch = np.broadcast_shapes(batch, other)
        out = np.empty((*batch, a.shape[-2], b.shape[-1]), a.dtype)
    _shared_product(a, b, out, finish)
    return out


def check_inner(a: Any, b: Any) -> None:
    """Raise a ValueError where a and b don't fit as the factors of a product."""
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("a factor of a matrix product is a scalar: both need an axis at least")
    rows = b.shape[max(b.ndim - 2, 0)]
    if a.shape[-1] != rows:
        raise ValueError(f"{list(a.shape)} times {list(b.shape)}: the first has rows of {a.shape[-1]} elements, the "
                         f"second columns of {rows}")  # fmt: skip


_READING = 16
"""A number read from memory takes about as long as this many multiply-adds."""


def _shared_product(a: np.ndarray, b: np.ndarray, out: np.ndarray, finish: Finish) -> None:
    """``a @ b``, finished, into `out`, parted along the longest of its axes that is long enough."""
    axis = max(range(out.ndim), key=lambda i: out.shape[i] * (_ROWS_A_PIECE if i < out.ndim - 2 else 1))
    least = 1 if axis < out.ndim - 2 else _ROWS_A_PIECE
    count = pieces(out.shape[axis], out.size * a.shape[-1] + _READING * (a.size + b.size), least)
    if count == 1:
        np.matmul(a, b, out=out)
        finish.apply(out)
        return

    def task(index: int) -> None:
        part = piece(index, count, out.shape[axis], 1 if axis < out.ndim - 2 else _CUT)
        left = a if axis == out.ndim - 1 else _cut(a, axis - out.ndim, part)
        right = b if axis == out.ndim - 2 else _cut(b, axis - out.ndim, part)
        target = _cut(out, axis - out.ndim, part)
        np.matmul(left, right, out=target)
        finish.with_operands(lambda x: _cut(x, axis - out.ndim, part)).apply(target)

    share(count, task)


_ROWS_A_PIECE = 32
"""Fewer rows or columns than this make a poor matrix product."""

_CUT = 16
"""Cuts lie at multiples of this. BLAS sums what is left over from its blocks in another order, so cuts elsewhere would
give equal columns unequal results, which a Softmax over huge logits (light_resnet50: 1e19) blows up to everything."""


def _cut(x: np.ndarray, axis: int, part: slice) -> Any:
    """A part of an axis counted from the back; all of it where the array has none, or length 1 to broadcast."""
    if x.ndim < -axis or x.shape[axis] == 1:
        return x
    index: tuple[Any, ...] = (..., part, *(slice(None),) * (-axis - 1))
    return x[index]


@dataclass(frozen=True, slots=True)
class IntegerMatrices:
    """Right factors of integer products: integers as float32.

    `reach` is the largest sum of magnitudes down a column, `peak` the largest magnitude.
    """

    values: Any
    reach: float
    peak: int


def integer_matrices(values: Any) -> IntegerMatrices:
    """Integers [..., K, N] held as float32, ready for any number of products."""
    if values.ndim == 0 or values.size == 0:
        return IntegerMatrices(values, 0.0, 0)
    reach = float(abs(values).sum(axis=max(values.ndim - 2, 0)).max())
    return IntegerMatrices(values, reach, magnitude(values))


def integer_product(xp: Any, a: Any, b: IntegerMatrices) -> Any:
    """``a @ b`` of integers up to 255 held as float32: exact, as float32 where all sums fit there, else as int32.

    BLAS has no integer product. Here it multiplies floats, where need be in runs so short that no float32 sum can
    leave the exactly represented integers.
    """
    if b.reach * FARTHEST <= EXACT_FLOAT32:
        return product(xp, a, b.values)
    check_inner(a, b.values)
    depth = max(EXACT_FLOAT32 // max(FARTHEST * b.peak, 1), 1)
    total = 0
    for start in range(0, a.shape[-1], depth):
        run = slice(start, start + depth)
        total = total + product(xp, a[..., run], b.values[..., run, :]).astype(np.int32)
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
    y = product(ctx.xp, a.T if transA else a, b.T if transB else b)
    if alpha != 1:
        y = (y * alpha).astype(y.dtype, copy=False)
    if c is None or beta == 0:
        return y
    y += c if beta == 1 else (c * beta).astype(y.dtype, copy=False)
    return y


@kernel("Det", 11, 22)
@in_float32
def det(ctx: KernelContext, x: Any) -> Any:
    """Determinant of each matrix of the last two axes (Det 22)."""
    return ctx.xp.linalg.det(x)
