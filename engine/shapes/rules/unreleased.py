"""Operators in the standard's domain that ONNX never released (`engine.kernels.unreleased`): they have no schema."""

from __future__ import annotations

from dataclasses import replace

from engine.dims import Dim
from engine.shapes.call import Call
from engine.shapes.facts import Fact, Out, ShapeClash
from engine.shapes.registry import rule
from engine.shapes.rules.movement import slice_length


@rule("Affine", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh")
def as_input(call: Call) -> Out:
    """Shape and dtype of the input."""
    return Out(call.shape(0), call.dtype(0))


@rule("MemcpyFromHost", "MemcpyToHost")
def copied(call: Call) -> Fact:
    """The input itself."""
    return replace(call.fact(0), value=call.value(0))


@rule("Crop")
def crop(call: Call) -> Out:
    """An image without its borders (left, top, right, bottom), or `scale` (height, width) from there."""
    border, scale = call.required_ints("border"), call.optional_ints("scale")
    if len(border) != 4 or (scale is not None and len(scale) != 2):
        raise ShapeClash(f"border {border} and scale {scale} should be of four and of two numbers")
    left, top, right, bottom = border
    n, c, height, width = call.rank_at_least(0, 4)
    cut: list[Dim]
    if scale:
        cut = [slice_length(height, top, top + scale[0]), slice_length(width, left, left + scale[1])]
    else:
        cut = [height - top - bottom, width - left - right]
    return Out((n, c, *cut), call.dtype(0))
