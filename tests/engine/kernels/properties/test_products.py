"""Matrix products, normalisations, recurrences and attention over random sizes."""

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
    axis_of,
    broadcast_pair,
    data,
    examples,
    many,
    optional,
    shapes,
)

SIZE = st.integers(1, 5)
FLAG = st.integers(0, 1)
NUMBER = st.sampled_from([0.0, 0.5, 1.0, -2.0])


@many
@given(broadcast_pair(2), SIZE, SIZE, SIZE, st.sampled_from([*FLOATS, np.int32, np.int64, np.float16]), st.data())
def test_matmul(batch: Any, m: int, k: int, n: int, dtype: Any, pick: Any) -> None:
    left = pick.draw(st.sampled_from([(*batch[0], m, k), (k,)]))
    right = pick.draw(st.sampled_from([(*batch[1], k, n), (k,)]))
    agree("MatMul", pick.draw(data(left, dtype)), pick.draw(data(right, dtype)), atol=1e-4)


@examples
@given(SIZE, SIZE, SIZE, FLAG, FLAG, NUMBER, NUMBER, st.data())
def test_gemm(m: int, k: int, n: int, left: int, right: int, alpha: float, beta: float, pick: Any) -> None:
    a = pick.draw(data((k, m) if left else (m, k)))
    b = pick.draw(data((n, k) if right else (k, n)))
    shape = pick.draw(st.sampled_from([(m, n), (n,), (1, n), (m, 1), (1,), (), None]))
    c = None if shape is None else pick.draw(data(shape))
    agree("Gemm", a, b, c, transA=left, transB=right, alpha=alpha, beta=beta, atol=1e-4)


@examples
@given(SIZE, st.integers(1, 40), SIZE, st.sampled_from([np.uint8, np.int8]), st.sampled_from([np.uint8, np.int8]),
       st.data())  # fmt: skip
def test_integer_products(m: int, k: int, n: int, left: Any, right: Any, pick: Any) -> None:
    a = pick.draw(data((m, k), left, -128, 255 if left is np.uint8 else 127))
    b = pick.draw(data((k, n), right, *(SEVEN_BITS if (left, right) == (np.uint8, np.int8) else (-128, 127))))
    a_zero, b_zero = pick.draw(data((), left, -5, 5)), pick.draw(data((), right, -5, 5))
    agree("MatMulInteger", a, b, a_zero, b_zero)
    scales = [pick.draw(data((), low=0.01, high=0.1)) for _ in range(2)]
    y_scale, y_zero = pick.draw(data((), low=1, high=3)), pick.draw(data((), left, 0, 100))
    agree("QLinearMatMul", a, scales[0], a_zero, b, scales[1], b_zero, y_scale, y_zero, atol=1)


@pytest.mark.parametrize("equation", [
    "ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->", "ii->i", "i,j->ij", "...ij,...jk->...ik", "bhqd,bhkd->bhqk",
    "ij,jk", "i,i->", "ijk->kj",
])  # fmt: skip
@examples
@given(st.data())
def test_einsum(equation: str, pick: Any) -> None:
    sizes = dict(zip("ijkbhqd", (2, 3, 4, 2, 3, 2, 5)))
    terms = equation.split("->")[0].split(",")
    inputs = [pick.draw(data([sizes[c] for c in term.replace("...", "b")])) for term in terms]
    agree("Einsum", *inputs, equation=equation, atol=1e-4)


@examples
@given(shapes(1, 4), st.floats(1e-6, 0.1), st.data())
def test_layer_normalization(shape: tuple[int, ...], epsilon: float, pick: Any) -> None:
    axis = pick.draw(axis_of(len(shape)))
    x, tail = pick.draw(data(shape)), shape[axis % len(shape) :]
    bias = pick.draw(data(tail)) if pick.draw(st.booleans()) else None
    agree("LayerNormalization", x, pick.draw(data(tail)), bias, axis=axis, epsilon=epsilon, outputs=3, rtol=1e-3,
          atol=1e-3)  # fmt: skip
    agree("RMSNormalization", x, pick.draw(data(tail)), axis=axis, epsilon=epsilon, rtol=1e-4, atol=1e-4)


