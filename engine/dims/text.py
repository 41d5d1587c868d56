"""Text of dims: plain infix that people like to read and Python evaluates to the same value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from engine.dims.expr import Dim, Monomial, Terms

    Part: TypeAlias = tuple[int, Monomial | str]  # a coefficient, and what it multiplies: a product or text in brackets


def format_atom(kind: str, args: tuple[Any, ...]) -> str:
    """Text of an atom, such as ``N``, ``(H + 1)//2`` or ``min(5, N)``."""
    if kind == "symbol":
        return str(args[0])
    if kind == "floordiv":
        return "//".join(map(_operand, args))
    return f"{kind}({', '.join(map(str, args))})"


def _operand(dim: Dim) -> str:
    """Text of an operand of // or %, in brackets unless it is one name, number or call."""
    if isinstance(dim, int):
        return str(dim) if dim >= 0 else f"({dim})"
    (monomial, coefficient), *more = dim.terms
    closed = not more and coefficient == 1 and len(monomial) == 1 and monomial[0].kind != "floordiv"
    return str(dim) if closed else f"({dim})"


def format_terms(terms: Terms) -> str:
    """Text of a sum, such as ``2*N + H//2 - 1``."""
    parts = _take_one_less(_take_remainders(dict(terms)))
    parts.sort(key=lambda part: part[0] < 0)  # a positive part first, otherwise as they come
    text = ""
    for coefficient, body in parts:
        sign = ("-" if coefficient < 0 else "") if not text else (" - " if coefficient < 0 else " + ")
        text += sign + _format_term(abs(coefficient), body, after_minus=not text and coefficient < 0)
    return text


def _take_one_less(parts: list[Part]) -> list[Part]:
    """The parts with ``(a + c)//n - 1`` written as ``(a - (n - c))//n``."""
    if not parts or parts[-1] != (-1, ()):
        return parts
    for place, (coefficient, body) in enumerate(parts):
        atom = body[0] if coefficient == 1 and len(body) == 1 else None
        if atom is None or isinstance(atom, str) or atom.kind != "floordiv" or not isinstance(atom.args[1], int):
            continue
        dividend, divisor = atom.args
        if dividend.terms[-1][0] == ():  # without a constant, N//2 - 1 reads better as it is
            return [*parts[:place], (1, f"({_operand(dividend - divisor)}//{divisor})"), *parts[place + 1 : -1]]
    return parts


def _take_remainders(terms: dict[Monomial, int]) -> list[Part]:
    """Parts (coefficient, product or text), with ``k*a - k*n*(a//n)`` written as ``k*(a % n)``."""
    parts: list[Part] = []
    for monomial, coefficient in list(terms.items()):
        atom = monomial[0] if len(monomial) == 1 else None
        if atom is None or atom.kind != "floordiv" or not isinstance(atom.args[1], int) or coefficient % atom.args[1]:
            continue
        dividend, divisor = atom.args
        times = -coefficient // divisor
        symbols = [(m, c) for m, c in dividend.terms if m]
        if all(terms.get(m) == c * times for m, c in symbols):
            for m, _ in symbols:
                del terms[m]
            del terms[monomial]
            constant = sum(c for m, c in dividend.terms if not m)
            terms[()] = terms.get((), 0) - constant * times
            parts.append((times, f"({_operand(dividend)} % {divisor})"))
    if terms.get((), 1) == 0:
        del terms[()]
    return [(c, m) for m, c in terms.items() if m] + parts + [(c, m) for m, c in terms.items() if not m]


def _format_term(coefficient: int, body: Monomial | str, after_minus: bool) -> str:
    """Text of one term; after a leading minus a quotient needs brackets, as the minus binds more closely."""
    bare = coefficient == 1 and not after_minus
    if isinstance(body, str):
        return body[1:-1] if bare else body if coefficient == 1 else f"{coefficient}*{body}"
    if bare and len(body) == 1:
        return str(body[0])
    factors = [] if coefficient == 1 and body else [str(coefficient)]
    for atom in dict.fromkeys(body):
        closed = atom.kind in ("min", "max") or (atom.kind == "symbol" and str(atom).isidentifier())
        power = body.count(atom)
        factors.append((str(atom) if closed else f"({atom})") + (f"**{power}" if power > 1 else ""))
    return "*".join(factors)
