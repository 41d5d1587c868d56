"""Operators of com.microsoft over random sizes; ONNX Runtime is their only specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.kernels.oracle import SEVEN_BITS
from tests.engine.kernels.properties.strategies import (
    FLOATS,
    agree,
    broadcast_pair,
    data,
    examples,
    indices,
    many,
    optional,
    shapes,
)
from tests.engine.kernels.properties.test_windows import spatial, window

SIZE = st.integers(1, 5)
FLAG = st.integers(0, 1)


def contrib(op: str, *inputs: np.ndarray | None, **options: Any) -> Any:
    options = {"rtol": 1e-4, "atol": 1e-4, **options}
    return agree(op, *inputs, domain="com.microsoft", opset=17, **options)


def quantised(pick: Any, shape: Any, dtype: Any = np.uint8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A quantised tensor with its scale and zero point."""
    return pick.draw(data(shape, dtype, -128, 255 if dtype is np.uint8 else 127)), *grain(pick, dtype)


def grain(pick: Any, dtype: Any = np.uint8) -> tuple[np.ndarray, np.ndarray]:
    return pick.draw(data((), low=0.02, high=0.1)), pick.draw(data((), dtype, 0, 100))


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul", "QLinearWhere"])
@examples
@given(broadcast_pair(3), st.sampled_from([np.uint8, np.int8]), st.data())
def test_quantised_pairs(op: str, pair: Any, dtype: Any, pick: Any) -> None:
    a, b = (quantised(pick, shape, dtype) for shape in pair)
    condition = [pick.draw(data(pair[0], bool))] if op == "QLinearWhere" else []
    contrib(op, *condition, *a, *b, *grain(pick, dtype), atol=1)


@examples
@given(shapes(1, 3), st.integers(1, 3), st.data())
def test_quantised_concat(shape: tuple[int, ...], parts: int, pick: Any) -> None:
    flat = [x for _ in range(parts) for x in quantised(pick, shape)]
    contrib("QLinearConcat", *grain(pick), *flat, axis=pick.draw(st.integers(0, len(shape) - 1)), atol=1)


@many
@given(FLAG, st.integers(1, 2), st.integers(1, 2), st.integers(1, 3), st.data())
def test_quantised_conv(last: int, group: int, inside: int, outside: int, pick: Any) -> None:
    attributes = pick.draw(window(2))
    x, x_scale, x_zero = quantised(pick, (1, group * inside, *pick.draw(spatial(2))))
    w = pick.draw(data((group * outside, inside, *attributes["kernel_shape"]), np.int8, *SEVEN_BITS))
    x = np.moveaxis(x, 1, -1).copy() if last else x
    contrib("QLinearConv", x, x_scale, x_zero, w, np.array(0.02, np.float32), np.array(0, np.int8),
            np.array(0.5, np.float32), np.array(90, np.uint8), group=group, channels_last=last, atol=1,
            constants=(3, 4, 5), **attributes)  # fmt: skip


@many
@given(FLAG, FLAG, st.data())
def test_pools_of_channels_last(ceil_mode: int, last: int, pick: Any) -> None:
    attributes = pick.draw(window(2))
    x, scale, zero = quantised(pick, (1, *pick.draw(spatial(2)), 3))
    contrib("NhwcMaxPool", x, ceil_mode=ceil_mode, **attributes)
    attributes.pop("dilations", None)
    x = x if last else np.moveaxis(x, -1, 1).copy()
    contrib("QLinearGlobalAveragePool", x, scale, zero, *grain(pick), channels_last=last, atol=1)
    contrib("QLinearAveragePool", x, scale, zero, *grain(pick), channels_last=last, ceil_mode=ceil_mode, atol=1,
            **attributes)  # fmt: skip


@examples
@given(SIZE, SIZE, st.integers(1, 40), st.data())
def test_quantised_products(m: int, n: int, k: int, pick: Any) -> None:
    a, a_scale, a_zero = quantised(pick, (m, k))
    b, (b_scale, b_zero) = pick.draw(data((k, n), np.int8, *SEVEN_BITS)), grain(pick, np.int8)
    b_zero = np.zeros_like(b_zero)
    bias = pick.draw(data((n,)))
    contrib("MatMulIntegerToFloat", a, b, a_scale, b_scale, a_zero, b_zero, bias, atol=1e-3)
    contrib("DynamicQuantizeMatMul", pick.draw(data((m, k))), b, b_scale, b_zero, bias, atol=1e-3)
    left, right = pick.draw(data((m, k), np.int16, -9000, 9000)), pick.draw(data((k, n), np.int16, -3000, 3000))
    contrib("MatMulInteger16", left, right)


@examples
@given(st.integers(1, 3), st.integers(2, 6), st.data())
def test_quantised_embedding(batch: int, steps: int, pick: Any) -> None:
    ids, segments = pick.draw(data((batch, steps), np.int32, 0, 8)), pick.draw(data((batch, steps), np.int32, 0, 1))
    tables = [quantised(pick, shape) for shape in ((9, 8), (steps, 8), (2, 8), (8,), (8,))]
    mask = pick.draw(data((batch, steps), np.int32, 0, 1))
    contrib("QEmbedLayerNormalization", ids, segments, *(t[0] for t in tables), mask, *(t[1] for t in tables),
            *(t[2] for t in tables), outputs=2, atol=1e-2)  # fmt: skip


