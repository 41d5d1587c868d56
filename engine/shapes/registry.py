"""How shape rules are declared and found: one function per operator, keyed by (domain, operator)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from engine.graph.types import Type
from engine.shapes.facts import Fact, Out

if TYPE_CHECKING:
    from engine.shapes.call import Call

Output: TypeAlias = "Out | Fact | Type | None"
Result: TypeAlias = "Output | list[Output]"
Rule: TypeAlias = "Callable[[Call], Result]"
F = TypeVar("F", bound="Rule")

_rules: dict[tuple[str, str], Rule] = {}


def rule(*op_types: str, domain: str = "") -> Callable[[F], F]:
    """Declare a function as the shape rule of some operators, for all their versions.

    It is given the `Call` and returns what each output is, one `Out` (or a type of another kind) per output slot, a
    single one bare. It raises `Unknown` where it can't tell and `ShapeClash` where the node can't run.
    """

    def declare(function: F) -> F:
        for op_type in op_types:
            _rules[domain, op_type] = function
        return function

    return declare


def find(domain: str, op_type: str) -> Rule | None:
    """The rule of an operator, or None."""
    return _rules.get((domain, op_type))


def ruled_operators() -> frozenset[tuple[str, str]]:
    """Every (domain, operator) that has a rule."""
    return frozenset(_rules)
