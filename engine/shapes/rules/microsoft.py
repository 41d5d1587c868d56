"""Operators that ONNX Runtime adds (com.microsoft), as its ContribOperators.md has them."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.dims import Dim
from engine.shapes.broadcast import broadcast
from engine.shapes.call import Call, axis_in
from engine.shapes.facts import KnownShape, Out, ShapeClash
from engine.shapes.registry import find, rule
from engine.shapes.rules.convolution import conv_shape
from engine.shapes.rules.matmul import gemm_shape, product_shape
from engine.shapes.rules.movement import concatenated
from engine.shapes.rules.normalization import reduced_from
from engine.shapes.rules.pooling import pool_shape
from engine.shapes.rules.recurrent import recurrent_outputs

MS = "com.microsoft"


@rule(
    "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "BiasSoftmax", "RotaryEmbedding", "Trilu", "Inverse",
    "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax", "BiasAdd", "GroupNorm", "BifurcationDetector",
    domain=MS,
)  # fmt: skip
def same(call: Call) -> Out:
    """Shape and dtype of the first input."""
    return Out(call.shape(0), call.dtype(0))


@rule("BiasDropout", "BitmaskDropout", domain=MS)
def dropout(call: Call) -> list[Any]:
    """Data and mask."""
    return [Out(call.shape(0), call.dtype(0)), Out(call.shape(0), dtypes.BOOL)]


@rule("QuantizeLinear", domain=MS)
def quantize_linear(call: Call) -> Out:
    """The shape of the input, in the dtype of the zero point."""
    return Out(call.shape(0), call.dtype(2) if call.has(2) else dtypes.UINT8)


@rule("DequantizeLinear", domain=MS)
def dequantize_linear(call: Call) -> Out:
    """The shape of the input, in the dtype of the scale."""
    return Out(call.shape(0), call.dtype(1))


@rule("FusedMatMul", domain=MS)
def fused_matmul(call: Call) -> Out:
    """``A' @ B'``, the last two axes swapped on demand."""
    a, b = call.shape(0), call.shape(1)
    if call.attr("transBatchA", 0) or call.attr("transBatchB", 0):
        raise ShapeClash("transposed batch axes are not followed")
    a = _swapped(a) if call.attr("transA", 0) else a
    b = _swapped(b) if call.attr("transB", 0) else b
    return Out(product_shape(a, b), call.dtype(0))


def _swapped(shape: KnownShape) -> KnownShape:
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else shape


@rule("FusedGemm", domain=MS)
def fused_gemm(call: Call) -> Out:
    """As Gemm."""
    return Out(gemm_shape(call, call.shape(0), call.shape(1)), call.dtype(0))


@rule("FusedConv", domain=MS)
def fused_conv(call: Call) -> Out:
    """As Conv."""
    return Out(conv_shape(call, call.rank_at_least(0, 3), call.shape(1)), call.dtype(0))


@rule("MatMulNBits", domain=MS)
def matmul_nbits(call: Call) -> Out:
    """The input times packed weights [K, N]."""
    return Out((*call.rank_at_least(0, 1)[:-1], call.required_int("N")), call.dtype(0))


@rule("DynamicQuantizeMatMul", domain=MS)
def dynamic_quantize_matmul(call: Call) -> Out:
    """``A @ B`` in the dtype of A."""
    return Out(product_shape(call.shape(0), call.shape(1)), call.dtype(0))


@rule("MatMulIntegerToFloat", domain=MS)
def matmul_integer_to_float(call: Call) -> Out:
    """``A @ B`` in the dtype of the scales."""
    return Out(product_shape(call.shape(0), call.shape(1)), call.dtype(2))


@rule("QGemm", domain=MS)
def qgemm(call: Call) -> Out:
    """As Gemm, in the dtype of the output's zero point, or float32 where there is none."""
    dtype = call.dtype(8) if call.has(8) else dtypes.FLOAT32
    return Out(gemm_shape(call, call.shape(0), call.shape(3)), dtype)


