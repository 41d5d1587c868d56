"""Resizing, sampling, spectra and quantisation over random sizes and modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.kernels.properties.strategies import FLOATS, agree, axis_of, data, examples, many, optional, shapes

FLAG = st.integers(0, 1)
SIDE = st.integers(1, 6)
TRANSFORMS = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@many
@given(st.sampled_from(TRANSFORMS), st.booleans(), st.data())
def test_resize(mode: str, transform: str, by_scale: bool, pick: Any) -> None:
    low = 2 if mode == "cubic" else 1
    x = pick.draw(data((1, 1, pick.draw(st.integers(low, 6)), pick.draw(st.integers(low, 6)))))
    attributes = optional(pick.draw, nearest_mode=st.sampled_from(["round_prefer_ceil", "floor", "ceil"])) \
        if mode == "nearest" else {}  # fmt: skip
    if mode == "cubic":
        attributes = optional(pick.draw, cubic_coeff_a=st.sampled_from([-0.5]), exclude_outside=st.just(1))
    attributes |= {"mode": mode, "coordinate_transformation_mode": transform, "opset": 19, "atol": 1e-4}
    if by_scale:
        scales = [1, 1, *(pick.draw(st.sampled_from([0.5, 0.75, 1.0, 1.5, 2.0, 3.0])) for _ in range(2))]
        lengths = [n * s for n, s in zip(x.shape, scales)]
        if min(lengths) < 1 or (transform == "align_corners" and any(n % 1 for n in lengths)):
            return  # of lengths that do not come out whole docs/semantics.md says why peers differ
        agree("Resize", x, None, np.array(scales, np.float32), **attributes)
    else:
        agree("Resize", x, None, None, np.array([1, 1, pick.draw(SIDE), pick.draw(SIDE)]), **attributes)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@examples
@given(st.data())
def test_resize_smoothly(mode: str, pick: Any) -> None:
    x = pick.draw(data((1, 1, pick.draw(st.integers(4, 9)), pick.draw(st.integers(4, 9)))))
    sizes = np.array([1, 1, pick.draw(st.integers(2, 9)), pick.draw(st.integers(2, 9))])
    agree("Resize", x, None, None, sizes, mode=mode, antialias=1, opset=19, atol=1e-4)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@many
@given(st.sampled_from(["zeros", "border", "reflection"]), FLAG, st.data())
def test_grid_sample(mode: str, padding: str, align_corners: int, pick: Any) -> None:
    x = pick.draw(data((2, 2, pick.draw(st.integers(2, 5)), pick.draw(st.integers(2, 5)))))
    grid = pick.draw(data((2, 3, 2, 2), low=-2, high=2))
    agree("GridSample", x, grid, mode=mode, padding_mode=padding, align_corners=align_corners, opset=20, atol=1e-4)


@examples
@given(st.integers(2, 3), FLAG, st.data())
def test_affine_grid(rank: int, align_corners: int, pick: Any) -> None:
    theta = pick.draw(data((2, rank, rank + 1)))
    size = np.array([2, 1, *(pick.draw(st.integers(2, 4)) for _ in range(rank))])
    agree("AffineGrid", theta, size, align_corners=align_corners, opset=20, atol=1e-5)


@examples
@given(st.sampled_from(["avg", "max"]), st.integers(0, 3), st.sampled_from([0.5, 1.0]), st.data())
def test_roi_align(mode: str, sampling: int, scale: float, pick: Any) -> None:
    x = pick.draw(data((2, 3, 6, 7)))
    corner, size = pick.draw(data((4, 2), low=0, high=4)), pick.draw(data((4, 2), low=0.5, high=6))
    boxes = np.concatenate([corner, corner + size], axis=1)
    batch = pick.draw(data((4,), np.int64, 0, 1))
    half = optional(pick.draw, coordinate_transformation_mode=st.sampled_from(["half_pixel", "output_half_pixel"]))
    agree("RoiAlign", x, boxes, batch, mode=mode, sampling_ratio=sampling, spatial_scale=scale, output_height=2,
          output_width=3, opset=16, atol=1e-4, **half)  # fmt: skip


@examples
@given(st.sampled_from([0.5, 1.0]), st.data())
def test_max_roi_pool(scale: float, pick: Any) -> None:
    x = pick.draw(data((2, 2, 6, 7)))
    corner, size = pick.draw(data((4, 2), low=0, high=4)), pick.draw(data((4, 2), low=0, high=6))
    batch = pick.draw(data((4, 1), np.int64, 0, 1)).astype(np.float32)
    boxes = np.concatenate([batch, corner, corner + size], axis=1)
    agree("MaxRoiPool", x, boxes, pooled_shape=[2, 3], spatial_scale=scale, opset=17)


@examples
@given(st.integers(1, 3), FLAG, st.integers(1, 9), st.data())
def test_dft(rank: int, onesided: int, length: int, pick: Any) -> None:
    shape = [pick.draw(st.integers(1, 6)) for _ in range(rank)]
    axis = pick.draw(st.integers(0, rank - 1))
    wanted = np.array(length) if pick.draw(st.booleans()) else None
    close = {"opset": 20, "rtol": 1e-4, "atol": 1e-4}
    real = pick.draw(data((*shape, 1), pick.draw(st.sampled_from(FLOATS))))
    agree("DFT", real, wanted, np.array(axis), onesided=onesided, **close)
    agree("DFT", pick.draw(data((*shape, 2))), wanted, np.array(axis), inverse=pick.draw(FLAG), **close)


@examples
@given(st.integers(1, 2), st.integers(8, 20), st.integers(1, 4), st.integers(2, 8), FLAG, st.data())
def test_stft(batch: int, length: int, step: int, frame: int, onesided: int, pick: Any) -> None:
    window = pick.draw(data((frame,))) if pick.draw(st.booleans()) else None
    x = pick.draw(data((batch, length, 1)))
    agree("STFT", x, np.array(step), window, np.array(frame), onesided=onesided, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@examples
@given(st.integers(2, 30), FLAG)
def test_spectral_windows(op: str, size: int, periodic: int) -> None:
    agree(op, np.array(size), periodic=periodic, atol=1e-5)


@examples
@given(st.integers(1, 10), st.sampled_from([16, 33, 64]), st.data())
def test_mel_weights(bins: int, length: int, pick: Any) -> None:
    low, high = pick.draw(st.floats(0, 500, width=32)), pick.draw(st.floats(1000, 4000, width=32))
    agree("MelWeightMatrix", np.array(bins), np.array(length), np.array(8000), np.array(low, np.float32),
          np.array(high, np.float32), atol=1e-5)  # fmt: skip


QUANTISED = st.sampled_from([np.uint8, np.int8, np.uint16, np.int16])


@many
@given(shapes(1, 3), QUANTISED, st.sampled_from(["tensor", "axis", "block"]), st.data())
def test_quantise_and_back(shape: tuple[int, ...], dtype: Any, grain: str, pick: Any) -> None:
    axis, block = pick.draw(axis_of(len(shape))), pick.draw(st.integers(1, 3))
    place = axis % len(shape)
    blocks = tuple(-(-n // block) if i == place else n for i, n in enumerate(shape))
    if grain == "block" and blocks == (1,):
        return  # ONNX Runtime takes one value for no blocks
    size: tuple[int, ...] = {"tensor": (), "axis": (shape[place],), "block": blocks}[grain]
    scale = pick.draw(data(size, low=0.05, high=1))
    zero = pick.draw(data(size, dtype, 0, 20)) if pick.draw(st.booleans()) or dtype is not np.uint8 else None
    attributes = {"opset": 21, "axis": axis, **({"block_size": block} if grain == "block" else {})}
    quantised = agree("QuantizeLinear", pick.draw(data(shape, low=-40, high=40)), scale, zero, **attributes)
    agree("DequantizeLinear", quantised, scale, zero, **attributes)


@examples
@given(shapes(1, 3), st.data())
def test_dynamic_quantisation(shape: tuple[int, ...], pick: Any) -> None:
    low = pick.draw(st.sampled_from([-3.0, 0.0, 1.0]))
    agree("DynamicQuantizeLinear", pick.draw(data(shape, low=low, high=low + 4)), outputs=3)
