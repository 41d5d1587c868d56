"""How a kernel slides over padded axes, for convolution and pooling: where each window lies.

How many there are, and what the attributes may be, is in `engine.dims.windows`.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TypedDict

from engine.dims.windows import SAME, WindowError, pad_pairs, per_axis, transposed_extent, window_count


class Sliding(TypedDict, total=False):
    """The attributes of all operators that slide a window, as the specification names them."""

    strides: list[int]
    dilations: list[int]
    pads: list[int]
    auto_pad: str


@dataclass(frozen=True, slots=True)
class Windows:
    """How a kernel slides over the spatial axes; every field holds one int an axis.

    `pads_end` is what the specification names. A window may overhang that in ceil mode: see `reach`.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    size: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def is_pointwise(self) -> bool:
        """Whether each window is one element of the unpadded input."""
        return all(k == 1 for k in self.kernel) and not any(self.pads_begin) and not any(self.pads_end)

    @property
    def reach(self) -> tuple[int, ...]:
        """Length of each padded axis that covers every window, overhang included."""
        spans = zip(self.out, self.strides, self.kernel, self.dilations)
        return tuple(max((o - 1) * s + (k - 1) * d + 1, 0) if o else 0 for o, s, k, d in spans)

    def padding(self) -> list[tuple[int, int]]:
        """(before, after) for each axis so that every window lies inside: after may be negative, meaning a crop."""
        return [(b, r - n - b) for b, r, n in zip(self.pads_begin, self.reach, self.size)]

    def offsets(self) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Each kernel position with the slices that pick, from the padded input, its element of every window."""
        for position in product(*map(range, self.kernel)):
            starts = [p * d for p, d in zip(position, self.dilations)]
            yield position, tuple(
                slice(start, start + (o - 1) * s + 1, s) if o else slice(0, 0)
                for start, o, s in zip(starts, self.out, self.strides)
            )

    def counts(self, include_padding: bool) -> list[list[int]]:
        """For each axis, how many elements of each window are input; or input and padding, overhang left out."""
        result = []
        for axis in range(len(self.kernel)):
            before, after, n = self.pads_begin[axis], self.pads_end[axis], self.size[axis]
            first, last = (0, before + n + after) if include_padding else (before, before + n)
            starts = [o * self.strides[axis] for o in range(self.out[axis])]
            steps = [k * self.dilations[axis] for k in range(self.kernel[axis])]
            result.append([sum(first <= start + step < last for step in steps) for start in starts])
        return result


def windows(
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
) -> Windows:
    """The windows of a convolution or pooling over spatial axes of lengths `size`.

    Raises
    ------
    WindowError: an attribute has the wrong length or a value that the specification does not allow.
    """
    return _windows(tuple(size), tuple(kernel), *map(_fixed, (strides, dilations, pads)), auto_pad, ceil_mode)


def _fixed(values: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if values is None else tuple(values)


@lru_cache(1 << 12)  # every run asks for the same ones, and working them out takes six times as long as this
def _windows(
    size: tuple[int, ...], kernel: tuple[int, ...], strides: tuple[int, ...] | None, dilations: tuple[int, ...] | None,
    pads: tuple[int, ...] | None, auto_pad: str, ceil_mode: int,
) -> Windows:  # fmt: skip
    rank = len(size)
    if not kernel:
        raise WindowError(f"attribute 'kernel_shape' is empty: {rank} spatial axes need {rank} entries")
    kernel = per_axis("kernel_shape", kernel, rank)
    strides, dilations = per_axis("strides", strides, rank), per_axis("dilations", dilations, rank)
    begin, end = unzipped(pad_pairs(pads, rank, auto_pad))
    axes = zip(size, kernel, strides, dilations, zip(begin, end))
    out = tuple(max(window_count(*axis, auto_pad, bool(ceil_mode)), 0) for axis in axes)
    if auto_pad in SAME:
        spans = zip(out, strides, kernel, dilations, size)
        total = [max((o - 1) * s + (k - 1) * d + 1 - n, 0) for o, s, k, d, n in spans]
        begin, end = split_padding(total, more_at_end=auto_pad == "SAME_UPPER")
    return Windows(kernel, strides, dilations, begin, end, tuple(size), out)


def unzipped(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first and the second of each pair."""
    return tuple(first for first, _ in pairs), tuple(second for _, second in pairs)


def split_padding(total: Sequence[int], more_at_end: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Total padding of each axis in two halves; of an odd number the end, or the beginning, gets one more."""
    small = tuple(t // 2 for t in total)
    large = tuple(t - t // 2 for t in total)
    return (small, large) if more_at_end else (large, small)


@dataclass(frozen=True, slots=True)
class TransposedWindows:
    """How the windows of a transposed convolution spread: `full` is the length before `begin` and the rest are cut."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    full: tuple[int, ...]
    out: tuple[int, ...]


def transposed_windows(
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
) -> TransposedWindows:
    """The windows of a transposed convolution (ConvTranspose), whose output is longer than `size`."""
    rank = len(size)
    strides, dilations = per_axis("strides", strides, rank), per_axis("dilations", dilations, rank)
    extra = per_axis("output_padding", output_padding, rank, 0, least=0)
    begin, end = unzipped(pad_pairs(pads, rank, auto_pad))
    axes = zip(size, kernel, strides, dilations, extra)
    full = tuple(transposed_extent(*axis) for axis in axes)
    if output_shape or auto_pad in SAME:
        # The output_shape may come with the batch and channel axes in front.
        wanted = output_shape or [n * s for n, s in zip(size, strides)]
        out = per_axis("output_shape", wanted[-rank:], rank, least=0)
        total = [max(f - o, 0) for f, o in zip(full, out)]
        begin, _ = split_padding(total, more_at_end=auto_pad == "SAME_UPPER")
    else:
        out = tuple(max(f - b - e, 0) for f, b, e in zip(full, begin, end))
    return TransposedWindows(strides, dilations, begin, full, out)
