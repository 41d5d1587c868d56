"""Convolution and its transpose, for any number of spatial axes."""
from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.pooling import padded
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel
from engine.kernels.windows import Windows, transposed_windows, windows

_COLUMNS_BYTES = 4 << 20
"""Windows are gathered in pieces of about this size: larger ones spend their time on page faults and in memory."""

_CHANNELS_BYTES = 256 << 10
"""A depthwise convolution takes as many channels at a time as fit the second-level cache."""


@kernel("Conv", 1, 11, 22)
@in_float32
def conv(
    ctx: KernelContext,
    x: Any,
    w: Any,
    b: Any = None,
    *,
    kernel_shape: list[int] | None = None,
    strides: list[int] | None = None,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    auto_pad: str = "NOTSET",
    group: int = 1,
) -> Any:
    """Cross-correlation of x [N, C, *spatial] with w [M, C/group, *kernel], plus b [M] (Conv 22).

    Raises
    ------
    UnsupportedError: the channels of x, w and b do not fit together.
    """
    if x.ndim < 3 or w.ndim != x.ndim or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise UnsupportedError(f"x {list(x.shape)} and w {list(w.shape)} do not fit a convolution of {group} group(s)")
    slides = windows(x.shape[2:], w.shape[2:], strides, dilations, pads, auto_pad)
    y = convolve(ctx.xp, x, w, slides, group)
    if b is not None:
        y += b.reshape(-1, *(1,) * (x.ndim - 2))
    return y


def convolve(xp: Any, x: Any, w: Any, slides: Windows, group: int = 1) -> Any:
    """The convolution without its bias, in a fresh array [N, M, *out]."""
    if slides.is_pointwise:
        x = x[(..., *(slice(0, (o - 1) * s + 1, s) for o, s in zip(slides.out, slides.strides)))]
        return _pointwise(xp, x, w, group)
    if group > 1 and w.shape[1] == 1:
        return _depthwise(xp, x, w, slides)
    return _by_columns(xp, x, w, slides, group)


def _pointwise(xp: Any, x: Any, w: Any, group: int) -> Any:
    batch, out = x.shape[0], x.shape[2:]
    grouped = x.reshape(batch, group, w.shape[1], prod(out))
    return xp.matmul(w.reshape(group, -1, w.shape[1]), grouped).reshape(batch, w.shape[0], *out)


