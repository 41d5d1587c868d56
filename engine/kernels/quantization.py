"""Quantisation: to and from integers and small floats by scale and zero point, and arithmetic on quantised tensors."""
from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Unpack

import numpy as np

from engine.dtypes import DType, from_code, from_numpy
from engine.errors import UnsupportedError
from engine.kernels.axes import normalize_axis, on_axis
from engine.kernels.casting import convert
from engine.kernels.convolution import convolve, filter_windows
from engine.kernels.elementwise import in_blocks
from engine.kernels.matmul import (
    EXACT_FLOAT32,
    FARTHEST,
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
    return quantize(ctx.xp, x, grain, zero, np.dtype(target), divide_in, bool(saturate))


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


def quantize(
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
    return _rounded(xp, y, zero, target, described)


def _rounded(xp: Any, y: Any, zero: Any, target: np.dtype, described: DType) -> Any:
    """Floats, which may be written over, as integers counted from a zero point and held in the range of their type."""
    xp.rint(y, out=y)
    if zero is not None:
        y += zero.astype(np.float32)
    xp.clip(y, *integer_range(described), out=y)
    # The 4- and 2-bit types are made from bytes.
    return y.astype(target) if described.bits >= 8 else y.astype(np.int8).astype(target)


def centred(x: Any, zero: Any) -> Any:
    """``x - zero`` as a fresh float32 array; what is wider than float32's mantissa is subtracted in int64 first."""
    if x.dtype.kind in "iu" and x.dtype.itemsize > 2:
        return (x.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))).astype(np.float32)
    y = x.astype(np.float32)
    if zero is not None:
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
    axis = normalize_axis(axis, len(shape))
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
    return quantize(xp, x, scale, zero, np.dtype(np.uint8)), scale, zero


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
    """Scale or zero point of the left operand: a vector holds one value a row."""
    return values[:, None] if values is not None and values.ndim == 1 and values.size > 1 else values


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
    factor = wide(_by_row(a_scale)) * wide(b_scale) / wide(_by_row(y_scale))
    return _requantize(xp, total, factor, _by_row(y_zero_point))


def _requantize(xp: Any, total: Any, factor: Any, zero: Any) -> Any:
    """Sums of products brought to the output's scale by one factor, in the dtype of `zero`; block by block."""
    described, factor = _described(zero.dtype), factor.astype(np.float32)
    if xp is not np or described.kind == "float" or total.ndim == 0:
        return quantize(xp, total.astype(np.float32) * factor, np.float32(1), zero, zero.dtype)
    y = np.empty(total.shape, zero.dtype)
    factors = np.broadcast_to(factor, total.shape)
    zeros = None if zero.size == 1 else np.broadcast_to(zero, total.shape)

    def task(part: tuple[slice, ...]) -> None:
        shift = zero.reshape(()) if zeros is None else zeros[part]
        y[part] = _rounded(np, total[part] * factors[part], shift, zero.dtype, described)

    in_blocks(total.shape, task)
    return y


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
    total = _integer_convolution(ctx, centred(x, _scalar(x_zero_point)), w, w_zero_point, slides, group)
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
    xp = ctx.xp
    slides = filter_windows(x, w, group, kernel_shape, sliding)
    total = _integer_convolution(ctx, centred(x, _scalar(x_zero_point)), w, w_zero_point, slides, group)
    if b is not None:
        exact = total.dtype == np.int32 or ctx.prepared("b", lambda: magnitude(b) <= EXACT_FLOAT32, b)
        total = total if exact else total.astype(np.int32)
        total += b.reshape(-1, *(1,) * (x.ndim - 2)).astype(total.dtype)  # of two exact floats: rounded once
    factor = _scalar(x_scale) * w_scale / _scalar(y_scale)
    if factor.ndim and factor.size > 1:
        factor = factor.reshape(-1, *(1,) * (x.ndim - 2))
    return _requantize(xp, total, factor, _scalar(y_zero_point))


def _scalar(values: Any) -> Any:
    return None if values is None else values.reshape(())


def _by_filter(values: Any, rank: int) -> Any:
    """Zero point of a filter [M, C, *kernel]: one in all, or one for each of the M."""
    return values.reshape(-1, *(1,) * (rank - 1)) if values is not None and values.size > 1 else _scalar(values)


@dataclass(frozen=True, slots=True)
class _Filters:
    """Filters less their zero point as float32, and the largest sum of magnitudes over one of them."""

    values: Any
    reach: float


def _filters(w: Any, zero: Any) -> _Filters:
    values = centred(w, _by_filter(zero, w.ndim))
    return _Filters(values, float(abs(values).reshape(len(values), -1).sum(axis=1).max()) if w.size else 0.0)


def _integer_convolution(ctx: KernelContext, x: Any, w: Any, w_zero: Any, slides: Any, group: int) -> Any:
    """Convolution of 8-bit integers, x held as float32: exact, as float32 where all sums fit there, else as int32.

    Otherwise channels are taken in runs so short that no float32 sum can leave the exactly represented integers;
    where even a short run could, in float64.
    """
    filters = ctx.prepared("w", lambda: _filters(w, w_zero), w, w_zero)
    xp, w = ctx.xp, filters.values
    if filters.reach * FARTHEST <= EXACT_FLOAT32:
        return convolve(xp, x, w, slides, group)
    run = EXACT_FLOAT32 // (FARTHEST * magnitude(w) * prod(w.shape[2:]))
    if group > 1 or run < 16:
        return convolve(xp, x.astype(np.float64), w.astype(np.float64), slides, group).astype(np.int32)
    total = 0
    for start in range(0, w.shape[1], run):
        part = slice(start, start + run)
        total = total + convolve(xp, x[:, part], w[:, part], slides).astype(np.int32)
    return total
