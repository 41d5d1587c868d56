"""Arithmetic: values by hand, then ONNX Runtime."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

BF16 = ml_dtypes.bfloat16


def test_integer_division_truncates_toward_zero() -> None:
    a = np.array([8, -8, 7, -7, 777777777, -1999999999], np.int64)
    b = np.array([-3, 3, -2, 2, 11, 11], np.int64)
    assert check("Div", a, b).tolist() == [-2, -2, -3, -3, 70707070, -181818181]


def test_division_of_unsigned_and_float() -> None:
    assert check("Div", np.array([250], np.uint8), np.array([7], np.uint8)).tolist() == [35]
    assert check("Div", np.array([1, -1, 0], np.float32), np.zeros(3, np.float32)).tolist()[:2] == [math.inf, -math.inf]


@pytest.mark.parametrize(("fmod", "expected"), [(0, [-1, 1, -1, 1]), (1, [2, -2, 1, -1])])
def test_mod_takes_the_sign_of_divisor_or_dividend(fmod: int, expected: list[int]) -> None:
    a, b = np.array([8, -8, 7, -7], np.int64), np.array([-3, 3, -2, 2], np.int64)
    assert check("Mod", a, b, fmod=fmod, opset=13).tolist() == expected


def test_integers_wrap() -> None:
    assert check("Add", np.array([2**31 - 1], np.int32), np.array([1], np.int32)).tolist() == [-(2**31)]
    assert run("Add", np.array([250], np.uint8), np.array([10], np.uint8)).tolist() == [4]


def test_power_keeps_the_dtype_of_the_base() -> None:
    assert check("Pow", np.array([3, 2], np.int32), np.array([1, 10], np.int32)).tolist() == [3, 1024]
    root = run("Pow", np.array([4, 9], np.int32), np.array([0.5], np.float32))
    assert root.dtype == np.int32
    assert root.tolist() == [2, 3]
    assert run("Pow", np.array([1, -1, -1, 2], np.int64), np.array([-3, -3, -2, -1], np.int64)).tolist() == [
        1,
        -1,
        1,
        0,
    ]


@pytest.mark.parametrize("exponent", [0.5, 1, 2, 3, -1, 1.7])
def test_power_by_one_number(exponent: float) -> None:
    x = np.linspace(0.1, 9, 50, dtype=np.float32).reshape(5, 10)
    check("Pow", x, np.array(exponent, np.float32), rtol=5e-7)
    assert run("Pow", x, np.full((1, 1, 1), exponent, np.float32)).shape == (1, 5, 10)


@pytest.mark.parametrize("axis", [1, None])
def test_broadcast_attribute_aligns_from_an_axis(axis: int | None) -> None:
    a = np.zeros((2, 3, 4), np.float32)
    b = np.arange(3 if axis == 1 else 4, dtype=np.float32)
    options = {} if axis is None else {"axis": axis}
    out = run("Add", a, b, opset=6, broadcast=1, **options)
    wanted = b[:, None] if axis == 1 else b
    np.testing.assert_array_equal(out, np.broadcast_to(wanted, a.shape))


@pytest.mark.parametrize("op", ["Sum", "Max", "Min", "Mean"])
def test_variadic(op: str) -> None:
    inputs = [np.array([[1, 5, np.nan]], np.float32), np.array([[4], [2]], np.float32), np.array(3, np.float32)]
    out = check(op, *inputs)
    assert out.shape == (2, 3)
    assert np.isnan(out[0, 2])
    by_hand = {"Sum": 8, "Max": 4, "Min": 1, "Mean": 8 / 3}
    assert out[0, 0] == pytest.approx(by_hand[op])
    assert check(op, inputs[0]).tolist()[0][:2] == [1, 5]


def test_half_sums_are_rounded_once() -> None:
    # 2048 + 1 rounds back to 2048 in float16 twice; the sum of all three is 2050.
    parts = [np.array([v], np.float16) for v in (2048, 1, 1)]
    assert run("Sum", *parts)[0] == 2050
    assert run("Add", np.array([1], BF16), np.array([2**-9], BF16)).dtype == BF16


def test_half_products_overflow_to_infinity() -> None:
    a = np.array([60000], np.float16)
    assert run("Add", a, a).tolist() == [math.inf]
    assert math.isnan(run("Sub", run("Add", a, a), run("Add", a, a))[0])


UNARY = {
    "Abs": -2.5, "Neg": 2.5, "Sqrt": 2.0, "Exp": 1.5, "Log": 2.0, "Floor": -1.5, "Ceil": -1.5, "Round": 2.5, "Sign": -3,
    "Sin": 1, "Cos": 1, "Tan": 1, "Asin": 0.5, "Acos": 0.5, "Atan": 2, "Sinh": 1, "Cosh": 1, "Asinh": 2, "Acosh": 2,
    "Atanh": 0.5, "Tanh": 0.3, "Reciprocal": 4, "Erf": 0.7,
}  # fmt: skip
BY_HAND = {
    "Round": lambda v: 2.0, "Sign": lambda v: -1.0, "Reciprocal": lambda v: 0.25, "Abs": abs, "Neg": lambda v: -v,
}  # fmt: skip
MATH = {"Asin": "asin", "Acos": "acos", "Atan": "atan", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh"}


@pytest.mark.parametrize("op", UNARY)
def test_unary(op: str) -> None:
    value = UNARY[op]
    by_hand = BY_HAND.get(op) or getattr(math, MATH.get(op, op.lower()))
    out = check(op, np.array([[value]], np.float32), rtol=1e-6)
    assert out.item() == pytest.approx(by_hand(value), rel=1e-6)


def test_round_goes_to_even() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float32)
    assert check("Round", x).tolist() == [0, 2, 2, 0, -2]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 4.1e-7), (np.float64, 3e-16)])
def test_erf_is_accurate_everywhere(dtype: type, tolerance: float) -> None:
    x = np.concatenate((np.linspace(-7, 7, 20011), 10.0 ** -np.arange(1, 30), [0, np.inf, -np.inf])).astype(dtype)
    out = run("Erf", x)
    assert out.dtype == dtype
    wanted = np.array([math.erf(v) for v in x.tolist()])
    assert np.abs(out - wanted).max() <= tolerance
    small = np.abs(x) > 0
    assert np.abs(out[small] / wanted[small] - 1).max() <= 4 * np.finfo(dtype).eps
    assert np.isnan(run("Erf", np.array([np.nan], dtype))[0])


def test_large_arrays_give_what_small_ones_do() -> None:
    x = np.random.default_rng(1).normal(size=(7, 5003)).astype(np.float32)
    whole = run("Erf", x.T)  # not contiguous, several blocks
    np.testing.assert_array_equal(whole, np.concatenate([run("Erf", row[:, None]) for row in x], axis=1))


def test_inputs_are_never_changed() -> None:
    x = np.array([[-1, 2, -3]], np.float32)
    x.flags.writeable = False
    for op in (
        "Abs",
        "Neg",
        "Relu",
        "Sigmoid",
        "Erf",
        "Softmax",
        "LogSoftmax",
        "Gelu",
        "HardSwish",
        "Softplus",
        "Mish",
    ):
        run(op, x)
