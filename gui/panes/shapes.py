"""The Shapes pane: every tensor of the graph shown, stored, inferred and observed side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox

from engine.graph.ir import Node, Tensor
from gui.document import Document
from gui.models.shapes import COLUMNS, ShapeRow, shape_rows
from gui.table_pane import TablePane, own_tensors
from gui.text import plural


class ShapesPane(TablePane):
    """Shapes from the file, from inference and from the last run; contradictions come first."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Shapes")
        self._only_open = QCheckBox("Unknown or contradictory")
        self._only_open.toggled.connect(self.apply_filter)
        self.top.addWidget(self._only_open)
        self.view.set_widths(32, 6, 22, 32, 20, 14)
        self.view.horizontalHeader().setStretchLastSection(True)
        document.graph_changed.connect(self._show)
        document.run_changed.connect(self._show)
        self._show()

    def items_of(self, row: ShapeRow) -> Iterable[Node | Tensor]:
        return (row.tensor,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        return own_tensors(item)

    def accepts(self, row: ShapeRow) -> bool:
        return not self._only_open.isChecked() or bool(row.clash) or row.is_unknown

    @Slot()
    def _show(self) -> None:
        graph = self.document.graph
        rows = shape_rows(graph, self.document.run) if graph else []
        unknown, clashes = sum(r.is_unknown for r in rows), sum(bool(r.clash) for r in rows)
        parts = [plural(len(rows), "tensor")]
        parts += [f"{unknown:,} unknown"] if unknown else []
        parts += [plural(clashes, "contradiction")] if clashes else []
        self.summary.setText(" · ".join(parts) if rows else "")
        self.set_rows(rows)
