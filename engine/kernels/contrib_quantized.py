"""Operators of com.microsoft on quantised tensors.

Source: the schemas of ONNX Runtime 1.32 (`onnxruntime.capi`, domain com.microsoft, version 1).
"""
from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.activations import logistic
from engine.kernels.axes import normalise_axis
from engine.kernels.contrib_fused import embed_layer_normalization
from engine.kernels.matmul import IntegerMatrices, integer_matrices, integer_product, product
from engine.kernels.precision import in_float32, wide
from engine.kernels.quantization import (
    centred,
    centred_matrices,
    dequantize_linear,
    dynamic_quantize_linear,
    quantise,
    quantize_linear,
)
from engine.kernels.recurrent import Product, Recurrent, prepare, run_lstm
from engine.kernels.registry import MICROSOFT, KernelContext, kernel
from engine.kernels.softmax import softmax_along

kernel("QuantizeLinear", 1, domain=MICROSOFT)(quantize_linear)
kernel("DequantizeLinear", 1, domain=MICROSOFT)(dequantize_linear)


def real(x: Any, scale: Any, zero: Any) -> Any:
    """What a quantised tensor stands for, in a fresh float32 array."""
    y = centred(x, zero)
    y *= scale
    return y


def _quantised(ctx: KernelContext, y: Any, scale: Any, zero: Any, like: Any) -> Any:
    return quantise(ctx.xp, y, scale, zero, like.dtype)


@kernel("QLinearAdd", 1, domain=MICROSOFT)
def qlinear_add(
    ctx: KernelContext, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, scale: Any,
    zero: Any = None,
) -> Any:  # fmt: skip
    """Sum of two quantised tensors, quantised."""
    return _quantised(ctx, real(a, a_scale, a_zero) + real(b, b_scale, b_zero), scale, zero, a)


@kernel("QLinearMul", 1, domain=MICROSOFT)
def qlinear_mul(
    ctx: KernelContext, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, scale: Any,
    zero: Any = None,
) -> Any:  # fmt: skip
    """Product of two quantised tensors, quantised."""
    return _quantised(ctx, real(a, a_scale, a_zero) * real(b, b_scale, b_zero), scale, zero, a)


@kernel("QLinearSigmoid", 1, domain=MICROSOFT)
def qlinear_sigmoid(
    ctx: KernelContext, x: Any, x_scale: Any, x_zero: Any, scale: Any, zero: Any = None
) -> Any:
    """Sigmoid of a quantised tensor, quantised."""
    return _quantised(ctx, logistic(ctx, real(x, x_scale, x_zero)), scale, zero, x)


@kernel("QLinearLeakyRelu", 1, domain=MICROSOFT)
def qlinear_leaky_relu(
    ctx: KernelContext, x: Any, x_scale: Any, x_zero: Any, scale: Any, zero: Any = None, *, alpha: float = 0.01
) -> Any:
    """LeakyRelu of a quantised tensor, quantised."""
    y = real(x, x_scale, x_zero)
    return _quantised(ctx, ctx.xp.where(y < 0, y * np.float32(alpha), y), scale, zero, x)


@kernel("QLinearSoftmax", 1, domain=MICROSOFT)
def qlinear_softmax(
    ctx: KernelContext, x: Any, x_scale: Any, x_zero: Any, scale: Any, zero: Any, *, opset: int, axis: int = -1
) -> Any:
    """Softmax of a quantised tensor, quantised: along one axis, before opset 13 over it and all after it."""
    y = real(x, x_scale, x_zero)
    axis = normalise_axis(axis, x.ndim)
    rows = y if opset >= 13 else y.reshape(*x.shape[:axis], -1)
    return _quantised(ctx, softmax_along(ctx.xp, rows, axis).reshape(x.shape), scale, zero, x)


@kernel("QLinearWhere", 1, domain=MICROSOFT)
def qlinear_where(
    ctx: KernelContext, condition: Any, x: Any, x_scale: Any, x_zero: Any, y: Any, y_scale: Any, y_zero: Any,
    scale: Any, zero: Any,
) -> Any:  # fmt: skip
    """Elements of one quantised tensor or another, at one scale."""
    chosen = ctx.xp.where(condition, real(x, x_scale, x_zero), real(y, y_scale, y_zero))
    return _quantised(ctx, chosen, scale, zero, x)


