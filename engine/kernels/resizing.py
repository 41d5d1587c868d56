"""Resize and Upsample: separable interpolation, each axis a weighted sum of a few slices of the input.

For every output position of an axis there is a source coordinate; from it come `taps`, the indices that are read, and
their weights. Nearest has one tap, linear two, cubic four, antialiased downsampling more.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.axes import Array, along, as_ints, check_allocation, normalise_axes, on_axis
from engine.kernels.precision import HALF
from engine.kernels.registry import KernelContext, kernel


@dataclass(frozen=True, slots=True)
class Interpolation:
    """How to read between elements: the attributes of Resize, named as there."""

    mode: str = "nearest"
    coordinates: str = "asymmetric"
    nearest_mode: str = "floor"
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    extrapolation_value: float = 0.0
    antialias: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis to resize: from `length` to `size` elements by the exact `scale`, within a region of interest."""

    axis: int
    length: int
    size: int
    scale: float
    start: float = 0.0
    end: float = 1.0


@kernel("Resize", 11, 13, 18, 19, host_inputs=(1, 2, 3))
def resize(
    ctx: KernelContext, x: Array, roi: np.ndarray | None = None, scales: np.ndarray | None = None,
    sizes: np.ndarray | None = None, *, mode: str = "nearest", nearest_mode: str = "round_prefer_floor",
    coordinate_transformation_mode: str = "half_pixel", cubic_coeff_a: float = -0.75, exclude_outside: int = 0,
    extrapolation_value: float = 0.0, antialias: int = 0, axes: list[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
) -> Array:  # fmt: skip
    """Values at the source coordinates of the output grid; an axis of scale 1 stays as it is."""
    which = normalise_axes(axes, x.ndim) if axes is not None else tuple(range(x.ndim))
    lengths = [x.shape[a] for a in which]
    crop = coordinate_transformation_mode == "tf_crop_and_resize"
    region = roi.tolist() if crop and roi is not None and roi.size else [0.0] * len(which) + [1.0] * len(which)
    starts, ends = region[: len(which)], region[len(which) :]
    for name, given in (("sizes", sizes), ("scales", scales)):
        if given is not None and given.size not in (0, len(which)):
            raise UnsupportedError(f"{name} {given.tolist()} should have one number for each of the {len(which)} axes")
    if sizes is not None and sizes.size:
        targets, factors = sizes_to_scales(lengths, as_ints(sizes), keep_aspect_ratio_policy)
    elif scales is not None and scales.size:
        factors = [float(s) for s in scales]
        targets = [math.floor(n * (e - s) * f) for n, f, s, e in zip(lengths, factors, starts, ends)]
    else:
        raise UnsupportedError("Resize has neither scales nor sizes")
    how = Interpolation(
        mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a, bool(exclude_outside), extrapolation_value,
        bool(antialias),
    )  # fmt: skip
    return interpolate(ctx.xp, x, [Axis(*row) for row in zip(which, lengths, targets, factors, starts, ends)], how)


@kernel("Resize", 10, host_inputs=(1,))
def resize_10(ctx: KernelContext, x: Array, scales: np.ndarray, *, mode: str = "nearest") -> Array:
    """Version 10 maps coordinates by dividing them, and rounds them down for nearest."""
    return _by_scales(ctx.xp, x, [float(s) for s in scales], mode)


kernel("Upsample", 9, 10, host_inputs=(1,))(resize_10)


@kernel("Upsample", 7)
def upsample_7(ctx: KernelContext, x: Array, *, scales: list[float], mode: str = "nearest") -> Array:
    return _by_scales(ctx.xp, x, scales, mode)


@kernel("Upsample", 1)
def upsample_1(
    ctx: KernelContext, x: Array, *, height_scale: float, width_scale: float, mode: str = "nearest"
) -> Array:
    """Version 1 scales the last two axes and calls linear bilinear."""
    scales = [1.0] * (x.ndim - 2) + [height_scale, width_scale]
    return _by_scales(ctx.xp, x, scales, "linear" if mode == "bilinear" else mode)


def _by_scales(xp: Any, x: Array, scales: Sequence[float], mode: str) -> Array:
    if len(scales) != x.ndim:
        raise UnsupportedError(f"scales {list(scales)} should have one number for each of the {x.ndim} axes")
    axes = [Axis(i, n, math.floor(n * s), s) for i, (n, s) in enumerate(zip(x.shape, scales))]
    return interpolate(xp, x, axes, Interpolation(mode))


def sizes_to_scales(lengths: list[int], sizes: list[int], policy: str = "stretch") -> tuple[list[int], list[float]]:
    """The target sizes and scales that the `sizes` input asks for under a `keep_aspect_ratio_policy`."""
    factors = [size / n if n else 1.0 for n, size in zip(lengths, sizes)]
    if policy == "stretch":
        return sizes, factors
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [math.floor(factor * n + 0.5) for n in lengths], [factor] * len(lengths)


def interpolate(xp: Any, x: Array, axes: Sequence[Axis], how: Interpolation) -> Array:
    """`x` with the given axes resized; computed in float32 (float64 for float64), integers rounded toward zero."""
    dtype = x.dtype
    crop = how.coordinates == "tf_crop_and_resize"
    moving = [a for a in axes if crop or a.size != a.length or a.scale != 1]
    if not moving:
        return x
    sizes = {a.axis: a.size for a in moving}
    check_allocation((sizes.get(i, d) for i, d in enumerate(x.shape)), dtype)
    if how.mode != "nearest" and (dtype in HALF or dtype.kind in "iu"):
        x = x.astype(np.float32)
    outside: list[tuple[int, np.ndarray]] = []
    for axis in reversed(moving):  # the last axis first: reading along it is the slowest, and fewest are read then
        coordinates = source_coordinates(axis, how.coordinates)
        if crop:
            outside.append((axis.axis, (coordinates < 0) | (coordinates > axis.length - 1)))
        if how.mode == "nearest":
            x = _take(xp, x, axis.axis, _nearest(coordinates, how.nearest_mode, axis.length))
        else:
            x = _weighted(xp, x, axis.axis, *_taps(coordinates, axis, how))
    for position, mask in outside:
        if mask.any():
            x = xp.where(on_axis(xp.asarray(mask), position, x.ndim), x.dtype.type(how.extrapolation_value), x)
    return x.astype(dtype, copy=False)


def source_coordinates(axis: Axis, mode: str) -> np.ndarray:
    """Where in the input each output position of an axis lies, float32 [size], by a coordinate transformation mode."""
    position = np.arange(axis.size, dtype=np.float32)
    length, scale = np.float32(axis.length), np.float32(axis.scale)
    half, resized = np.float32(0.5), length * scale
    if mode == "asymmetric":
        return np.asarray(position / scale)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and axis.size > 1):
        return (position + half) / scale - half
    if mode == "half_pixel_symmetric":
        offset = length / 2 * (1 - np.float32(axis.size) / resized)
        return offset + (position + half) / scale - half
    if mode == "tf_half_pixel_for_nn":
        return (position + half) / scale
    if mode == "align_corners":
        return position * (length - 1) / (resized - 1) if resized != 1 else position * 0
    if mode == "tf_crop_and_resize":
        start, end, last = np.float32(axis.start), np.float32(axis.end), length - 1
        if axis.size <= 1:
            return position * 0 + half * (start + end) * last
        return start * last + position * ((end - start) * last / np.float32(axis.size - 1))
    if mode == "pytorch_half_pixel":
        return position * 0
    raise UnsupportedError(f"coordinate_transformation_mode {mode!r} is unknown")


