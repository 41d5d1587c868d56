"""Attention of the ONNX standard."""

from __future__ import annotations

from typing import Any

from engine.dims import Dim
from engine.shapes.call import Call
from engine.shapes.facts import Out, ShapeClash
from engine.shapes.registry import rule


@rule("Attention")
def attention(call: Call) -> list[Any]:
    """Y of the queries' shape with the values' width; keys and values with the past before them; scores."""
    q, k, v = (call.rank_at_least(slot, 3) for slot in range(3))
    q_heads: Dim
    kv_heads: Dim
    if len(q) == 4:
        batch, q_heads, queries, width = q
        kv_heads, keys, v_width = k[1], k[2], v[3]
        y: tuple[Dim, ...] = (batch, q_heads, queries, v_width)
    else:
        batch, queries = q[0], q[1]
        q_heads, kv_heads = call.required_int("q_num_heads"), call.required_int("kv_num_heads")
        if q_heads < 1 or kv_heads < 1:
            raise ShapeClash("it needs one head or more")
        width, keys, v_width = q[2] // q_heads, k[1], v[2] // kv_heads
        y = (batch, queries, q_heads * v_width)
    total = keys + call.rank_at_least(4, 4)[2] if call.has(4) else keys
    shapes = (y, (batch, kv_heads, total, width), (batch, kv_heads, total, v_width), (batch, q_heads, queries, total))
    return [Out(shape) for shape in shapes]


@rule("RotaryEmbedding")
def rotary_embedding(call: Call) -> Out:
    """The shape of the input."""
    return Out(call.shape(0))


@rule("LinearAttention")
def linear_attention(call: Call) -> list[Any]:
    """[batch, sequence, heads * value size], and the state [batch, kv heads, key size, value size]."""
    q, k, v = (call.rank_at_least(slot, 3) for slot in range(3))
    heads, kv_heads = call.required_int("q_num_heads"), call.required_int("kv_num_heads")
    width = v[2] // kv_heads
    state = call.dtype(3) if call.has(3) else call.dtype(0)
    return [Out((q[0], q[1], width * heads)), Out((q[0], kv_heads, k[2] // kv_heads, width), state)]


@rule("FlexAttention", domain="ai.onnx.preview")
def flex_attention(call: Call) -> Out:
    """[batch, heads, sequence, value size]."""
    return Out((*call.rank_at_least(0, 4)[:3], call.rank_at_least(2, 4)[3]))
