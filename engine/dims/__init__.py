"""Symbolic dimensions: ints, or interned integer expressions that simplify, compare, print and evaluate."""

from __future__ import annotations

from engine.dims.bounds import is_at_least, lower_bound, maximum, minimum
from engine.dims.equation import DimEquation
from engine.dims.expr import (
    Dim,
    DimTooComplex,
    Expr,
    Shape,
    Substitution,
    ceil_div,
    product,
    symbol,
    symbols_of,
    without_common_factor,
)
from engine.dims.parse import parse

__all__ = [
    "Dim", "DimEquation", "DimTooComplex", "Expr", "Shape", "Substitution", "ceil_div", "is_at_least", "lower_bound",
    "maximum", "minimum", "parse", "product", "symbol", "symbols_of", "without_common_factor",
]  # fmt: skip