def _by_columns(xp: Any, x: Any, w: Any, slides: Windows, group: int) -> Any:
    """Gather the windows as the columns of a matrix, some rows of the output at a time, and multiply (im2col)."""
    batch, filters, rank = x.shape[0], w.shape[0], len(slides.out)
    view = _window_view(xp, padded(xp, x, slides, 0), slides)
    depth, row = prod(w.shape[1:]), prod(slides.out[1:])
    weights = w.reshape(group, filters // group, depth)
    y = xp.empty((batch, filters, *slides.out), x.dtype)
    flat = y.reshape(batch, group, filters // group, slides.out[0] * row)
    rows = slides.out[0] if xp is not np else max(1, _COLUMNS_BYTES // max(group * depth * row * x.itemsize, 1))
    for n in range(batch):
        for start in range(0, slides.out[0], rows):
            stop = min(start + rows, slides.out[0])
            piece = view[n][(slice(None),) * (1 + rank) + (slice(start, stop),)]
            columns = xp.ascontiguousarray(piece).reshape(group, depth, (stop - start) * row)
            xp.matmul(weights, columns, out=flat[n, :, :, start * row : stop * row])
    return y


def _window_view(xp: Any, x: Any, slides: Windows) -> Any:
    """Every window of a padded input as a view [N, C, *kernel, *out]."""
    inner = x.strides[2:]
    within = tuple(stride * d for stride, d in zip(inner, slides.dilations))
    between = tuple(stride * s for stride, s in zip(inner, slides.strides))
    return xp.lib.stride_tricks.as_strided(
        x, x.shape[:2] + slides.kernel + slides.out, x.strides[:2] + within + between
    )


def _depthwise(xp: Any, x: Any, w: Any, slides: Windows) -> Any:
    """One input channel a group: add up shifted copies of the input, each times its kernel element.

    The padded plane is kept flat, so that a shift in any direction is one offset and the inner loop is as long as the
    plane; what falls between the rows is computed along and cut off. For strides the plane is first parted into its
    phases, within which a step of the window is a step of one.
    """
    batch, channels, times = x.shape[0], x.shape[1], w.shape[0] // x.shape[1]
    kernel = list(product(*map(range, slides.kernel)))
    offsets = [[p * d for p, d in zip(position, slides.dilations)] for position in kernel]
    last = offsets[-1]
    grid = tuple(o + far // s for o, far, s in zip(slides.out, last, slides.strides))
    steps = tuple(prod(grid[axis + 1 :]) for axis in range(len(grid)))
    length = sum((o - 1) * step for o, step in zip(slides.out, steps)) + 1
    y = xp.empty((batch, channels, times, *slides.out), x.dtype)
    if y.size == 0:
        return y.reshape(batch, channels * times, *slides.out)
    taps = w.reshape(channels, times, len(kernel), 1)
    block = max(1, _CHANNELS_BYTES // (prod(grid) * x.itemsize)) if xp is np else channels
    total = xp.empty((min(block, channels), times, slides.out[0] * steps[0]), x.dtype)
    term = xp.empty((min(block, channels), times, length), x.dtype)
    for n in range(batch):
        for start in range(0, channels, block):
            stop = min(start + block, channels)
            phases = _phases(xp, x[n, start:stop], slides, grid)
            sums, part = total[: stop - start, :, :length], term[: stop - start]
            for tap, offset in enumerate(offsets):
                plane = phases[tuple(o % s for o, s in zip(offset, slides.strides))]
                shift = sum(o // s * step for o, s, step in zip(offset, slides.strides, steps))
                xp.multiply(plane[:, :, shift : shift + length], taps[start:stop, :, tap], out=part if tap else sums)
                if tap:
                    sums += part
            whole = total[: stop - start].reshape(stop - start, times, slides.out[0], *grid[1:])
            y[n, start:stop] = whole[(..., *(slice(o) for o in slides.out))]
    return y.reshape(batch, channels * times, *slides.out)


def _phases(xp: Any, x: Any, slides: Windows, grid: tuple[int, ...]) -> dict[tuple[int, ...], Any]:
    """The padded planes of x [C, *spatial] by phase of the stride, each flat: [C, 1, elements of `grid`]."""
    full = tuple(g * s for g, s in zip(grid, slides.strides))
    room = [min(n, f - before) for n, f, before in zip(slides.size, full, slides.pads_begin)]
    wide = xp.zeros((x.shape[0], *full), x.dtype)
    inside = (slice(before, before + n) for before, n in zip(slides.pads_begin, room))
    wide[(slice(None), *inside)] = x[(slice(None), *(slice(n) for n in room))]
    return {
        phase: wide[(slice(None), *(slice(p, None, s) for p, s in zip(phase, slides.strides)))].reshape(
            x.shape[0], 1, prod(grid)
        )
        for phase in product(*map(range, slides.strides))
    }


@kernel("ConvTranspose", 1, 11, 22)
@in_float32
def conv_transpose(
    ctx: KernelContext,
    x: Any,
    w: Any,
    b: Any = None,
    *,
    kernel_shape: list[int] | None = None,
    strides: list[int] | None = None,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    auto_pad: str = "NOTSET",
    group: int = 1,
    output_padding: list[int] | None = None,
    output_shape: list[int] | None = None,
) -> Any:
    """Every element of x [N, C, *spatial] spreads w [C, M/group, *kernel], sums where they meet (ConvTranspose 22).

    Raises
    ------
    UnsupportedError: the channels of x and w do not fit together.
    """
    xp = ctx.xp
    if x.ndim < 3 or w.ndim != x.ndim or x.shape[1] != w.shape[0] or w.shape[0] % group:
        raise UnsupportedError(f"x {list(x.shape)} and w {list(w.shape)} do not fit a convolution of {group} group(s)")
    size, sides = x.shape[2:], w.shape[2:]
    spread = transposed_windows(
        size, sides, strides, dilations, pads, auto_pad, output_padding, output_shape
    )
    batch, filters = x.shape[0], w.shape[1] * group
    weights = w.reshape(group, w.shape[0] // group, -1).swapaxes(1, 2)
    terms = xp.matmul(weights, x.reshape(batch, group, w.shape[0] // group, prod(size)))
    terms = terms.reshape(batch, filters, *sides, *size)
    extent = tuple(max(f, before + o) for f, before, o in zip(spread.full, spread.begin, spread.out))
    y = xp.zeros((batch, filters, *extent), x.dtype)
    for position in product(*map(range, sides)):
        starts = [p * d for p, d in zip(position, spread.dilations)]
        places = (slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, size, spread.strides))
        y[(..., *places)] += terms[(slice(None), slice(None), *position)]
    y = y[(..., *(slice(before, before + o) for before, o in zip(spread.begin, spread.out)))]
    return y if b is None else y + b.reshape(-1, *(1,) * len(size))
