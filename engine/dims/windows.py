"""Sliding windows of convolution and pooling: what their attributes may be, and how many windows an axis takes.

The arithmetic serves kernels, whose lengths are ints, and shape rules, whose lengths may be expressions. Source: ONNX
operator specification, Conv (22), ConvTranspose (22), MaxPool (22), AveragePool (22).
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from engine.dims.bounds import minimum
from engine.dims.expr import Dim, ceil_div

SAME = ("SAME_UPPER", "SAME_LOWER")


class WindowError(ValueError):
    """An attribute of sliding windows that the specification does not allow; the message says what was wanted."""


def per_axis(name: str, values: Sequence[int] | None, rank: int, default: int = 1, least: int = 1) -> tuple[int, ...]:
    """An attribute with one int a spatial axis, `default` everywhere where it is absent.

    Raises
    ------
    WindowError: its length is another, or an entry is below `least`.
    """
    if not values:
        return (default,) * rank
    if len(values) != rank:
        raise WindowError(f"attribute {name!r} is {list(values)}: {rank} spatial axes need {rank} entries")
    if min(values) < least:
        raise WindowError(f"attribute {name!r} is {list(values)}: each entry must be {least} or more")
    return tuple(values)


def pad_pairs(pads: Sequence[int] | None, rank: int, auto_pad: str = "NOTSET") -> list[tuple[int, int]]:
    """Begin and end pads of each axis, from the attribute's [begins..., ends...]; none where `auto_pad` is not NOTSET.

    Raises
    ------
    WindowError: the attribute has another length or a negative entry, or `auto_pad` is none of those that there are.
    """
    if auto_pad not in ("", "NOTSET", "VALID", *SAME):
        raise WindowError(f"attribute 'auto_pad' is {auto_pad!r}, which is none of NOTSET, VALID, {', '.join(SAME)}")
    if not pads or auto_pad not in ("", "NOTSET"):
        return [(0, 0)] * rank
    if len(pads) != 2 * rank:
        raise WindowError(f"attribute 'pads' is {list(pads)}: {rank} spatial axes need {2 * rank} entries")
    if min(pads) < 0:
        raise WindowError(f"attribute 'pads' is {list(pads)}: each entry must be 0 or more")
    return list(zip(pads[:rank], pads[rank:]))


def check_group(group: int) -> None:
    """Raise a WindowError where a convolution has no group."""
    if group < 1:
        raise WindowError(f"attribute 'group' is {group}: it must be 1 or more")


@overload
def window_count(
    length: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, ceil_mode: bool = False
) -> int: ...
@overload
def window_count(
    length: Dim, kernel: Dim, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, ceil_mode: bool = False
) -> Dim: ...
def window_count(
    length: Dim, kernel: Dim, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, ceil_mode: bool = False
) -> Dim:
    """Number of windows along one axis; negative where the padded axis is much too short.

    With ``ceil_mode`` a last window may overhang the end, but it must start inside the input or its left padding.
    """
    if auto_pad in SAME:
        return ceil_div(length, stride)
    before, after = pads
    room = length + before + after - (kernel - 1) * dilation - 1
    if not ceil_mode:
        return room // stride + 1
    return minimum(ceil_div(room, stride) + 1, ceil_div(length + before, stride))


@overload
def transposed_extent(length: int, kernel: int, stride: int, dilation: int, output_padding: int) -> int: ...
@overload
def transposed_extent(length: Dim, kernel: Dim, stride: int, dilation: int, output_padding: int) -> Dim: ...
def transposed_extent(length: Dim, kernel: Dim, stride: int, dilation: int, output_padding: int) -> Dim:
    """What a transposed convolution makes of one axis, before padding is cut off."""
    return (length - 1) * stride + output_padding + (kernel - 1) * dilation + 1
