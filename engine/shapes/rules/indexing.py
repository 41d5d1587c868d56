"""Operators that pick elements by index, or find indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import dtypes
from engine.dims import Dim, product
from engine.graph.types import format_shape
from engine.shapes import values
from engine.shapes.call import Call, axis_in
from engine.shapes.facts import Out, ShapeClash, Unknown, Values
from engine.shapes.registry import rule


@rule("Gather")
def gather(call: Call) -> Out:
    """Slices along `axis` at the places that the indices name."""
    shape, indices = call.rank_at_least(0, 1), call.shape(1)
    axis = axis_in(call.attr("axis", 0), len(shape))
    result = shape[:axis] + indices + shape[axis + 1 :]
    wanted = call.value(1)
    if wanted is None or not all(isinstance(i, int) for i in wanted.reshape(-1)):
        return Out(result)
    length = shape[axis]
    if isinstance(length, int):
        outside = [i for i in wanted.reshape(-1) if not -length <= i < length]
        if outside:
            raise ShapeClash(f"index {outside[0]} lies outside axis {axis} of {format_shape(shape)}")
    return Out(result, None, _taken(call.value(0), wanted, axis))


def _taken(value: Values | None, wanted: Values, axis: int) -> Values | None:
    if value is None:
        return None
    taken = np.take(value, wanted.astype(np.int64), axis)
    return taken if isinstance(taken, np.ndarray) else values.scalar(taken)


@rule("GatherElements")
def gather_elements(call: Call) -> Out:
    """One element for each index."""
    return Out(call.shape(1))


@rule("GatherND")
def gather_nd(call: Call) -> Out:
    """Slices at the places that the indices' last axis names, after `batch_dims` axes in common."""
    shape, indices = call.shape(0), call.rank_at_least(1, 1)
    depth = indices[-1]
    if not isinstance(depth, int):
        raise Unknown(f"the last axis of its indices, {depth}, decides the rank and is known only at run time")
    kept = call.attr("batch_dims", 0) + depth
    if kept > len(shape):
        raise ShapeClash(f"indices {format_shape(indices)} reach deeper than {format_shape(shape)}")
    return Out(indices[:-1] + shape[kept:])


@rule("NonZero")
def non_zero(call: Call) -> Out:
    """The index of each element that is not 0, a column each."""
    return Out((len(call.shape(0)), call.length("count")))


@rule("OneHot")
def one_hot(call: Call) -> Out:
    """A new axis of length `depth`."""
    shape = call.shape(0)
    axis = axis_in(call.attr("axis", -1), len(shape) + 1)
    return Out((*shape[:axis], _scalar_dim(call, 1, "depth"), *shape[axis:]), call.dtype(2))


@rule("TopK")
def top_k(call: Call) -> list[Any]:
    """The k greatest along `axis`, and their indices."""
    shape = call.rank_at_least(0, 1)
    axis = axis_in(call.attr("axis", -1), len(shape))
    k: Dim = call.required_int("k") if call.node.since_version < 10 else _scalar_dim(call, 1, "k")
    result = (*shape[:axis], k, *shape[axis + 1 :])
    return [Out(result, call.dtype(0)), Out(result, dtypes.INT64)]


def _scalar_dim(call: Call, slot: int, suffix: str) -> Dim:
    value = call.value(slot)
    element = None if value is None or value.size != 1 else value.reshape(-1)[0]
    if isinstance(element, float) and element.is_integer():
        element = int(element)
    return call.dim(element, suffix)


@rule("Compress")
def compress(call: Call) -> Out:
    """What a condition keeps of an axis, or of all elements in a row."""
    condition = call.value(1)
    kept: Dim
    if condition is not None and all(e is not None for e in condition.reshape(-1)):
        kept = sum(bool(e) for e in condition.reshape(-1))
    else:
        kept = call.length("count")
    if "axis" not in call.node.attributes:
        return Out((kept,))
    shape = call.rank_at_least(0, 1)
    axis = axis_in(call.attr("axis", 0), len(shape))
    return Out((*shape[:axis], kept, *shape[axis + 1 :]))


@rule("Unique")
def unique(call: Call) -> list[Any]:
    """Distinct elements, or distinct slices along `axis`, where each first stands, which each is, and how often."""
    shape, count = call.shape(0), call.length("count")
    if "axis" in call.node.attributes:
        axis = axis_in(call.attr("axis", 0), len(shape))
        result, length = (*shape[:axis], count, *shape[axis + 1 :]), shape[axis]
    else:
        result, length = (count,), product(shape)
    return [Out(result, call.dtype(0)), *(Out((n,), dtypes.INT64) for n in (count, length, count))]


@rule("NonMaxSuppression")
def non_max_suppression(call: Call) -> Out:
    """(batch, class, box) for each box kept; none where no output per class is asked for."""
    limit = call.value(2)
    none = not call.has(2) or (limit is not None and limit.size == 1 and limit.reshape(-1)[0] == 0)
    return Out((0 if none else call.length("count"), 3), dtypes.INT64)
