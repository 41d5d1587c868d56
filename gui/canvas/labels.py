"""Short texts on the canvas: shapes, values, attributes. No Qt."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np

from engine.dims import Expr, Shape
from engine.dtypes import BY_CODE
from engine.errors import DataError
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Node, RefAttribute, Tensor
from engine.graph.types import TensorType, Type
from engine.shapes.bind import Binder
from engine.words import counted
from gui.canvas.scene import Measure, TextStyle
from gui.facts.schemas import default_values

MAX_TEXT = 40
SIZE_DIGITS = 4  # that a symbolic dim has room for, once it has a size
SHOWN_VALUES = 6  # longest integer vector whose values are shown instead of its shape


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """One line of printable text, shortened in the middle: what a model says is never trusted to be either."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    text = unicodedata.normalize("NFC", text)
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def shortened(text: str, room: float, style: TextStyle, measure: Measure) -> str:
    """A text cut at its end until it fits into `room` px."""
    while text and measure(text, style) > room:
        text = text.rstrip("…")[:-2] + "…" if len(text) > 2 else ""
    return text


def format_dims(shape: Shape | None) -> str:
    """A shape as it stands on an edge, such as ``N×3×224×?``."""
    if shape is None:
        return "?"
    if not shape:
        return "scalar"
    return "×".join("?" if dim is None else _dim(dim) for dim in shape)


def _dim(dim: object) -> str:
    return str(dim) if isinstance(dim, int) else _expression(dim)


@lru_cache(maxsize=4096)  # a model has few, in thousands of shapes
def _expression(dim: object) -> str:
    text = str(dim).replace(" ", "")
    return f"({text})" if "+" in text or "-" in text else text


def edge_type(tensor: Tensor, binder: Binder | None = None) -> tuple[Type | None, bool]:
    """The type that is shown beside an edge, and whether it is inferred rather than stored in the file.

    The file's own counts if it is complete. With sizes for the dims, it counts only if it is what is inferred, or if
    these leave less of it open: names that the file gives to dims of inner tensors ("past + seq") are no inputs'.
    """
    stored, inferred = tensor.stored_type, tensor.inferred_type
    if binder is not None:
        stored, inferred = binder.type(stored), binder.type(inferred)
    is_complete = isinstance(stored, TensorType) and stored.shape is not None and None not in stored.shape
    if is_complete and (binder is None or stored == inferred or _open_dims(stored) < _open_dims(inferred)):
        return stored, False
    if isinstance(inferred, TensorType):
        return inferred, True
    if isinstance(stored, TensorType):
        return stored, False
    return inferred or stored, inferred is not None and stored is None


def _open_dims(kind: Type | None) -> float:
    """How many dims have no size; infinitely many where not even their number is known."""
    shape = kind.shape if isinstance(kind, TensorType) else None
    return float("inf") if shape is None else sum(not isinstance(dim, int) for dim in shape)


def edge_label(tensor: Tensor, binder: Binder | None = None) -> tuple[str, bool]:
    """Text beside an edge, and whether it is inferred rather than stored in the file."""
    kind, inferred = edge_type(tensor, binder)
    if isinstance(kind, TensorType):
        return clean(format_dims(kind.shape)), inferred
    return clean(str(kind), 24) if kind is not None else "", inferred


def room_for_sizes(tensor: Tensor) -> str:
    """What a label grows by, at most, when its symbolic dims get sizes of a few digits."""
    kind = edge_type(tensor)[0]
    shape = kind.shape if isinstance(kind, TensorType) else None
    return "0" * sum(max(0, SIZE_DIGITS - len(_dim(dim))) for dim in shape or () if isinstance(dim, Expr))


def net_label(tensor: Tensor, what: str, binder: Binder | None = None) -> tuple[str, bool]:
    """Text beside the lines of a tensor and whether it is inferred: "shape", "name", "both", or "dtype" and shape."""
    name = clean(tensor.name, 28)
    if what == "name":
        return name, False
    shape, inferred = edge_label(tensor, binder)
    if what == "both":
        return f"{name}  {shape}".rstrip(), inferred
    if what == "dtype" and tensor.dtype is not None:
        return f"{tensor.dtype.short} {shape}".rstrip(), inferred
    return shape, inferred