@kernel("QLinearConcat", 1, domain=MICROSOFT)
def qlinear_concat(ctx: KernelContext, scale: Any, zero: Any, *parts: Any, axis: int) -> Any:
    """Quantised tensors, each followed by its scale and zero point, joined at one scale."""
    reals = [real(*parts[start : start + 3]) for start in range(0, len(parts), 3)]
    return _quantised(ctx, ctx.xp.concatenate(reals, axis=axis), scale, zero, parts[0])


@kernel("QGemm", 1, domain=MICROSOFT)
def qgemm(
    ctx: KernelContext,
    a: Any,
    a_scale: Any,
    a_zero: Any,
    b: Any,
    b_scale: Any,
    b_zero: Any,
    c: Any = None,
    y_scale: Any = None,
    y_zero: Any = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Any:
    """Gemm of quantised matrices; float32 without an output scale. c counts in units of alpha * a_scale * b_scale."""
    xp = ctx.xp
    right = ctx.prepared("b", lambda: integer_matrices(centred(b.T if transB else b, b_zero)), b, b_zero)
    total = integer_product(xp, centred(a.T if transA else a, a_zero), right)
    if c is not None:
        total = total.astype(np.int32, copy=False) + c
    y = total.astype(np.float32) * (np.float32(alpha) * a_scale * b_scale)
    return y if y_scale is None else quantise(xp, y, y_scale, y_zero, a.dtype if y_zero is None else y_zero.dtype)


@kernel("MatMulIntegerToFloat", 1, domain=MICROSOFT)
def matmul_integer_to_float(
    ctx: KernelContext, a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero: Any = None, b_zero: Any = None,
    bias: Any = None,
) -> Any:  # fmt: skip
    """Product of quantised matrices as floats, plus bias."""
    total = integer_product(ctx.xp, centred(a, a_zero), centred_matrices(ctx, b, b_zero))
    y = total.astype(np.float32, copy=False) * (a_scale * b_scale)
    return y if bias is None else y + bias


@kernel("MatMulInteger16", 1, domain=MICROSOFT)
def matmul_integer_16(ctx: KernelContext, a: Any, b: Any) -> Any:
    """Product of int16 matrices in int32."""
    return ctx.xp.matmul(a.astype(np.int32), b.astype(np.int32))


@kernel("DynamicQuantizeMatMul", 1, domain=MICROSOFT)
def dynamic_quantize_matmul(
    ctx: KernelContext, a: Any, b: Any, b_scale: Any, b_zero: Any = None, bias: Any = None
) -> Any:
    """Product of a, quantised over its own range, and the quantised b, as floats."""
    y = dynamic_product(ctx, centred_matrices(ctx, b, b_zero), b_scale, a)
    return y if bias is None else y + bias


def dynamic_product(ctx: KernelContext, b: IntegerMatrices, b_scale: Any, a: Any) -> Any:
    """``a @ b`` of floats a, quantised to uint8 over their range, and a quantised b, as floats."""
    small, scale, zero = dynamic_quantize_linear(ctx, a)
    return integer_product(ctx.xp, centred(small, zero), b).astype(np.float32, copy=False) * (scale * b_scale)


@kernel("DynamicQuantizeLSTM", 1, domain=MICROSOFT)
def dynamic_quantize_lstm(
    ctx: KernelContext,
    x: Any,
    w: Any,
    r: Any,
    b: Any,
    sequence_lens: Any,
    initial_h: Any,
    initial_c: Any,
    p: Any,
    w_scale: Any,
    w_zero: Any,
    r_scale: Any,
    r_zero: Any,
    *,
    input_forget: int = 0,
    **shared: Unpack[Recurrent],
) -> Any:
    """LSTM with quantised weights [D, width, 4 * H]; inputs and states are quantised as they come."""
    run = prepare(ctx, x, w.swapaxes(1, 2), r.swapaxes(1, 2), b, sequence_lens, ["Sigmoid", "Tanh", "Tanh"], shared)
    run.times_w = _dynamic_products(ctx, "w", w, w_scale, w_zero)
    run.times_r = _dynamic_products(ctx, "r", r, r_scale, r_zero)
    return run_lstm(run, initial_h, initial_c, p, input_forget)


def _dynamic_products(ctx: KernelContext, name: str, weights: Any, scale: Any, zero: Any) -> list[Product]:
    """For each direction of quantised weights [D, width, 4 * H], their product with rows of floats."""
    def matrices() -> list[IntegerMatrices]:
        return [integer_matrices(centred(matrix, z)) for matrix, z in zip(weights, zero)]

    prepared = ctx.prepared(name, matrices, weights, zero)
    return [partial(dynamic_product, ctx, matrix, s) for matrix, s in zip(prepared, scale)]


@kernel("MatMulNBits", 1, domain=MICROSOFT)
@in_float32
def matmul_nbits(
    ctx: KernelContext,
    a: Any,
    b: Any,
    scales: Any,
    zero_points: Any = None,
    g_idx: Any = None,
    bias: Any = None,
    *,
    K: int,  # noqa: N803, RUF100 - named by the schema
    N: int,  # noqa: N803, RUF100
    block_size: int,
    bits: int = 4,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Any:
    """``a @ weights'`` where the weights [N, K] are packed, `bits` each, in blocks with a scale and a zero point."""
    xp = ctx.xp
    if bits not in (2, 4, 8) or g_idx is not None or weight_prepacked:
        raise UnsupportedError(f"MatMulNBits with {bits} bits, g_idx or prepacked weights")
    blocks = -(-K // block_size)
    if b.size == 0:
        y = xp.zeros((*a.shape[:-1], N), a.dtype)
        return y if bias is None else y + bias
    codes = unpacked(xp, b.reshape(N, blocks, -1), bits)[..., :block_size].astype(np.float32)
    if zero_points is None:
        zeros: Any = np.float32(2 ** (bits - 1))
    elif zero_points.dtype == np.uint8:
        zeros = unpacked(xp, zero_points.reshape(N, -1), bits)[:, :blocks, None].astype(np.float32)
    else:
        zeros = wide(zero_points).reshape(N, blocks, 1)
    codes -= zeros
    codes *= wide(scales).reshape(N, blocks, 1)
    y = product(xp, a, codes.reshape(N, blocks * block_size)[:, :K].T)
    return y if bias is None else y + bias


def unpacked(xp: Any, packed: Any, bits: int) -> Any:
    """Numbers of 2, 4 or 8 bits from bytes along the last axis, low bits first."""
    each = 8 // bits
    shifts = xp.arange(each, dtype=np.uint8) * np.uint8(bits)
    numbers = (packed[..., None] >> shifts) & np.uint8(2**bits - 1)
    return numbers.reshape(*packed.shape[:-1], packed.shape[-1] * each)


@kernel("QEmbedLayerNormalization", 1, domain=MICROSOFT)
def qembed_layer_normalization(
    ctx: KernelContext,
    input_ids: Any,
    segment_ids: Any,
    word: Any,
    position: Any,
    segment: Any,
    gamma: Any,
    beta: Any,
    mask: Any,
    *quantisation: Any,
    epsilon: float = 1e-12,
) -> Any:
    """EmbedLayerNormalization of quantised tables; five scales follow, then five zero points, in their order."""
    words, places, segments, scale, shift = (
        None if table is None else real(table, grain, zero)
        for table, grain, zero in zip((word, position, segment, gamma, beta), quantisation[:5], quantisation[5:])
    )
    y, lengths, _ = embed_layer_normalization(
        ctx, input_ids, segment_ids, words, places, segments, scale, shift, mask, epsilon=epsilon
    )
    return y, lengths


@kernel("GatherBlockQuantized", 1, domain=MICROSOFT)
def gather_block_quantized(
    ctx: KernelContext,
    data: Any,
    indices: Any,
    scales: Any,
    zero_points: Any = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> Any:
    """Rows of a tensor that is quantised in blocks, as floats; an index out of range gives zeros."""
    xp = ctx.xp
    packed = data.dtype == np.uint8
    codes = unpacked(xp, data, bits) if packed else data
    axis, along = normalise_axis(quantize_axis, codes.ndim), normalise_axis(gather_axis, codes.ndim)
    values = codes.astype(np.float32)
    zeros: Any = np.float32(2 ** (bits - 1) if packed else 0)
    if zero_points is not None:
        zeros = (unpacked(xp, zero_points, bits) if packed else zero_points).astype(np.float32)
        zeros = _blocks(zeros, axis, block_size, codes.shape[axis])
    values -= zeros
    values *= _blocks(wide(scales), axis, block_size, codes.shape[axis])
    length = codes.shape[along]
    valid = (indices >= -length) & (indices < length)
    taken = xp.take(values, xp.where(valid, indices, 0), axis=along)
    kept = valid.reshape((1,) * along + valid.shape + (1,) * (codes.ndim - along - 1))
    return xp.where(kept, taken, np.float32(0)).astype(scales.dtype)


def _blocks(values: Any, axis: int, block: int, length: int) -> Any:
    """One value a block repeated to one an element."""
    if not block:
        return values
    return values.repeat(block, axis)[(slice(None),) * axis + (slice(length),)]
