"""Window arithmetic of convolution and pooling: how a kernel slides over padded axes, and how many places it takes.

Source: ONNX operator specification, Conv (22), ConvTranspose (22), MaxPool (22), AveragePool (22).
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypedDict

from engine.errors import UnsupportedError


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
    UnsupportedError: an attribute has the wrong length or a value that the specification does not allow.
    """
    rank = len(size)
    strides = _per_axis("strides", strides, rank, 1)
    dilations = _per_axis("dilations", dilations, rank, 1)
    if len(kernel) != rank:
        raise UnsupportedError(f"kernel_shape {list(kernel)} does not fit {rank} spatial axes")
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        out = [-(-n // s) for n, s in zip(size, strides)]
        total = [max((o - 1) * s + span - n, 0) for o, s, span, n in zip(out, strides, spans, size)]
        begin, end = split_padding(total, more_at_end=auto_pad == "SAME_UPPER")
    else:
        begin, end = explicit_pads(pads, rank, auto_pad)
        out = [
            output_length(n, span, s, b, e, bool(ceil_mode))
            for n, span, s, b, e in zip(size, spans, strides, begin, end)
        ]
    return Windows(tuple(kernel), strides, dilations, begin, end, tuple(size), tuple(out))


def output_length(size: int, span: int, stride: int, begin: int, end: int, ceil_mode: bool) -> int:
    """Number of places a window of length `span` takes on one axis.

    In ceil mode a last window that would start in the end padding, or beyond it, does not count.
    """
    free = size + begin + end - span
    if not ceil_mode:
        return max(free // stride + 1, 0)
    length = -(-free // stride) + 1
    if (length - 1) * stride >= size + begin:
        length -= 1
    return max(length, 0)


def explicit_pads(pads: Sequence[int] | None, rank: int, auto_pad: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Begin and end padding for `auto_pad` NOTSET and VALID."""
    if auto_pad not in ("", "NOTSET", "VALID"):
        raise UnsupportedError(f"auto_pad {auto_pad!r} is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID")
    if auto_pad == "VALID" or not pads:
        pads = (0,) * (2 * rank)
    if len(pads) != 2 * rank:
        raise UnsupportedError(f"pads {list(pads)} should have {2 * rank} values")
    return tuple(pads[:rank]), tuple(pads[rank:])


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
    strides = _per_axis("strides", strides, rank, 1)
    dilations = _per_axis("dilations", dilations, rank, 1)
    extra = _per_axis("output_padding", output_padding, rank, 0)
    full = tuple(
        s * (n - 1) + p + (k - 1) * d + 1 for n, s, p, k, d in zip(size, strides, extra, kernel, dilations)
    )
    same = auto_pad in ("SAME_UPPER", "SAME_LOWER")
    if output_shape or same:
        # The output_shape may come with the batch and channel axes in front.
        out = tuple(output_shape[-rank:]) if output_shape else tuple(n * s for n, s in zip(size, strides))
        total = [max(f - o, 0) for f, o in zip(full, out)]
        begin, _ = split_padding(total, more_at_end=auto_pad == "SAME_UPPER")
    else:
        begin, end = explicit_pads(pads, rank, auto_pad)
        out = tuple(max(f - b - e, 0) for f, b, e in zip(full, begin, end))
    return TransposedWindows(strides, dilations, begin, full, out)


def _per_axis(name: str, values: Sequence[int] | None, rank: int, default: int) -> tuple[int, ...]:
    if not values:
        return (default,) * rank
    if len(values) != rank:
        raise UnsupportedError(f"{name} {list(values)} should have {rank} values")
    return tuple(values)
