"""Convolution and its transpose, for any number of spatial axes."""
from __future__ import annotations

import itertools
from dataclasses import replace
from math import prod
from typing import Any, Unpack

import numpy as np

from engine.dims.windows import check_group
from engine.errors import UnsupportedError
from engine.kernels.axes import as_ints
from engine.kernels.matmul import PLAIN, Finish, biased, product
from engine.kernels.parallel import piece, pieces, share
from engine.kernels.pooling import padded
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel
from engine.kernels.windows import Sliding, Windows, transposed_windows, windows

_COLUMNS_BYTES = 1 << 20
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
    group: int = 1,
    **sliding: Unpack[Sliding],
) -> Any:
    """Cross-correlation of x [N, C, *spatial] with w [M, C/group, *kernel], plus b [M] (Conv 22).

    Raises
    ------
    UnsupportedError: the channels of x, w and b do not fit together.
    """
    check_bias(b, w)
    return convolve(ctx.xp, x, w, filter_windows(x, w, group, kernel_shape, sliding), group, biased(b))


def check_bias(b: Any, w: Any) -> None:
    """Raise an UnsupportedError where a bias does not hold one number for each of the filters w [M, …]."""
    if b is not None and b.shape != w.shape[:1]:
        raise UnsupportedError(f"the bias {list(b.shape)} should have one number for each of the {w.shape[0]} filters")


def filter_windows(x: Any, w: Any, group: int, kernel_shape: list[int] | None, sliding: Sliding) -> Windows:
    """How filters w [M, C/group, *kernel] slide over x [N, C, *spatial].

    Raises
    ------
    UnsupportedError: the channels of x and w, or the filters and `kernel_shape`, do not fit together.
    """
    check_group(group)
    if x.ndim < 3 or w.ndim != x.ndim or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise UnsupportedError(f"x {list(x.shape)} and w {list(w.shape)} do not fit a convolution of {group} group(s)")
    if kernel_shape and tuple(kernel_shape) != w.shape[2:]:
        raise UnsupportedError(f"kernel_shape {kernel_shape} is not that of the filters w {list(w.shape)}")
    return windows(x.shape[2:], w.shape[2:], **sliding)


def convolve(xp: Any, x: Any, w: Any, slides: Windows, group: int = 1, finish: Finish = PLAIN) -> Any:
    """The convolution in a fresh array [N, M, *out], finished with operands [M]."""
    if slides.is_pointwise:
        x = x[(..., *(slice(0, (o - 1) * s + 1, s) for o, s in zip(slides.out, slides.strides)))]
        return _pointwise(xp, x, w, group, finish)
    if group > 1 and w.shape[1] == 1:
        by_channel = xp is np and group == w.shape[0] >= _MANY_CHANNELS and prod(slides.out) <= _SMALL_PLANE
        return (_depthwise_channels_last(x, w, slides, finish) if by_channel
                else _depthwise(xp, x, w, slides, finish))  # fmt: skip
    return _by_columns(xp, x, w, slides, group, finish)


