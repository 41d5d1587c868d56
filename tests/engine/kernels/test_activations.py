"""Activations and softmax."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

X = np.array([[-100, -3, -1, -0.5, 0, 0.5, 1, 3, 100, np.inf, -np.inf, np.nan]], np.float32)

CASES = [
    ("Relu", {}, lambda v: max(v, 0)),
    ("LeakyRelu", {"alpha": 0.1}, lambda v: v if v > 0 else 0.1 * v),
    ("LeakyRelu", {"alpha": 2.0}, lambda v: v if v > 0 else 2 * v),
    ("Sigmoid", {}, lambda v: 1 / (1 + math.exp(-v))),
    ("Tanh", {}, math.tanh),
    ("HardSigmoid", {"alpha": 0.5, "beta": 0.6}, lambda v: min(max(0.5 * v + 0.6, 0), 1)),
    ("HardSwish", {}, lambda v: v * min(max(v / 6 + 0.5, 0), 1)),
    ("Elu", {"alpha": 2.0}, lambda v: v if v > 0 else 2 * math.expm1(v)),
    ("Selu", {}, lambda v: 1.05070098 * (v if v > 0 else 1.67326324 * math.expm1(v))),
    ("Celu", {"alpha": 2.0}, lambda v: max(v, 0) + min(2 * math.expm1(v / 2), 0)),
    ("Softplus", {}, lambda v: max(v, 0) + math.log1p(math.exp(-abs(v)))),
    ("Softsign", {}, lambda v: v / (1 + abs(v))),
    ("ThresholdedRelu", {"alpha": 0.7}, lambda v: v if v > 0.7 else 0),
    ("Shrink", {"lambd": 0.7, "bias": 0.2}, lambda v: v + 0.2 if v < -0.7 else v - 0.2 if v > 0.7 else 0),
    ("Gelu", {}, lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2)))),
    ("Gelu", {"approximate": "tanh"}, lambda v: v * (1 + math.tanh(0.7978845608 * (v + 0.044715 * v**3))) / 2),
    ("Mish", {}, lambda v: v * math.tanh(math.log1p(math.exp(v)))),
    ("Swish", {"alpha": 0.5}, lambda v: v / (1 + math.exp(-0.5 * v))),
]


@pytest.mark.parametrize(("op", "attributes", "by_hand"), CASES, ids=[f"{c[0]}{c[1]}" for c in CASES])
def test_activation(op: str, attributes: dict, by_hand) -> None:
    finite = X[:, :9]
    out = run(op, finite, **attributes)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out[0], [by_hand(v) for v in finite[0].tolist()], rtol=2e-6, atol=3e-7)
    assert np.isnan(run(op, X, **attributes)[0, -1]) or op in ("ThresholdedRelu", "Shrink")
    for half in (np.float16, ml_dtypes.bfloat16):
        rounded = run(op, finite.astype(half), **attributes)
        assert rounded.dtype == half
        wide = run(op, finite.astype(half).astype(np.float32), **attributes)
        np.testing.assert_array_equal(rounded, wide.astype(half))


@pytest.mark.parametrize(
    "op", ["Relu", "LeakyRelu", "Sigmoid", "HardSigmoid", "Elu", "Selu", "Celu", "Softplus", "Mish"]
)
def test_activation_agrees_with_onnx_runtime(op: str) -> None:
    x = np.random.default_rng(0).normal(scale=4, size=(3, 50)).astype(np.float32)
    check(op, x, opset=18, rtol=2e-6, atol=2e-6)


def test_clip_by_inputs_and_by_attributes() -> None:
    x = np.array([-5, 0, 5, np.nan], np.float32)
    low, high = np.array(-1, np.float32), np.array(2, np.float32)
    assert check("Clip", x, low, high).tolist()[:3] == [-1, 0, 2]
    assert check("Clip", x, None, high).tolist()[:3] == [-5, 0, 2]
    assert check("Clip", x, high, low, opset=13).tolist()[:3] == [-1, -1, -1]
    assert check("Clip", x, opset=6, min=-1.0).tolist()[:3] == [-1, 0, 5]
    assert run("Clip", x.astype(ml_dtypes.bfloat16), low.astype(ml_dtypes.bfloat16)).tolist()[:3] == [-1, 0, 5]
    assert check("Clip", np.array([-5, 5], np.int8), np.array(0, np.int8)).tolist() == [0, 5]
    assert run("Clip", np.array(5.0, np.float32), np.array([0.0], np.float32), np.array([2.0], np.float32)).shape == ()


def test_prelu_slope_before_opset_7_is_per_channel() -> None:
    x = -np.ones((1, 2, 3), np.float32)
    slope = np.array([2, 3], np.float32)
    assert run("PRelu", x, slope, opset=6)[0, :, 0].tolist() == [-2, -3]
    assert check("PRelu", x, slope.reshape(2, 1), opset=9)[0, :, 0].tolist() == [-2, -3]


def test_selu_version_1_has_shorter_constants() -> None:
    assert run("Selu", np.array([1], np.float32), opset=5)[0] == np.float32(1.0507)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize(("opset", "axis"), [(11, None), (11, 0), (11, 2), (11, -1), (13, None), (13, 0), (13, 1)])
def test_softmax_family(op: str, opset: int, axis: int | None) -> None:
    x = np.random.default_rng(2).normal(size=(2, 3, 4)).astype(np.float32)
    check(op, x, opset=opset, rtol=2e-6, atol=1e-6, **({} if axis is None else {"axis": axis}))


def test_softmax_flattens_before_opset_13() -> None:
    out = run("Softmax", np.zeros((2, 3, 2), np.float32), opset=11)
    np.testing.assert_allclose(out, 1 / 6, rtol=1e-6)
    np.testing.assert_allclose(run("Softmax", np.zeros((2, 3, 2), np.float32), opset=13), 1 / 2)


def test_softmax_large_enough_to_share() -> None:
    """By rows in pieces, to the last bit as one row alone."""
    x = np.random.default_rng(3).standard_normal((3, 257, 130), dtype=np.float32)
    whole = check("Softmax", x)
    for row in ((0, 0), (1, 256), (2, 128)):
        np.testing.assert_array_equal(run("Softmax", x[row][None])[0], whole[row])


def test_softmax_of_large_and_of_no_values() -> None:
    assert run("Softmax", np.array([[1000, 1000]], np.float32)).tolist() == [[0.5, 0.5]]
    assert run("Softmax", np.array([[-np.inf, 0]], np.float32)).tolist() == [[0, 1]]
    assert run("Softmax", np.zeros((5, 0), np.float32)).shape == (5, 0)


def test_hardmax_marks_the_first_of_equals() -> None:
    assert run("Hardmax", np.array([[1, 3, 3]], np.float32)).tolist() == [[0, 1, 0]]