@rule("QLinearAdd", "QLinearMul", domain=MS)
def qlinear_binary(call: Call) -> Out:
    """Two quantised operands broadcast."""
    return Out(broadcast(call.shape(0), call.shape(3)), call.dtype(0))


@rule("QLinearConcat", domain=MS)
def qlinear_concat(call: Call) -> Out:
    """Quantised inputs joined: after scale and zero point of the output, (data, scale, zero point) of each."""
    shapes = [call.shape(slot) for slot in call.slots[2::3]]
    return Out(concatenated(shapes, axis_in(call.required_int("axis"), len(shapes[0]))), call.dtype(1))


@rule("QLinearWhere", domain=MS)
def qlinear_where(call: Call) -> Out:
    """Condition and two quantised operands broadcast."""
    return Out(broadcast(call.shape(0), call.shape(1), call.shape(4)), call.dtype(1))


@rule("QLinearAveragePool", domain=MS)
def qlinear_average_pool(call: Call) -> Out:
    """As AveragePool; with `channels_last` the channels stand last."""
    x = call.rank_at_least(0, 3)
    if not call.attr("channels_last", 0):
        return Out(pool_shape(call, x), call.dtype(0))
    n, c, *places = pool_shape(call, (x[0], x[-1], *x[1:-1]))
    return Out((n, *places, c), call.dtype(0))


@rule("NhwcMaxPool", domain=MS)
def nhwc_max_pool(call: Call) -> Out:
    """As MaxPool with the channels last."""
    x = call.rank_at_least(0, 3)
    n, c, *places = pool_shape(call, (x[0], x[-1], *x[1:-1]))
    return Out((n, *places, c), call.dtype(0))


@rule("QLinearGlobalAveragePool", domain=MS)
def qlinear_global_average_pool(call: Call) -> Out:
    """As GlobalAveragePool; with `channels_last` the channels stand last."""
    x = call.rank_at_least(0, 3)
    ones = (1,) * (len(x) - 2)
    return Out((x[0], *ones, x[-1]) if call.attr("channels_last", 0) else x[:2] + ones, call.dtype(0))


@rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS)
def skip_layer_normalization(call: Call) -> list[Any]:
    """The input's shape, mean and inverse deviation of its rows, and the sum that was normalised."""
    shape = call.rank_at_least(0, 1)
    reduced = reduced_from(shape, len(shape) - 1)
    return [Out(shape, call.dtype(0)), Out(reduced, dtypes.FLOAT32), Out(reduced, dtypes.FLOAT32),
            Out(shape, call.dtype(0))]  # fmt: skip


@rule("SimplifiedLayerNormalization", domain=MS)
@rule("SimplifiedLayerNormalization")
def simplified_layer_normalization(call: Call) -> list[Any]:
    """The input's shape and the inverse deviation of its rows."""
    shape = call.rank_at_least(0, 1)
    reduced = reduced_from(shape, axis_in(call.attr("axis", -1), len(shape)))
    return [Out(shape, call.dtype(0)), Out(reduced, dtypes.FLOAT32)]


@rule("EmbedLayerNormalization", domain=MS)
def embed_layer_normalization(call: Call) -> list[Any]:
    """Embeddings [batch, sequence, hidden], a mask index [batch], and the sum of embeddings."""
    ids, words = call.rank_at_least(0, 2), call.rank_at_least(2, 2)
    shape, dtype = (*ids, words[-1]), call.dtype(2)
    return [Out(shape, dtype), Out((ids[0],), dtypes.INT32), Out(shape, dtype)]


@rule("Attention", domain=MS)
def attention(call: Call) -> list[Any]:
    """[batch, sequence, values] of [batch, sequence, input] and weights [input, q + k + v]; keys and values kept."""
    x, w = call.rank_at_least(0, 3), call.rank_at_least(1, 2)
    return _fused_attention(call, x, w, call.dtype(0), past_slot=4)


