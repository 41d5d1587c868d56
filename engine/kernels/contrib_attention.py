"""Attention operators of com.microsoft.

Source: the schemas of ONNX Runtime 1.32 (`onnxruntime.capi`, domain com.microsoft, version 1).
"""
from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.attention import (
    capped,
    grouped_product,
    merge_heads,
    rotate,
    scores_of,
    softmax_of_scores,
    split_heads,
)  # fmt: skip
from engine.kernels.matmul import integer_product, product
from engine.kernels.normalization import rms_normalization
from engine.kernels.precision import in_float32
from engine.kernels.quantization import centred, centred_matrices
from engine.kernels.registry import MICROSOFT, KernelContext, kernel


@kernel("Attention", 1, domain=MICROSOFT)
@in_float32
def attention(
    ctx: KernelContext,
    x: Any,
    weights: Any,
    bias: Any = None,
    mask_index: Any = None,
    past: Any = None,
    attention_bias: Any = None,
    past_sequence_length: Any = None,
    *,
    num_heads: int,
    qkv_hidden_sizes: list[int] | None = None,
    unidirectional: int = 0,
    scale: float = 0.0,
    mask_filter_value: float = -10000.0,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
    rotary_embedding_dim: int = 0,
) -> Any:
    """Self-attention of x [B, S, I] with its input projection, weights [I, sizes of q + k + v]. Gives Y, present."""
    if do_rotary or past_present_share_buffer:
        raise UnsupportedError("com.microsoft::Attention with do_rotary or past_present_share_buffer")
    projected = product(ctx.xp, x, weights)
    if bias is not None:
        projected += bias
    return _self_attention(
        ctx, projected, mask_index, past, attention_bias, num_heads, qkv_hidden_sizes, unidirectional, scale,
        mask_filter_value,
    )  # fmt: skip