@examples
@given(st.integers(1, 2), st.integers(1, 3), st.integers(1, 2), shapes(1, 3, 2), st.data())
def test_normalization_by_channel(batch: int, groups: int, each: int, space: tuple[int, ...], pick: Any) -> None:
    channels = groups * each
    x = pick.draw(data((batch, channels, *space)))
    scale, bias, mean = (pick.draw(data((channels,))) for _ in range(3))
    variance = pick.draw(data((channels,), low=0.1))
    loose = {"rtol": 1e-3, "atol": 1e-3}
    agree("BatchNormalization", x, scale, bias, mean, variance, epsilon=1e-3, opset=15, **loose)
    agree("InstanceNormalization", x, scale, bias, epsilon=0.1, **loose)
    agree("GroupNormalization", x, scale, bias, epsilon=0.1, num_groups=groups, opset=21, **loose)
    if x.ndim == 4:
        agree("LRN", x, size=pick.draw(st.sampled_from([1, 3, 5])), alpha=0.5, beta=0.75, bias=1.5, **loose)
    agree("LpNormalization", x, axis=pick.draw(axis_of(x.ndim)), p=pick.draw(st.sampled_from([1, 2])), **loose)


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
SQUASHING = st.sampled_from(["Sigmoid", "Tanh", "Relu", "Softsign", "HardSigmoid"])


@pytest.mark.parametrize("op", GATES)
@many
@given(st.sampled_from(["forward", "reverse", "bidirectional"]), SIZE, st.integers(1, 3), SIZE, SIZE, st.data())
def test_recurrence(op: str, direction: str, steps: int, batch: int, width: int, hidden: int, pick: Any) -> None:
    both, gates = 1 + (direction == "bidirectional"), GATES[op]
    x = pick.draw(data((steps, batch, width), low=-1, high=1))
    w, r = (pick.draw(data((both, gates * hidden, n), low=-1, high=1)) for n in (width, hidden))
    b = pick.draw(data((both, 2 * gates * hidden), low=-1, high=1)) if pick.draw(st.booleans()) else None
    lengths = pick.draw(data((batch,), np.int32, 1, steps)) if pick.draw(st.booleans()) else None
    start = pick.draw(data((both, batch, hidden))) if pick.draw(st.booleans()) else None
    more: list[np.ndarray | None] = []
    attributes = optional(pick.draw, clip=st.sampled_from([0.5, 3.0]))
    if op == "GRU":
        attributes["linear_before_reset"] = pick.draw(FLAG)
    if op == "LSTM":
        more = [pick.draw(data((both, batch, hidden))) if start is not None else None,
                pick.draw(data((both, 3 * hidden), low=-1, high=1)) if pick.draw(st.booleans()) else None]  # fmt: skip
        attributes["input_forget"] = pick.draw(FLAG)
    if pick.draw(st.booleans()):
        attributes["activations"] = [pick.draw(SQUASHING) for _ in range(both * {"RNN": 1, "GRU": 2, "LSTM": 3}[op])]
    agree(op, x, w, r, b, lengths, start, *more, direction=direction, hidden_size=hidden,
          outputs=3 if op == "LSTM" else 2, opset=14, atol=1e-4, **attributes)  # fmt: skip


@many
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.integers(1, 4), st.integers(1, 5), st.data())
def test_attention(batch: int, groups: int, times: int, queries: int, keys: int, pick: Any) -> None:
    heads, depth = groups * times, 4
    q = pick.draw(data((batch, heads, queries, depth)))
    k, v = pick.draw(data((batch, groups, keys, depth))), pick.draw(data((batch, groups, keys, 3)))
    mask = pick.draw(data((queries, keys))) if pick.draw(st.booleans()) else None
    causal = pick.draw(FLAG) if queries <= keys else 0
    attributes = optional(pick.draw, scale=st.sampled_from([0.1, 1.0]), softcap=st.sampled_from([1.0, 5.0]))
    agree("Attention", q, k, v, mask, is_causal=causal, opset=23, rtol=1e-4, atol=1e-5, **attributes)
