"""What can be proved about dims: lower bounds, comparison, and minima and maxima simplified by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from engine.dims.expr import (
    BUILDERS,
    MEMORY,
    Atom,
    Dim,
    DimTooComplex,
    Expr,
    Monomial,
    from_sum,
    make_atom,
    of_atom,
    without,
)


def minimum(*dims: Dim) -> Dim:
    """The least of some dims; those that provably never are the least are left out. DimTooComplex for too many."""
    return _extremum("min", dims, lambda a, b: is_at_least(b, a))


def maximum(*dims: Dim) -> Dim:
    """The greatest of some dims; those that provably never are the greatest are left out. Raises as `minimum`."""
    return _extremum("max", dims, is_at_least)


def is_at_least(a: Dim, b: Dim) -> bool:
    """Whether ``a >= b`` holds for every value of the symbols that is 0 or more. False where that is not proved."""
    if a is b:
        return True
    try:
        bound = lower_bound(a - b)
    except DimTooComplex:
        return False
    return bound is not None and bound >= 0


@lru_cache(MEMORY)
def lower_bound(dim: Dim) -> int | None:
    """An int that `dim` never falls below while symbols are 0 or more; None where none is found."""
    return _bound(dim, 1, 6, [_MAX_STEPS])


_MAX_STEPS = 100
"""Relaxations tried for one bound: the ways to relax multiply with the size of an expression."""


def _bound(dim: Dim, scale: int, depth: int, steps: list[int]) -> int | None:
    """A lower bound, rounded up to an int, of ``dim / scale`` where that is known to be an integer.

    `steps` holds how many relaxations may still be tried.
    """
    if isinstance(dim, int):
        return -(-dim // scale)
    best = None
    if all(coefficient > 0 or not monomial for monomial, coefficient in dim.terms):
        best = -(-sum(coefficient * _least(monomial) for monomial, coefficient in dim.terms) // scale)
    if depth == 0 or (best is not None and best >= 0):
        return best
    for relaxed, factor in _relaxations(dim):
        steps[0] -= 1
        if steps[0] < 0:
            break
        bounds = [_bound(r, scale * factor, depth - 1, steps) for r in relaxed]
        if None not in bounds:
            least = min(b for b in bounds if b is not None)
            best = least if best is None else max(best, least)
            if best >= 0:
                break
    return best


def _relaxations(dim: Expr) -> Iterable[tuple[list[Dim], int]]:
    """Ways to bound `dim` from below: (cases, factor), the least of the cases being no more than dim * factor."""
    for monomial, coefficient in sorted(dim.terms, key=lambda term: term[1]):
        for atom in monomial:
            if len(monomial) > 1 and (monomial.count(atom) > 1 or any(_least((m,)) < 0 for m in monomial)):
                continue
            others = from_sum({without(monomial, (atom,)) or (): coefficient})
            if atom.kind == "floordiv" and isinstance(atom.args[1], int):
                n = atom.args[1]
                edge = atom.args[0] if coefficient < 0 else atom.args[0] - (n - 1)
                yield [(dim - others * of_atom(atom)) * n + others * edge], n
            elif atom.kind in ("min", "max"):
                cases = [dim - others * of_atom(atom) + others * a for a in atom.args]
                if (atom.kind == "min") == (coefficient > 0):
                    yield cases, 1
                else:
                    yield from (([case], 1) for case in cases)


_UNBOUNDED = -(1 << 200)


def _least(monomial: Monomial) -> int:
    """The least value of a product of atoms."""
    result = 1
    for atom in monomial:
        low = _least_of_atom(atom)
        if low < 0 and len(monomial) > 1:
            return _UNBOUNDED
        result *= low
    return result


@lru_cache(MEMORY)
def _least_of_atom(atom: Atom) -> int:
    if atom.kind == "symbol":
        return 0
    bounds = [lower_bound(a) for a in atom.args]
    if atom.kind == "max":
        return max((b for b in bounds if b is not None), default=_UNBOUNDED)
    if None in bounds:
        return _UNBOUNDED
    if atom.kind == "min":
        return min(b for b in bounds if b is not None)
    low, divisor = bounds[0] or 0, atom.args[1]
    if isinstance(divisor, int):
        return low // divisor
    return 0 if low >= 0 and (bounds[1] or 0) >= 0 else _UNBOUNDED


_MAX_OPERANDS = 32  # beyond what real shapes need; each is held against every other


def _extremum(kind: str, dims: Iterable[Dim], wins: Callable[[Dim, Dim], bool]) -> Dim:
    operands: list[Dim] = []
    for dim in dims:
        inner = dim.terms[0][0] if isinstance(dim, Expr) and len(dim.terms) == 1 and dim.terms[0][1] == 1 else ()
        operands += inner[0].args if len(inner) == 1 and inner[0].kind == kind else [dim]
    kept: list[Dim] = []
    for dim in operands:
        if not any(k is dim or k == dim or wins(k, dim) for k in kept):
            kept = [k for k in kept if not wins(dim, k)] + [dim]
            if len(kept) > _MAX_OPERANDS:
                raise DimTooComplex(f"the {kind} of more than {_MAX_OPERANDS} dims")
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda d: (not isinstance(d, int), str(d)))
    return of_atom(make_atom(kind, tuple(kept)))


BUILDERS["min"] = minimum
BUILDERS["max"] = maximum
