"""The Shapes pane: every tensor of the graph shown, stored, inferred, bound and observed side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QComboBox, QLabel

from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.document import Document
from gui.models.shapes import BOUND, COLUMNS, OBSERVED, WHY, ShapeRow, bind_rows, shape_rows
from gui.table_pane import TablePane, own_tensors
from gui.widgets.tips import set_tip

_FILTERS: dict[str, Callable[[ShapeRow], bool] | None] = {
    "All": None,
    "Unknown": lambda row: row.is_unknown,
    "Differs": lambda row: bool(row.clash),
    "Dynamic": lambda row: row.is_dynamic,
}
MOST_LINES, LONGEST = 8, 300  # of the words under the table; the tooltip has more


class ShapesPane(TablePane):
    """Shapes from the file, from inference and from the last run; contradictions come first.

    Dims that the Run pane gives a size are followed at once. Picking a tensor says where its shape comes from.
    """

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Shapes")
        self.kind = QComboBox()
        self.kind.addItems(list(_FILTERS))
        self.kind.setAccessibleName("Which shapes")
        self.kind.currentIndexChanged.connect(self.apply_filter)
        self.top.addWidget(self.kind)
        self.view.set_widths(28, 6, 20, 28, 18, 10, 18, 14, stretch=3)
        self.origin = QLabel()
        self.origin.setTextFormat(Qt.TextFormat.PlainText)
        self.origin.setWordWrap(True)
        self.origin.setContentsMargins(8, 4, 8, 4)
        self.origin.setProperty("role", "muted")
        self.origin.setAccessibleName("Where the shape comes from")
        self.origin.hide()
        self.column.addWidget(self.origin)
        self.view.selectionModel().currentRowChanged.connect(self._show_origin)
        document.graph_changed.connect(self.list_soon)
        document.run_changed.connect(self.list_soon)
        document.dims_changed.connect(self._bind)
        self.list_rows()

    def nothing(self) -> str:
        return "This graph has no tensors"

    def items_of(self, row: ShapeRow) -> Iterable[Node | Tensor]:
        return (row.tensor,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        return own_tensors(item)

    def chooser(self) -> Callable[[ShapeRow], bool] | None:
        return _FILTERS[self.kind.currentText()]

    def list_rows(self) -> None:
        graph, run = self.document.graph, self.document.run

        def make() -> tuple[list[ShapeRow], str]:
            rows = shape_rows(graph, run) if graph else []
            unknown, clashes = sum(r.is_unknown for r in rows), sum(bool(r.clash) for r in rows)
            parts = [counted(len(rows), "tensor")]
            parts += [f"{unknown:,} unknown"] if unknown else []
            parts += [counted(clashes, "contradiction")] if clashes else []
            return rows, " · ".join(parts) if rows else ""

        self.fill(len(graph.tensors) if graph else 0, make, self._tell)

    def _tell(self, rows: list[ShapeRow], summary: str) -> None:
        bind_rows(rows, self.document.dims)
        self.summary.setText(summary)
        self.model.refresh()
        self.view.columns.set_useful(BOUND, bool(self.document.dims))
        self.view.columns.set_useful(OBSERVED, self.document.run is not None)
        self.view.columns.set_useful(WHY, any(row.is_unknown or row.clash for row in rows))
        self._show_origin()

    @Slot()
    def _bind(self) -> None:
        bind_rows(self.model.rows, self.document.dims)
        self.model.refresh()
        self.view.columns.set_useful(BOUND, bool(self.document.dims))

    @Slot()
    def _show_origin(self) -> None:
        row = self.view.current_row()
        text = row.origin if isinstance(row, ShapeRow) else ""
        lines = text.splitlines()
        shown = [line[:LONGEST] for line in lines[:MOST_LINES]] + ["  …"] * (len(lines) > MOST_LINES)
        self.origin.setText("\n".join(shown))  # more of it would make the window grow
        set_tip(self.origin, text)
        self.origin.setVisible(bool(text))
