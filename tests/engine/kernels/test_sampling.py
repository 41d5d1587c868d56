"""Sampling, regions of interest, signal processing and optimisers against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(30)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_grid_sample(padding: str, align: int) -> None:
    grid = (rng.random((2, 4, 5, 2)) * 4 - 2).astype(np.float32)
    for mode in ("linear", "nearest", "cubic"):
        options = {"mode": mode, "padding_mode": padding, "align_corners": align}
        check("GridSample", floats(2, 3, 6, 7), grid, opset=20, rtol=1e-3, atol=1e-4, **options)
    check("GridSample", floats(2, 3, 6, 7), grid, opset=16, rtol=1e-3, atol=1e-4, mode="bicubic", align_corners=align)
    volume = (rng.random((1, 2, 3, 4, 3)) * 3 - 1.5).astype(np.float32)
    options = {"padding_mode": padding, "align_corners": align}
    check("GridSample", floats(1, 2, 4, 5, 6), volume, opset=20, rtol=1e-3, atol=1e-4, **options)


@pytest.mark.parametrize("align", [0, 1])
def test_affine_grid(align: int) -> None:
    for size, theta in [((2, 3, 4, 5), (2, 2, 3)), ((2, 3, 4, 5, 6), (2, 3, 4))]:
        check("AffineGrid", floats(*theta), np.array(size), opset=20, rtol=1e-4, atol=1e-5, align_corners=align)


def test_deformable_convolution_without_offsets_is_a_convolution() -> None:
    x, w, b = floats(2, 4, 6, 7), floats(6, 2, 3, 3), floats(6)
    still = np.zeros((2, 2 * 9 * 2, 6, 7), np.float32)
    options = {"pads": [1, 1, 1, 1], "group": 2}
    y = run("DeformConv", x, w, still, b, opset=22, offset_group=2, **options)
    np.testing.assert_allclose(y, run("Conv", x, w, b, opset=22, **options), rtol=1e-4, atol=1e-5)
    half = np.full((2, 2 * 9, 6, 7), 0.5, np.float32)
    masked = run("DeformConv", x, w, still, None, half, opset=22, offset_group=2, **options)
    np.testing.assert_allclose(masked, (y - b[:, None, None]) / 2, rtol=1e-4, atol=1e-5)


def test_deformable_convolution_moves_its_points() -> None:
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    offset = np.zeros((1, 2, 3, 3), np.float32)
    offset[0, 1] = 0.5  # half a column to the right
    y = run("DeformConv", x, np.ones((1, 1, 1, 1), np.float32), offset, opset=22)
    np.testing.assert_array_equal(y[0, 0], [[0.5, 1.5, 1], [3.5, 4.5, 2.5], [6.5, 7.5, 4]])


def test_col2im_undoes_a_gathering() -> None:
    columns = np.ones((1, 4, 4), np.float32)
    y = run("Col2Im", columns, np.array([3, 3]), np.array([2, 2]), opset=18)
    np.testing.assert_array_equal(y[0, 0], [[1, 2, 1], [2, 4, 2], [1, 2, 1]])
    check("Col2Im", floats(2, 12, 9), np.array([5, 5]), np.array([2, 2]), opset=18, strides=[2, 2], pads=[0, 0, 1, 1])


@pytest.mark.parametrize(("opset", "shift"), [(10, None), (16, "half_pixel"), (16, "output_half_pixel")])
def test_roi_align(opset: int, shift: str | None) -> None:
    rois = np.array([[0, 0, 5, 6], [2.3, 1.1, 9.7, 8.2], [3, 3, 3.2, 3.1]], np.float32)
    batch = np.array([0, 1, 1])
    extra = {} if shift is None else {"coordinate_transformation_mode": shift}
    for ratio, mode in itertools.product([0, 2], ["avg"]):
        options = {"output_height": 3, "output_width": 2, "sampling_ratio": ratio, "spatial_scale": 0.7, "mode": mode}
        check("RoiAlign", floats(2, 3, 10, 9), rois, batch, opset=opset, rtol=1e-4, atol=1e-5, **options, **extra)


def test_max_roi_pool() -> None:
    rois = np.array([[0, 0, 0, 5, 6], [1, 2, 1, 8, 8]], np.float32)
    check("MaxRoiPool", floats(2, 3, 10, 9), rois, opset=7, pooled_shape=[3, 2], spatial_scale=0.8)


def complex_of(y: np.ndarray) -> np.ndarray:
    return y[..., 0] + 1j * y[..., 1]


def test_dft() -> None:
    x = floats(2, 8, 3, 1)
    y = run("DFT", x, None, np.array(1), opset=20)
    np.testing.assert_allclose(complex_of(y), np.fft.fft(x[..., 0], axis=1), rtol=1e-4, atol=1e-5)
    back = run("DFT", y, None, np.array(1), opset=20, inverse=1)
    np.testing.assert_allclose(back[..., 0], x[..., 0], rtol=1e-4, atol=1e-5)
    half = run("DFT", x, None, np.array(1), opset=20, onesided=1)
    assert half.shape == (2, 5, 3, 2)
    np.testing.assert_allclose(run("DFT", half, None, np.array(1), opset=20, onesided=1, inverse=1), x, atol=1e-5)
    longer = run("DFT", x, np.array(10), opset=17, axis=1)
    np.testing.assert_allclose(complex_of(longer), np.fft.fft(x[..., 0], 10, axis=1), rtol=1e-4, atol=1e-5)


def test_stft() -> None:
    x, window = floats(2, 20, 1), run("HannWindow", np.array(8), opset=17)
    y = run("STFT", x, np.array(4), window, np.array(8), opset=17)
    assert y.shape == (2, 4, 5, 2)
    frame = np.fft.rfft(x[1, 8:16, 0] * window)
    np.testing.assert_allclose(complex_of(y)[1, 2], frame, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows(op: str, periodic: int) -> None:
    check(op, np.array(10), opset=17, periodic=periodic, rtol=1e-5, atol=1e-6)


def test_mel_weights() -> None:
    numbers = [np.array(8), np.array(16), np.array(8192)]
    check("MelWeightMatrix", *numbers, np.array(0, np.float32), np.array(4096, np.float32), opset=17)


def test_determinants() -> None:
    check("Det", floats(2, 3, 3), opset=11, rtol=1e-4, atol=1e-5)
    assert run("Det", np.array([[2, 1], [1, 3]], np.float32), opset=22) == pytest.approx(5)
