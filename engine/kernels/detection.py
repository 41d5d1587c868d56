"""Pooling over regions of interest."""
from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, host_array, kernel


@kernel("RoiAlign", 10, host_inputs=(1, 2))
def roi_align_10(
    ctx: KernelContext,
    x: Any,
    rois: Any,
    batch_indices: Any,
    *,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Any:
    """RoiAlign before the coordinates were shifted by half a pixel (RoiAlign 10)."""
    return roi_align(
        ctx, x, rois, batch_indices, coordinate_transformation_mode="output_half_pixel", mode=mode,
        output_height=output_height, output_width=output_width, sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
    )  # fmt: skip


@kernel("RoiAlign", 16, 22, host_inputs=(1, 2))
@in_float32
def roi_align(
    ctx: KernelContext,
    x: Any,
    rois: Any,
    batch_indices: Any,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Any:
    """Regions [x1, y1, x2, y2] of x [N, C, H, W] pooled to [regions, C, height, width] (RoiAlign 22).

    Each bin holds a grid of points, interpolated from four pixels. The maximum is taken over the weighed pixels, not
    over their sums, as in the operator's reference and in ONNX Runtime.
    """
    if mode not in ("avg", "max"):
        raise UnsupportedError(f"mode {mode!r} is neither avg nor max")
    xp, half = ctx.xp, coordinate_transformation_mode == "half_pixel"
    boxes = host_array(rois).astype(np.float32) * np.float32(spatial_scale) - np.float32(0.5 if half else 0)
    y = xp.zeros((len(boxes), x.shape[1], output_height, output_width), x.dtype)
    for r, ((x1, y1, x2, y2), n) in enumerate(zip(boxes.tolist(), host_array(batch_indices).tolist())):
        rows, row_share, high = _points(y1, y2, output_height, sampling_ratio, x.shape[2], not half)
        columns, column_share, wide = _points(x1, x2, output_width, sampling_ratio, x.shape[3], not half)
        pixels = x[n][:, rows.reshape(-1)][:, :, columns.reshape(-1)]
        weights = (row_share.reshape(-1, 1) * column_share.reshape(1, -1)).astype(x.dtype)
        weighed = (pixels * xp.asarray(weights)).reshape(-1, output_height, high * 2, output_width, wide * 2)
        if mode == "max":
            y[r] = weighed.max(axis=(2, 4))
        else:
            y[r] = weighed.sum(axis=(2, 4)) / x.dtype.type(high * wide)
    return y


def _points(
    start: float, end: float, bins: int, ratio: int, size: int, at_least_one: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """Along one axis the two pixels of each point and their shares, [points, 2] both, and the points a bin."""
    length = max(end - start, 1.0) if at_least_one else end - start
    each = ratio if ratio > 0 else max(ceil(length / bins), 1)
    at = start + (np.arange(bins * each) + 0.5) * (length / bins / each)
    valid = (at >= -1) & (at <= size)
    at = np.clip(at, 0, size - 1)
    first = np.minimum(at.astype(np.int64), size - 1)
    second = np.minimum(first + 1, size - 1)
    share = at - first
    return np.stack([first, second], 1), np.stack([1 - share, share], 1) * valid[:, None], each


@kernel("MaxRoiPool", 1, 22, host_inputs=(1,))
def max_roi_pool(
    ctx: KernelContext, x: Any, rois: Any, *, pooled_shape: list[int], spatial_scale: float = 1.0
) -> Any:
    """Regions [batch, x1, y1, x2, y2] of x [N, C, H, W] max-pooled to [regions, C, *pooled_shape] (MaxRoiPool 22)."""
    boxes = host_array(rois).astype(np.float64)
    y = ctx.xp.zeros((len(boxes), x.shape[1], *pooled_shape), x.dtype)
    for r, (n, *box) in enumerate(boxes.tolist()):
        x1, y1, x2, y2 = (floor(v * spatial_scale + 0.5) for v in box)
        rows, columns = _bins(y1, y2, pooled_shape[0], x.shape[2]), _bins(x1, x2, pooled_shape[1], x.shape[3])
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                part = x[int(n), :, row, column]
                if part.size:
                    y[r, :, i, j] = part.max(axis=(1, 2))
    return y


def _bins(first: int, last: int, count: int, size: int) -> list[slice]:
    """The pixels first … last of an axis in `count` bins that may overlap, cut to the axis."""
    step = max(last - first + 1, 1) / count
    edges = [(floor(i * step) + first, ceil((i + 1) * step) + first) for i in range(count)]
    return [slice(min(max(a, 0), size), min(max(b, 0), size)) for a, b in edges]
