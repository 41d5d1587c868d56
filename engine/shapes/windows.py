"""Output lengths of sliding windows as shape rules ask for them: see `engine.dims.windows`."""

from __future__ import annotations

from engine.dims import Dim
from engine.dims.windows import SAME, transposed_extent, window_count
from engine.shapes.facts import ShapeClash


def window_output(
    length: Dim, kernel: Dim, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, ceil_mode: bool = False
) -> Dim:
    """Number of windows along one axis. Raises ShapeClash where none can fit."""
    windows = window_count(length, kernel, stride, dilation, pads, auto_pad, ceil_mode)
    if isinstance(windows, int) and windows < 0:
        extent = (kernel - 1) * dilation + 1
        raise ShapeClash(f"a window of {extent} does not fit a padded length of {length + sum(pads)}")
    return windows


def transposed_output(
    length: Dim, kernel: Dim, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, output_padding: int
) -> Dim:
    """Length that a transposed convolution makes of one axis."""
    if auto_pad in SAME:
        return length * stride
    return transposed_extent(length, kernel, stride, dilation, output_padding) - sum(pads)
