"""Symbolic dimensions: ints, or interned integer polynomials over symbols, floor divisions, minima and maxima.

Equal expressions are the same object, so ``==`` costs an identity test and every operation is remembered. A result
without symbols is a plain int: an `Expr` is never constant. A symbol stands for the length of something, so it is
taken to be at least 0 wherever two expressions are compared; nothing else assumes so.

Canonical form of ``a // n`` for an int n > 0: every coefficient of a lies in (-n/2, n/2], its constant in [0, n), its
leading coefficient is positive, and n shares no factor with all coefficients. ``a % n`` is ``a - n*(a // n)``, and
ceilings are floors, so one kind of atom carries all three and what cancels does cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import gcd
from threading import Lock
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from engine.dims.text import format_atom, format_terms

MEMORY = 1 << 16  # results remembered for each operation
_MAX_TERMS, MAX_DEGREE, _MAX_BITS, _MAX_TEXT = (
    64,
    16,
    256,
    1000,
)  # beyond what real shapes need


class DimTooComplex(ArithmeticError):
    """An expression would grow past every use; callers treat the dim as unknown."""


class Atom:
    """What a polynomial is made of: a symbol, a floor division, a minimum or a maximum. Interned."""

    __slots__ = ("__weakref__", "args", "key", "kind")

    def __init__(self, kind: str, args: tuple[Any, ...]) -> None:
        self.kind = kind  # "symbol", "floordiv", "min", "max"
        self.args = args
        text = format_atom(kind, args)
        if len(text) > _MAX_TEXT and kind != "symbol":
            raise DimTooComplex("a dim grew past what can be shown")
        self.key = (kind != "symbol", text)  # order of atoms: symbols by name, then the rest by text

    def __str__(self) -> str:
        return self.key[1]

    def __reduce__(self) -> tuple[Callable[..., Atom], tuple[Any, ...]]:
        return make_atom, (self.kind, self.args)


Monomial: TypeAlias = "tuple[Atom, ...]"
Terms: TypeAlias = "tuple[tuple[Monomial, int], ...]"


class Expr:
    """An integer expression over symbols; equal expressions are the same object. Made by operators, never directly.

    ``str()`` is infix text that Python evaluates to the same value where the symbols are identifiers.
    """

    __slots__ = ("__weakref__", "_str", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms  # leading term first, constant last
        self._str = ""

    def __add__(self, other: Dim) -> Dim:
        return _add(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return _mul(self, -1)

    def __sub__(self, other: Dim) -> Dim:
        return _add(self, -other) if isinstance(other, (int, Expr)) else NotImplemented

    def __rsub__(self, other: int) -> Dim:
        return _add(_mul(self, -1), other)

    def __mul__(self, other: Dim) -> Dim:
        return _mul(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return _floordiv(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    def __rfloordiv__(self, other: int) -> Dim:
        return _floordiv(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return self - other * _floordiv(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    def __rmod__(self, other: int) -> Dim:
        return other - self * _floordiv(other, self)

    def __str__(self) -> str:
        if not self._str:
            self._str = format_terms(self.terms)
        return self._str

    def __repr__(self) -> str:
        return f"Expr({self})"

    def __reduce__(self) -> tuple[Callable[..., Dim], tuple[Any, ...]]:
        return from_terms, (self.terms,)

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: object) -> Expr:
        return self

    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols it depends on, each once, in the order of the text."""
        found: dict[str, None] = {}
        for monomial, _ in self.terms:
            for atom in monomial:
                if atom.kind == "symbol":
                    found[atom.args[0]] = None
                else:
                    found.update(dict.fromkeys(name for arg in atom.args for name in symbols_of(arg)))
        return tuple(found)

    def evaluate(self, bindings: Mapping[str, int]) -> int:
        """Its value.

        Raises
        ------
        KeyError: a symbol has no binding.
        ZeroDivisionError: a divisor is zero under these bindings.
        """
        value = self.substitute(bindings)
        if isinstance(value, Expr):
            raise KeyError(value.symbols()[0])
        return value

    def substitute(self, bindings: Mapping[str, Dim]) -> Dim:
        """The expression with symbols replaced by ints or expressions; symbols without a binding stay."""
        return Substitution(bindings)(self)


def symbols_of(dim: object) -> tuple[str, ...]:
    """Names of the symbols that a dim depends on; none for ints and all else."""
    return dim.symbols() if isinstance(dim, Expr) else ()


