"""What two types have in common: of the branches of an If, of a loop's rounds, of a sequence's elements."""

from __future__ import annotations

from collections.abc import Callable

from engine.dims import Dim
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type


def merge_types(a: Type | None, b: Type | None, other: Callable[[int], Dim]) -> Type | None:
    """The type that holds for values of either type; None where they are of different kinds.

    Where two dims differ, ``other(axis)`` gives the dim instead; where ranks differ, the rank is unknown.
    """
    if a is b or a == b:
        return a
    if isinstance(a, OptionalType) or isinstance(b, OptionalType):
        a, b = (t.element if isinstance(t, OptionalType) else t for t in (a, b))
        return OptionalType(a if b is None else b if a is None else merge_types(a, b, other))
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        dtype = a.dtype if a.dtype is b.dtype else None
        if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
            return TensorType(dtype)
        pairs = enumerate(zip(a.shape, b.shape, strict=True))
        return TensorType(dtype, tuple(x if x is y or x == y else other(axis) for axis, (x, y) in pairs))
    if isinstance(a, SequenceType) and isinstance(b, SequenceType):
        if a.element is None or b.element is None:
            return a if b.element is None else b
        return SequenceType(merge_types(a.element, b.element, other))
    if isinstance(a, MapType) and isinstance(b, MapType):
        return MapType(a.key if a.key is b.key else None, merge_types(a.value, b.value, other))
    return None