def constant_text(tensor: Tensor) -> str:
    """What a constant input shows: ``= value`` for scalars and short integer vectors, else its shape."""
    data = tensor.data
    if data is None:
        return format_dims(tensor.stored_shape)
    if not isinstance(data, SparseData) and (data.size == 1 or (len(data.dims) == 1 and _is_short_integers(data))):
        try:
            return f"= {format_values(data.array())}"
        except DataError:
            return f"{format_dims(data.dims)} unreadable"
    return format_dims(data.dims)


def _is_short_integers(data: TensorData) -> bool:
    return 0 < data.size <= SHOWN_VALUES and data.dtype.kind in ("int", "uint", "bool")


def format_values(values: np.ndarray) -> str:
    """A few values in one short line."""
    parts = [_number(v) for v in values.reshape(-1).tolist()]
    return clean(parts[0], 16) if len(parts) == 1 else clean(f"[{', '.join(parts)}]", 30)


# "To the end" of Slice, too long to read as digits.
_LIMITS = {2**31 - 1: "max", 2**63 - 1: "max", -(2**31): "min", -(2**63): "min", 1 - 2**31: "-max", 1 - 2**63: "-max"}


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**31 - 1:
        return _LIMITS.get(value, str(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


@lru_cache(maxsize=1024)
def _defaults(op_type: str, version: int, domain: str) -> dict[str, str]:
    return {name: attribute_text(value) for name, value in default_values(op_type, version, domain).items()}


# What distinguishes two nodes of one operator at a glance, in the order shown.
IMPORTANT = (
    "axis", "axes", "perm", "to", "kernel_shape", "strides", "pads", "auto_pad", "dilations", "group", "equation",
    "mode", "transA", "transB", "alpha", "keepdims", "hidden_size", "direction", "num_heads", "p", "value",
)  # fmt: skip
_EXTENTS = {"kernel_shape", "strides", "dilations"}  # written 3×3
_NEUTRAL = {"strides": {"1"}, "dilations": {"1"}, "pads": {"0"}}
MAX_ATTRIBUTES = 4
MOST_ATTRIBUTES = 16  # where all are shown


def important_attributes(node: Node) -> list[tuple[str, str]]:
    """Name and text of the attributes worth a row: those that tell nodes apart and are not at their default."""
    defaults = _defaults(node.op_type, node.since_version, node.domain)
    rows = []
    for name in IMPORTANT:
        value = node.attributes.get(name)
        if value is None:
            continue
        text = _dtype_name(value) if name == "to" else attribute_text(value)
        is_neutral = name in _NEUTRAL and set(text.split(", ")) <= _NEUTRAL[name]
        is_implied = name == "kernel_shape" and any(t is not None and t.is_constant for t in node.inputs[1:])
        if text and text != defaults.get(name) and not is_neutral and not is_implied:
            rows.append((name, text.replace(", ", "×") if name in _EXTENTS else text))
    return rows[:MAX_ATTRIBUTES]


def all_attributes(node: Node) -> list[tuple[str, str]]:
    """Name and text of every attribute that the file states, by name; graphs are rows of their own."""
    rows = []
    for name, value in sorted(node.attributes.items()):
        text = _dtype_name(value) if name == "to" else attribute_text(value)
        if text:
            rows.append((clean(name, 20), text))
    return rows[:MOST_ATTRIBUTES]


def _dtype_name(value: object) -> str:
    return BY_CODE[value].name if isinstance(value, int) and value in BY_CODE else str(value)


def attribute_text(value: object) -> str:
    """An attribute's value in one short line; empty for graphs and types."""
    if isinstance(value, TensorData):
        if value.size <= SHOWN_VALUES and len(value.dims) <= 1:
            try:
                return format_values(value.array())
            except DataError:
                pass
        return format_dims(value.dims)
    if isinstance(value, str):
        return clean(value, 24)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, RefAttribute):
        return f"@{clean(value.name, 20)}"
    if isinstance(value, list) and isinstance(next(iter(value), 0), int | float | str):  # all are of one type
        return clean(", ".join(_number(v) for v in value[:12]) + ("…" if len(value) > 12 else ""), 24)
    return ""


def subgraph_text(graph: Graph) -> str:
    """What a row says about a subgraph."""
    count = len(graph.nodes)
    return f"▸ {counted(count, 'node')}"
