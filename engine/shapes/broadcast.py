"""Multidirectional broadcasting of shapes (ONNX, Broadcasting.md)."""

from __future__ import annotations

from engine.dims import Dim, maximum
from engine.graph.types import format_shape
from engine.shapes.facts import KnownShape, ShapeClash


def broadcast(*shapes: KnownShape) -> KnownShape:
    """The common shape. Raises ShapeClash, naming two shapes, where there is none."""
    result: KnownShape = ()
    for shape in shapes:
        result = _pair(result, shape) if result else shape
    return result


def _pair(a: KnownShape, b: KnownShape) -> KnownShape:
    if a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    start = len(a) - len(b)
    try:
        return a[:start] + tuple(map(broadcast_dim, a[start:], b))
    except ShapeClash as clash:
        raise ShapeClash(f"{format_shape(a)} and {format_shape(b)} do not broadcast: {clash}") from None


def broadcast_dim(a: Dim, b: Dim) -> Dim:
    """The length that two axes broadcast to.

    Of an int above 1 and an expression it is the int, as the other must be it or 1. Of two expressions it is the
    greater, right whichever of them is 1.
    """
    if a is b or a == b or b == 1:
        return a
    if a == 1:
        return b
    if isinstance(a, int):
        if isinstance(b, int):
            raise ShapeClash(f"{a} against {b}")
        return a
    return b if isinstance(b, int) else maximum(a, b)
