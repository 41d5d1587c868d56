"""Quantisation: to and from integers and small floats by scale and zero point, and arithmetic on quantised tensors."""
from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Unpack

import numpy as np

from engine.dtypes import DType, from_code, from_numpy
from engine.errors import UnsupportedError
from engine.kernels.axes import normalise_axis, on_axis
from engine.kernels.casting import convert
from engine.kernels.convolution import convolve, filter_windows
from engine.kernels.elementwise import BLOCK, in_blocks
from engine.kernels.matmul import (
    EXACT_FLOAT32,
    FARTHEST,
    Finish,
    IntegerMatrices,
    integer_matrices,
    integer_product,
    magnitude,
)
from engine.kernels.precision import wide
from engine.kernels.registry import KernelContext, kernel
from engine.kernels.windows import Sliding

_VERSIONS = (10, 13, 19, 21, 23, 24, 25, 28)


@kernel("QuantizeLinear", *_VERSIONS)
def quantize_linear(
    ctx: KernelContext,
    x: Any,
    scale: Any,
    zero_point: Any = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Any:
    """``saturate(round(x / scale) + zero_point)`` a tensor, an axis or a block (QuantizeLinear 25).

    The result has the dtype of the zero point, else `output_dtype`, else uint8.
    """
    target = zero_point.dtype if zero_point is not None else _dtype(output_dtype).numpy if output_dtype else np.uint8
    divide_in = _dtype(precision).numpy if precision else scale.dtype
    grain, zero = (_spread(v, x.shape, axis, block_size) for v in (scale, zero_point))
    return quantise(ctx.xp, x, grain, zero, np.dtype(target), divide_in, bool(saturate))


@kernel("DequantizeLinear", *_VERSIONS)
def dequantize_linear(
    ctx: KernelContext,
    x: Any,
    scale: Any,
    zero_point: Any = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Any:
    """``(x - zero_point) * scale`` in `output_dtype` or the scale's dtype; as QuantizeLinear (DequantizeLinear 25)."""
    target = _dtype(output_dtype).numpy if output_dtype else scale.dtype
    y = centred(x, _spread(zero_point, x.shape, axis, block_size))
    y *= _spread(scale, x.shape, axis, block_size).astype(np.float32)
    return y.astype(target, copy=False)


def quantise(
    xp: Any, x: Any, scale: Any, zero: Any, target: np.dtype, divide_in: np.dtype | None = None, saturate: bool = True
) -> Any:
    """Quantise with a scale and zero point that broadcast against x; halves tie to even."""
    # A float8e8m0 scale is a power of two, so float32 divides by it exactly.
    precision = divide_in if divide_in is not None and divide_in.itemsize > 1 else np.dtype(np.float32)
    if precision.kind in "iu":
        precision = np.dtype(np.float32)
    y = xp.asarray(wide(x.astype(precision, copy=False) / scale.astype(precision, copy=False)))
    described = _described(target)
    if described.kind == "float":
        return convert(xp, y if zero is None else y + zero.astype(np.float32), target, saturate=saturate)
    _settle(xp, y, zero, described)
    # The 4- and 2-bit types are made from bytes.
    return y.astype(target) if described.bits >= 8 else y.astype(np.int8).astype(target)


def _settle(xp: Any, y: Any, zero: Any, described: DType) -> None:
    """Make floats integers, counted from a zero point and held in the range of their type; in place."""
    xp.rint(y, out=y)
    if not _is_nothing(zero):
        y += zero.astype(np.float32)
    xp.clip(y, *integer_range(described), out=y)


def _is_nothing(zero: Any) -> bool:
    """Whether adding a zero point changes nothing, as far as that is quick to know."""
    return zero is None or (isinstance(zero, np.ndarray) and zero.ndim == 0 and not zero)


def centred(x: Any, zero: Any) -> Any:
    """``x - zero`` as a fresh float32 array; what is wider than float32's mantissa is subtracted in int64 first."""
    if x.dtype.kind in "iu" and x.dtype.itemsize > 2:
        return (x.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))).astype(np.float32)
    y = x.astype(np.float32)
    if not _is_nothing(zero):
        y -= zero.astype(np.float32)
    return y


def integer_range(dtype: DType) -> tuple[int, int]:
    """Least and greatest value of an integer type of any width."""
    return (0, 2**dtype.bits - 1) if dtype.kind == "uint" else (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1)


def _described(dtype: np.dtype) -> DType:
    found = from_numpy(dtype)
    if found is None or found.kind not in ("int", "uint", "float"):
        raise UnsupportedError(f"{dtype} is no type to quantise to")
    return found


def _dtype(code: int) -> DType:
    found = from_code(code)
    if found is None:
        raise UnsupportedError(f"element type {code} is unknown")
    return found


