"""Normalisations: the shape of the input, and statistics beside it."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.shapes.call import Call, axis_in
from engine.shapes.facts import KnownShape, Out
from engine.shapes.registry import rule


@rule("InstanceNormalization", "GroupNormalization", "RMSNormalization")
def normalization(call: Call) -> Out:
    """The shape of the input."""
    return Out(call.shape(0))


@rule("BatchNormalization")
def batch_normalization(call: Call) -> list[Any]:
    """The shape of the input; running and saved statistics of [C]."""
    shape = call.shape(0)
    channels = (shape[1],) if len(shape) > 1 else (1,)
    return [Out(shape), *(Out(channels) for _ in call.node.outputs[1:])]


@rule("LayerNormalization")
def layer_normalization(call: Call) -> list[Any]:
    """The shape of the input; mean and inverse deviation with the normalised axes of length 1, in `stash_type`."""
    shape = call.shape(0)
    stash = call.dtype_attr("stash_type") or dtypes.FLOAT32
    reduced = reduced_from(shape, axis_in(call.attr("axis", -1), len(shape)))
    return [Out(shape), Out(reduced, stash), Out(reduced, stash)]


def reduced_from(shape: KnownShape, axis: int) -> KnownShape:
    """The shape with every axis from `axis` on of length 1."""
    return shape[:axis] + (1,) * (len(shape) - axis)