Dim: TypeAlias = "int | Expr"
Shape: TypeAlias = "tuple[int | Expr | None, ...]"


class Substitution:
    """Replaces symbols in many expressions, each distinct one computed once."""

    __slots__ = ("_bindings", "_known")

    def __init__(self, bindings: Mapping[str, Dim]) -> None:
        self._bindings = bindings
        self._known: dict[Expr | Atom, Dim] = {}

    def __call__(self, dim: Dim) -> Dim:
        """The value of `dim`; raises ZeroDivisionError where a divisor becomes zero."""
        if isinstance(dim, int):
            return dim
        value = self._known.get(dim)
        if value is None:
            value = 0
            for monomial, coefficient in dim.terms:
                product: Dim = coefficient
                for atom in monomial:
                    product = product * self._atom(atom)
                value = value + product
            self._known[dim] = value
        return value

    def _atom(self, atom: Atom) -> Dim:
        value = self._known.get(atom)
        if value is None:
            if atom.kind == "symbol":
                value = self._bindings.get(atom.args[0])
                value = of_atom(atom) if value is None else value
            else:
                value = BUILDERS[atom.kind](*map(self, atom.args))
            self._known[atom] = value
        return value


# --- making expressions ------------------------------------------------------------------------------------------


def symbol(name: str) -> Expr:
    """The expression that is one symbol."""
    return of_atom(make_atom("symbol", (name,)))


def ceil_div(a: Dim, b: Dim) -> Dim:
    """``a / b`` rounded up."""
    return (a + (b - 1)) // b if isinstance(b, int) and b > 0 else -((-a) // b)


def product(dims: Iterable[Dim]) -> Dim:
    """Product of dims; 1 for none."""
    result: Dim = 1
    for dim in dims:
        result = result * dim
    return result


# --- interning ---------------------------------------------------------------------------------------------------

_atoms: WeakValueDictionary[tuple[str, tuple[Any, ...]], Atom] = WeakValueDictionary()
_exprs: WeakValueDictionary[Terms, Expr] = WeakValueDictionary()
_lock = Lock()


def make_atom(kind: str, args: tuple[Any, ...]) -> Atom:
    """The one atom of a kind and arguments; safe to call from several threads."""
    found = _atoms.get((kind, args))
    if found is None:
        made = Atom(kind, args)
        with _lock:
            found = _atoms.setdefault((kind, args), made)
    return found


def from_terms(terms: Terms) -> Dim:
    """The dim of canonical terms."""
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    found = _exprs.get(terms)
    if found is None:
        made = Expr(terms)
        with _lock:
            found = _exprs.setdefault(terms, made)
    return found


@lru_cache(MEMORY)
def of_atom(atom: Atom) -> Expr:
    """An atom as an expression."""
    expr = from_terms((((atom,), 1),))
    assert isinstance(expr, Expr)
    return expr


def _order(monomial: Monomial) -> tuple[int, list[tuple[bool, str]]]:
    return -len(monomial), [a.key for a in monomial]


def from_sum(terms: dict[Monomial, int]) -> Dim:
    """The dim of a sum of coefficients by monomial, in canonical order. Raises DimTooComplex where it grew too long."""
    kept = [(m, c) for m, c in terms.items() if c]
    if len(kept) > _MAX_TERMS or any(len(m) > MAX_DEGREE or c.bit_length() > _MAX_BITS for m, c in kept):
        raise DimTooComplex("a dim grew past what can be shown")
    if len(kept) > 1:
        kept.sort(key=lambda term: _order(term[0]))
    return from_terms(tuple(kept))


def terms_of(dim: Dim) -> Terms:
    """A dim as its monomials with their coefficients: none for 0, the empty monomial for another number."""
    return dim.terms if isinstance(dim, Expr) else ((((), dim),) if dim else ())


# --- arithmetic --------------------------------------------------------------------------------------------------


@lru_cache(MEMORY)
def _add(a: Dim, b: Dim) -> Dim:
    total = dict(terms_of(a))
    for monomial, coefficient in terms_of(b):
        total[monomial] = total.get(monomial, 0) + coefficient
    return from_sum(total)


@lru_cache(MEMORY)
def _mul(a: Dim, b: Dim) -> Dim:
    total: dict[Monomial, int] = {}
    for left, p in terms_of(a):
        for right, q in terms_of(b):
            monomial = left + right
            if left and right:
                monomial = tuple(sorted(monomial, key=lambda atom: atom.key))
            total[monomial] = total.get(monomial, 0) + p * q
    return from_sum(total)


