"""From symbolic types to concrete ones, once the symbols have values."""

from __future__ import annotations

from collections.abc import Mapping

from engine.dims import Dim, DimTooComplex, Expr, Shape, Substitution
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type


class Binder:
    """Gives symbols values in many shapes and types; each distinct dim is computed once."""

    __slots__ = ("_known", "_substitute")

    def __init__(self, bindings: Mapping[str, int]) -> None:
        self._substitute = Substitution(dict(bindings))
        self._known: dict[Expr, Dim | None] = {}

    def dim(self, dim: Dim | None) -> Dim | None:
        """The dim under the bindings: an int where all its symbols have one. No length is below 0.

        None stays None, as does a dim that these bindings make meaningless (a division by zero).
        """
        if dim is None or isinstance(dim, int):
            return dim
        if dim not in self._known:
            try:
                value = self._substitute(dim)
                self._known[dim] = max(value, 0) if isinstance(value, int) else value
            except (ZeroDivisionError, DimTooComplex):
                self._known[dim] = None
        return self._known[dim]

    def shape(self, shape: Shape | None) -> Shape | None:
        """A shape with every dim bound."""
        return None if shape is None else tuple(map(self.dim, shape))

    def type(self, type_: Type | None) -> Type | None:
        """A type with every dim bound."""
        if isinstance(type_, TensorType):
            return type_.with_shape(self.shape(type_.shape))
        if isinstance(type_, (SequenceType, OptionalType)):
            return type(type_)(self.type(type_.element))
        if isinstance(type_, MapType):
            return MapType(type_.key, self.type(type_.value))
        return None
