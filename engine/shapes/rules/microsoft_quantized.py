"""Quantised operators that ONNX Runtime adds (com.microsoft), as its ContribOperators.md has them."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.shapes.call import Call, axis_in
from engine.shapes.facts import KnownShape, Out
from engine.shapes.registry import rule
from engine.shapes.rules.convolution import conv_shape
from engine.shapes.rules.matmul import gemm_shape, product_shape
from engine.shapes.rules.microsoft import MS, embedded, fused_attention
from engine.shapes.rules.movement import concatenated
from engine.shapes.rules.pooling import pool_shape
from engine.shapes.rules.recurrent import recurrent_outputs


@rule("QuantizeLinear", domain=MS)
def quantize_linear(call: Call) -> Out:
    """The shape of the input, in the dtype of the zero point."""
    return Out(call.shape(0), call.dtype(2) if call.has(2) else dtypes.UINT8)


@rule("DequantizeLinear", domain=MS)
def dequantize_linear(call: Call) -> Out:
    """The shape of the input, in the dtype of the scale."""
    return Out(call.shape(0), call.dtype(1))


@rule("MatMulNBits", domain=MS)
def matmul_nbits(call: Call) -> Out:
    """The input times packed weights [K, N]."""
    return Out((*call.rank_at_least(0, 1)[:-1], call.required_int("N")), call.dtype(0))


@rule("DynamicQuantizeMatMul", domain=MS)
def dynamic_quantize_matmul(call: Call) -> Out:
    """``A @ B`` in the dtype of A."""
    return Out(product_shape(call, call.shape(0), call.shape(1)), call.dtype(0))


@rule("MatMulIntegerToFloat", domain=MS)
def matmul_integer_to_float(call: Call) -> Out:
    """``A @ B`` in the dtype of the scales."""
    return Out(product_shape(call, call.shape(0), call.shape(1)), call.dtype(2))


@rule("QGemm", domain=MS)
def qgemm(call: Call) -> Out:
    """As Gemm, in the dtype of the output's zero point, or float32 where there is none."""
    dtype = call.dtype(8) if call.has(8) else dtypes.FLOAT32
    return Out(gemm_shape(call, call.shape(0), call.shape(3)), dtype)


@rule("QLinearAdd", "QLinearMul", domain=MS)
def qlinear_binary(call: Call) -> Out:
    """Two quantised operands broadcast."""
    return Out(call.broadcast(call.shape(0), call.shape(3)), call.dtype(0))


@rule("QLinearConcat", domain=MS)
def qlinear_concat(call: Call) -> Out:
    """Quantised inputs joined: after scale and zero point of the output, (data, scale, zero point) of each."""
    shapes = [call.shape(slot) for slot in call.slots[2::3]]
    return Out(concatenated(call, shapes, axis_in(call.required_int("axis"), len(shapes[0]))), call.dtype(1))


@rule("QLinearWhere", domain=MS)
def qlinear_where(call: Call) -> Out:
    """Condition and two quantised operands broadcast."""
    return Out(call.broadcast(call.shape(0), call.shape(1), call.shape(4)), call.dtype(1))


@rule("QLinearAveragePool", domain=MS)
def qlinear_average_pool(call: Call) -> Out:
    """As AveragePool; with `channels_last` the channels stand last."""
    x = call.rank_at_least(0, 3)
    if not call.attr("channels_last", 0):
        return Out(pool_shape(call, x), call.dtype(0))
    return Out(_channels_last(pool_shape(call, _channels_first(x))), call.dtype(0))


@rule("QLinearGlobalAveragePool", domain=MS)
def qlinear_global_average_pool(call: Call) -> Out:
    """As GlobalAveragePool; with `channels_last` the channels stand last."""
    x = call.rank_at_least(0, 3)
    ones = (1,) * (len(x) - 2)
    return Out((x[0], *ones, x[-1]) if call.attr("channels_last", 0) else x[:2] + ones, call.dtype(0))


@rule("QAttention", domain=MS)
def qattention(call: Call) -> list[Any]:
    """As Attention on quantised inputs, in the dtype of the scales."""
    x, w = call.rank_at_least(0, 3), call.rank_at_least(1, 2)
    return fused_attention(call, x, w, call.dtype(3), past_slot=8)


@rule("GatherBlockQuantized", domain=MS)
def gather_block_quantized(call: Call) -> Out:
    """Slices of a quantised table, in the dtype of the scales."""
    data, indices = call.rank_at_least(0, 1), call.shape(1)
    axis = axis_in(call.attr("gather_axis", 0), len(data))
    packed = 8 // call.attr("bits", 4) if call.dtype(0) is dtypes.UINT8 else 1
    last = data[-1] * packed
    data = (*data[:-1], last)
    return Out((*data[:axis], *indices, *data[axis + 1 :]), call.dtype(2))


@rule("DynamicQuantizeLSTM", domain=MS)
def dynamic_quantize_lstm(call: Call) -> list[Any]:
    """As LSTM, with weights [directions, hidden, 4 * hidden]."""
    r = call.known_shape(2)
    return recurrent_outputs(call, call.rank_at_least(0, 3), None if r is None else (r[0], r[2], r[1]))


@rule("MatMulInteger16", domain=MS)
def matmul_integer_16(call: Call) -> Out:
    """``A @ B`` of int16 in int32."""
    return Out(product_shape(call, call.shape(0), call.shape(1)), dtypes.INT32)


@rule("QLinearConv", domain=MS)
def qlinear_conv(call: Call) -> Out:
    """As QLinearConv; with `channels_last` the channels stand last, the weights as ever."""
    x, w = call.rank_at_least(0, 3), call.shape(3)
    if not call.attr("channels_last", 0):
        return Out(conv_shape(call, x, w), call.dtype(7))
    return Out(_channels_last(conv_shape(call, _channels_first(x), w)), call.dtype(7))


@rule("QEmbedLayerNormalization", domain=MS)
def qembed_layer_normalization(call: Call) -> list[Any]:
    """As EmbedLayerNormalization of quantised tables."""
    return embedded(call, dtypes.FLOAT32)


def _channels_first(shape: KnownShape) -> KnownShape:
    return (shape[0], shape[-1], *shape[1:-1])


def _channels_last(shape: KnownShape) -> KnownShape:
    return (shape[0], *shape[2:], shape[1])
