"""float16 and bfloat16: every operator computes in float32 and rounds its result once."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.engine.kernels.oracle import run

rng = np.random.default_rng(31)


def numbers(*shape: int) -> np.ndarray:
    return rng.uniform(0.2, 0.9, shape).astype(np.float32)


X, SQUARE, IMAGE, VECTOR = numbers(3, 40), numbers(40, 40), numbers(1, 2, 9, 9), numbers(40)
UNARY = [
    "Abs", "Neg", "Sqrt", "Exp", "Log", "Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan",
    "Sinh", "Cosh", "Asinh", "Atanh", "Tanh", "Reciprocal", "Erf", "Relu", "Sigmoid", "Softplus", "Softsign",
    "HardSwish", "HardSigmoid", "LeakyRelu", "Elu", "Selu", "ThresholdedRelu", "Mish", "Gelu", "Shrink",
]  # fmt: skip
CASES: list[tuple[str, list[np.ndarray], dict[str, Any]]] = [
    *((op, [X], {}) for op in UNARY),
    *((op, [X, X + 1], {}) for op in ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum", "PRelu")),
    *((f"Reduce{op}", [X], {}) for op in ("Sum", "Mean", "Prod", "Max", "L1", "L2", "LogSum", "LogSumExp")),
    *((op, [X], {}) for op in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")),
    ("MatMul", [X, SQUARE], {}), ("Gemm", [X, SQUARE, VECTOR], {"alpha": 0.3, "beta": 0.7}),
    ("Einsum", [X, SQUARE], {"equation": "ij,jk->ik"}), ("Conv", [IMAGE, numbers(4, 2, 3, 3), numbers(4)], {}),
    ("ConvTranspose", [IMAGE, numbers(2, 4, 3, 3)], {}), ("AveragePool", [IMAGE], {"kernel_shape": [3, 3]}),
    ("LpPool", [IMAGE], {"kernel_shape": [3, 3]}), ("GlobalAveragePool", [IMAGE], {}), ("LRN", [IMAGE], {"size": 3}),
    ("InstanceNormalization", [IMAGE, numbers(2), numbers(2)], {}),
    ("BatchNormalization", [IMAGE, *(numbers(2) for _ in range(4))], {}),
    ("MeanVarianceNormalization", [IMAGE], {}), ("Det", [SQUARE[:3, :3].copy()], {}),
    ("Resize", [IMAGE, None, np.array([1, 1, 2, 1.5], np.float32)], {"mode": "linear"}),
    ("GridSample", [IMAGE, numbers(1, 4, 4, 2)], {}),
    ("LSTM", [numbers(3, 2, 5), numbers(1, 16, 5), numbers(1, 16, 4)], {"hidden_size": 4}),
    ("GRU", [numbers(3, 2, 5), numbers(1, 12, 5), numbers(1, 12, 4)], {"hidden_size": 4}),
]  # fmt: skip


@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("op", "inputs", "attributes"), CASES, ids=[op for op, _, _ in CASES])
def test_rounds_once(op: str, inputs: list[Any], attributes: dict[str, Any], half: Any) -> None:
    scales = inputs[2] if op == "Resize" else None  # which are float32 in any case
    narrow = [x if x is None or x is scales else x.astype(half) for x in inputs]
    wide = [x if x is None or x is scales else x.astype(np.float32) for x in narrow]
    ours, exact = (run(op, *values, opset=22, **attributes) for values in (narrow, wide))
    assert ours.dtype == half
    np.testing.assert_array_equal(ours, exact.astype(half))


@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("op", "attributes"), [
    *((op, {}) for op in UNARY), ("LeakyRelu", {"alpha": 0.3}), ("Elu", {"alpha": 2.0}),
])  # fmt: skip
def test_every_value_there_is(op: str, attributes: dict[str, Any], half: Any) -> None:
    """So many elements are looked up in a table: each bit pattern, NaN and infinities too, gives the same as alone."""
    every = np.arange(1 << 16, dtype=np.uint16).view(half).reshape(2, -1)
    ours = run(op, every, opset=22, **attributes)
    few = [run(op, every[:, start : start + 512], opset=22, **attributes) for start in range(0, every.shape[1], 512)]
    assert ours.dtype == half
    np.testing.assert_array_equal(ours.astype(np.float32), np.concatenate(few, axis=1).astype(np.float32))


@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("bounds", [(-1, 2), (None, 2), (-1, None), (3, -3), (None, None)])
def test_clipping_every_value(bounds: tuple[float | None, float | None], half: Any) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(half)
    low, high = (None if bound is None else np.array(bound, half) for bound in bounds)
    exact = every.astype(np.float32)
    exact = exact if low is None else np.maximum(exact, np.float32(low))
    exact = exact if high is None else np.minimum(exact, np.float32(high))
    ours = run("Clip", every, low, high).astype(np.float32)
    np.testing.assert_array_equal(ours, exact)


@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16])
def test_normalisations_round_as_their_bodies_say(half: Any) -> None:
    """Statistics in float32, the standardised value rounded, then scaled and shifted in the type of the input."""
    x, scale, bias = (numbers(*shape).astype(half) for shape in ((4, 40), (40,), (40,)))
    real = x.astype(np.float32)
    centred = real - real.mean(1, keepdims=True)
    standard = centred / np.sqrt((centred * centred).mean(1, keepdims=True) + np.float32(1e-5))
    y = run("LayerNormalization", x, scale, bias)
    np.testing.assert_array_equal(y, standard.astype(half) * scale + bias)
    root = real / np.sqrt((real * real).mean(1, keepdims=True) + np.float32(1e-5))
    np.testing.assert_array_equal(run("RMSNormalization", x, scale), root.astype(half) * scale)


def test_four_bit_integers_wrap_in_casts_and_saturate_in_quantisation() -> None:
    x, one = np.array([-9, -8, 7, 8, 100], np.float32), np.array(1, np.float32)
    q = run("QuantizeLinear", x, one, np.array(0, ml_dtypes.int4))
    assert q.astype(int).tolist() == [-8, -8, 7, 7, 7]
    q = run("QuantizeLinear", x, one, np.array(3, ml_dtypes.uint4))
    assert q.astype(int).tolist() == [0, 0, 10, 11, 15]
    assert run("Cast", np.array([-9, 7, 8, 17], np.int32), to=22).astype(int).tolist() == [7, 7, -8, 1]


@pytest.mark.parametrize(("dtype", "greatest"), [
    (ml_dtypes.float8_e4m3fn, 448), (ml_dtypes.float8_e4m3fnuz, 240), (ml_dtypes.float8_e5m2, 57344),
    (ml_dtypes.float8_e5m2fnuz, 57344),
])  # fmt: skip
def test_float8_quantisation_saturates(dtype: Any, greatest: float) -> None:
    x = np.array([1e9, -1e9, 0.3, np.nan], np.float32)
    y = run("QuantizeLinear", x, np.array(1, np.float32), np.array(0, dtype)).astype(np.float32)
    np.testing.assert_array_equal(y, [greatest, -greatest, np.float32(0.3).astype(dtype).astype(np.float32), np.nan])
