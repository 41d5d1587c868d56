"""The dims of one inference that are not known: a symbol for each, and why it is not."""

from __future__ import annotations

from engine.dims import Expr, symbol
from engine.graph.types import OptionalType, SequenceType, TensorType, Type
from engine.shapes.facts import Fact, first_unknown


class Unknowns:
    """Symbols whose names start with "?", so that no model can name them."""

    def __init__(self) -> None:
        self._symbols: dict[object, Expr] = {}
        self._reasons: dict[str, str] = {}  # by the name of the symbol

    def symbol(self, key: object, because: str) -> Expr:
        """The symbol of an unknown dim; the same for the same key."""
        known = self._symbols.get(key)
        if known is None:
            known = self._symbols[key] = symbol(f"?{len(self._symbols)}")
        self._reasons[str(known)] = because
        return known

    def fill(self, type_: Type | None, key: object, because: str) -> Type | None:
        """A type with symbols for the dims that it leaves open."""
        if isinstance(type_, TensorType) and type_.shape is not None and None in type_.shape:
            dims = enumerate(type_.shape)
            return type_.with_shape(tuple(self.symbol((key, i), because) if d is None else d for i, d in dims))
        if isinstance(type_, (SequenceType, OptionalType)):
            return type(type_)(self.fill(type_.element, key, because))
        return type_

    def reason(self, fact: Fact) -> str:
        """Why not all of a type is known; empty where it is, or where nothing says why."""
        return fact.because or self._reasons.get(first_unknown(fact.type), "")