@rule("QAttention", domain=MS)
def qattention(call: Call) -> list[Any]:
    """As Attention on quantised inputs, in the dtype of the scales."""
    x, w = call.rank_at_least(0, 3), call.rank_at_least(1, 2)
    return _fused_attention(call, x, w, call.dtype(3), past_slot=8)


def _fused_attention(call: Call, x: KnownShape, w: KnownShape, dtype: Any, past_slot: int) -> list[Any]:
    heads = call.required_int("num_heads")
    sizes = call.optional_ints("qkv_hidden_sizes")
    hidden: Dim = sizes[2] if sizes else w[-1] // 3
    total = x[1] + call.rank_at_least(past_slot, 5)[3] if call.has(past_slot) else x[1]
    return [Out((x[0], x[1], hidden), dtype), Out((2, x[0], heads, total, hidden // heads), dtype)]


@rule("MultiHeadAttention", domain=MS)
def multi_head_attention(call: Call) -> list[Any]:
    """[batch, sequence, values] of queries [batch, sequence, hidden] or of packed queries, keys and values."""
    q, heads, dtype = call.rank_at_least(0, 3), call.required_int("num_heads"), call.dtype(0)
    batch, sequence = q[0], q[1]
    if len(q) == 5:  # packed: [batch, sequence, heads, 3, head size]
        keys, width, v_width = sequence, q[4], q[4]
    else:
        width = v_width = q[2] // heads
        keys = sequence
        if call.has(1):
            k = call.shape(1)
            keys = k[2] if len(k) == 4 else k[1]
        if call.has(2):
            v = call.shape(2)
            v_width = v[3] if len(v) == 4 else v[2] // heads
    total = keys + call.rank_at_least(6, 4)[2] if call.has(6) else keys
    return [Out((batch, sequence, v_width * heads), dtype), Out((batch, heads, total, width), dtype),
            Out((batch, heads, total, v_width), dtype)]  # fmt: skip


@rule("GroupQueryAttention", domain=MS)
def group_query_attention(call: Call) -> list[Any]:
    """[batch, sequence, hidden], and keys and values kept [batch, kv heads, total, head size]."""
    q, dtype = call.rank_at_least(0, 3), call.dtype(0)
    heads, kv_heads = call.required_int("num_heads"), call.required_int("kv_num_heads")
    hidden = q[2] if call.has(1) else q[2] // (heads + 2 * kv_heads) * heads
    total: Dim = call.length("total")
    if call.has(6) and call.value(6) is not None:
        total = call.dim(call.elements(6)[0], "total")
    kept = (q[0], kv_heads, total, hidden // heads)
    return [Out((q[0], q[1], hidden), dtype), Out(kept, dtype), Out(kept, dtype)]


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


@rule("Tokenizer", domain=MS)
def tokenizer(call: Call) -> Out:
    """The tokens of each element along a new axis, as long as the longest."""
    return Out((*call.shape(0), call.length("tokens")), dtypes.STRING)


@rule("ExpandDims", domain=MS)
def expand_dims(call: Call) -> Out:
    """An axis of length 1 put in."""
    shape = call.shape(0)
    axis = axis_in(call.ints(1)[0], len(shape) + 1)
    return Out((*shape[:axis], 1, *shape[axis:]), call.dtype(0))


def _as_standard(op_type: str) -> None:
    """An operator that ONNX took over later: the standard's rule, with the dtype of the first input."""

    @rule(op_type, domain=MS)
    def standard(call: Call) -> Any:
        found = find("", op_type)
        assert found is not None
        out = found(call)
        return Out(out.shape, out.dtype or call.dtype(0), out.value) if isinstance(out, Out) else out


for _name in ("Range", "GatherND", "GridSample"):
    _as_standard(_name)