def _spread(values: Any, shape: tuple[int, ...], axis: int, block: int) -> Any:
    """A scale or zero point so that it broadcasts against `shape`: one value, one an axis position, or one a block."""
    if values is None or values.ndim == 0:
        return values
    if values.size == 1 and not block:
        return values.reshape(())
    axis = normalise_axis(axis, len(shape))
    if not block:
        return on_axis(values, axis, len(shape)) if values.ndim == 1 else values
    return values.repeat(block, axis)[(slice(None),) * axis + (slice(shape[axis]),)]


@kernel("DynamicQuantizeLinear", 11)
def dynamic_quantize_linear(ctx: KernelContext, x: Any) -> Any:
    """Quantise to uint8 over the range of x widened to hold 0; also gives scale and zero point (version 11)."""
    xp = ctx.xp
    low = xp.minimum(x.min(initial=0), np.float32(0))
    high = xp.maximum(x.max(initial=0), np.float32(0))
    scale = (high - low) / np.float32(255)
    scale = xp.where(scale == 0, np.float32(1), scale)  # all zeros: any scale will do
    zero = xp.rint(xp.clip(-low / scale, 0, 255)).astype(np.uint8)
    return quantise(xp, x, scale, zero, np.dtype(np.uint8)), scale, zero


@kernel("MatMulInteger", 10)
def matmul_integer(
    ctx: KernelContext, a: Any, b: Any, a_zero_point: Any = None, b_zero_point: Any = None
) -> Any:
    """``(a - a_zero_point) @ (b - b_zero_point)`` in int32 (MatMulInteger 10)."""
    factor = centred_matrices(ctx, b, b_zero_point)
    return integer_product(ctx.xp, centred(a, _by_row(a_zero_point)), factor).astype(np.int32, copy=False)


def centred_matrices(ctx: KernelContext, b: Any, zero: Any, name: str = "b") -> IntegerMatrices:
    """The right factor of an integer product less its zero point; of a constant made once, under this name."""
    return ctx.prepared(name, lambda: integer_matrices(centred(b, zero)), b, zero)


def _by_row(values: Any) -> Any:
    """Scale or zero point of the left operand or the result: one number, or a vector of one value a row."""
    if values is None:
        return None
    if values.size == 1:
        return values.reshape(())
    return values[:, None] if values.ndim == 1 else values


@kernel("QLinearMatMul", 10, 21)
def qlinear_matmul(
    ctx: KernelContext,
    a: Any,
    a_scale: Any,
    a_zero_point: Any,
    b: Any,
    b_scale: Any,
    b_zero_point: Any,
    y_scale: Any,
    y_zero_point: Any,
) -> Any:
    """Product of two quantised matrices, quantised (QLinearMatMul 21)."""
    xp = ctx.xp
    left = centred(a, _by_row(a_zero_point))
    if _described(a.dtype).kind == "float" or _described(b.dtype).kind == "float":
        total = xp.matmul(left, centred(b, b_zero_point))
    else:
        total = integer_product(xp, left, centred_matrices(ctx, b, b_zero_point))
    factor = _factor(_by_row(a_scale), b_scale, _by_row(y_scale))
    return _requantise(xp, total, factor, _by_row(y_zero_point))


def _requantise(xp: Any, total: Any, factor: Any, zero: Any) -> Any:
    """Sums of products brought to the output's scale by one factor, in the dtype of `zero`; block by block."""
    described = _described(zero.dtype)
    if xp is not np or described.kind == "float" or total.ndim == 0:
        return quantise(xp, total.astype(np.float32) * factor, np.float32(1), zero, zero.dtype)
    y = np.empty(total.shape, zero.dtype)
    factors = np.broadcast_to(factor, total.shape)
    zeros = None if zero.size == 1 else np.broadcast_to(zero, total.shape)

    def task(part: tuple[slice, ...]) -> None:
        scaled = total[part] * factors[part]
        _settle(np, scaled, zero.reshape(()) if zeros is None else zeros[part], described)
        y[part] = scaled

    in_blocks(total.shape, task)
    return y


def _factor(left: Any, right: Any, result: Any) -> Any:
    """What sums of products are multiplied by, to be in units of the result, from the three scales; float32."""
    factor = (wide(left) * wide(right) / wide(result)).astype(np.float32)
    return factor.reshape(()) if factor.size == 1 else factor


@kernel("ConvInteger", 10)
def conv_integer(
    ctx: KernelContext,
    x: Any,
    w: Any,
    x_zero_point: Any = None,
    w_zero_point: Any = None,
    *,
    kernel_shape: list[int] | None = None,
    group: int = 1,
    **sliding: Unpack[Sliding],
) -> Any:
    """Convolution of integers in int32 (ConvInteger 10); the padding counts as zero after the shift by x_zero_point."""
    slides = filter_windows(x, w, group, kernel_shape, sliding)
    filters = _filters(ctx, w, w_zero_point)
    total = _integer_convolution(ctx.xp, centred(x, _scalar(x_zero_point)), filters, slides, group)
    return total.astype(np.int32, copy=False)


