"""What inference knows of a value, and the two ways in which a rule gives up.

Inside inference no dim is ever missing: an unknown one is a symbol of its own, whose name starts with "?" so that no
model can name it. Equal unknowns thus stay equal from node to node; they become None where a fact leaves inference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy.typing as npt

from engine.dims import Dim, Expr, Shape
from engine.dtypes import DType
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type

Values: TypeAlias = "npt.NDArray[Any]"
"""A small tensor's elements, dtype object: int, float, bool or Expr, and None for an element that is not known."""

KnownShape: TypeAlias = "tuple[Dim, ...]"


@dataclass(slots=True)
class Fact:
    """Type and, for small tensors, elements of a value; `because` says why its rank or type is not known."""

    type: Type | None = None
    value: Values | None = None
    because: str = ""


@dataclass(slots=True)
class Out:
    """One output of a rule. `dtype` None stands for what the operator's schema says, `shape` None for unknown."""

    shape: KnownShape | None
    dtype: DType | None = None
    value: Values | None = None


class Unknown(Exception):
    """A rule cannot tell the shape of its outputs; the message says why, for people."""


class ShapeClash(Exception):
    """The node cannot run with these shapes or attributes; the message says which, for people."""


@lru_cache(1 << 16)
def is_anonymous(dim: Dim) -> bool:
    """Whether a dim depends on an unknown one."""
    return isinstance(dim, Expr) and any(name.startswith("?") for name in dim.symbols())


def public_type(type_: Type | None) -> Type | None:
    """A type as it leaves inference: dims that depend on unknown ones are None."""
    if isinstance(type_, TensorType):
        shape = type_.shape
        if shape is None or not any(d is None or is_anonymous(d) for d in shape):
            return type_
        return type_.with_shape(tuple(None if d is None or is_anonymous(d) else d for d in shape))
    if isinstance(type_, (SequenceType, OptionalType)):
        return type(type_)(public_type(type_.element))
    if isinstance(type_, MapType):
        return MapType(type_.key, public_type(type_.value))
    return None


def first_unknown(type_: Type | None) -> str:
    """Name of the first unknown dim that a type depends on; empty where all is known."""
    if isinstance(type_, TensorType):
        for dim in type_.shape or ():
            if isinstance(dim, Expr):
                for name in dim.symbols():
                    if name.startswith("?"):
                        return name
    elif isinstance(type_, (SequenceType, OptionalType)):
        return first_unknown(type_.element)
    elif isinstance(type_, MapType):
        return first_unknown(type_.value)
    return ""


def is_complete(type_: Type | None) -> bool:
    """Whether dtype, rank and every dim are known."""
    if isinstance(type_, TensorType):
        return type_.dtype is not None and type_.shape is not None and None not in type_.shape
    if isinstance(type_, (SequenceType, OptionalType)):
        return is_complete(type_.element)
    return isinstance(type_, MapType)


def concrete(shape: Shape | None) -> tuple[int, ...] | None:
    """The shape as ints; None where it is not one of ints only."""
    if shape is None or not all(isinstance(d, int) for d in shape):
        return None
    return tuple(d for d in shape if isinstance(d, int))
