"""Operators that cut tensors apart, join and repeat them, and pad them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.dims.cuts import cut
from engine.errors import UnsupportedError
from engine.kernels.axes import Array, along, as_ints, check_allocation, normalise_axes, normalise_axis, zero_of
from engine.kernels.registry import KernelContext, kernel

_LATE = (21, 23, 24, 25)


@kernel("Concat", 4, 11, 13)
def concat(ctx: KernelContext, *inputs: Array, axis: int) -> Array:
    return ctx.xp.concatenate(inputs, axis=normalise_axis(axis, inputs[0].ndim))


@kernel("Concat", 1)
def concat_1(ctx: KernelContext, *inputs: Array, axis: int = 1) -> Array:
    return concat(ctx, *inputs, axis=axis)


@kernel("Split", 13, host_inputs=(1,))
def split(ctx: KernelContext, x: Array, sizes: np.ndarray | None = None, *, axis: int = 0) -> tuple[Array, ...]:
    return _split(x, None if sizes is None else as_ints(sizes), axis, len(ctx.node.outputs))


@kernel("Split", 18, host_inputs=(1,))
def split_18(
    ctx: KernelContext, x: Array, sizes: np.ndarray | None = None, *, axis: int = 0, num_outputs: int | None = None
) -> tuple[Array, ...]:
    parts = len(ctx.node.outputs) if num_outputs is None else num_outputs
    return _split(x, None if sizes is None else as_ints(sizes), axis, parts)


@kernel("Split", 1, host_inputs=(1,))
def split_1(
    ctx: KernelContext, x: Array, sizes: np.ndarray | None = None, *, axis: int = 0, split: list[int] | None = None
) -> tuple[Array, ...]:
    """Version 1 takes the sizes as an input or as an attribute."""
    return _split(x, as_ints(sizes) if sizes is not None else split, axis, len(ctx.node.outputs))


@kernel("Split", 2, 11)
def split_attribute(
    ctx: KernelContext, x: Array, *, axis: int = 0, split: list[int] | None = None
) -> tuple[Array, ...]:
    return _split(x, split, axis, len(ctx.node.outputs))


def _split(x: Array, sizes: list[int] | None, axis: int, parts: int) -> tuple[Array, ...]:
    """Views of consecutive pieces. Without sizes they are equal, but for a smaller last one where it doesn't divide."""
    axis = normalise_axis(axis, x.ndim)
    length = x.shape[axis]
    if sizes is None:
        piece = -(-length // parts)
        sizes = [max(min(piece, length - i * piece), 0) for i in range(parts)]
    if sum(sizes) != length:
        raise ValueError(f"sizes {sizes} sum to {sum(sizes)}, but axis {axis} of {list(x.shape)} has {length}")
    ends = np.cumsum(sizes).tolist()
    return tuple(x[along(axis, x.ndim, slice(e - n, e))] for n, e in zip(sizes, ends))


@kernel("Slice", 10, 11, 13, host_inputs=(1, 2, 3, 4))
def slice_(
    ctx: KernelContext, x: Array, starts: np.ndarray, ends: np.ndarray, axes: np.ndarray | None = None,
    steps: np.ndarray | None = None,
) -> Array:  # fmt: skip
    first, last = as_ints(starts), as_ints(ends)
    which = as_ints(axes) if axes is not None else list(range(len(first)))
    stride = as_ints(steps) if steps is not None else [1] * len(first)
    return x[slice_index(x.shape, first, last, which, stride)]


@kernel("Slice", 1)
def slice_1(
    ctx: KernelContext, x: Array, *, starts: list[int], ends: list[int], axes: list[int] | None = None
) -> Array:
    which = axes if axes is not None else list(range(len(starts)))
    return x[slice_index(x.shape, starts, ends, which, [1] * len(starts))]


def slice_index(
    dims: Sequence[int], starts: list[int], ends: list[int], axes: list[int], steps: list[int]
) -> tuple[slice, ...]:
    """The index that takes what Slice means."""
    index = [slice(None)] * len(dims)
    for axis, start, end, step in zip(normalise_axes(axes, len(dims)), starts, ends, steps):
        index[axis] = cut(dims[axis], start, end, step)
    return tuple(index)


@kernel("Tile", 6, 13, host_inputs=(1,))
def tile(ctx: KernelContext, x: Array, repeats: np.ndarray) -> Array:
    return _tile(ctx.xp, x, as_ints(repeats))


@kernel("Tile", 1, host_inputs=(1, 2))
def tile_1(ctx: KernelContext, x: Array, tiles: np.ndarray, axis: np.ndarray) -> Array:
    """Version 1 repeats along one axis."""
    repeats = [1] * x.ndim
    repeats[normalise_axis(as_ints(axis)[0], x.ndim)] = as_ints(tiles)[0]
    return _tile(ctx.xp, x, repeats)


def _tile(xp: Any, x: Array, repeats: list[int]) -> Array:
    if len(repeats) != x.ndim:
        raise ValueError(f"repeats {repeats} should have one number for each of the {x.ndim} axes")
    check_allocation((d * r for d, r in zip(x.shape, repeats)), x.dtype)
    return xp.tile(x, tuple(repeats))


@kernel("Pad", 11, 13, 18, 19, *_LATE, host_inputs=(1, 2, 3))
def pad(
    ctx: KernelContext, x: Array, pads: np.ndarray, value: np.ndarray | None = None, axes: np.ndarray | None = None, *,
    mode: str = "constant",
) -> Array:  # fmt: skip
    fill = zero_of(x.dtype) if value is None or value.size == 0 else value.reshape(-1)[0]
    amounts = as_ints(pads)
    which = normalise_axes(as_ints(axes), x.ndim) if axes is not None else tuple(range(x.ndim))
    if len(amounts) != 2 * len(which):
        raise ValueError(f"pads {amounts} should have two numbers for each of the {len(which)} axes padded")
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(which):
        widths[axis] = (amounts[i], amounts[i + len(which)])
    return pad_widths(ctx.xp, x, widths, mode, fill)


@kernel("Pad", 2)
def pad_2(ctx: KernelContext, x: Array, *, pads: list[int], mode: str = "constant", value: float = 0.0) -> Array:
    widths = list(zip(pads[: x.ndim], pads[x.ndim :]))
    return pad_widths(ctx.xp, x, widths, mode, x.dtype.type(value))


@kernel("Pad", 1)
def pad_1(ctx: KernelContext, x: Array, *, paddings: list[int], mode: str = "constant", value: float = 0.0) -> Array:
    return pad_2(ctx, x, pads=paddings, mode=mode, value=value)


def pad_widths(xp: Any, x: Array, widths: Sequence[tuple[int, int]], mode: str, fill: Any) -> Array:
    """`x` with (before, after) elements more on each axis; negative numbers cut, before any padding.

    Parameters
    ----------
    mode: ``constant`` (of value `fill`), ``reflect``, ``edge`` or ``wrap``.
    """
    if any(w < 0 for pair in widths for w in pair):
        x = x[tuple(slice(max(-b, 0), max(d + min(a, 0), 0)) for (b, a), d in zip(widths, x.shape))]
        widths = [(max(b, 0), max(a, 0)) for b, a in widths]
    if not any(w for pair in widths for w in pair):
        return x
    shape = check_allocation((d + b + a for (b, a), d in zip(widths, x.shape)), x.dtype)
    if mode == "constant":
        result = xp.full(shape, fill, dtype=x.dtype)
        result[tuple(slice(b, b + d) for (b, _), d in zip(widths, x.shape))] = x
        return result
    if mode not in ("reflect", "edge", "wrap"):
        raise UnsupportedError(f"Pad has no mode {mode!r}")
    return xp.pad(x, widths, mode=mode)


@kernel("CenterCropPad", 18, host_inputs=(1,))
def center_crop_pad(ctx: KernelContext, x: Array, shape: np.ndarray, *, axes: list[int] | None = None) -> Array:
    """Crop or zero-pad both sides alike; an odd element is cut before and added after."""
    which = normalise_axes(axes, x.ndim) if axes is not None else tuple(range(x.ndim))
    widths = [(0, 0)] * x.ndim
    for axis, wanted in zip(which, as_ints(shape)):
        more = wanted - x.shape[axis]
        before = more // 2 if more > 0 else -(-more // 2)
        widths[axis] = (before, more - before)
    return pad_widths(ctx.xp, x, widths, "constant", zero_of(x.dtype))


@kernel("ReverseSequence", 10, 28)
def reverse_sequence(
    ctx: KernelContext, x: Array, lengths: Array, *, batch_axis: int = 1, time_axis: int = 0
) -> Array:
    """The first `lengths[b]` steps of each batch in reverse order, the rest as they are."""
    if lengths.shape != (x.shape[batch_axis],):
        raise ValueError(f"sequence_lens {list(lengths.shape)} should have one number for each of the "
                         f"{x.shape[batch_axis]} sequences")  # fmt: skip
    steps = ctx.xp.arange(x.shape[time_axis])[None, :]
    ends = lengths[:, None]
    source = ctx.xp.where(steps < ends, ends - 1 - steps, steps)
    batches = ctx.xp.arange(x.shape[batch_axis])[:, None]
    moved = ctx.xp.moveaxis(x, (batch_axis, time_axis), (0, 1))
    return ctx.xp.moveaxis(moved[batches, source], (0, 1), (batch_axis, time_axis))