@examples
@given(shapes(2, 3), st.data())
def test_tensors(shape: tuple[int, ...], pick: Any) -> None:
    x = pick.draw(data(shape))
    contrib("Trilu", x, np.array(pick.draw(st.integers(-3, 3))), upper=pick.draw(FLAG))
    contrib("ExpandDims", x, np.array(pick.draw(st.integers(-x.ndim - 1, x.ndim)), np.int32))
    widths = pick.draw(data((2 * x.ndim,), np.int64, 0, 1))
    contrib("Pad", x, widths, pick.draw(data((1,))), mode="constant")
    contrib("GatherND", x, pick.draw(indices((2, 1), shape[0])))
    contrib("Unique", pick.draw(data((6,), low=0, high=3)).round(), outputs=3)
    start, limit = pick.draw(data((), np.int64, -9, 9)), pick.draw(data((), np.int64, -9, 9))
    contrib("Range", *(np.array(n) for n in sorted((int(start), int(limit)))))
    square = pick.draw(data((2, 3, 3))) + 5 * np.eye(3, dtype=np.float32)
    contrib("Inverse", square)


@examples
@given(SIZE, SIZE, st.integers(1, 6), st.sampled_from(["euclidean", "sqeuclidean"]), st.sampled_from(FLOATS), st.data())
def test_distances(m: int, n: int, k: int, metric: str, dtype: Any, pick: Any) -> None:
    contrib("CDist", pick.draw(data((m, k), dtype)), pick.draw(data((n, k), dtype)), metric=metric, atol=2e-3)


@examples
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.data())
def test_conv_transpose_with_dynamic_pads(inside: int, outside: int, stride: int, pick: Any) -> None:
    x, w = pick.draw(data((1, inside, 4, 5))), pick.draw(data((inside, outside, 3, 3)))
    pads = pick.draw(data((4,), np.int64, 0, 1))
    contrib("ConvTransposeWithDynamicPads", x, w, pads, strides=[stride] * 2, kernel_shape=[3, 3])


@many
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.integers(1, 3), st.integers(0, 3), st.data())
def test_group_query_attention(batch: int, groups: int, times: int, steps: int, past: int, pick: Any) -> None:
    heads, depth, total = groups * times, 16, steps + past
    steps, total = (1, past + 1) if past else (steps, total)
    q = pick.draw(data((batch, steps, heads * depth), low=-1, high=1))
    k, v = (pick.draw(data((batch, steps, groups * depth), low=-1, high=1)) for _ in range(2))
    cache = [pick.draw(data((batch, groups, past, depth), low=-1, high=1)) if past else None for _ in range(2)]
    lengths = np.full(batch, total - 1, np.int32)
    if past and pick.draw(st.booleans()):
        lengths = pick.draw(data((batch,), np.int32, 0, total - 1))
        lengths[0] = total - 1
    attributes = optional(pick.draw, scale=st.sampled_from([0.1, 1.0]), softcap=st.sampled_from([1.0, 5.0]),
                          local_window_size=st.integers(1, 3), smooth_softmax=st.just(1))  # fmt: skip
    turning: list[np.ndarray | None] = [None, None]
    if pick.draw(st.booleans()):
        angles = np.outer(np.arange(8), 0.5 ** np.arange(depth // 2)).astype(np.float32)
        turning = [np.cos(angles), np.sin(angles)]
        attributes |= {"do_rotary": 1, "rotary_interleaved": pick.draw(FLAG)}
    sink = None
    if pick.draw(st.booleans()):
        attributes.pop("smooth_softmax", None)
        sink = pick.draw(data((heads,)))
    contrib("GroupQueryAttention", q, k, v, *cache, lengths, np.array([total], np.int32), *turning, None, None, sink,
            num_heads=heads, kv_num_heads=groups, outputs=3, **attributes)  # fmt: skip


@many
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 4), st.integers(1, 4), st.booleans(), st.data())
def test_multi_head_attention(batch: int, heads: int, queries: int, keys: int, biased: bool, pick: Any) -> None:
    width = heads * 8
    q = pick.draw(data((batch, queries, width)))
    k, v = (pick.draw(data((batch, keys, width))) for _ in range(2))
    bias = pick.draw(data((3 * width,))) if biased else None
    mask = pick.draw(data((batch, keys), np.int32, 0, 1)) if pick.draw(st.booleans()) else None
    contrib("MultiHeadAttention", q, k, v, bias, mask, num_heads=heads, **optional(pick.draw, scale=st.just(0.3)))


@many
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 4), FLAG, st.data())
def test_attention(batch: int, heads: int, steps: int, unidirectional: int, pick: Any) -> None:
    width = heads * 4
    x, weights = pick.draw(data((batch, steps, 5))), pick.draw(data((5, 3 * width), low=-1, high=1))
    mask = pick.draw(data((batch, steps), np.int32, 0, 1)) if pick.draw(st.booleans()) else None
    contrib("Attention", x, weights, pick.draw(data((3 * width,))), mask, num_heads=heads,
            unidirectional=unidirectional)  # fmt: skip


@examples
@given(st.integers(1, 2), st.integers(1, 3), st.integers(1, 4), FLAG, st.data())
def test_rotary_embedding(batch: int, heads: int, steps: int, interleaved: int, pick: Any) -> None:
    x = pick.draw(data((batch, steps, heads * 8)))
    cos, sin = (pick.draw(data((9, 4), low=-1, high=1)) for _ in range(2))
    places = pick.draw(data((batch, steps), np.int64, 0, 8))
    contrib("RotaryEmbedding", x, places, cos, sin, interleaved=interleaved)
