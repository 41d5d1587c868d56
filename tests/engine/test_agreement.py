"""How values are held together: tolerance by dtype, non-finite values, containers, and figures worked out by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from engine.agreement import Agreement, compare_values


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_figures_worked_out_by_hand() -> None:
    result = compare_values(f32(3, 4), f32(4, 4))
    assert not result.agrees
    assert result.max_abs == 1
    assert result.max_rel == 0.25
    assert result.cosine == pytest.approx(28 / np.sqrt(25 * 32))
    assert result.mismatched == 1
    assert result.worst == (0,)
    assert result.reason == "1 of 2 elements differ by more than the tolerance"
    # the typical magnitude is 4, so an element may be off by 1e-4 · (|expected| + 4)
    assert result.tolerance.rtol == 1e-4
    assert result.tolerance.atol == pytest.approx(4e-4)


@pytest.mark.parametrize(
    ("off", "dtype", "agrees"),
    [(1e-5, np.float32, True), (1e-2, np.float32, False), (1e-3, np.float16, True), (0.1, np.float16, False),
     (1e-12, np.float64, True), (1e-7, np.float64, False), (1e-2, ml_dtypes.bfloat16, True)],
)  # fmt: skip
def test_tolerance_by_dtype(off: float, dtype: type, agrees: bool) -> None:
    expected = np.linspace(1, 2, 50)
    assert compare_values((expected * (1 + off)).astype(dtype), expected.astype(dtype)).agrees is agrees


def test_noise_where_values_cancel_is_not_a_divergence() -> None:
    expected = np.linspace(-1, 1, 201).astype(np.float32)
    assert compare_values(expected + np.float32(1e-6), expected).agrees


def test_an_attention_mask_excuses_nothing() -> None:
    expected = f32(0.5, 0.25, -1, 2, -3.4e38, -3.4e38)
    off = expected.copy()
    off[0] += 0.01
    assert not compare_values(off, expected).agrees


def test_relu_zeros_do_not_tighten_the_tolerance() -> None:
    expected = np.zeros(100, np.float32)
    expected[:10] = 5
    actual = expected.copy()
    actual[50] = 1e-6
    assert compare_values(actual, expected).agrees


@pytest.mark.parametrize(
    ("actual", "expected", "reason"),
    [
        (f32(np.nan, 1), f32(np.nan, 1), ""),
        (f32(np.inf, -np.inf), f32(np.inf, -np.inf), ""),
        (f32(np.inf), f32(-np.inf), "inf at [0] where -inf is expected"),
        (f32(1, np.nan), f32(1, 2), "nan at [1] where 2 is expected"),
        (f32(1, 2), f32(1, np.inf), "2 at [1] where inf is expected"),
    ],
)
def test_non_finite(actual: np.ndarray, expected: np.ndarray, reason: str) -> None:
    result = compare_values(actual, expected)
    assert result.agrees == (not reason)
    assert result.reason == reason
    assert result.max_abs == 0


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([2**60]), np.array([2**60 + 1])),  # float64 cannot tell these apart
        (np.array([True]), np.array([False])),
        (np.array(["a", "b"], object), np.array(["a", "c"], object)),
        (np.array([1], ml_dtypes.int4), np.array([2], ml_dtypes.int4)),
    ],
)
def test_exact_dtypes(actual: np.ndarray, expected: np.ndarray) -> None:
    assert compare_values(expected, expected).agrees
    result = compare_values(actual, expected)
    assert not result.agrees
    assert result.mismatched == 1


@pytest.mark.parametrize(
    ("actual", "expected", "reason"),
    [
        (f32(1), np.array([1]), "dtype float32 where int64 is expected"),
        (f32(1), f32(1, 2), "shape [1] where [2] is expected"),
        (None, f32(1), "one of them is absent"),
        ([f32(1)], f32(1), "one is a sequence or map and the other is not"),
        ([f32(1)], [f32(1), f32(2)], "1 elements where 2 are expected"),
        ({"a": 1.0}, {"b": 1.0}, "their keys differ"),
        ([f32(1), f32(9)], [f32(1), f32(2)], "1 of 1 elements differ by more than the tolerance"),
    ],
)
def test_values_that_cannot_be_held_together(actual: object, expected: object, reason: str) -> None:
    result = compare_values(actual, expected)
    assert not result.agrees
    assert result.reason == reason


def test_containers_and_absent_values() -> None:
    assert compare_values([{"a": f32(1)}, None], [{"a": f32(1)}, None]).agrees
    assert compare_values([], []).agrees
    worst = compare_values([f32(1), f32(2.5), f32(3)], [f32(1), f32(2), f32(3)])
    assert (worst.max_abs, worst.mismatched) == (0.5, 1)


def test_empty_and_scalar() -> None:
    assert compare_values(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)).agrees
    assert compare_values(np.float32(2), np.float32(2)) == compare_values(f32(2).reshape(()), f32(2).reshape(()))
    assert compare_values(np.array([1 + 2j]), np.array([1 + 3j])).max_abs == 1


def test_cosine_of_large_float64_values() -> None:
    assert compare_values(np.array([1e300, 2e300]), np.array([1e300, 1e300])).cosine == pytest.approx(3 / np.sqrt(10))


def test_own_tolerance() -> None:
    assert compare_values(f32(1.05), f32(1), rtol=0.1).agrees
    assert not compare_values(f32(1.00001), f32(1), rtol=1e-7).agrees


def test_json_has_plain_numbers() -> None:
    json = compare_values(f32(1, 2), f32(1, 3)).to_json()
    assert json["worst"] == [1]
    assert json["tolerance"].keys() == {"rtol", "atol"}
    assert json.keys() == {*Agreement.__dataclass_fields__}
