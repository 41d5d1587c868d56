"""Pooling over windows, whole images and regions."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.dims import Dim
from engine.dims.windows import pad_pairs, per_axis
from engine.graph.types import format_shape
from engine.shapes.call import Call
from engine.shapes.facts import KnownShape, Out, ShapeClash
from engine.shapes.registry import rule
from engine.shapes.windows import window_output


@rule("MaxPool", "AveragePool", "LpPool")
def pool(call: Call) -> list[Any]:
    """[N, C, windows...]; MaxPool also gives where each maximum stood."""
    shape = pool_shape(call, call.rank_at_least(0, 3))
    return [Out(shape, call.dtype(0)), Out(shape, dtypes.INT64)]


def pool_shape(call: Call, x: KnownShape) -> KnownShape:
    """Shape of an input [N, C, ...] pooled with the node's attributes."""
    rank = len(x) - 2
    kernel = call.required_ints("kernel_shape")
    if len(kernel) != rank:
        raise ShapeClash(f"a kernel of {kernel} does not fit {format_shape(x)}")
    kernel = list(per_axis("kernel_shape", kernel, rank))
    strides = per_axis("strides", call.optional_ints("strides"), rank)
    dilations = per_axis("dilations", call.optional_ints("dilations"), rank)
    auto, ceil = call.attr("auto_pad", "NOTSET"), bool(call.attr("ceil_mode", 0))
    pads = pad_pairs(call.optional_ints("pads"), rank, auto)
    axes = zip(x[2:], kernel, strides, dilations, pads)
    return x[:2] + tuple(window_output(n, k, s, d, p, auto, ceil) for n, k, s, d, p in axes)


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: Call) -> Out:
    """[N, C, 1...]."""
    shape = call.rank_at_least(0, 2)
    return Out(shape[:2] + (1,) * (len(shape) - 2))


@rule("MaxUnpool")
def max_unpool(call: Call) -> Out:
    """The shape before MaxPool, from an input or worked out backwards."""
    x = call.rank_at_least(0, 3)
    if call.has(2):
        return Out(tuple(call.dim(e, f"dim{i}") for i, e in enumerate(call.elements(2))))
    rank = len(x) - 2
    kernel = call.required_ints("kernel_shape")
    strides = per_axis("strides", call.optional_ints("strides"), rank)
    pads = pad_pairs(call.optional_ints("pads"), rank)
    axes = zip(x[2:], kernel, strides, pads)
    return Out(x[:2] + tuple((n - 1) * s + k - before - after for n, k, s, (before, after) in axes))


@rule("MaxRoiPool")
def max_roi_pool(call: Call) -> Out:
    """[regions, C, pooled...]."""
    return Out((call.shape(1)[0], call.rank_at_least(0, 2)[1], *call.required_ints("pooled_shape")))


@rule("RoiAlign")
def roi_align(call: Call) -> Out:
    """[regions, C, output_height, output_width]."""
    size: tuple[Dim, Dim] = (call.attr("output_height", 1), call.attr("output_width", 1))
    return Out((call.rank_at_least(1, 1)[0], call.rank_at_least(0, 2)[1], *size))
