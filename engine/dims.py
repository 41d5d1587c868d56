"""Symbolic dimensions: integers, or interned integer expressions over named symbols."""
from __future__ import annotations

from typing import TypeAlias

# To be completed by the shapes task: Expr with +, -, *, floordiv, ceildiv, mod, min, max; interned, evaluate(), str().


class Expr:
    """An integer expression over symbols; equal expressions are the same object."""


Dim: TypeAlias = "int | Expr"
Shape: TypeAlias = "tuple[int | Expr | None, ...]"