@kernel("QLinearConv", 10)
def qlinear_conv(
    ctx: KernelContext,
    x: Any,
    x_scale: Any,
    x_zero_point: Any,
    w: Any,
    w_scale: Any,
    w_zero_point: Any,
    y_scale: Any,
    y_zero_point: Any,
    b: Any = None,
    *,
    kernel_shape: list[int] | None = None,
    group: int = 1,
    **sliding: Unpack[Sliding],
) -> Any:
    """Convolution of quantised tensors, quantised; b counts in units of x_scale * w_scale (QLinearConv 10)."""
    slides, spatial = filter_windows(x, w, group, kernel_shape, sliding), (1,) * (x.ndim - 2)
    scales = _scalar(x_scale), w_scale, _scalar(y_scale)
    factor = ctx.prepared("factor", lambda: _factor(*scales), x_scale, w_scale, y_scale)
    filters, left, zero = _filters(ctx, w, w_zero_point), centred(x, _scalar(x_zero_point)), _scalar(y_zero_point)
    if filters.is_exact and (b is None or ctx.prepared("b", lambda: magnitude(b) <= EXACT_FLOAT32, b)):
        operands = (factor,) if b is None else (factor, b.astype(np.float32))
        finish = Finish(partial(_requantise_in_place, ctx.xp, zero), operands)
        return _narrowed(ctx.xp, convolve(ctx.xp, left, filters.values, slides, group, finish), zero.dtype)
    total = _integer_convolution(ctx.xp, left, filters, slides, group)
    if b is not None:
        total = total.astype(np.int32, copy=False)
        total += b.reshape(-1, *spatial)
    return _requantise(ctx.xp, total, factor if factor.ndim == 0 else factor.reshape(-1, *spatial), zero)


def _requantise_in_place(xp: Any, zero: Any, y: Any, factor: Any, bias: Any = None) -> None:
    """Sums of products held as float32, plus a bias, as integers of the output's scale, still held as float32."""
    if bias is not None:
        y += bias  # of two exact floats: rounded once
    y *= factor
    _settle(xp, y, zero, _described(zero.dtype))


def _narrowed(xp: Any, x: Any, dtype: np.dtype) -> Any:
    """Integers held as float32 in their own type of 8 bits or more; large arrays on the host block by block."""
    if xp is not np or x.size <= BLOCK:
        return x.astype(dtype)
    y = np.empty(x.shape, dtype)
    in_blocks(x.shape, lambda part: np.copyto(y[part], x[part], casting="unsafe"))
    return y


def _scalar(values: Any) -> Any:
    return None if values is None else values.reshape(())


def _by_filter(values: Any, rank: int) -> Any:
    """Zero point of a filter [M, C, *kernel]: one in all, or one for each of the M."""
    return values.reshape(-1, *(1,) * (rank - 1)) if values is not None and values.size > 1 else _scalar(values)


@dataclass(frozen=True, slots=True)
class _Filters:
    """Filters less their zero point as float32; whether every sum of their products with bytes is exact so.

    `peak` is the largest magnitude.
    """

    values: Any
    is_exact: bool
    peak: int


def _filters(ctx: KernelContext, w: Any, zero: Any) -> _Filters:
    def make() -> _Filters:
        values = centred(w, _by_filter(zero, w.ndim))
        if not w.size:
            return _Filters(values, True, 0)
        reach = float(abs(values).reshape(len(values), -1).sum(axis=1).max())
        return _Filters(values, reach * FARTHEST <= EXACT_FLOAT32, magnitude(values))

    return ctx.prepared("w", make, w, zero)


def _integer_convolution(xp: Any, x: Any, filters: _Filters, slides: Any, group: int) -> Any:
    """Convolution of 8-bit integers, x held as float32: exact, as float32 where all sums fit there, else as int32.

    Otherwise channels are taken in runs so short that no float32 sum can leave the exactly represented integers;
    where even a short run could, in float64.
    """
    w = filters.values
    if filters.is_exact:
        return convolve(xp, x, w, slides, group)
    run = EXACT_FLOAT32 // (FARTHEST * filters.peak * prod(w.shape[2:]))
    if group > 1 or run < 16:
        return convolve(xp, x.astype(np.float64), w.astype(np.float64), slides, group).astype(np.int32)
    total = 0
    for start in range(0, w.shape[1], run):
        part = slice(start, start + run)
        total = total + convolve(xp, x[:, part], w[:, part], slides).astype(np.int32)
    return total
