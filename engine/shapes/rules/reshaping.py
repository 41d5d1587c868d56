"""Operators that give the same elements another shape."""

from __future__ import annotations

from typing import Any

from engine.dims import Dim, Expr, product
from engine.graph.types import format_shape
from engine.shapes.call import Call, axes_in
from engine.shapes.facts import KnownShape, Out, ShapeClash, Unknown, Values, concrete
from engine.shapes.registry import rule


def moved(value: Values | None, shape: KnownShape) -> Values | None:
    """The elements in another shape, if that is one of ints with as many of them."""
    dims = concrete(shape)
    if value is None or dims is None or product(dims) != value.size:
        return None
    return value.reshape(dims)


@rule("Reshape")
def reshape(call: Call) -> Out:
    """Target dims from an input (before opset 5 an attribute): 0 copies a dim, -1 takes what is left."""
    target: list[Any] = list(call.required_ints("shape")) if call.node.since_version < 5 else call.elements(1)
    if target.count(-1) > 1:
        raise ShapeClash(f"its target shape {target} has more than one -1")
    source = call.known_shape(0)
    copies = not call.attr("allowzero", 0)
    if not copies and -1 in target and 0 in target:
        raise ShapeClash(f"its target shape {target} has both 0 and -1, which allowzero forbids")
    dims: list[Dim] = []
    for axis, element in enumerate(target):
        if element == 0 and copies:
            dims.append(_copied(call, source, axis))
        elif element == -1:
            dims.append(1)
        else:
            dims.append(call.dim(element, f"dim{axis}"))
    if -1 in target:
        dims[target.index(-1)] = _rest(call, source, dims, target)
    elif source is not None and None not in target:
        call.equal(product(source), product(dims), lambda: _counts(source, tuple(dims)))
    return Out(tuple(dims), call.dtype(0), moved(call.value(0), tuple(dims)))


def _copied(call: Call, source: KnownShape | None, axis: int) -> Dim:
    if source is None:
        return call.unknown_dim(axis, call.fact(0).because)
    if axis >= len(source):
        raise ShapeClash(f"its target shape copies axis {axis} of {format_shape(source)}, which has none")
    return source[axis]


def _rest(call: Call, source: KnownShape | None, dims: list[Dim], target: list[Any]) -> Dim:
    """What -1 stands for: the number of elements over the product of the other dims."""
    if source is None:
        return call.unknown_dim("rest", call.fact(0).because)
    total, others = product(source), product(dims)
    if isinstance(others, int) and others == 0:
        raise ShapeClash(f"{_written(target)} of {format_shape(source)} has no elements, so that -1 can be anything")
    call.multiple(total, others, lambda: f"makes {format_shape(source)} into {_written(target)}")
    return total // others


def _counts(source: KnownShape, target: KnownShape) -> str:
    if concrete(target) is not None and concrete(source) is None:
        return f"has the constant shape {format_shape(target)}"
    return f"makes {format_shape(source)} into {format_shape(target)}"


def _written(target: list[Any]) -> str:
    return "[" + ", ".join("?" if e is None else str(e) for e in target) + "]"


@rule("Flatten")
def flatten(call: Call) -> Out:
    """A matrix: the axes before `axis` make its rows, the others its columns."""
    shape = call.shape(0)
    axis = call.attr("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise ShapeClash(f"axis {axis} lies outside rank {len(shape)}")
    axis = axis + len(shape) if axis < 0 else axis
    flat = (product(shape[:axis]), product(shape[axis:]))
    return Out(flat, None, moved(call.value(0), flat))


def axes_of(call: Call, slot: int) -> list[int] | None:
    """Axes from an attribute or from an input; None where neither is there."""
    if "axes" in call.node.attributes:
        return call.required_ints("axes")
    return call.ints(slot) if call.has(slot) else None


@rule("Squeeze")
def squeeze(call: Call) -> Out:
    """The shape without the named axes, each of length 1; without all axes of length 1 where none is named."""
    axes = axes_of(call, 1)
    shape = call.shape(0)
    if axes is None:
        open_dims = [d for d in shape if isinstance(d, Expr)]
        if open_dims:
            raise Unknown(f"it drops every axis of length 1, and whether {open_dims[0]} is 1 is known only at run time")
        dropped = [i for i, d in enumerate(shape) if d == 1]
    else:
        dropped = axes_in(axes, len(shape))
        for axis in dropped:
            call.equal(shape[axis], 1, lambda axis=axis: f"drops axis {axis} of {format_shape(shape)}")  # type: ignore[misc]
    kept = tuple(d for i, d in enumerate(shape) if i not in dropped)
    return Out(kept, None, moved(call.value(0), kept))


@rule("Unsqueeze")
def unsqueeze(call: Call) -> Out:
    """The shape with axes of length 1 put in, counted in the output."""
    axes = axes_of(call, 1)
    if axes is None:
        raise ShapeClash("it names no axes")
    shape = call.shape(0)
    rank = len(shape) + len(axes)
    added = set(axes_in(axes, rank))
    rest = iter(shape)
    result = tuple(1 if i in added else next(rest) for i in range(rank))
    return Out(result, None, moved(call.value(0), result))
