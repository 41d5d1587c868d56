"""Resize and its forerunner Upsample."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from engine.dims import Dim
from engine.graph.types import format_shape
from engine.shapes.call import Call, axes_in
from engine.shapes.facts import KnownShape, Out, ShapeClash
from engine.shapes.registry import rule

_EXACT_BELOW = 1 << 10
"""Scales p/q with q up to this are exact in float32 for every length below 2**24 / p."""


@rule("Upsample")
def upsample(call: Call) -> Out:
    """Each axis scaled."""
    shape = call.shape(0)
    if "scales" in call.node.attributes:
        scales: list[Any] = call.attr("scales", [1.0])
    else:
        scales = call.elements(1) if call.has(1) else _opset1_scales(call, len(shape))
    return Out(_scaled(call, shape, list(range(len(shape))), scales))


def _opset1_scales(call: Call, rank: int) -> list[Any]:
    return [1.0] * (rank - 2) + [call.attr("height_scale", 1.0), call.attr("width_scale", 1.0)]


@rule("Resize")
def resize(call: Call) -> Out:
    """Lengths from `sizes`, or each axis scaled by `scales`, of all axes or of `axes`."""
    shape = call.shape(0)
    axes = axes_in(call.optional_ints("axes") or list(range(len(shape))), len(shape))
    scales_slot = 1 if call.node.since_version < 11 else 2
    sizes_given = call.has(3) and call.known_shape(3) != (0,)
    if not sizes_given:
        return Out(_scaled(call, shape, axes, call.elements(scales_slot)))
    sizes = call.elements(3)
    if len(sizes) != len(axes):
        raise ShapeClash(f"{len(sizes)} sizes are given for {len(axes)} axes")
    policy = call.attr("keep_aspect_ratio_policy", "stretch")
    result = list(shape)
    kept = policy != "stretch"
    if kept and all(isinstance(v, int) for v in (*sizes, *(shape[a] for a in axes))):
        pick = min if policy == "not_larger" else max
        scale = pick(Fraction(size, _int(shape[axis])) for axis, size in zip(axes, sizes))
        sizes = [int(scale * _int(shape[axis]) + Fraction(1, 2)) for axis in axes]
    elif kept:
        sizes = [None] * len(sizes)
    for axis, size in zip(axes, sizes):
        result[axis] = call.dim(size, f"dim{axis}")
    return Out(tuple(result))


def _int(dim: Dim) -> int:
    assert isinstance(dim, int)
    return dim


def _scaled(call: Call, shape: KnownShape, axes: list[int], scales: list[Any]) -> KnownShape:
    if len(scales) != len(axes):
        raise ShapeClash(f"{len(scales)} scales are given for {format_shape(shape)}")
    result = list(shape)
    for axis, scale in zip(axes, scales):
        result[axis] = _scaled_dim(call, axis, shape[axis], scale)
    return tuple(result)


def _scaled_dim(call: Call, axis: int, length: Dim, scale: Any) -> Dim:
    """``floor(length * scale)`` in float32, as kernels compute it."""
    if not isinstance(scale, (int, float)):
        return call.length(f"dim{axis}")
    if isinstance(length, int):
        return int(np.floor(np.float32(length) * np.float32(scale)))
    ratio = Fraction(float(np.float32(scale)))
    if ratio.denominator <= _EXACT_BELOW:
        return length * ratio.numerator // ratio.denominator
    return call.length(f"dim{axis}")
