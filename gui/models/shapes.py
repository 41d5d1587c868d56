"""Rows and columns of the Shapes pane: what the file says, what inference found, what a run saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.costs import NodeCosts
from engine.dims import Expr, Shape
from engine.graph.ir import Graph, Tensor
from engine.graph.types import TensorType, Type
from engine.shapes.bind import Binder
from engine.shapes.origin import shape_origin
from engine.words import bytes_text
from gui.models.table import Column, Style
from gui.running.state import RunState
from gui.text import dtype_of_type, shape_of_type


class Sizes:
    """Sizes of the dims, and what follows from them, each thing computed once."""

    __slots__ = ("binder", "costs", "given")

    def __init__(self, dims: Mapping[str, int]) -> None:
        self.given = bool(dims)
        self.binder = Binder(dims)
        self.costs = NodeCosts(self.binder)


@dataclass(slots=True, eq=False)
class ShapeRow:
    """A tensor and its types from the three sources. `clash` says in words where two of them contradict.

    `sizes` are those that the user gave the dims, shared by all rows.
    """

    tensor: Tensor
    observed: Type | None = None
    clash: str = ""
    sizes: Sizes | None = None

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def dtype(self) -> str:
        return dtype_of_type(self.observed or self.tensor.inferred_type or self.tensor.stored_type)

    @property
    def is_unknown(self) -> bool:
        return bool(self.tensor.unknown_because)

    @property
    def is_dynamic(self) -> bool:
        return any(isinstance(dim, Expr) for dim in self.tensor.inferred_shape or ())

    @property
    def bound(self) -> Type | None:
        """The inferred type under the sizes given; None where none are."""
        return self.sizes.binder.type(self.tensor.inferred_type) if self.sizes and self.sizes.given else None

    @property
    def nbytes(self) -> int | None:
        """What the elements take at those sizes; None where that is open."""
        count = self.sizes.costs.bytes_of(self.tensor) if self.sizes else None
        return count if isinstance(count, int) else None

    @property
    def origin(self) -> str:
        """Where its shape comes from, and what contradicts it."""
        return "\n".join(filter(None, [self.clash, shape_origin(self.tensor)]))


def bind_rows(rows: Iterable[ShapeRow], dims: Mapping[str, int]) -> None:
    """Give the dims of all rows sizes; each cell is computed when it is asked for."""
    sizes = Sizes(dims)
    for row in rows:
        row.sizes = sizes


def shape_rows(graph: Graph, run: RunState | None) -> list[ShapeRow]:
    """Inputs, then what nodes make in run order, then constants; contradictions before all."""
    made = [t for node in (*graph.order, *(n for n in graph.nodes if n.index < 0)) for t in node.outputs if t]
    ordered = dict.fromkeys([*graph.inputs, *made, *graph.tensors.values()])
    dims: Mapping[str, int] = run.dims if run else {}
    rows = []
    for tensor in ordered:
        observed = run.observed.get(tensor) if run else None
        rows.append(ShapeRow(tensor, observed, contradiction(tensor, observed, dims)))
    return sorted(rows, key=lambda row: not row.clash)


def contradiction(tensor: Tensor, observed: Type | None, dims: Mapping[str, int]) -> str:
    """Which two of stored, inferred and observed can't both be true, given the dims of the run; empty for none."""
    stored, inferred = tensor.stored_type, tensor.inferred_type
    if observed is None and (stored is None or inferred is None or stored == inferred):
        return ""
    known = [("stored", stored), ("inferred", inferred), ("observed", observed)]
    for place, (label, first) in enumerate(known):
        for other, second in known[place + 1 :]:
            if first is not None and second is not None and not _compatible(first, second, dims):
                return f"{label} and {other} contradict each other"
    return ""


def _compatible(first: Type, second: Type, dims: Mapping[str, int]) -> bool:
    if not isinstance(first, TensorType) or not isinstance(second, TensorType):
        return type(first) is type(second)
    if first.dtype and second.dtype and first.dtype is not second.dtype:
        return False
    return _shapes_compatible(first.shape, second.shape, dims)


def _shapes_compatible(first: Shape | None, second: Shape | None, dims: Mapping[str, int]) -> bool:
    if first is None or second is None or first == second:
        return True
    if len(first) != len(second):
        return False
    values = [(_value(a, dims), _value(b, dims)) for a, b in zip(first, second, strict=True)]
    return all(a is None or b is None or a == b for a, b in values)


def _value(dim: object, dims: Mapping[str, int]) -> int | None:
    """The number that a dim stands for, None where that can't be said."""
    if isinstance(dim, Expr) and dims:
        try:
            return int(dim.evaluate(dims))
        except (KeyError, ArithmeticError):
            return None
    return dim if isinstance(dim, int) else None


def _plain(row: ShapeRow) -> Style:
    return Style("error" if row.clash else "text", mono=True)


def _inferred(row: ShapeRow) -> Style:
    return Style("error" if row.clash else "accent", mono=True, italic=True)


def _note(row: ShapeRow) -> str:
    return row.clash or row.tensor.unknown_because


NAME, DTYPE, STORED, INFERRED, BOUND, BYTES, OBSERVED, WHY = range(8)
COLUMNS = (
    Column("name", lambda r: r.name),
    Column("dtype", lambda r: r.dtype, Style("muted", mono=True)),
    Column("stored", lambda r: shape_of_type(r.tensor.stored_type), _plain, heading_tip="As the file declares it"),
    Column("inferred", lambda r: shape_of_type(r.tensor.inferred_type), _inferred,
           heading_tip="As OInfer's shape inference finds it"),
    Column("bound", lambda r: shape_of_type(r.bound) if r.is_dynamic else "", _inferred,
           heading_tip="The inferred shape at the sizes that the Run pane gives the dims"),
    Column("bytes", lambda r: "" if r.nbytes is None else bytes_text(r.nbytes), Style("muted", mono=True), right=True,
           key=lambda r: -1 if r.nbytes is None else r.nbytes, heading_tip="What the elements take at those sizes"),
    Column("observed", lambda r: shape_of_type(r.observed), _plain, heading_tip="As the last run saw it"),
    Column("why", _note, lambda r: Style("error" if r.clash else "muted"), tip=lambda r: r.origin,
           heading_tip="Contradictions, and why a shape is not known"),
)  # fmt: skip
