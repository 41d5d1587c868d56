"""How values are held together: tolerance by dtype, non-finite values, containers, and figures worked out by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from engine.agreement import Agreement, Tolerances, compare_values, noise_words


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
    assert compare_values(f32(1.05), f32(1), 0.1).agrees
    assert not compare_values(f32(1.00001), f32(1), 1e-7).agrees


def test_json_has_plain_numbers() -> None:
    json = compare_values(f32(1, 2), f32(1, 3)).to_json()
    assert json["worst"] == [1]
    assert json["tolerance"].keys() == {"rtol", "atol", "steps"}
    assert json.keys() == {*Agreement.__dataclass_fields__, "verdict"}


def test_small_values_are_judged_by_the_large_ones_they_come_from() -> None:
    """Scores of a detector: almost all tiny, a few large, rounded where they were large (ppocr_v4_det)."""
    expected = np.full(1000, 1e-9, np.float32)
    expected[:3] = 0.5
    assert compare_values(expected + np.float32(3e-7), expected).agrees
    assert not compare_values(expected + np.float32(1e-4), expected).agrees


@pytest.mark.parametrize(
    ("actual", "expected", "ulps"),
    [
        (np.float16([1, 1]), np.float16([1, 1 + 2**-10]), 1),
        (np.float16([1]), np.float16([2]), 1024),
        (np.float16([-(2**-24)]), np.float16([2**-24]), 2),  # the smallest numbers on either side of zero
        (np.array([1], ml_dtypes.bfloat16), np.array([1 + 2**-6], ml_dtypes.bfloat16), 2),
        (np.array([1], ml_dtypes.float8_e4m3fn), np.array([1.125], ml_dtypes.float8_e4m3fn), 1),
        (np.array([1], ml_dtypes.float4_e2m1fn), np.array([-0.5], ml_dtypes.float4_e2m1fn), 3),
        (f32(1), f32(2), None),
    ],
)
def test_units_in_the_last_place(actual: np.ndarray, expected: np.ndarray, ulps: int | None) -> None:
    assert compare_values(actual, expected).max_ulps == ulps


def test_quantisation_steps() -> None:
    expected = np.array([10, 20, 30], np.uint8)
    one, two = expected + np.uint8([0, 1, 0]), expected + np.uint8([0, 1, 2])
    assert not compare_values(one, expected).agrees  # integers that are no quantised values
    result = compare_values(one, expected, step=1)
    assert (result.agrees, result.steps, result.words) == (True, 1, "off by 1 quantisation step")
    result = compare_values(two, expected, step=1)
    assert (result.agrees, result.steps, result.mismatched) == (False, 2, 1)
    assert compare_values(two, expected, Tolerances(steps=2), step=1).agrees


def test_dequantised_values_differ_by_whole_steps() -> None:
    scale = np.float32([[0.1], [0.5]])
    codes = np.float32([[1, 2, 3], [4, 5, 6]])
    result = compare_values((codes + np.float32([0, 1, 0])) * scale, codes * scale, step=scale)
    assert (result.agrees, result.steps) == (True, 1)
    result = compare_values(codes * scale + np.float32(0.03), codes * scale, step=scale)
    assert result.steps is None


@pytest.mark.parametrize(
    ("off", "dtype", "words"),
    [(0, np.float32, "equal"), (1e-5, np.float32, "within float32 noise"), (1e-3, np.float32, "within TF32 noise"),
     (8e-3, np.float32, "within float16 noise"), (4e-2, np.float32, "within bfloat16 noise"),
     (0.5, np.float32, "wrong"), (2e-3, np.float16, "within float16 noise"), (0.2, ml_dtypes.bfloat16, "wrong")],
)  # fmt: skip
def test_the_verdict_in_words(off: float, dtype: type, words: str) -> None:
    expected = np.linspace(1, 2, 50)
    result = compare_values((expected * (1 + off)).astype(dtype), expected.astype(dtype))
    assert result.words == words
    assert result.agrees == (words in ("equal", f"within {np.dtype(dtype).name} noise"))


def test_a_misplaced_infinity_is_no_noise() -> None:
    assert compare_values(f32(np.inf, 1), f32(1, 1)).words == "wrong"


def test_tolerances_of_providers() -> None:
    off = np.linspace(1, 2, 50, dtype=np.float32) * np.float32(1.001)
    expected = np.linspace(1, 2, 50, dtype=np.float32)
    assert not compare_values(off, expected, Tolerances.for_providers(["CPU"])).agrees
    on_cuda = compare_values(off, expected, Tolerances.for_providers(["CUDA", "CPU"]))
    assert on_cuda.agrees
    assert (on_cuda.tolerance.rtol, on_cuda.words) == (2e-3, "within TF32 noise")
    assert not compare_values(off, expected, Tolerances.for_providers(["CUDA"]).with_rtol({"float32": 1e-5})).agrees


def test_level_is_the_tolerance_that_would_just_do() -> None:
    expected = np.linspace(1, 2, 50, dtype=np.float32)
    level = compare_values(expected * np.float32(1.004), expected).level
    assert level is not None
    assert compare_values(expected * np.float32(1.004), expected, level * 1.01).agrees
    assert not compare_values(expected * np.float32(1.004), expected, level * 0.99).agrees
    assert noise_words(level, "float32") == "float16"


def test_floats_of_maps_are_float32() -> None:
    assert compare_values([{0: 0.1}], [{0: 0.1 + 1e-8}]).agrees
    assert not compare_values([{0: 0.1}], [{0: 0.2}]).agrees
