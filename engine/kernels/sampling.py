"""Sampling at fractional positions: GridSample, AffineGrid, and convolution with deformable windows."""
from __future__ import annotations

import itertools
from math import prod
from typing import Any, Unpack

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.convolution import filter_windows
from engine.kernels.matmul import product
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, host_array, kernel
from engine.kernels.windows import Sliding

_CUBIC = -0.75
"""The free coefficient of cubic convolution (Keys 1981), as PyTorch and ONNX choose it."""


def sample(xp: Any, x: Any, positions: list[Any], mode: str, padding: str, align_corners: bool = False) -> Any:
    """Values of x [N, C, *spatial] at pixel positions, one array [N, P] a spatial axis; [N, C, P].

    `mode` is nearest, linear or cubic, `padding` zeros, border or reflection.
    """
    sizes = x.shape[2:]
    flat = x.reshape(*x.shape[:2], prod(sizes))
    taps = [_taps(xp, at, n, mode, padding, align_corners) for at, n in zip(positions, sizes)]
    result: Any = 0
    for corner in itertools.product(*taps):
        index: Any = 0
        weight: Any = None
        for (place, share), n in zip(corner, sizes):
            index = index * n + place
            weight = share if weight is None else weight * share
        result = result + xp.take_along_axis(flat, index[:, None], axis=2) * weight[:, None]
    return result


def _taps(xp: Any, at: Any, size: int, mode: str, padding: str, align_corners: bool) -> list[tuple[Any, Any]]:
    """The pixels that count for positions along one axis, each as (index inside the axis, weight)."""
    if mode != "cubic":
        at = _inside(xp, at, size, padding, align_corners)
    if mode == "nearest":
        shares = [(xp.rint(at), xp.ones_like(at))]
    elif mode == "linear":
        first = xp.floor(at)
        shares = [(first, 1 - (at - first)), (first + 1, at - first)]
    elif mode == "cubic":
        first = xp.floor(at)
        shares = [(first + k, _cubic(xp, at - first - k)) for k in (-1, 0, 1, 2)]
    else:
        raise UnsupportedError(f"interpolation mode {mode!r} is none of nearest, linear, cubic")
    result = []
    for place, weight in shares:
        if padding == "zeros":
            weight = xp.where((place >= 0) & (place < size), weight, weight.dtype.type(0))
        elif mode == "cubic":
            place = _inside(xp, place, size, padding, align_corners)
        result.append((xp.clip(place, 0, max(size - 1, 0)).astype(np.int64), weight))
    return result


def _inside(xp: Any, at: Any, size: int, padding: str, align_corners: bool) -> Any:
    """Positions brought into the axis by clipping or reflecting; as they are for zeros."""
    if padding == "zeros":
        return at
    if padding == "reflection":
        low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
        span = high - low
        if span > 0:
            folded = xp.abs(at - low) % at.dtype.type(2 * span)
            at = xp.minimum(folded, 2 * span - folded) + at.dtype.type(low)
    elif padding != "border":
        raise UnsupportedError(f"padding_mode {padding!r} is none of zeros, border, reflection")
    return xp.clip(at, 0, max(size - 1, 0))


def _cubic(xp: Any, distance: Any) -> Any:
    d = xp.abs(distance)
    near = ((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * _CUBIC - 4 * _CUBIC
    return xp.where(d <= 1, near, xp.where(d < 2, far, 0)).astype(distance.dtype)


@kernel("GridSample", 16, 20, 22)
@in_float32
def grid_sample(
    ctx: KernelContext, x: Any, grid: Any, *, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros"
) -> Any:
    """x [N, C, *spatial] at positions -1 … 1, innermost axis first, of grid [N, *out, r] (GridSample 22)."""
    xp, rank = ctx.xp, x.ndim - 2
    if grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise UnsupportedError(f"x {list(x.shape)} and grid {list(grid.shape)} do not fit together")
    points = grid.reshape(grid.shape[0], -1, rank)
    positions = []
    for axis, n in enumerate(x.shape[2:]):
        at = points[:, :, rank - 1 - axis]
        positions.append((at + 1) / 2 * (n - 1) if align_corners else ((at + 1) * n - 1) / 2)
    real = x if x.dtype.kind == "f" else x.astype(np.float64)
    plain = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    y = sample(xp, real, positions, plain, padding_mode, bool(align_corners))
    return y.reshape(*x.shape[:2], *grid.shape[1:-1]).astype(x.dtype, copy=False)


@kernel("AffineGrid", 20, host_inputs=(1,))
@in_float32
def affine_grid(ctx: KernelContext, theta: Any, size: Any, *, align_corners: int = 0) -> Any:
    """Positions -1 … 1 of a grid of `size` (N, C, *spatial) moved by theta [N, r, r + 1] (AffineGrid 20)."""
    xp, spatial = ctx.xp, [int(n) for n in host_array(size)[2:]]
    axes = []
    for n in reversed(spatial):
        steps = xp.arange(n, dtype=theta.dtype)
        axes.append(steps * (2 / max(n - 1, 1)) - 1 if align_corners else (2 * steps + 1) / n - 1)
    mesh = xp.meshgrid(*reversed(axes), indexing="ij")
    points = xp.stack([*(m.reshape(-1) for m in reversed(mesh)), xp.ones(prod(spatial), theta.dtype)])
    return xp.matmul(theta, points).swapaxes(1, 2).reshape(theta.shape[0], *spatial, len(spatial))


@kernel("DeformConv", 19, 22)
@in_float32
def deform_conv(
    ctx: KernelContext,
    x: Any,
    w: Any,
    offset: Any,
    b: Any = None,
    mask: Any = None,
    *,
    kernel_shape: list[int] | None = None,
    group: int = 1,
    offset_group: int = 1,
    **sliding: Unpack[Sliding],
) -> Any:
    """Convolution whose windows reach to offset places, each weighed by a mask (DeformConv 22).

    offset is [N, offset_group * kernel * r, *out], mask [N, offset_group * kernel, *out]; outside x is 0.
    """
    xp, rank, batch, channels = ctx.xp, x.ndim - 2, x.shape[0], x.shape[1]
    slides = filter_windows(x, w, group, kernel_shape, sliding)
    taps, places = prod(slides.kernel), prod(slides.out)
    moves = offset.reshape(batch, offset_group, taps, rank, places)
    weights = None if mask is None else mask.reshape(batch, offset_group, taps * places)
    starts = xp.stack(xp.meshgrid(*(xp.arange(o) * s for o, s in zip(slides.out, slides.strides)), indexing="ij"))
    steps = xp.stack(xp.meshgrid(*(xp.arange(k) * d for k, d in zip(slides.kernel, slides.dilations)), indexing="ij"))
    grid = steps.reshape(rank, taps, 1) + starts.reshape(rank, 1, places)
    each = channels // offset_group
    columns = xp.empty((batch, channels, taps * places), x.dtype)
    for g in range(offset_group):
        positions = [
            (moves[:, g, :, axis] + (grid[axis] - slides.pads_begin[axis])).reshape(batch, -1).astype(x.dtype)
            for axis in range(rank)
        ]
        part = slice(g * each, (g + 1) * each)
        columns[:, part] = sample(xp, x[:, part], positions, "linear", "zeros")
        if weights is not None:
            columns[:, part] *= weights[:, g, None]
    depth = channels // group * taps
    y = product(xp, w.reshape(group, -1, depth), columns.reshape(batch, group, depth, places))
    y = y.reshape(batch, w.shape[0], *slides.out)
    return y if b is None else y + b.reshape(-1, *(1,) * rank)
