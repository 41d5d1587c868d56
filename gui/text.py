"""Shapes, types, times and names as the window writes them. No Qt."""

from __future__ import annotations

import re

from engine.dims import Shape
from engine.dtypes import DType
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type
from engine.providers.placement import Placement

_PLAIN_DIM = re.compile(r"[\w.]+")


def dim_text(dim: object) -> str:
    """One dim; an expression without its spaces, in brackets where it would run into its neighbours."""
    if dim is None:
        return "?"
    text = str(dim).replace(" ", "")
    return text if _PLAIN_DIM.fullmatch(text) else f"({text})"


def shape_text(shape: Shape | None) -> str:
    """A shape such as ``N×3×224×224``; ``scalar`` for rank 0 and ``…`` for an unknown rank."""
    if shape is None:
        return "…"
    return "×".join(map(dim_text, shape)) if shape else "scalar"


def dtype_text(dtype: DType | None) -> str:
    """The short name of an element type, ``?`` where unknown."""
    return dtype.short if dtype else "?"


def type_text(value_type: Type | None) -> str:
    """A type in the window's words: ``f32 N×3``, ``sequence of f32 ?``."""
    match value_type:
        case TensorType():
            sparse = "sparse " if value_type.sparse else ""
            return f"{sparse}{dtype_text(value_type.dtype)} {shape_text(value_type.shape)}"
        case SequenceType():
            return f"sequence of {type_text(value_type.element)}"
        case OptionalType():
            return f"optional {type_text(value_type.element)}"
        case MapType():
            return f"map {dtype_text(value_type.key)} → {type_text(value_type.value)}"
        case None:
            return "?"


def shape_of_type(value_type: Type | None) -> str:
    """The shape of a tensor type, the whole type of any other; empty for None."""
    if value_type is None:
        return ""
    return shape_text(value_type.shape) if isinstance(value_type, TensorType) else type_text(value_type)


def dtype_of_type(value_type: Type | None) -> str:
    """The element type of a tensor type; the kind of any other."""
    match value_type:
        case TensorType():
            return dtype_text(value_type.dtype)
        case SequenceType():
            return "seq"
        case OptionalType():
            return "opt"
        case MapType():
            return "map"
        case None:
            return "?"


def count_text(count: int) -> str:
    """A number such as ``3.16 M``."""
    for limit, unit in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if count >= limit:
            scaled = count / (1000 if unit == "k" else limit)
            return f"{scaled:.3g} {unit}"
    return f"{count:,}"


def ms_text(ms: float) -> str:
    """A time in milliseconds, to a hundredth below ten."""
    if ms >= 100:
        return f"{ms:.0f}"
    return f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def provider_name(placement: Placement | None) -> str:
    """The name of the provider that took a node, empty where none did."""
    return placement.provider.name if placement is not None and placement.provider is not None else ""


def one_line(text: str, limit: int = 400) -> str:
    """A model's own text on one line and of bounded length, for a cell or a label."""
    flat = " ".join(text[: limit * 2].split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
