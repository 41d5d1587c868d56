"""Convolutions."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.dims import Dim
from engine.dims.windows import check_group, pad_pairs, per_axis
from engine.graph.types import format_shape
from engine.shapes.call import Call
from engine.shapes.facts import KnownShape, Out, ShapeClash
from engine.shapes.registry import rule
from engine.shapes.windows import transposed_output, window_output


@rule("Conv")
def conv(call: Call) -> Out:
    """[N, M, windows...] of an input [N, C, ...] and weights [M, C/group, kernel...]."""
    return Out(conv_shape(call, call.rank_at_least(0, 3), call.shape(1)))


@rule("ConvInteger")
def conv_integer(call: Call) -> Out:
    """As Conv, in int32."""
    return Out(conv_shape(call, call.rank_at_least(0, 3), call.shape(1)), dtypes.INT32)


@rule("QLinearConv")
def qlinear_conv(call: Call) -> Out:
    """As Conv, in the dtype of the output's zero point."""
    return Out(conv_shape(call, call.rank_at_least(0, 3), call.shape(3)), call.dtype(7))


def conv_shape(call: Call, x: KnownShape, w: KnownShape) -> KnownShape:
    """Shape of a convolution with the node's attributes."""
    rank = len(x) - 2
    if len(w) != len(x):
        raise ShapeClash(f"input {format_shape(x)} and weights {format_shape(w)} differ in rank")
    channels, group = x[1], call.attr("group", 1)
    check_group(group)
    call.equal(channels, w[1] * group, lambda: f"convolves {format_shape(x)} by {format_shape(w)} in {group} group(s)")
    return (x[0], w[0], *_windows(call, x, tuple(call.optional_ints("kernel_shape") or w[2:]), rank))


def _windows(call: Call, x: KnownShape, kernel: KnownShape, rank: int) -> list[Dim]:
    if len(kernel) != rank:
        raise ShapeClash(f"a kernel of {format_shape(kernel)} does not fit {format_shape(x)}")
    strides = per_axis("strides", call.optional_ints("strides"), rank)
    dilations = per_axis("dilations", call.optional_ints("dilations"), rank)
    auto = call.attr("auto_pad", "NOTSET")
    pads = pad_pairs(call.optional_ints("pads"), rank, auto)
    axes = zip(x[2:], kernel, strides, dilations, pads)
    return [window_output(length, k, s, d, p, auto) for length, k, s, d, p in axes]


@rule("ConvTranspose")
def conv_transpose(call: Call) -> Out:
    """[N, M, ...] of an input [N, C, ...] and weights [C, M/group, kernel...]."""
    return Out(transposed_shape(call, call.rank_at_least(0, 3), call.shape(1), call.optional_ints("pads")))


def transposed_shape(call: Call, x: KnownShape, w: KnownShape, pads: list[int] | None) -> KnownShape:
    """Shape of a transposed convolution with the node's attributes."""
    rank = len(x) - 2
    if len(w) != len(x):
        raise ShapeClash(f"input {format_shape(x)} and weights {format_shape(w)} differ in rank")
    call.equal(x[1], w[0], lambda: f"convolves {format_shape(x)} by {format_shape(w)}")
    channels = w[1] * call.attr("group", 1)
    given = call.optional_ints("output_shape")
    if given:
        return (x[0], channels, *given[-rank:])
    kernel = tuple(call.optional_ints("kernel_shape") or w[2:])
    strides = per_axis("strides", call.optional_ints("strides"), rank)
    dilations = per_axis("dilations", call.optional_ints("dilations"), rank)
    paddings = per_axis("output_padding", call.optional_ints("output_padding"), rank, 0, least=0)
    auto = call.attr("auto_pad", "NOTSET")
    axes = zip(x[2:], kernel, strides, dilations, pad_pairs(pads, rank, auto), paddings, strict=True)
    return (x[0], channels, *(transposed_output(n, k, s, d, p, auto, o) for n, k, s, d, p, o in axes))


@rule("DeformConv")
def deform_conv(call: Call) -> Out:
    """As Conv; the offsets do not change the shape."""
    return Out(conv_shape(call, call.rank_at_least(0, 3), call.shape(1)))


@rule("Col2Im")
def col2im(call: Call) -> Out:
    """[N, C, image...] of columns [N, C * block, L]."""
    columns = call.rank_at_least(0, 3)
    image = [call.dim(e, f"image{i}") for i, e in enumerate(call.elements(1))]
    block: Dim = 1
    for i, element in enumerate(call.elements(2)):
        block = block * call.dim(element, f"block{i}")
    return Out((columns[0], columns[1] // block, *image))


@rule("CausalConvWithState")
def causal_conv(call: Call) -> list[Any]:
    """The input's shape, and the state to carry on: the last window but one element."""
    x, w = call.rank_at_least(0, 3), call.shape(1)
    kernel = w[-1]
    return [Out(x, call.dtype(0)), Out((*x[:2], kernel - 1), call.dtype(0))]