@lru_cache(MEMORY)
def _floordiv(a: Dim, b: Dim) -> Dim:
    if isinstance(b, int):
        if isinstance(a, int):
            return a // b
        if b == 0:
            raise ZeroDivisionError(f"({a})//0")
        return _divide_by_int(a, b) if b > 0 else (-a) // -b
    if b.terms[0][1] < 0:
        return _floordiv(-a, -b)
    quotient, rest = _divide_exactly(a, b)
    if rest == 0:
        return quotient
    rest, b = without_common_factor(rest, b)
    if isinstance(b, int):
        return quotient + rest // b
    return quotient + of_atom(make_atom("floordiv", (rest, b)))


def _divide_by_int(a: Expr, n: int) -> Dim:
    """``a // n`` for n > 0, in the canonical form that the module's docstring describes."""
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in a.terms:
        r = coefficient % n
        if monomial and 2 * r > n:
            r -= n
        whole[monomial] = (coefficient - r) // n
        rest[monomial] = r
    quotient, remainder = from_sum(whole), from_sum(rest)
    if isinstance(remainder, int):
        return quotient  # in [0, n)
    inner, sign = _only_quotient(remainder)
    if inner is not None and sign > 0:  # floor((p + floor(q/m)) / n) = floor((p*m + q) / (m*n))
        m: int = inner.args[1]
        merged: Dim = (remainder - of_atom(inner)) * m + inner.args[0]
        return quotient + merged // (m * n)
    if sign < 0 or (inner is None and remainder.terms[0][1] < 0):  # floor(r/n) = -ceil(-r/n)
        flipped: Dim = -remainder + (n - 1)
        return quotient - flipped // n
    factor = gcd(n, *(c for monomial, c in remainder.terms if monomial))
    if factor > 1:  # floor((f*p + c) / (f*m)) = floor((p + floor(c/f)) / m)
        scaled = from_sum({m: c // factor for m, c in remainder.terms})
        return quotient + scaled // (n // factor)
    return quotient + of_atom(make_atom("floordiv", (remainder, n)))


def _only_quotient(dim: Expr) -> tuple[Atom | None, int]:
    """The one floor division by an int in `dim` and its sign, where it stands alone with coefficient 1 or -1."""
    quotients = [(m, c) for m, c in dim.terms if any(a.kind == "floordiv" for a in m)]
    if len(quotients) == 1:
        (atom, *others), coefficient = quotients[0]
        if not others and abs(coefficient) == 1 and isinstance(atom.args[1], int):
            return atom, coefficient
    return None, 0


def _divide_exactly(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """Polynomials (q, r) with ``a == q*b + r``, as much in q as leading terms divide."""
    lead, lead_coefficient = b.terms[0]
    quotient: Dim = 0
    rest: dict[Monomial, int] = {}
    steps = 0
    while isinstance(a, Expr) or a:
        monomial, coefficient = terms_of(a)[0]
        factors = without(monomial, lead)
        if factors is None or coefficient % lead_coefficient or steps > 2 * _MAX_TERMS:
            rest[monomial] = coefficient
            a = a - from_sum({monomial: coefficient})
        else:
            part = from_sum({factors: coefficient // lead_coefficient})
            quotient = quotient + part
            a = a - part * b
        steps += 1
    return quotient, from_sum(rest)


def without(monomial: Monomial, factors: Monomial) -> Monomial | None:
    """The monomial divided by `factors`, or None where they do not divide it."""
    left = list(monomial)
    for atom in factors:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def without_common_factor(*dims: Dim) -> tuple[Dim, ...]:
    """The dims with atoms and integers that divide every term of all of them taken out."""
    terms = [term for dim in dims for term in terms_of(dim)]
    if not terms:
        return dims
    number = gcd(*(c for _, c in terms))
    common: Monomial = ()
    for atom in terms[0][0]:
        trial = tuple(sorted([*common, atom], key=lambda x: x.key))
        if all(without(m, trial) is not None for m, _ in terms):
            common = trial
    return tuple(from_sum({without(m, common) or (): c // number for m, c in terms_of(dim)}) for dim in dims)


BUILDERS: dict[str, Callable[..., Dim]] = {"floordiv": _floordiv}
"""What makes a dim again from an atom's arguments; `engine.dims.bounds` adds ``min`` and ``max``."""
