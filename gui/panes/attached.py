"""The Attached pane: what a file beside the model says of its nodes and tensors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Slot

from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.attachment.attached import Attached
from gui.document import Document
from gui.models.attached import AttachedRow, attached_columns, attached_rows
from gui.table_pane import TablePane
from gui.text import one_line


class AttachedPane(TablePane):
    """Nodes and tensors with a column for each number and each fact of the file."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, attached_columns(None), "Attached")
        document.attachment.changed.connect(self._show)
        self._show()

    def items_of(self, row: AttachedRow) -> Iterable[Node | Tensor]:
        return (row.item,)

    @Slot()
    def _show(self) -> None:
        found = self.document.attachment.found
        self.set_rows([])
        self.model.set_columns(attached_columns(found))
        self.view.columns.set_titles([column.title for column in self.model.columns])
        self.view.set_widths(18, 40, *([14] * (len(self.model.columns) - 2)), stretch=1)
        size = len(found.facts) if found is not None else 0
        self.fill(size, lambda: (attached_rows(found) if found is not None else [], found), self._tell)

    def _tell(self, rows: list[AttachedRow], found: Attached | None) -> None:
        self.apply_filter()
        if found is None:
            self.summary.setText("File ▸ Open Attachment… takes numbers from Netron, ONNX Runtime or a CSV file")
            return
        self.summary.setText(f"{one_line(Path(found.path).name, 60)}: {counted(len(rows), 'line')}")
