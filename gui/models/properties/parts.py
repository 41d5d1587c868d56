"""What the lines about models, nodes and tensors share: styles, links, values in a few characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from engine.errors import DataError
from engine.graph.data import TensorData
from engine.graph.fusion import data_type
from engine.graph.ir import Graph, Tensor
from engine.graph.types import Type
from engine.shapes.bind import Binder
from engine.words import bytes_text, counted
from gui.models.lines import Line, LineKind
from gui.models.table import PLAIN, Style
from gui.models.values import value_text
from gui.running.state import RunState
from gui.text import count_text, one_line, type_text
from gui.widgets.tips import LIMIT

MAX_LINES = 400  # of one section; a node with more inputs says how many are left out
MOST_WORDS = 5_000  # characters of a paragraph that are laid out; no more of it could be seen
FEW = 8  # elements of a value that are written out
FEW_BYTES = 64

INFERRED = Style("accent", mono=True, italic=True)
BOUND = Style("accent", mono=True, italic=True, bold=True)
STORED = Style("muted", mono=True)
FACT = Style("text", mono=True)
DEFAULT = Style("faint", mono=True)
LINK = Style("accent")
ERROR = Style("error")
STRONG = Style(bold=True)


def pair(label: str, value: str, style: Style = PLAIN, **more: Any) -> Line:
    """A label with a value; the whole value is its tooltip unless `tip` says more."""
    return Line(LineKind.PAIR, label, one_line(value), style, full=value, **more)


def sentence(label: str, value: str, style: Style = PLAIN, **more: Any) -> Line:
    """A label with words to be read to their end, in as many lines as they need."""
    return pair(label, value, style, wrapped=True, **more)


def heading(text: str) -> Line:
    """The title of a section."""
    return Line(LineKind.HEADING, text)


def text_line(text: str, style: Style = PLAIN) -> Line:
    """A paragraph over the whole width, wrapped; of a very long one the beginning, copied whole."""
    shown = text if len(text) <= MOST_WORDS else text[:MOST_WORDS] + "…"
    return Line(LineKind.TEXT, "", shown, style, full=text)


def more_line(count: int) -> Line:
    """How many lines of a section are left out."""
    return pair("", f"and {count:,} more", Style("muted"))


def tensor_line(label: str, tensor: Tensor, run: RunState | None, binder: Binder | None = None) -> Line:
    """A tensor as a link, with the best that is known of its type under it, and its value if that is short.

    What a run saw comes first, then the type with the sizes that a binder gives its symbols.
    """
    line = pair(label, tensor.name or "(no name)", LINK, target=tensor)
    words, note, line.detail_style = _type_words(tensor, run, binder)
    value = short_value(tensor, run)
    line.detail = f"{words} = {value}" if value else f"{words}  {note}".rstrip()
    if not label:
        line.label, line.value = line.value, line.detail
        line.style, line.label_style, line.detail = line.detail_style, LINK, ""
    return line


def _type_words(tensor: Tensor, run: RunState | None, binder: Binder | None) -> tuple[str, str, Style]:
    """The type that is known best, a word about it, and how it is written."""
    observed = run.observed.get(tensor) if run else None
    if observed is not None:
        return type_text(observed), "observed", FACT
    if tensor.data is not None:
        return type_text(data_type(tensor)), bytes_text(tensor.data.nbytes), FACT
    bound = bound_type(tensor, binder)
    if bound is not None:
        return type_text(bound), "", BOUND
    if tensor.inferred_type is not None and tensor.inferred_type != tensor.stored_type:
        return type_text(tensor.inferred_type), "", INFERRED
    return type_text(tensor.stored_type), "", STORED


def bound_type(tensor: Tensor, binder: Binder | None) -> Type | None:
    """The inferred type with the sizes that symbols have been given; None where that makes no difference."""
    bound = binder.type(tensor.inferred_type) if binder is not None else None
    return bound if bound != tensor.inferred_type else None


def short_value(tensor: Tensor, run: RunState | None) -> str:
    """The value of a tensor of a few elements, as the run saw it or as the file stores it; else empty."""
    value = run.values.get(tensor) if run else None
    if value is None and isinstance(tensor.data, TensorData) and 0 < tensor.data.size <= FEW:
        if tensor.data.nbytes > FEW_BYTES:
            return ""
        try:
            value = tensor.data.array()
        except DataError:
            return ""
    if not isinstance(value, np.ndarray | np.generic) or not 0 < value.size <= FEW:
        return ""
    array = np.asarray(value)
    elements = ", ".join(one_line(value_text(element), 40) for element in array.reshape(-1))
    return f"[{elements}]" if array.ndim else elements


def metadata_lines(metadata: Mapping[str, str], leave_out: tuple[str, ...] = ()) -> Iterator[Line]:
    """What the file's producer noted, key by key."""
    shown = [(key, value) for key, value in metadata.items() if key not in leave_out]
    if shown:
        yield heading("Metadata")
    for key, value in shown[:MAX_LINES]:
        yield pair(one_line(key, 60), value, tip=f"{key}\n{value[:LIMIT]}")
    if len(shown) > MAX_LINES:
        yield more_line(len(shown) - MAX_LINES)


def graph_line(label: str, graph: Graph, ran: str = "") -> Line:
    """A graph as a link; `ran` says how it did in the last run."""
    nodes = counted(len(graph.nodes), "node")
    return pair(label, graph.name or nodes, LINK, target=graph, detail=", ".join(filter(None, (nodes, ran))))


def amount(dim: object) -> str:
    """A count that may be an expression: scaled where it is a number."""
    if isinstance(dim, int):
        return count_text(dim)
    return "?" if dim is None else one_line(str(dim), 60)