def _nearest(coordinates: np.ndarray, mode: str, length: int) -> np.ndarray:
    half = np.float32(0.5)
    rounded = {
        "floor": lambda c: np.floor(c),
        "ceil": lambda c: np.ceil(c),
        "round_prefer_floor": lambda c: np.ceil(c - half),
        "round_prefer_ceil": lambda c: np.floor(c + half),
    }[mode](coordinates)
    return np.asarray(np.clip(rounded, 0, length - 1).astype(np.int64))


def _taps(coordinates: np.ndarray, axis: Axis, how: Interpolation) -> tuple[np.ndarray, np.ndarray]:
    """Indices read and their weights, [size, taps] each. Outside the input lies its border, or nothing."""
    reach = 1 if how.mode == "linear" else 2
    stretch = min(axis.scale, 1.0) if how.antialias else 1.0
    first = math.floor(-reach / stretch) + 1
    offsets = np.arange(first, 2 - first)
    base = np.floor(coordinates)
    distance = (offsets[None, :] - (coordinates - base)[:, None]) * np.float32(stretch)
    weights = _linear(distance) if how.mode == "linear" else _cubic(distance, how.cubic_coeff_a)
    indices = base[:, None].astype(np.int64) + offsets[None, :]
    if how.exclude_outside:
        weights = np.where((indices < 0) | (indices >= axis.length), 0, weights)
    if how.exclude_outside or how.antialias:
        weights = weights / weights.sum(axis=1, keepdims=True)
    return np.clip(indices, 0, axis.length - 1), weights


def _linear(distance: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(1 - np.abs(distance), 0))


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """The convolution kernel of Keys, "Cubic convolution interpolation for digital image processing" (1981)."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _weighted(xp: Any, x: Array, axis: int, indices: np.ndarray, weights: np.ndarray) -> Array:
    result = None
    for tap in range(indices.shape[1]):
        factor = on_axis(xp.asarray(weights[:, tap].astype(x.dtype)), axis, x.ndim)
        part = _take(xp, x, axis, indices[:, tap]) * factor
        result = part if result is None else result + part
    return result


def _take(xp: Any, x: Array, axis: int, indices: np.ndarray) -> Array:
    """The slices at `indices`; whole-number enlargement repeats instead, and evenly spaced ones are a view."""
    n, size = x.shape[axis], len(indices)
    if n and size % n == 0 and np.array_equal(indices, np.arange(size) // (size // n)):
        return xp.repeat(x, size // n, axis=axis) if size != n else x
    steps = np.diff(indices)
    if size > 1 and steps[0] > 0 and (steps == steps[0]).all():
        return x[along(axis, x.ndim, slice(int(indices[0]), int(indices[-1]) + 1, int(steps[0])))]
    return xp.take(x, xp.asarray(indices), axis=axis)