@kernel("QAttention", 1, domain=MICROSOFT)
@in_float32
def qattention(
    ctx: KernelContext,
    x: Any,
    weights: Any,
    bias: Any,
    x_scale: Any,
    w_scale: Any,
    mask_index: Any = None,
    x_zero: Any = None,
    w_zero: Any = None,
    past: Any = None,
    *,
    num_heads: int,
    unidirectional: int = 0,
    scale: float = 0.0,
    mask_filter_value: float = -10000.0,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> Any:
    """Self-attention whose input projection multiplies quantised tensors."""
    if do_rotary or past_present_share_buffer:
        raise UnsupportedError("com.microsoft::QAttention with do_rotary or past_present_share_buffer")
    total = integer_product(ctx.xp, centred(x, x_zero), centred_matrices(ctx, weights, w_zero))
    projected = total.astype(np.float32, copy=False) * (x_scale * w_scale) + bias
    return _self_attention(
        ctx, projected, mask_index, past, None, num_heads, None, unidirectional, scale, mask_filter_value
    )


def _self_attention(
    ctx: KernelContext, projected: Any, mask: Any, past: Any, bias: Any, heads: int, sizes: list[int] | None,
    unidirectional: int, scale: float, filter_value: float,
) -> Any:  # fmt: skip
    xp = ctx.xp
    third = projected.shape[-1] // 3
    first, second = (sizes[0], sizes[0] + sizes[1]) if sizes else (third, 2 * third)
    q, k, v = (
        split_heads(projected[..., part], heads)
        for part in (slice(first), slice(first, second), slice(second, None))
    )
    if past is not None:
        k, v = xp.concatenate([past[0], k], axis=2), xp.concatenate([past[1], v], axis=2)
    scores = scores_of(xp, q, k, scale or None)
    if bias is not None:
        scores += bias
    scores = _padded_out(xp, scores, mask, filter_value)
    if unidirectional:
        scores = _causal(xp, scores)
    y = grouped_product(xp, softmax_of_scores(xp, scores), v)
    present = xp.stack([k, v]) if len(ctx.wanted) > 1 and ctx.wanted[1] else None
    return merge_heads(y), present


def _padded_out(xp: Any, scores: Any, mask: Any, filter_value: float) -> Any:
    """Add `filter_value` where the mask says padding.

    Masks: [B, T] or [B, S, T] of 0 for padding; [B] of lengths; [2 B] of ends, then starts; [B, 1, M, M] of a longer
    mask whose corner counts.
    """
    if mask is None:
        return scores
    batch, _, queries, keys = scores.shape
    if mask.ndim == 1:
        places = xp.arange(keys)
        kept = places < mask[:batch, None]
        if mask.shape[0] == 2 * batch:
            kept = kept & (places >= mask[batch:, None])
        kept = kept[:, None, None]
    elif mask.ndim == 4:
        kept = mask[:, :, keys - queries : keys, :keys] > 0
    else:
        kept = (mask > 0)[:, None, None] if mask.ndim == 2 else (mask > 0)[:, None]
    return scores + xp.where(kept, np.float32(0), np.float32(filter_value))


def _causal(xp: Any, scores: Any) -> Any:
    """-inf where a key lies after its query; the last query sees the last key."""
    queries, keys = scores.shape[-2:]
    seen = xp.arange(keys) <= xp.arange(queries)[:, None] + (keys - queries)
    return xp.where(seen, scores, scores.dtype.type(-np.inf))


@kernel("MultiHeadAttention", 1, domain=MICROSOFT)
@in_float32
def multi_head_attention(
    ctx: KernelContext,
    query: Any,
    key: Any = None,
    value: Any = None,
    bias: Any = None,
    key_padding_mask: Any = None,
    attention_bias: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    past_sequence_length: Any = None,
    cache_indirection: Any = None,
    *,
    num_heads: int,
    scale: float = 0.0,
    mask_filter_value: float = -10000.0,
    unidirectional: int = 0,
) -> Any:
    """Attention without its input projection: packed or separate q, k, v with heads merged or apart."""
    xp = ctx.xp
    if past_sequence_length is not None or cache_indirection is not None:
        raise UnsupportedError("MultiHeadAttention with a shared cache buffer")
    q, k, v = _unpacked(query, key, value, num_heads)
    if bias is not None:
        sizes = [t.shape[1] * t.shape[3] for t in (q, k, v)]
        starts = (0, sizes[0], sizes[0] + sizes[1])
        q, k, v = (
            t + bias[start : start + size].reshape(1, t.shape[1], 1, t.shape[3])
            for t, start, size in zip((q, k, v), starts, sizes)
        )
    if past_key is not None:
        k, v = xp.concatenate([past_key, k], axis=2), xp.concatenate([past_value, v], axis=2)
    scores = scores_of(xp, q, k, scale or None)
    if attention_bias is not None:
        scores += attention_bias
    scores = _padded_out(xp, scores, key_padding_mask, mask_filter_value)
    if unidirectional:
        scores = _causal(xp, scores)
    weights = softmax_of_scores(xp, scores)
    return merge_heads(grouped_product(xp, weights, v)), k, v, weights


def _unpacked(query: Any, key: Any, value: Any, heads: int) -> tuple[Any, Any, Any]:
    """q, k, v as [B, heads, S, D] from any of the layouts that MultiHeadAttention takes."""
    if query.ndim == 5:  # [B, S, heads, 3, D]
        q, k, v = (query[:, :, :, i].swapaxes(1, 2) for i in range(3))
        return q, k, v
    q = split_heads(query, heads)
    if key is None:
        raise UnsupportedError("MultiHeadAttention without a key needs a packed query")
    if key.ndim == 5:  # [B, S, heads, 2, D]
        return q, key[:, :, :, 0].swapaxes(1, 2), key[:, :, :, 1].swapaxes(1, 2)
    k, v = (t if t.ndim == 4 else split_heads(t, heads) for t in (key, value))
    return q, k, v


@kernel("GroupQueryAttention", 1, domain=MICROSOFT)
@in_float32
def group_query_attention(
    ctx: KernelContext,
    query: Any,
    key: Any,
    value: Any,
    past_key: Any,
    past_value: Any,
    seqlens_k: Any,
    total_sequence_length: Any,
    cos_cache: Any = None,
    sin_cache: Any = None,
    position_ids: Any = None,
    attention_bias: Any = None,
    head_sink: Any = None,
    k_scale: Any = None,
    v_scale: Any = None,
    q_norm_weight: Any = None,
    k_norm_weight: Any = None,
    query_seqlens: Any = None,
    *,
    num_heads: int,
    kv_num_heads: int,
    scale: float = 0.0,
    softcap: float = 0.0,
    local_window_size: int = -1,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
    causal: int = 1,
    smooth_softmax: int = -1,
    qk_output: int = 0,
    qk_norm_epsilon: float = 1e-6,
    q_norm_epsilon: float | None = None,
    k_norm_epsilon: float | None = None,
    k_quant_type: str = "NONE",
    v_quant_type: str = "NONE",
    kv_cache_bit_width: int = 0,
    sliding_window_cache: int = 0,
) -> Any:
    """Attention with fewer key heads than query heads and a cache; `seqlens_k` + 1 keys count in each sequence.

    A sequence's queries are its last positions; with no cache before, its first, and what lies beyond is padding.
    `head_sink`, or 0 with `smooth_softmax`, takes part in the softmax as one more score. Gives Y, keys, values, scores.

    Raises
    ------
    UnsupportedError: the cache is quantised or slides, or each sequence has its own number of queries.
    """
    if k_quant_type != "NONE" or v_quant_type != "NONE" or sliding_window_cache or query_seqlens is not None:
        raise UnsupportedError("GroupQueryAttention with a quantised or sliding cache, or query_seqlens")
    xp = ctx.xp
    if key is None:
        width = query.shape[-1] // (num_heads + 2 * kv_num_heads)
        ends = (num_heads * width, (num_heads + kv_num_heads) * width)
        query, key, value = query[..., : ends[0]], query[..., ends[0] : ends[1]], query[..., ends[1] :]
    q, k, v = split_heads(query, num_heads), split_heads(key, kv_num_heads), split_heads(value, kv_num_heads)
    if q_norm_weight is not None:
        q = rms_normalization(ctx, q, q_norm_weight, epsilon=q_norm_epsilon or qk_norm_epsilon)
    if k_norm_weight is not None:
        k = rms_normalization(ctx, k, k_norm_weight, epsilon=k_norm_epsilon or qk_norm_epsilon)
    steps, longest = q.shape[2], int(total_sequence_length.reshape(-1)[0])
    lengths = seqlens_k.reshape(-1, 1).astype(np.int64) + 1
    first = lengths * 0 if steps == longest else lengths - steps
    places = first + xp.arange(steps)  # of each query among the keys, [B, S]
    if do_rotary:
        angles = places if position_ids is None else position_ids
        cos, sin = cos_cache[angles][:, None], sin_cache[angles][:, None]
        q, k = (rotate(xp, t, cos, sin, bool(rotary_interleaved), 2 * cos.shape[-1]) for t in (q, k))
    k, v = _cached(xp, past_key, k, places, longest), _cached(xp, past_value, v, places, longest)
    scores = capped(xp, scores_of(xp, q, k, scale or None), softcap)
    if attention_bias is not None:
        scores = scores + attention_bias[..., : scores.shape[-1]]
    keys = xp.arange(k.shape[2])
    ahead = keys - places[:, None, :, None]
    seen = (keys < lengths[:, None, None]) & ((ahead <= 0) | (causal == 0))
    if local_window_size > 0:
        seen = seen & (ahead > -local_window_size)
    scores = xp.where(seen, scores, scores.dtype.type(-np.inf))
    sink = head_sink
    if sink is None and smooth_softmax > 0:
        sink = xp.zeros(num_heads, scores.dtype)
    weights = _softmax_with_sink(xp, scores, sink)
    stage = weights if qk_output == 2 else scores
    return merge_heads(grouped_product(xp, weights, v)), k, v, stage


def _cached(xp: Any, past: Any, new: Any, places: Any, longest: int) -> Any:
    """The cache [B, heads, T, D] up to the new steps, and those; steps of padding beyond its end fall away."""
    room = longest if past is None else max(longest, past.shape[2])
    present = xp.zeros((*new.shape[:2], room, new.shape[3]), new.dtype)
    for batch in range(new.shape[0]):
        start = int(places[batch, 0])
        if past is not None:
            present[batch, :, :start] = past[batch, :, :start]
        present[batch, :, start : start + new.shape[2]] = new[batch, :, : room - start]
    return present


def _softmax_with_sink(xp: Any, scores: Any, sink: Any) -> Any:
    """Softmax over the last axis, together with one more score a head where `sink` [heads] is given."""
    if sink is None:
        return softmax_of_scores(xp, scores.copy())
    extra = xp.broadcast_to(sink.reshape(1, -1, 1, 1).astype(scores.dtype), (*scores.shape[:-1], 1))
    return softmax_of_scores(xp, xp.concatenate([scores, extra], axis=-1))[..., :-1]


@kernel("RotaryEmbedding", 1, domain=MICROSOFT)
@in_float32
def rotary_embedding(
    ctx: KernelContext,
    x: Any,
    position_ids: Any,
    cos_cache: Any,
    sin_cache: Any,
    *,
    interleaved: int = 0,
    is_packed_batching: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> Any:
    """Rotary embedding of x [B, S, hidden] or [B, heads, S, D]; one position id means the first of a run."""
    xp = ctx.xp
    if x.ndim == 4:
        heads = x
    else:
        heads = split_heads(x, num_heads or x.shape[-1] // (2 * cos_cache.shape[-1]))
    places = position_ids
    if position_ids.size == 1:
        places = position_ids.reshape(1, 1) + xp.arange(heads.shape[2])[None]
    y = rotate(
        xp, heads, cos_cache[places][:, None], sin_cache[places][:, None], bool(interleaved), rotary_embedding_dim
    )
    y = y if scale == 1 else y * y.dtype.type(scale)
    return y if x.ndim == 4 else merge_heads(y)
