"""Output lengths of sliding windows: convolution, pooling and their transposes (ai.onnx Conv, MaxPool, ConvTranspose).

Works on ints and expressions alike. The kernels have arithmetic of their own (`engine.kernels.windows`), which also
says where each window lies; tests hold what is inferred against what runs.
"""

from __future__ import annotations

from engine.dims import Dim, ceil_div, minimum
from engine.shapes.facts import KnownShape, ShapeClash


def window_output(
    length: Dim, kernel: Dim, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, ceil_mode: bool = False
) -> Dim:
    """Number of windows along one axis.

    With ``ceil_mode`` a last window may overhang the end, but it must start inside the input or its left padding.
    """
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        return ceil_div(length, stride)
    extent = (kernel - 1) * dilation + 1
    before, after = pads if auto_pad == "NOTSET" else (0, 0)
    room = length + before + after - extent
    if not ceil_mode:
        windows = room // stride + 1
    else:
        windows = minimum(ceil_div(room, stride) + 1, ceil_div(length + before, stride))
    if isinstance(windows, int) and windows < 0:
        raise ShapeClash(f"a window of {extent} does not fit a padded length of {length + before + after}")
    return windows


def transposed_output(
    length: Dim, kernel: Dim, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, output_padding: int
) -> Dim:
    """Length that a transposed convolution makes of one axis."""
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        return length * stride
    before, after = pads if auto_pad == "NOTSET" else (0, 0)
    return (length - 1) * stride + output_padding + (kernel - 1) * dilation + 1 - before - after


def per_axis(values: list[int] | None, default: int, rank: int, name: str) -> list[int]:
    """A per-axis attribute, filled with its default where absent. Raises ShapeClash where its length is wrong."""
    if not values:
        return [default] * rank
    if len(values) != rank:
        raise ShapeClash(f"attribute {name!r} has {len(values)} entries for {rank} spatial axes")
    if name != "pads" and name != "output_padding" and min(values) < 1:
        raise ShapeClash(f"attribute {name!r} is {values}: each entry must be 1 or more")
    return values


def pad_pairs(pads: list[int] | None, rank: int) -> list[tuple[int, int]]:
    """Begin and end pads per axis, from the attribute's [begins..., ends...]."""
    if not pads:
        return [(0, 0)] * rank
    if len(pads) != 2 * rank:
        raise ShapeClash(f"attribute 'pads' has {len(pads)} entries for {rank} spatial axes")
    return list(zip(pads[:rank], pads[rank:]))


def spatial(shape: KnownShape) -> KnownShape:
    """The spatial dims of an [N, C, ...] shape."""
    return shape[2:]
