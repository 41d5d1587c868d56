"""Dims from text."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from engine.dims.bounds import maximum, minimum
from engine.dims.expr import MAX_DEGREE, Dim, product, symbol


def parse(text: str) -> Dim | None:
    """The dim written as a Python expression over names, ints, + - * // % min max; None where it is none."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _from_syntax(tree.body)
    except (SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, RecursionError):
        return None


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Dim]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, n: _power(a, n),
}  # fmt: skip


def _power(a: Dim, n: int) -> Dim:
    if 0 <= n <= MAX_DEGREE:
        return product([a] * n)
    raise ValueError("no such power in a dim")


def _from_syntax(tree: ast.expr) -> Dim:
    if isinstance(tree, ast.Name):
        return symbol(tree.id)
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return tree.value
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_from_syntax(tree.operand)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        return _OPERATORS[type(tree.op)](_from_syntax(tree.left), _from_syntax(tree.right))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.args and not tree.keywords:
        function = {"min": minimum, "max": maximum}[tree.func.id]
        return function(*map(_from_syntax, tree.args))
    raise ValueError("not a dim")
