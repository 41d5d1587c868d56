"""Resize and Upsample."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

X = np.random.default_rng(3).normal(size=(1, 2, 5, 7)).astype(np.float32)
ROW = np.array([[[[1, 2, 3, 4]]]], np.float32)
NO_ROI = None


def scales(*values: float) -> np.ndarray:
    return np.array([1, 1, *values], np.float32)


def test_linear_by_hand() -> None:
    out = run("Resize", np.array([[[[2, 6]]]], np.float32), NO_ROI, scales(1, 2), mode="linear")
    assert out.ravel().tolist() == [2, 3, 5, 6]
    out = run("Resize", ROW, NO_ROI, scales(1, 0.5), mode="linear", coordinate_transformation_mode="asymmetric")
    assert out.ravel().tolist() == [1, 3]


def test_nearest_by_hand() -> None:
    assert run("Resize", ROW, NO_ROI, scales(1, 2), mode="nearest").ravel().tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert run("Upsample", ROW, scales(1, 1.5), opset=9).ravel().tolist() == [1, 1, 2, 3, 3, 4]


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "pytorch_half_pixel", "asymmetric", "half_pixel_symmetric"])
@pytest.mark.parametrize("factors", [(2, 2), (1.7, 0.7), (0.5, 3)])
def test_scales_agree_with_onnx_runtime(mode: str, coordinates: str, factors: tuple[float, float]) -> None:
    check(
        "Resize",
        X,
        NO_ROI,
        scales(*factors),
        mode=mode,
        coordinate_transformation_mode=coordinates,
        opset=19,
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("size", [(10, 14), (3, 9), (1, 1)])
def test_sizes_agree_with_onnx_runtime(mode: str, coordinates: str, size: tuple[int, int]) -> None:
    sizes = np.array([1, 2, *size])
    check("Resize", X, NO_ROI, None, sizes, mode=mode, coordinate_transformation_mode=coordinates, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_nearest_modes(nearest: str) -> None:
    check("Resize", X, NO_ROI, scales(1.6, 0.6), mode="nearest", nearest_mode=nearest)


def test_cubic_may_leave_out_what_is_outside() -> None:
    options = {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1, "rtol": 1e-5, "atol": 1e-5}
    check("Resize", X, NO_ROI, scales(0.8, 1.9), **options)


def test_crop_extrapolates() -> None:
    roi = np.array([0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7], np.float32)
    sizes = np.array([1, 2, 4, 3])
    check("Resize", X, roi, None, sizes, mode="linear", coordinate_transformation_mode="tf_crop_and_resize",
          extrapolation_value=10.0, rtol=1e-5, atol=1e-5)  # fmt: skip


@pytest.mark.parametrize(("policy", "expected"), [("not_larger", (1, 2, 4, 6)), ("not_smaller", (1, 2, 5, 7))])
def test_aspect_ratio_is_kept(policy: str, expected: tuple[int, ...]) -> None:
    out = check("Resize", X, NO_ROI, None, np.array([4, 7]), axes=[2, 3], keep_aspect_ratio_policy=policy, opset=18)
    assert out.shape == expected


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_antialiasing(mode: str) -> None:
    out = run("Resize", ROW, NO_ROI, scales(1, 0.5), mode=mode, antialias=1, opset=18)
    assert out.mean() == pytest.approx(2.5, rel=1e-5)  # the weights are symmetric
    if mode == "linear":  # triangle of half-width 2 about 0.5 and 2.5: weights .125 .375 .375 .125
        np.testing.assert_allclose(out.ravel(), [0.125 * 1 + 0.375 * 1 + 0.375 * 2 + 0.125 * 3, 3.375], rtol=1e-6)


def test_output_size_is_the_floor_of_the_scaled_one() -> None:
    x = np.zeros((1, 1, 1, 706), np.float32)
    assert check("Resize", x, NO_ROI, scales(1, 224 / 706), mode="linear").shape[3] == 223


@pytest.mark.parametrize("opset", [7, 9, 10])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_early_versions(opset: int, mode: str) -> None:
    factors = [1.0, 1.0, 2.0, 3.0]
    if opset == 7:
        out = run("Upsample", X, opset=7, scales=factors, mode=mode)
    else:
        out = check("Resize" if opset == 10 else "Upsample", X, np.array(factors, np.float32), opset=opset, mode=mode,
                    constants=(1,), rtol=1e-5, atol=1e-5)  # fmt: skip
    assert out.shape == (1, 2, 10, 21)
    old = run("Upsample", X, opset=1, height_scale=2.0, width_scale=3.0, mode="bilinear" if mode == "linear" else mode)
    np.testing.assert_array_equal(old, out)


def test_integers_keep_their_dtype() -> None:
    x = np.array([[[[0, 100, 255]]]], np.uint8)
    assert run("Resize", x, NO_ROI, scales(1, 2), mode="nearest").ravel().tolist() == [0, 0, 100, 100, 255, 255]
    check("Resize", x, NO_ROI, scales(1, 2), mode="linear")
