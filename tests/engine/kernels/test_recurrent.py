"""RNN, GRU and LSTM against ONNX Runtime, and layout 1 (which it lacks) against layout 0."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(25)
STEPS, BATCH, WIDTH, HIDDEN = 7, 3, 4, 5
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def inputs_of(
    op: str, directions: int, *, bias: bool = True, state: bool = True, lengths: bool = False, peepholes: bool = False
) -> list[np.ndarray | None]:
    gates = GATES[op] * HIDDEN
    inputs: list[np.ndarray | None] = [
        floats(STEPS, BATCH, WIDTH), floats(directions, gates, WIDTH), floats(directions, gates, HIDDEN),
        floats(directions, 2 * gates) if bias else None,
        np.array([7, 3, 5], np.int32) if lengths else None,
        floats(directions, BATCH, HIDDEN) if state else None,
    ]  # fmt: skip
    if op == "LSTM":
        inputs.append(floats(directions, BATCH, HIDDEN) if state else None)
        inputs.append(floats(directions, 3 * HIDDEN) if peepholes else None)
    while inputs[-1] is None:
        inputs.pop()
    return inputs


def same(op: str, inputs: list[np.ndarray | None], **options: Any) -> None:
    outputs = 3 if op == "LSTM" else 2
    check(op, *inputs, outputs=outputs, hidden_size=HIDDEN, opset=14, rtol=1e-4, atol=1e-5, **options)


@pytest.mark.parametrize("op", list(GATES))
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_directions_lengths_and_optional_inputs(op: str, direction: str) -> None:
    directions = 2 if direction == "bidirectional" else 1
    for bias, state, lengths in itertools.product([False, True], repeat=3):
        same(op, inputs_of(op, directions, bias=bias, state=state, lengths=lengths), direction=direction)


@pytest.mark.parametrize("op", list(GATES))
def test_clip_and_activations(op: str) -> None:
    same(op, inputs_of(op, 1), clip=0.5)
    names = ["HardSigmoid", "ScaledTanh", "LeakyRelu"][: ACTIVATIONS[op]]
    alphas, betas = [0.3, 0.7, 0.05][: len(names)], [0.4, 0.8][: min(len(names), 2)]
    same(op, inputs_of(op, 1), activations=names, activation_alpha=alphas, activation_beta=betas)
    for name, takes in {"Relu": 0, "Affine": 2, "Elu": 1, "Softsign": 0, "Softplus": 0, "ThresholdedRelu": 1}.items():
        scales: dict[str, list[float]] = {}
        if takes:
            scales["activation_alpha"] = [0.8] * len(names)
        if takes == 2:
            scales["activation_beta"] = [0.1] * len(names)
        same(op, inputs_of(op, 1), activations=[name] * len(names), clip=1.0, **scales)


def test_lstm_peepholes_and_coupled_gates() -> None:
    for peepholes, coupled in itertools.product([False, True], [0, 1]):
        same("LSTM", inputs_of("LSTM", 2, peepholes=peepholes), direction="bidirectional", input_forget=coupled)


def test_gru_linear_before_reset() -> None:
    same("GRU", inputs_of("GRU", 2, lengths=True), direction="bidirectional", linear_before_reset=1)


@pytest.mark.parametrize("op", list(GATES))
def test_layout_1_swaps_batch_and_time(op: str) -> None:
    inputs = inputs_of(op, 2, lengths=True)
    options: dict[str, Any] = {"hidden_size": HIDDEN, "direction": "bidirectional", "outputs": 3 if op == "LSTM" else 2}
    usual = run(op, *inputs, opset=14, **options)
    swapped = [
        x.swapaxes(0, 1) if slot in (0, 5, 6) and x is not None else x for slot, x in enumerate(inputs)
    ]  # fmt: skip
    y, *states = run(op, *swapped, opset=14, layout=1, **options)
    np.testing.assert_allclose(y, usual[0].transpose(2, 0, 1, 3), rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(states, usual[1:]):
        np.testing.assert_allclose(ours, theirs.swapaxes(0, 1), rtol=1e-5, atol=1e-6)


def test_rnn_by_hand() -> None:
    one = np.ones((1, 1, 1), np.float32)
    x = np.array([[[1.0]], [[2.0]]], np.float32)
    y, last = run("RNN", x, one, one, activations=["Relu"], hidden_size=1, outputs=2)
    np.testing.assert_array_equal(y.reshape(-1), [1, 3])
    assert float(last[0, 0, 0]) == 3


def test_states_in_float16_are_rounded_once() -> None:
    inputs = [None if x is None else x.astype(np.float16) for x in inputs_of("LSTM", 1)]
    y = run("LSTM", *inputs, hidden_size=HIDDEN, opset=22, outputs=3)[0]
    wide = [None if x is None else x.astype(np.float32) for x in inputs]
    exact = run("LSTM", *wide, hidden_size=HIDDEN, outputs=3)[0]
    np.testing.assert_array_equal(y, exact.astype(np.float16))


def test_an_unknown_activation_is_named() -> None:
    with pytest.raises(Exception, match="Swoosh"):
        run("RNN", *inputs_of("RNN", 1), hidden_size=HIDDEN, activations=["Swoosh"], outputs=2)
