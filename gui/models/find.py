"""Rows and columns of the Find pane: what a search found."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor

from engine.graph.ir import Node, Tensor
from gui.models.order import category_colour
from gui.models.table import Column, Style
from gui.text import dtype_text, shape_of_type


@dataclass(slots=True, eq=False)
class FindRow:
    """A node or tensor that matched."""

    item: Node | Tensor

    @property
    def name(self) -> str:
        return self.item.name

    @property
    def kind(self) -> str:
        """The operator of a node, where the value of a tensor comes from."""
        return self.item.op_type if isinstance(self.item, Node) else self.item.source.value

    @property
    def tensor(self) -> Tensor | None:
        """What has a type: the tensor, or a node's first output."""
        if isinstance(self.item, Tensor):
            return self.item
        return next((t for t in self.item.outputs if t is not None), None)

    @property
    def shape(self) -> str:
        tensor = self.tensor
        return shape_of_type(tensor.inferred_type or tensor.stored_type) if tensor else ""

    @property
    def dtype(self) -> str:
        tensor = self.tensor
        return dtype_text(tensor.dtype) if tensor else ""

    @property
    def place(self) -> str:
        """The subgraph it lies in; empty for the main graph."""
        return self.item.graph.prefix.rstrip("/")


def _square(row: FindRow) -> QColor | None:
    return category_colour(row.item) if isinstance(row.item, Node) else None


COLUMNS = (
    Column("kind", lambda r: r.kind, lambda r: Style("text" if isinstance(r.item, Node) else "muted"), square=_square),
    Column("name", lambda r: r.name, tip=lambda r: r.item.qualified_name),
    Column("dtype", lambda r: r.dtype, Style("muted", mono=True)),
    Column("shape", lambda r: r.shape, Style("text", mono=True), heading_tip="Of the tensor, or a node's first output"),
    Column("in", lambda r: r.place, Style("muted"), heading_tip="The subgraph it lies in"),
)  # fmt: skip
