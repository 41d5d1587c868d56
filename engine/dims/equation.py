"""Two dims that must be equal, and the size of a symbol that makes them so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.dims.expr import Dim, DimTooComplex, Expr, Substitution, symbols_of


@dataclass(frozen=True, slots=True)
class DimEquation:
    """That two dims are equal or, with `or_one`, that they are or one of them is 1, as where they broadcast."""

    left: Dim
    right: Dim
    or_one: bool = False

    def symbols(self) -> tuple[str, ...]:
        """The symbols in it, each once."""
        return tuple(dict.fromkeys((*symbols_of(self.left), *symbols_of(self.right))))

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether it holds for sizes of its symbols; not where these make a dim meaningless."""
        bind = Substitution(sizes)
        try:
            left, right = bind(self.left), bind(self.right)
        except (DimTooComplex, ZeroDivisionError):
            return False
        return left == right or (self.or_one and 1 in (left, right))

    def solution(self, name: str, sizes: Mapping[str, int]) -> int | None:
        """The size of one symbol that makes the dims equal, given those of the others.

        None where there is none, or where the symbol stands in something else than a sum.
        """
        bind = Substitution({other: size for other, size in sizes.items() if other != name})
        try:
            difference = bind(self.left) - bind(self.right)
        except (DimTooComplex, ZeroDivisionError):
            return None
        return solve_linear(difference)[1] if isinstance(difference, Expr) else None


def solve_linear(difference: Expr) -> tuple[str, int | None]:
    """The one symbol of ``c*s + k``, and the length of it that makes this 0, None for none; "" for other forms."""
    if len(difference.terms) > 2:
        return "", None
    (monomial, coefficient), *rest = difference.terms
    if len(monomial) != 1 or monomial[0].kind != "symbol" or any(m for m, _ in rest):
        return "", None
    constant = rest[0][1] if rest else 0
    whole = constant % coefficient == 0 and -constant // coefficient >= 0
    return monomial[0].args[0], -constant // coefficient if whole else None
