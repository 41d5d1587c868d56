"""Facts about nodes and tensors, as words that can be held against each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from zlib import crc32

import numpy as np

from engine.diff.report import FieldChange
from engine.dims import DimTooComplex, Substitution
from engine.errors import DataError
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Node, RefAttribute, Tensor
from engine.graph.schemas import default_attributes
from engine.graph.types import TensorType

LONGEST = 200  # characters of a value in words
FEW = 64  # elements of a tensor attribute that are compared as values


def field_change(what: str, before: str, after: str) -> Iterator[FieldChange]:
    """The change, if there is one."""
    if before != after:
        yield FieldChange(what, cut(before), cut(after))


def cut(text: str) -> str:
    """A text short enough for a line."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def attribute_changes(before: Node, after: Node) -> Iterator[FieldChange]:
    """Attributes that differ, an absent one standing for its default; subgraphs are compared by themselves."""
    defaults = [default_attributes(node.op_type, node.since_version, node.domain) for node in (before, after)]
    for name in dict.fromkeys((*before.attributes, *after.attributes)):
        a = before.attributes.get(name, defaults[0].get(name))
        b = after.attributes.get(name, defaults[1].get(name))
        if not _is_graph(a) and not _is_graph(b):
            yield from field_change(f"attribute {name}", attribute_text(a), attribute_text(b))


def _is_graph(value: object) -> bool:
    return isinstance(value, Graph) or (isinstance(value, list) and bool(value) and isinstance(value[0], Graph))


def attribute_text(value: object) -> str:
    """The value of an attribute; that of a large tensor by its type and a checksum."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "[" + ", ".join(map(attribute_text, value)) + "]"
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, TensorData | SparseData):
        return _tensor_text(value)
    if isinstance(value, RefAttribute):
        return f"@{value.name}"
    return str(value)


def _tensor_text(data: TensorData | SparseData) -> str:
    kind = f"{data.dtype}{list(data.dims)}"
    try:
        array = (data.values if isinstance(data, SparseData) else data).array()
    except (DataError, ValueError):
        return f"{kind} unreadable"
    if array.size <= FEW:
        return f"{kind} {np.array2string(array, threshold=FEW, separator=', ')}"
    raw = repr(array.tolist()).encode() if array.dtype.kind in "OUS" else np.ascontiguousarray(array).tobytes()
    return f"{kind} checksum {crc32(raw):08x}"


def type_text(tensor: Tensor, symbols: Substitution | None = None) -> str:
    """The best that is known of a tensor's type; symbols under other names where `symbols` has them."""
    known = tensor.inferred_type or tensor.stored_type
    if symbols is not None and isinstance(known, TensorType) and known.shape is not None:
        with suppress(ZeroDivisionError, DimTooComplex):
            known = known.with_shape(tuple(None if dim is None else symbols(dim) for dim in known.shape))
    return str(known) if known is not None else "?"
