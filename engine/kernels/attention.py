"""Attention, rotary position embedding, and the recurrences that stand in for attention."""
from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from engine.dtypes import from_code
from engine.errors import UnsupportedError
from engine.graph.ir import Graph
from engine.kernels.activations import swish
from engine.kernels.convolution import convolve
from engine.kernels.matmul import product
from engine.kernels.precision import in_float32, wide
from engine.kernels.registry import KernelContext, kernel
from engine.kernels.windows import windows


def split_heads(x: Any, heads: int) -> Any:
    """[B, S, heads * D] as [B, heads, S, D]."""
    if heads < 1 or x.shape[-1] % heads:
        raise UnsupportedError(f"a hidden size of {x.shape[-1]} does not part into {heads} heads")
    return x.reshape(*x.shape[:2], heads, x.shape[-1] // heads).swapaxes(1, 2)


def merge_heads(x: Any) -> Any:
    """[B, heads, S, D] as [B, S, heads * D]."""
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


def grouped_product(xp: Any, a: Any, b: Any) -> Any:
    """Product of a [B, H, S, D] and b [B, G, D, T], each matrix of b serving H / G neighbours of a."""
    heads, groups = a.shape[1], b.shape[1]
    if heads == groups:
        return product(xp, a, b)
    if heads % groups:
        raise UnsupportedError(f"{heads} query heads do not part among {groups} key heads")
    parted = a.reshape(a.shape[0], groups, heads // groups, *a.shape[2:])
    return product(xp, parted, b[:, :, None]).reshape(*a.shape[:3], b.shape[-1])


def scores_of(xp: Any, q: Any, k: Any, scale: float | None) -> Any:
    """``scale * q @ k'``, by default 1 / sqrt(head size), in a fresh array [B, H, S, T]."""
    factor = 1 / sqrt(q.shape[-1]) if scale is None else scale
    return grouped_product(xp, q * q.dtype.type(factor), k.swapaxes(-1, -2))


def capped(xp: Any, scores: Any, softcap: float) -> Any:
    """Scores bent smoothly into (-softcap, softcap); as they are for a softcap of 0."""
    return xp.tanh(scores / softcap) * softcap if softcap > 0 else scores


def softmax_of_scores(xp: Any, scores: Any) -> Any:
    """Softmax over the last axis, in place; a row of -inf, which attends to nothing, becomes zeros."""
    if scores.size == 0:
        return scores
    peak = scores.max(axis=-1, keepdims=True)
    scores -= xp.where(xp.isneginf(peak), scores.dtype.type(0), peak)
    xp.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    scores /= xp.where(total == 0, scores.dtype.type(1), total)
    return scores


@kernel("Attention", 23, 24, 25)
def attention(
    ctx: KernelContext,
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    nonpad_kv_seqlen: Any = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> Any:
    """Scaled dot product attention with grouped heads, masks, windows and a cache (Attention 25).

    q, k, v are [B, heads, S, D], or [B, S, heads * D] with the numbers of heads as attributes. Gives Y in the rank of
    q, present key and value, and the scores of the stage that `qk_matmul_output_mode` names.
    """
    xp, packed = ctx.xp, q.ndim == 3
    if packed:
        if q_num_heads is None or kv_num_heads is None:
            raise UnsupportedError("3-D inputs need q_num_heads and kv_num_heads")
        q, k, v = split_heads(q, q_num_heads), split_heads(k, kv_num_heads), split_heads(v, kv_num_heads)
    present_key = k if past_key is None else xp.concatenate([past_key, k], axis=2)
    present_value = v if past_value is None else xp.concatenate([past_value, v], axis=2)
    queries, total = q.shape[2], present_key.shape[2]
    raw = scores_of(xp, wide(q), wide(present_key), scale)
    bent = capped(xp, raw, softcap)
    allowed, bias = _mask(xp, attn_mask, total)
    first = _first_positions(nonpad_kv_seqlen, past_key, queries)
    allowed = _both(allowed, _band(xp, queries, total, first, left_window_size, 0 if is_causal else right_window_size))
    if nonpad_kv_seqlen is not None:
        allowed = _both(allowed, xp.arange(total) < nonpad_kv_seqlen.reshape(-1, 1, 1, 1))
    biased = bent if bias is None else bent + wide(bias)
    if allowed is not None:
        biased = xp.where(allowed, biased, biased.dtype.type(-np.inf))
    precision = biased.dtype if softmax_precision is None else _float_dtype(softmax_precision)
    weights = softmax_of_scores(xp, wide(biased.astype(precision)))
    if allowed is not None:
        weights = xp.where(allowed, weights, weights.dtype.type(0))  # also where a score was NaN
    y = grouped_product(xp, weights.astype(raw.dtype, copy=False), wide(present_value))
    stage = (raw, bent, biased, weights)[qk_matmul_output_mode]
    y = merge_heads(y) if packed else y
    return y.astype(q.dtype, copy=False), present_key, present_value, stage.astype(q.dtype, copy=False)


def _float_dtype(code: int) -> np.dtype:
    found = from_code(code)
    if found is None or found.kind != "float":
        raise UnsupportedError(f"softmax_precision {code} is no floating-point type")
    return found.numpy


def _mask(xp: Any, mask: Any, total: int) -> tuple[Any, Any]:
    """A boolean mask as what is allowed, a float one as a bias; a short one forbids the keys beyond its end."""
    if mask is None:
        return None, None
    short = total - mask.shape[-1]
    boolean = mask.dtype == np.bool_
    if short > 0:
        fill = xp.full((*mask.shape[:-1], short), False if boolean else -np.inf, mask.dtype)
        mask = xp.concatenate([mask, fill], axis=-1)
    return (mask, None) if boolean else (None, mask)


def _both(a: Any, b: Any) -> Any:
    return a if b is None else b if a is None else a & b


def _first_positions(nonpad: Any, past_key: Any, queries: int) -> Any:
    """Position among the keys of the first query: one number, or [B, 1, 1, 1]."""
    if past_key is not None:
        return past_key.shape[2]
    return 0 if nonpad is None else nonpad.reshape(-1, 1, 1, 1) - queries


def _band(xp: Any, queries: int, keys: int, first: Any, left: int, right: int) -> Any:
    """Which keys lie within `left` before and `right` after each query; -1 is no bound. None where neither bounds."""
    if left < 0 and right < 0:
        return None
    ahead = xp.arange(keys) - (xp.arange(queries)[:, None] + first)
    inside = ahead <= right if right >= 0 else xp.ones(ahead.shape, bool)
    return inside & (ahead >= -left) if left >= 0 else inside


@kernel("FlexAttention", 1, domain="ai.onnx.preview", generic=False)
def flex_attention(
    ctx: KernelContext,
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float | None = None,
    softmax_precision: int | None = None,
    score_mod: Graph | None = None,
    prob_mod: Graph | None = None,
) -> Any:
    """Attention over [B, heads, S, D] with subgraphs that change the scores and the probabilities (FlexAttention 1)."""
    xp = ctx.xp
    precision = wide(q).dtype if softmax_precision is None else _float_dtype(softmax_precision)
    scores = scores_of(xp, wide(q), wide(k), scale).astype(precision, copy=False)
    if score_mod is not None:
        (scores,) = ctx.run_graph(score_mod, [scores])
    weights = softmax_of_scores(xp, wide(scores).copy()).astype(precision, copy=False)
    if prob_mod is not None:
        (weights,) = ctx.run_graph(prob_mod, [weights])
    values = wide(v)
    return grouped_product(xp, weights.astype(values.dtype, copy=False), values).astype(q.dtype, copy=False)


@kernel("RotaryEmbedding", 23)
@in_float32
def rotary_embedding(
    ctx: KernelContext,
    x: Any,
    cos_cache: Any,
    sin_cache: Any,
    position_ids: Any = None,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Any:
    """Rotate pairs of features by angles that grow with the position (RotaryEmbedding 23)."""
    cos, sin = (cache if position_ids is None else cache[position_ids] for cache in (cos_cache, sin_cache))
    heads = x if x.ndim == 4 else split_heads(x, num_heads)
    y = rotate(ctx.xp, heads, cos[:, None], sin[:, None], bool(interleaved), rotary_embedding_dim)
    return y if x.ndim == 4 else merge_heads(y)


def rotate(xp: Any, x: Any, cos: Any, sin: Any, interleaved: bool, width: int = 0) -> Any:
    """Rotate the first `width` features (0: all) of x [B, H, S, D]; cos and sin of the angles are [B, 1, S, width / 2].

    Pairs are neighbours where `interleaved`, else one from each half.
    """
    width = width or x.shape[-1]
    turning, rest = x[..., :width], x[..., width:]
    half = width // 2
    if interleaved:
        first, second = turning[..., 0::2], turning[..., 1::2]
    else:
        first, second = turning[..., :half], turning[..., half:]
    real, imaginary = cos * first - sin * second, sin * first + cos * second
    if interleaved:
        turned = xp.stack([real, imaginary], axis=-1).reshape(turning.shape)
    else:
        turned = xp.concatenate([real, imaginary], axis=-1)
    return turned if rest.shape[-1] == 0 else xp.concatenate([turned, rest], axis=-1)


@kernel("LinearAttention", 27)
@in_float32
def linear_attention(
    ctx: KernelContext,
    q: Any,
    k: Any,
    v: Any,
    past_state: Any = None,
    decay: Any = None,
    beta: Any = None,
    *,
    kv_num_heads: int,
    q_num_heads: int,
    chunk_size: int = 64,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> Any:
    """Attention as a recurrence: a state [B, H, Dk, Dv] gathers k and v a step, q reads it (LinearAttention 27)."""
    xp = ctx.xp
    gated, delta = update_rule in ("gated", "gated_delta"), update_rule in ("delta", "gated_delta")
    if not (gated or delta or update_rule == "linear"):
        raise UnsupportedError(f"update_rule {update_rule!r} is none of linear, gated, delta, gated_delta")
    if (gated and decay is None) or (delta and beta is None):
        raise UnsupportedError(f"update_rule {update_rule!r} needs its input {'decay' if decay is None else 'beta'}")
    queries, keys, values = split_heads(q, q_num_heads), split_heads(k, kv_num_heads), split_heads(v, kv_num_heads)
    batch, steps, depth = q.shape[0], q.shape[1], keys.shape[-1]
    factor = scale or 1 / sqrt(queries.shape[-1])
    state = past_state if past_state is not None else xp.zeros((batch, kv_num_heads, depth, values.shape[-1]), q.dtype)
    fading = xp.exp(split_heads(decay, kv_num_heads)) if gated else None  # [B, H, T, Dk or 1]
    rate = beta.swapaxes(1, 2)[..., None, None] if delta else None  # [B, H or 1, T, 1, 1]
    y = xp.empty((batch, q_num_heads, steps, values.shape[-1]), q.dtype)
    for t in range(steps):
        key, value = keys[:, :, t, :, None], values[:, :, t, None, :]
        if fading is not None:
            state = state * fading[:, :, t, :, None]
        if rate is not None:
            value = (value - xp.matmul(key.swapaxes(-1, -2), state)) * rate[:, :, t]
        state = state + key * value
        y[:, :, t : t + 1] = grouped_product(xp, queries[:, :, t : t + 1], state)
    y *= y.dtype.type(factor)
    return merge_heads(y), state


@kernel("CausalConvWithState", 27)
@in_float32
def causal_conv_with_state(
    ctx: KernelContext, x: Any, w: Any, bias: Any = None, past_state: Any = None, *, activation: str = "none"
) -> Any:
    """Depthwise convolution of x [B, C, T] with what came before; also gives the last k - 1 places (version 27)."""
    xp, before = ctx.xp, w.shape[-1] - 1
    past = xp.zeros((*x.shape[:2], before), x.dtype) if past_state is None else past_state
    whole = xp.concatenate([past, x], axis=2)
    y = convolve(xp, whole, w, windows(whole.shape[2:], w.shape[2:]), group=w.shape[0])
    if bias is not None:
        y += bias[:, None]
    if activation in ("silu", "swish"):
        y = swish(ctx, y)
    elif activation != "none":
        raise UnsupportedError(f"activation {activation!r} is none of silu, swish, none")
    return y, whole[:, :, whole.shape[2] - before :]
