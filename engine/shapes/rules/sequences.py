"""Sequences of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import dtypes
from engine.dims import Dim
from engine.graph.types import OptionalType, SequenceType, TensorType, Type
from engine.shapes.call import Call, axis_in
from engine.shapes.facts import Fact, KnownShape, Out, ShapeClash, Unknown
from engine.shapes.merging import merge_types
from engine.shapes.registry import rule


def element_type(call: Call, slot: int) -> Type | None:
    """Element type of a sequence input."""
    type_ = call.type(slot)
    if isinstance(type_, OptionalType):
        type_ = type_.element
    if not isinstance(type_, SequenceType):
        raise Unknown(call.fact(slot).because or f"input {slot} is not known to be a sequence")
    return type_.element


def _element_shape(call: Call) -> KnownShape:
    element = element_type(call, 0)
    if not isinstance(element, TensorType) or element.shape is None:
        raise Unknown(call.fact(0).because or "its elements differ in rank, or are not known")
    return element.shape  # type: ignore[return-value]  # inside inference no dim is None


def _varying(call: Call) -> Callable[[int], Dim]:
    return lambda axis: call.unknown_dim(axis, f"elements of the sequence differ (node {call.node.name!r})")


@rule("SequenceEmpty")
def sequence_empty(call: Call) -> Type:
    """An empty sequence; what is put in first makes its element type."""
    return SequenceType(None)


@rule("SequenceConstruct")
def sequence_construct(call: Call) -> Type:
    """A sequence of the inputs."""
    merged = call.type(0)
    for slot in call.slots[1:]:
        merged = merge_types(merged, call.type(slot), _varying(call))
    return SequenceType(merged)


@rule("SequenceInsert")
def sequence_insert(call: Call) -> Type:
    """The sequence with one element more."""
    element, added = element_type(call, 0), call.type(1)
    return SequenceType(added if element is None else merge_types(element, added, _varying(call)))


@rule("SequenceErase")
def sequence_erase(call: Call) -> Type | None:
    """The sequence with one element less."""
    return call.type(0)


@rule("SequenceAt")
def sequence_at(call: Call) -> Fact:
    """One element."""
    element = element_type(call, 0)
    return Fact(element, None, "" if element is not None else "the type of the sequence's elements is not known")


@rule("SequenceLength")
def sequence_length(call: Call) -> Out:
    """The number of elements."""
    return Out((), dtypes.INT64)


@rule("SplitToSequence")
def split_to_sequence(call: Call) -> Type:
    """A tensor cut along `axis`: into parts of one length, of the given ones, or of 1."""
    shape = list(call.rank_at_least(0, 1))
    axis = axis_in(call.attr("axis", 0), len(shape))
    if not call.has(1):
        shape[axis] = 1
        if not call.attr("keepdims", 1):
            del shape[axis]
        return SequenceType(TensorType(call.dtype(0), tuple(shape)))
    given = set(call.elements(1))
    length = given.pop() if len(given) == 1 else None
    whole = shape[axis]
    scalar = call.known_shape(1) == ()
    divides = isinstance(length, int) and length > 0 and whole % length == 0
    if length is None or (scalar and not divides):
        length = call.unknown_dim(axis, f"the parts of {call.node.name!r} differ in length")
    shape[axis] = length
    return SequenceType(TensorType(call.dtype(0), tuple(shape)))


@rule("ConcatFromSequence")
def concat_from_sequence(call: Call) -> Out:
    """The elements joined along `axis`, or stacked along a new one."""
    shape = _element_shape(call)
    element = element_type(call, 0)
    dtype = element.dtype if isinstance(element, TensorType) else None
    axis = call.attr("axis", 0)
    if call.attr("new_axis", 0):
        axis = axis_in(axis, len(shape) + 1)
        return Out((*shape[:axis], call.length("count"), *shape[axis:]), dtype)
    axis = axis_in(axis, len(shape))
    return Out((*shape[:axis], call.length(f"dim{axis}"), *shape[axis + 1 :]), dtype)


@rule("SequenceMap")
def sequence_map(call: Call) -> list[Any]:
    """A sequence of what the body makes of each element."""
    body = call.node.subgraphs.get("body")
    if body is None:
        raise ShapeClash("it has no body")
    inputs = [Fact(element_type(call, 0))]
    for slot in call.slots[1:]:
        fact = call.fact(slot)
        inputs.append(Fact(fact.type.element) if isinstance(fact.type, SequenceType) else Fact(fact.type))
    return [SequenceType(fact.type) for fact in call.scope.graph(body, inputs)]