def _pointwise(xp: Any, x: Any, w: Any, group: int, finish: Finish) -> Any:
    batch, out = x.shape[0], x.shape[2:]
    grouped = x.reshape(batch, group, w.shape[1], prod(out))
    weights = w.reshape(group, w.shape[0] // group, w.shape[1])
    return product(xp, weights, grouped, finish=_by_rows(finish, group)).reshape(batch, w.shape[0], *out)


def _by_rows(finish: Finish, group: int) -> Finish:
    """The same with operands [M] as [group, M / group, 1]."""
    return finish.with_operands(lambda operand: operand.reshape(group, -1, 1))


def _by_columns(xp: Any, x: Any, w: Any, slides: Windows, group: int, finish: Finish) -> Any:
    """Gather the windows as the columns of a matrix and multiply it by the filters (im2col)."""
    batch, filters = x.shape[0], w.shape[0]
    depth, row = prod(w.shape[1:]), prod(slides.out[1:])
    weights, finish = w.reshape(group, filters // group, depth), _by_rows(finish, group)
    y = xp.empty((batch, filters, *slides.out), x.dtype)
    flat = y.reshape(batch, group, filters // group, slides.out[0] * row)
    if xp is not np or slides.out[0] * row <= _FEW_COLUMNS:
        view = _window_view(xp, padded(xp, x, slides, 0), slides)
        for n in range(batch):
            product(xp, weights, _gathered(xp, view[n]).reshape(group, depth, slides.out[0] * row), flat[n],
                    finish)  # fmt: skip
        return y
    rows = _rows_a_piece(slides.out[0], group * depth * row * x.itemsize, y.size * depth // max(batch, 1))
    bands = -(-slides.out[0] // rows)
    idle: list[np.ndarray] = []  # buffers are used again: fresh memory costs as much as what is written to it

    def task(index: int) -> None:
        n, band = divmod(index, bands)
        part = slice(band * rows, min((band + 1) * rows, slides.out[0]))
        window = _windows_of_rows(x[n : n + 1], slides, part)
        buffer = idle.pop() if idle else np.empty(group * depth * rows * row, x.dtype)
        columns = buffer[: window.size].reshape(window.shape)
        np.copyto(columns, window)
        columns = columns.reshape(group, depth, window.size // (group * depth))
        target = flat[n, :, :, part.start * row : part.stop * row]
        np.matmul(weights, columns, out=target)
        finish.apply(target)
        idle.append(buffer)

    share(batch * bands, task)
    return y


def _windows_of_rows(x: np.ndarray, slides: Windows, rows: slice) -> Any:
    """The windows [C, *kernel, *out] of some rows of the result, of an input [1, C, *spatial]; pads these alone."""
    first = rows.start * slides.strides[0] - slides.pads_begin[0]
    own = replace(slides, out=(rows.stop - rows.start, *slides.out[1:]))
    read = slice(max(first, 0), max(min(first + own.reach[0], slides.size[0]), 0))
    length, before = max(read.stop - read.start, 0), max(-first, 0)
    own = replace(own, size=(length, *slides.size[1:]), pads_begin=(before, *slides.pads_begin[1:]))
    return _window_view(np, padded(np, x[:, :, read], own, 0), own)[0]


_FEW_COLUMNS = 256
"""Up to this many columns the filters, not the columns, are parted among threads."""


def _rows_a_piece(rows: int, row_bytes: int, work: int) -> int:
    """Rows of the output whose windows are gathered together."""
    return max(1, min(-(-rows // pieces(rows, work)), _COLUMNS_BYTES // max(row_bytes, 1)))


def _gathered(xp: Any, view: Any) -> Any:
    """A view of windows [C, *kernel, *out] as an array of its own."""
    if xp is not np:
        return xp.ascontiguousarray(view)
    columns, count = np.empty(view.shape, view.dtype), pieces(view.shape[0], _COPYING * view.size)

    def task(index: int) -> None:
        part = piece(index, count, view.shape[0])
        columns[part] = view[part]

    share(count, task)
    return columns


_COPYING = 32
"""A number copied from scattered places takes about as long as this many multiply-adds."""


def _window_view(xp: Any, x: Any, slides: Windows) -> Any:
    """Every window of a padded input as a view [N, C, *kernel, *out]."""
    inner = x.strides[2:]
    within = tuple(stride * d for stride, d in zip(inner, slides.dilations))
    between = tuple(stride * s for stride, s in zip(inner, slides.strides))
    return xp.lib.stride_tricks.as_strided(
        x, x.shape[:2] + slides.kernel + slides.out, x.strides[:2] + within + between
    )


_MANY_CHANNELS = 32
_SMALL_PLANE = 1 << 10
"""With so many channels and so few places a depthwise convolution is faster with the channels as the innermost axis: up
to 5 times at 672 channels of 14×14, 1.3 times at 48 of 28×28; half as fast at 32 of 56×56."""


def _depthwise_channels_last(x: np.ndarray, w: np.ndarray, slides: Windows, finish: Finish) -> np.ndarray:
    """One filter a channel: with the channels innermost, einsum multiplies and adds whole rows of them in one pass."""
    batch, channels, rank = x.shape[0], x.shape[1], len(slides.out)
    y = np.empty((batch, channels, *slides.out), x.dtype)
    taps = w.reshape(channels, *slides.kernel)
    parts = pieces(channels, y.size * prod(slides.kernel) * _READING, _MANY_CHANNELS)
    margins = [(before, max(after, 0)) for before, after in slides.padding()]
    positions, places = [*range(1, rank + 1)], [*range(rank + 1, 2 * rank + 1)]  # axis 0 is the channels'

    def task(index: int) -> None:
        n, at = divmod(index, parts)
        part = piece(at, parts, channels)
        wide = np.zeros((*(b + s + a for (b, a), s in zip(margins, slides.size)), part.stop - part.start), x.dtype)
        inside = tuple(slice(before, before + size) for (before, _), size in zip(margins, slides.size))
        wide[inside] = np.moveaxis(x[n, part], 0, -1)
        view = _window_view(np, np.moveaxis(wide, -1, 0)[None], slides)[0]
        last = np.ascontiguousarray(np.moveaxis(taps[part], 0, -1))
        sums = np.einsum(np.moveaxis(view, 0, -1), [*places, *positions, 0], last, [*places, 0], [*positions, 0])
        finish.with_operands(lambda operand: operand[part]).apply(sums)
        y[n, part] = np.moveaxis(sums, -1, 0)

    share(batch * parts, task)
    return y


def _depthwise(xp: Any, x: Any, w: Any, slides: Windows, finish: Finish) -> Any:
    """One input channel a group: add up shifted copies of the input, each times its kernel element.

    The padded plane is kept flat, so that a shift in any direction is one offset and the inner loop is as long as the
    plane; what falls between the rows is computed along and cut off. For strides the plane is first parted into its
    phases, within which a step of the window is a step of one.
    """
    batch, channels, times = x.shape[0], x.shape[1], w.shape[0] // x.shape[1]
    kernel = list(itertools.product(*map(range, slides.kernel)))
    offsets = [[p * d for p, d in zip(position, slides.dilations)] for position in kernel]
    last = offsets[-1]
    grid = tuple(o + far // s for o, far, s in zip(slides.out, last, slides.strides))
    steps = tuple(prod(grid[axis + 1 :]) for axis in range(len(grid)))
    length = sum((o - 1) * step for o, step in zip(slides.out, steps)) + 1
    y = xp.empty((batch, channels, times, *slides.out), x.dtype)
    if y.size == 0:
        return y.reshape(batch, channels * times, *slides.out)
    taps = w.reshape(channels, times, len(kernel), 1)
    finish = finish.with_operands(lambda operand: operand.reshape(channels, times, 1))
    block = channels
    if xp is np:
        block = max(1, _CHANNELS_BYTES // (prod(grid) * x.itemsize))
        block = min(block, -(-channels // pieces(channels, y.size * len(kernel) * _READING)))
    blocks = -(-channels // block)

    def task(index: int) -> None:
        n, at = divmod(index, blocks)
        part = slice(at * block, min((at + 1) * block, channels))
        phases = _phases(xp, x[n, part], slides, grid)
        total = xp.empty((part.stop - part.start, times, slides.out[0] * steps[0]), x.dtype)
        sums = total[:, :, :length]
        term = xp.empty_like(sums)
        for tap, offset in enumerate(offsets):
            plane = phases[tuple(o % s for o, s in zip(offset, slides.strides))]
            shift = sum(o // s * step for o, s, step in zip(offset, slides.strides, steps))
            xp.multiply(plane[:, :, shift : shift + length], taps[part, :, tap], out=term if tap else sums)
            if tap:
                sums += term
        finish.with_operands(lambda operand: operand[part]).apply(sums)
        whole = total.reshape(part.stop - part.start, times, slides.out[0], *grid[1:])
        y[n, part] = whole[(..., *(slice(o) for o in slides.out))]

    if xp is np:
        share(batch * blocks, task)
    else:
        for index in range(batch * blocks):
            task(index)
    return y.reshape(batch, channels * times, *slides.out)


_READING = 4
"""A number read from the cache takes about as long as this many multiply-adds."""


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
        for phase in itertools.product(*map(range, slides.strides))
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
    group: int = 1,
    output_padding: list[int] | None = None,
    output_shape: list[int] | None = None,
    **sliding: Unpack[Sliding],
) -> Any:
    """Every element of x [N, C, *spatial] spreads w [C, M/group, *kernel], sums where they meet (ConvTranspose 22).

    Raises
    ------
    UnsupportedError: the channels of x and w do not fit together.
    """
    xp = ctx.xp
    check_group(group)
    if x.ndim < 3 or w.ndim != x.ndim or x.shape[1] != w.shape[0] or w.shape[0] % group:
        raise UnsupportedError(f"x {list(x.shape)} and w {list(w.shape)} do not fit a convolution of {group} group(s)")
    size, sides = x.shape[2:], w.shape[2:]
    spread = transposed_windows(
        size, sides, output_padding=output_padding, output_shape=output_shape, **sliding
    )
    batch, filters = x.shape[0], w.shape[1] * group
    weights = w.reshape(group, w.shape[0] // group, w.shape[1] * prod(sides)).swapaxes(1, 2)
    terms = product(xp, weights, x.reshape(batch, group, w.shape[0] // group, prod(size)))
    terms = terms.reshape(batch, filters, *sides, *size)
    extent = tuple(max(f, before + o) for f, before, o in zip(spread.full, spread.begin, spread.out))
    y = _spread_sum(xp, terms, extent, spread.strides, spread.dilations)
    y = y[(..., *(slice(before, before + o) for before, o in zip(spread.begin, spread.out)))]
    return y if b is None else y + b.reshape(-1, *(1,) * len(size))


def _spread_sum(
    xp: Any, terms: Any, extent: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> Any:
    """Windows [N, C, *kernel, *size] laid out over [N, C, *extent] and added up where they overlap."""
    rank = len(extent)
    sides, size = terms.shape[2 : 2 + rank], terms.shape[2 + rank :]
    y = xp.zeros((*terms.shape[:2], *extent), terms.dtype)
    for position in itertools.product(*map(range, sides)):
        starts = [p * d for p, d in zip(position, dilations)]
        places = (slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, size, strides))
        y[(..., *places)] += terms[(slice(None), slice(None), *position)]
    return y


@kernel("Col2Im", 18, host_inputs=(1, 2))
def col2im(
    ctx: KernelContext,
    x: Any,
    image_shape: Any,
    block_shape: Any,
    **sliding: Unpack[Sliding],
) -> Any:
    """Columns [N, C * block, blocks] added up into the image [N, C, *image_shape] they were cut from (Col2Im 18)."""
    image, block = as_ints(image_shape), as_ints(block_shape)
    slides = windows(image, block, **sliding)
    terms = x.reshape(x.shape[0], -1, *block, *slides.out)
    extent = tuple(n + b + e for n, b, e in zip(image, slides.pads_begin, slides.pads_end))
    y = _spread_sum(ctx.xp, terms, extent, slides.strides, slides.dilations)
    return y[(..., *(slice(b, b + n) for b, n in zip(slides.pads_begin, image)))]
