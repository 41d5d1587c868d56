"""Operators that ONNX Runtime adds (com.microsoft), as its ContribOperators.md has them."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.dims import Dim
from engine.dtypes import DType
from engine.shapes.call import Call, axes_in, axis_in
from engine.shapes.facts import KnownShape, Out
from engine.shapes.registry import find, rule
from engine.shapes.rules.convolution import conv_shape, transposed_shape
from engine.shapes.rules.matmul import gemm_shape, product_shape
from engine.shapes.rules.movement import elements_or_unknown, padded
from engine.shapes.rules.normalization import reduced_from
from engine.shapes.rules.pooling import pool_shape

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


@rule("FusedMatMul", "TransposeMatMul", domain=MS)
def fused_matmul(call: Call) -> Out:
    """``A' @ B'``: on demand the first axis comes before the last, then the last two are swapped."""
    a, b = (_arranged(call, call.shape(slot), name) for slot, name in ((0, "A"), (1, "B")))
    return Out(product_shape(call, a, b), call.dtype(0))


def _arranged(call: Call, shape: KnownShape, name: str) -> KnownShape:
    if len(shape) > 1 and call.attr(f"transBatch{name}", 0):
        shape = (*shape[1:-1], shape[0], shape[-1])
    if len(shape) > 1 and call.attr(f"trans{name}", 0):
        shape = (*shape[:-2], shape[-1], shape[-2])
    return shape


@rule("FusedGemm", domain=MS)
def fused_gemm(call: Call) -> Out:
    """As Gemm."""
    return Out(gemm_shape(call, call.shape(0), call.shape(1)), call.dtype(0))


@rule("FusedConv", domain=MS)
def fused_conv(call: Call) -> Out:
    """As Conv."""
    return Out(conv_shape(call, call.rank_at_least(0, 3), call.shape(1)), call.dtype(0))


@rule("NhwcMaxPool", domain=MS)
def nhwc_max_pool(call: Call) -> Out:
    """As MaxPool with the channels last."""
    x = call.rank_at_least(0, 3)
    n, c, *places = pool_shape(call, (x[0], x[-1], *x[1:-1]))
    return Out((n, *places, c), call.dtype(0))


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
    return embedded(call, call.dtype(2))


def embedded(call: Call, dtype: DType | None) -> list[Any]:
    """Outputs of an embedding of ids [batch, sequence] by tables [words, hidden]."""
    ids, words = call.rank_at_least(0, 2), call.rank_at_least(2, 2)
    shape = (*ids, words[-1])
    return [Out(shape, dtype), Out((ids[0],), dtypes.INT32), Out(shape, dtype)]


@rule("Attention", domain=MS)
def attention(call: Call) -> list[Any]:
    """[batch, sequence, values] of [batch, sequence, input] and weights [input, q + k + v]; keys and values kept."""
    x, w = call.rank_at_least(0, 3), call.rank_at_least(1, 2)
    return fused_attention(call, x, w, call.dtype(0), past_slot=4)


def fused_attention(call: Call, x: KnownShape, w: KnownShape, dtype: Any, past_slot: int) -> list[Any]:
    """Outputs of attention on an input and packed weights; `past_slot` is where keys and values so far come in."""
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


@rule("CDist", domain=MS)
def cdist(call: Call) -> Out:
    """The distance of each row to each."""
    return Out((call.rank_at_least(0, 2)[0], call.rank_at_least(1, 2)[0]), call.dtype(0))


@rule("Unique", domain=MS)
def unique(call: Call) -> list[Any]:
    """Distinct elements of a vector, which of them each element is, and how often they occur."""
    (length,), count = call.shape(0), call.length("count")
    return [Out((count,), call.dtype(0)), Out((length,), dtypes.INT64), Out((count,), dtypes.INT64)]


@rule("Pad", domain=MS)
def pad(call: Call) -> Out:
    """As Pad with inputs."""
    shape = call.shape(0)
    axes = axes_in(call.ints(3), len(shape)) if call.has(3) else list(range(len(shape)))
    return Out(padded(call, shape, axes, elements_or_unknown(call, 1, 2 * len(axes))), call.dtype(0))


@rule("ConvTransposeWithDynamicPads", domain=MS)
def conv_transpose_with_dynamic_pads(call: Call) -> Out:
    """As ConvTranspose, with pads from an input."""
    x = call.rank_at_least(0, 3)
    pads = call.ints(2) if call.has(2) else []
    return Out(transposed_shape(call, x, call.shape(1), pads), call.dtype(0))


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
