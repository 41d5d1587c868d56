"""What must hold of the input symbols for the model to run: equations that rules come upon, solved where simple."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.dims import Dim, DimEquation, DimTooComplex, Expr, Substitution, symbol, symbols_of, without_common_factor
from engine.dims.equation import solve_linear
from engine.dims.expr import from_sum
from engine.shapes.facts import ShapeClash

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
_TRIALS = 12
_LONGEST = 513
"""Lengths below this are tried for the solutions of an equation of one symbol."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on input symbols: the code of its finding and what it says, such as "N is forced to 1"."""

    code: str
    text: str


class Requirements:
    """The conditions on the symbols of a model's inputs, in the order found.

    A condition that follows from those before it is not one. None is made of symbols of other kinds: lengths that only
    the run decides may well be equal when it comes to it. `equations` has those that two dims are equal.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.equations: list[DimEquation] = []
        self._names = frozenset(names)
        self._solved: dict[str, Dim] = {}
        self._known = Substitution(self._solved)
        self._said: set[str] = set()

    def known(self, dim: Dim) -> Dim:
        """A dim by what has been found so far, such as 1 for N."""
        return self._known(dim)

    def contradict(self, a: Dim, b: Dim) -> bool:
        """Whether two dims over the inputs' symbols differ whatever those are, as far as a few trials show."""
        try:
            return self.is_open(a, b) and all(x != y for x, y in _trials(self._known(a), self._known(b)))
        except (DimTooComplex, ZeroDivisionError):
            return False

    def equal(self, a: Dim, b: Dim, or_one: bool = False) -> Requirement | None:
        """That two dims are equal, or with `or_one` that they are or one of them is 1; None where that adds nothing.

        Raises ShapeClash where it holds for no values of the symbols.
        """
        try:
            if not self.is_open(a, b) or self._holds(self._known(a), self._known(b), or_one):
                return None
            self.equations.append(DimEquation(a, b, or_one))
            return self._broadcast(a, b) if or_one else self._equation(a, b)
        except (DimTooComplex, ZeroDivisionError):
            return None

    def multiple(self, a: Dim, n: Dim) -> Requirement | None:
        """That a dim is a multiple of another; None where that adds nothing."""
        try:
            if not self.is_open(a, n):
                return None
            total, part = self._known(a), self._known(n)
            if total // part * part == total:
                return None
            total, part = without_common_factor(total, part)
            if all(x % y == 0 for x, y in _trials(total, part)):
                return None
        except (DimTooComplex, ZeroDivisionError):
            return None
        return self._add("divisible-dim", f"{total} must be a multiple of {part}")

    def is_open(self, *dims: Dim) -> bool:
        """Whether some dims depend on symbols of the inputs, and on no others."""
        names = {name for dim in dims for name in symbols_of(dim)}
        return bool(names) and names <= self._names

    @staticmethod
    def _holds(a: Dim, b: Dim, or_one: bool) -> bool:
        if a == b or (or_one and 1 in (a, b)):
            return True
        if isinstance(a, int) and isinstance(b, int):
            return False
        return all(x == y or (or_one and 1 in (x, y)) for x, y in _trials(a, b))

    def _equation(self, a: Dim, b: Dim) -> Requirement | None:
        numbers = Substitution({name: dim for name, dim in self._solved.items() if isinstance(dim, int)})
        difference = numbers(a) - numbers(b)
        if isinstance(difference, int):  # what has been found before contradicts it: both are told
            difference = a - b
        if isinstance(difference, int):
            raise ShapeClash(f"{a} is never {b}")
        (reduced,) = without_common_factor(difference)
        if isinstance(reduced, int):
            return self._unsolved(difference)  # a product that must be 0
        name, value = solve_linear(reduced)
        if name:
            if value is None:
                raise ShapeClash(f"{a} is never {b}, whatever {name} is")
            return self._forced(name, value)
        names = reduced.symbols()
        if len(names) == 1:
            return self._one_symbol(reduced, names[0])
        self._solve(reduced)
        return self._unsolved(reduced)

    def _one_symbol(self, difference: Expr, name: str) -> Requirement | None:
        """An equation of one symbol, said as the lengths that solve it where those are a range or multiples."""
        lengths = range(1, _LONGEST)
        solutions = [n for n in lengths if Substitution({name: n})(difference) == 0]
        if solutions:
            first, last = solutions[0], solutions[-1]
            if solutions == list(lengths[first - 1 :: first]):
                return self._add("divisible-dim", f"{name} must be a multiple of {first}")
            if solutions == list(range(first, last + 1)) and last < lengths[-1]:
                return self._add("forced-dim", f"{name} can only be {first} to {last}")
        return self._unsolved(difference)

    def _unsolved(self, difference: Expr) -> Requirement | None:
        left, right = _sides(difference)
        if isinstance(left, int) or isinstance(right, int):
            what, size = (right, left) if isinstance(left, int) else (left, right)
            return self._add("forced-dim", f"{what} is forced to {size}")
        return self._add("equal-dims", f"{left} and {right} must be equal")

    def _broadcast(self, a: Dim, b: Dim) -> Requirement | None:
        conditions = [without_common_factor(d)[0] for d in (a - b, a - 1, b - 1)]
        solutions = [solve_linear(d) for d in conditions if isinstance(d, Expr)]
        names = {*symbols_of(a), *symbols_of(b)}
        if len(names) == 1 and all(name for name, _ in solutions):
            (name,), values = names, sorted({value for _, value in solutions if value})
            if not values:
                raise ShapeClash(f"{a} and {b} broadcast for no {name}")
            if len(values) == 1:
                return self._forced(name, values[0])
            return self._add("forced-dim", f"{name} can only be {' or '.join(map(str, values))}")
        return self._add("equal-dims", f"{a} and {b} must be equal, or one of them 1")

    def _forced(self, name: str, value: int) -> Requirement | None:
        self._learn(name, value)
        return self._add("forced-dim", f"{name} is forced to {value}")

    def _solve(self, difference: Expr) -> None:
        """Learn from ``difference == 0`` what a symbol is that stands alone in it."""
        for monomial, coefficient in difference.terms:
            if len(monomial) == 1 and monomial[0].kind == "symbol" and coefficient in (1, -1):
                name = monomial[0].args[0]
                rest = -(difference - coefficient * symbol(name)) * coefficient
                if name not in symbols_of(rest):
                    return self._learn(name, rest)
        return None

    def _learn(self, name: str, value: Dim) -> None:
        if name not in self._solved and name not in symbols_of(self._known(value)):
            value = self._known(value)
            earlier = Substitution({name: value})
            self._solved.update({known: earlier(dim) for known, dim in self._solved.items()})
            self._solved[name] = value
            self._known = Substitution(self._solved)

    def _add(self, code: str, text: str) -> Requirement | None:
        if text in self._said:
            return None
        self._said.add(text)
        return Requirement(code, text)


def _sides(difference: Expr) -> tuple[Dim, Dim]:
    """The two sides of ``difference == 0`` with every term positive."""
    left: Dim = 0
    right: Dim = 0
    for term in difference.terms:
        part = from_sum(dict([term]))
        if term[1] > 0:
            left = left + part
        else:
            right = right - part
    return left, right


def _trials(a: Dim, b: Dim) -> Iterable[tuple[int, int]]:
    """Values of two dims for a few assignments of their symbols."""
    names = sorted({*symbols_of(a), *symbols_of(b)})
    for trial in range(_TRIALS):
        bindings = {name: _PRIMES[(i + 5 * trial) % len(_PRIMES)] + 37 * trial for i, name in enumerate(names)}
        bind = Substitution(bindings)
        yield bind(a), bind(b)  # type: ignore[misc]  # every symbol is bound
