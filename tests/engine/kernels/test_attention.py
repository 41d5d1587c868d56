"""Attention and its kin against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(27)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def same(*inputs: np.ndarray | None, op: str = "Attention", opset: int = 23, **options: object) -> None:
    check(op, *inputs, opset=opset, rtol=1e-4, atol=1e-5, **options)


def test_attention_by_hand() -> None:
    """Equal scores attend equally; the causal mask lets the first query see the first key alone."""
    q, v = np.zeros((1, 1, 2, 4), np.float32), np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    np.testing.assert_allclose(run("Attention", q, q, v)[0, 0], [[1, 2], [1, 2]])
    np.testing.assert_allclose(run("Attention", q, q, v, is_causal=1)[0, 0], [[0, 1], [1, 2]])


@pytest.mark.parametrize("causal", [0, 1])
def test_heads_groups_and_masks(causal: int) -> None:
    for heads, groups in [(4, 4), (4, 2), (4, 1)]:
        q, k, v = floats(2, heads, 5, 8), floats(2, groups, 6, 8), floats(2, groups, 6, 7)
        same(q, k, v, is_causal=causal, softcap=2.0)
        same(q, k, v, floats(5, 6), is_causal=causal)
        same(q, k, v, rng.random((2, 1, 5, 6)) > 0.2, scale=0.3)
    same(floats(2, 5, 32), floats(2, 6, 16), floats(2, 6, 16), q_num_heads=4, kv_num_heads=2, is_causal=causal)


def test_cache_and_scores() -> None:
    q, k, v = floats(1, 2, 3, 8), floats(1, 2, 3, 8), floats(1, 2, 3, 8)
    past = floats(1, 2, 4, 8), floats(1, 2, 4, 8)
    for mode in (0, 2, 3):
        same(q, k, v, None, *past, outputs=4, qk_matmul_output_mode=mode)


def test_a_row_that_may_see_nothing_is_zero() -> None:
    q, v = floats(1, 1, 2, 4), floats(1, 1, 2, 4)
    allowed = np.array([[True, False], [False, False]])
    y = run("Attention", q, q, v, allowed)
    np.testing.assert_allclose(y[0, 0], [v[0, 0, 0], np.zeros(4)], rtol=1e-6)


def test_windows_bound_what_is_seen() -> None:
    q, v = np.zeros((1, 1, 4, 2), np.float32), np.eye(4, dtype=np.float32)[None, None]
    y = run("Attention", q, q, v, left_window_size=1, right_window_size=0)
    np.testing.assert_allclose(y[0, 0], [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]])


def test_lengths_of_an_outer_cache() -> None:
    q, v = np.zeros((2, 1, 1, 2), np.float32), np.tile(np.eye(3, dtype=np.float32), (2, 1, 1, 1))
    y = run("Attention", q, np.zeros((2, 1, 3, 2), np.float32), v, None, None, None, np.array([1, 2]))
    np.testing.assert_allclose(y[:, 0, 0], [[1, 0, 0], [0.5, 0.5, 0]])


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved: int) -> None:
    cos, sin, places = floats(20, 4), floats(20, 4), rng.integers(0, 20, (2, 5))
    same(floats(2, 3, 5, 8), cos, sin, places, op="RotaryEmbedding", interleaved=interleaved)
    same(floats(2, 3, 5, 8), cos[places], sin[places], op="RotaryEmbedding", interleaved=interleaved)
    partial = {"num_heads": 3, "rotary_embedding_dim": 4, "interleaved": interleaved}
    same(floats(2, 5, 24), cos[:, :2], sin[:, :2], places, op="RotaryEmbedding", **partial)


def test_linear_attention_by_hand() -> None:
    """With keys and values of 1 the state counts the steps; a decay of log 1/2 halves it before each."""
    ones = np.ones((1, 3, 1), np.float32)
    options = {"q_num_heads": 1, "kv_num_heads": 1, "opset": 27, "outputs": 2}
    y, state = run("LinearAttention", ones, ones, ones, update_rule="linear", **options)
    np.testing.assert_allclose(y.reshape(-1), [1, 2, 3])
    assert float(state.reshape(-1)[0]) == 3
    halves = np.full((1, 3, 1), np.log(0.5), np.float32)
    y, _ = run("LinearAttention", ones, ones, ones, None, halves, update_rule="gated", **options)
    np.testing.assert_allclose(y.reshape(-1), [1, 1.5, 1.75], rtol=1e-6)
    y, _ = run("LinearAttention", ones, ones, ones, None, None, ones / 2, update_rule="delta", **options)
    np.testing.assert_allclose(y.reshape(-1), [0.5, 0.75, 0.875], rtol=1e-6)


def test_causal_convolution_continues_from_its_state() -> None:
    x, w, bias = floats(2, 3, 9), floats(3, 1, 4), floats(3)
    options = {"opset": 27, "outputs": 2, "activation": "silu"}
    whole, last = run("CausalConvWithState", x, w, bias, **options)
    first, state = run("CausalConvWithState", x[:, :, :5], w, bias, **options)
    second, end = run("CausalConvWithState", x[:, :, 5:], w, bias, state, **options)
    np.testing.assert_allclose(np.concatenate([first, second], 2), whole, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(end, last)
    np.testing.assert_array_equal(last, x[:, :, 6:])


MASKS = [
    None,
    np.array([3, 5], np.int32),
    np.array([5, 5, 1, 2], np.int32),
    np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32),
    rng.integers(0, 2, (2, 5, 5)).astype(np.int32),
]


def contrib(op: str, *inputs: np.ndarray | None, **options: object) -> None:
    check(op, *inputs, domain="com.microsoft", opset=17, rtol=1e-4, atol=1e-5, **options)


@pytest.mark.parametrize(("mask", "unidirectional"), list(itertools.product(MASKS, [0, 1])), ids=str)
def test_contrib_attention_masks(mask: np.ndarray | None, unidirectional: int) -> None:
    inputs = [floats(2, 5, 8), floats(8, 24), floats(24)] + ([] if mask is None else [mask])
    contrib("Attention", *inputs, num_heads=2, unidirectional=unidirectional)


def test_contrib_attention_with_a_cache_and_unequal_sizes() -> None:
    past = floats(2, 2, 2, 3, 4)
    inputs = [floats(2, 5, 8), floats(8, 24), floats(24), None, past]
    contrib("Attention", *inputs, outputs=2, num_heads=2, unidirectional=1)
    contrib("Attention", floats(2, 5, 8), floats(8, 28), floats(28), num_heads=2, qkv_hidden_sizes=[8, 8, 12])


def test_contrib_multi_head_attention() -> None:
    contrib("MultiHeadAttention", floats(2, 5, 8), floats(2, 6, 8), floats(2, 6, 12), floats(28), num_heads=2)
    padding = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    contrib("MultiHeadAttention", floats(2, 5, 8), floats(2, 5, 8), floats(2, 5, 8), None, padding, num_heads=2)
    past = floats(2, 2, 3, 4), floats(2, 2, 3, 4)
    contrib(
        "MultiHeadAttention", floats(2, 5, 8), floats(2, 5, 8), floats(2, 5, 8), None, None, floats(1, 2, 5, 8), *past,
        outputs=3, num_heads=2, unidirectional=1,
    )  # fmt: skip


@pytest.mark.parametrize("rotary", [0, 1])
def test_contrib_group_query_attention(rotary: int) -> None:
    caches = [floats(20, 8), floats(20, 8)] if rotary else []
    options = {"outputs": 3, "num_heads": 4, "kv_num_heads": 2, "do_rotary": rotary}
    first = [np.array([4, 4], np.int32), np.array(5, np.int32)]
    fresh = [floats(2, 5, 64), floats(2, 5, 32), floats(2, 5, 32), None, None]
    contrib("GroupQueryAttention", *fresh, *first, *caches, **options)
    past = [floats(2, 2, 6, 16), floats(2, 2, 6, 16)]
    then = [np.array([6, 6], np.int32), np.array(7, np.int32)]
    contrib(
        "GroupQueryAttention", floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32), *past, *then, *caches,
        local_window_size=4, **options,
    )  # fmt: skip


@pytest.mark.parametrize("interleaved", [0, 1])
def test_contrib_rotary_embedding(interleaved: int) -> None:
    cos, sin = floats(20, 4), floats(20, 4)
    contrib("RotaryEmbedding", floats(2, 5, 16), np.array([2]), cos, sin, interleaved=interleaved)
    contrib("RotaryEmbedding", floats(2, 3, 5, 8), rng.integers(0, 20, (2, 5)), cos, sin, interleaved=interleaved)
