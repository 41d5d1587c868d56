"""Quantisation: to and from integers and small floats by scale and zero point, and arithmetic on quantised tensors."""
from __future__ import annotations

from math import prod
from typing import Any, Unpack

import numpy as np

from engine.dtypes import DType, from_code, from_numpy
from engine.errors import UnsupportedError
from engine.kernels.axes import normalize_axis, on_axis
from engine.kernels.casting import convert
from engine.kernels.convolution import convolve, filter_windows
from engine.kernels.matmul import EXACT_FLOAT32, integer_product, magnitude
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
    y = wide(x.astype(precision, copy=False) / scale.astype(precision, copy=False))
    described = _described(target)
    if described.kind == "float":
        return convert(xp, y if zero is None else y + zero.astype(np.float32), target, saturate=saturate)
    y = xp.rint(y)
    if zero is not None:
        y += zero.astype(np.float32)
    low, high = integer_range(described)
    y = xp.clip(y, low, high)
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
    return integer_product(ctx.xp, centred(a, _by_row(a_zero_point)), centred(b, b_zero_point))


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
    left, right = centred(a, _by_row(a_zero_point)), centred(b, b_zero_point)
    if _described(a.dtype).kind == "float" or _described(b.dtype).kind == "float":
        total = xp.matmul(left, right)
    else:
        total = integer_product(xp, left, right)
    factor = wide(_by_row(a_scale)) * wide(b_scale) / wide(_by_row(y_scale))
    return _requantize(xp, total, factor, _by_row(y_zero_point))


def _requantize(xp: Any, total: Any, factor: Any, zero: Any) -> Any:
    """Sums of products brought to the output's scale by one factor, in the dtype of `zero`."""
    return quantize(xp, total.astype(np.float32) * factor.astype(np.float32), np.float32(1), zero, zero.dtype)


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
    zero = _by_filter(w_zero_point, w.ndim)
    return _integer_convolution(ctx.xp, centred(x, _scalar(x_zero_point)), centred(w, zero), slides, group)


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
    left, right = centred(x, _scalar(x_zero_point)), centred(w, _by_filter(w_zero_point, w.ndim))
    total = _integer_convolution(xp, left, right, slides, group)
    if b is not None:
        total += b.reshape(-1, *(1,) * (x.ndim - 2))
    factor = _scalar(x_scale) * w_scale / _scalar(y_scale)
    if factor.ndim and factor.size > 1:
        factor = factor.reshape(-1, *(1,) * (x.ndim - 2))
    return _requantize(xp, total, factor, _scalar(y_zero_point))


def _scalar(values: Any) -> Any:
    return None if values is None else values.reshape(())


def _by_filter(values: Any, rank: int) -> Any:
    """Zero point of a filter [M, C, *kernel]: one in all, or one for each of the M."""
    return values.reshape(-1, *(1,) * (rank - 1)) if values is not None and values.size > 1 else _scalar(values)


def _integer_convolution(xp: Any, x: Any, w: Any, slides: Any, group: int) -> Any:
    """Convolution of integers held as float32, exact in int32.

    Channels are taken in runs so short that no float32 sum can leave the exactly represented integers; where even a
    short run could, in float64.
    """
    if x.size == 0 or w.size == 0:
        return convolve(xp, x, w, slides, group).astype(np.int32)
    largest = max(magnitude(x) * magnitude(w), 1)
    run = EXACT_FLOAT32 // (largest * prod(w.shape[2:]))
    channels = w.shape[1]
    if run >= channels:
        return convolve(xp, x, w, slides, group).astype(np.int32)
    if group > 1 or run < 16:
        return convolve(xp, x.astype(np.float64), w.astype(np.float64), slides, group).astype(np.int32)
    total = 0
    for start in range(0, channels, run):
        part = slice(start, start + run)
        total = total + convolve(xp, x[:, part], w[:, part], slides).astype(np.int32)
    return total
