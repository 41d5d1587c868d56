"""The Changes pane: what differs between the model shown and another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QComboBox, QSizePolicy, QSplitter, QToolButton

from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.background.jobs import LatestJob
from gui.comparing.changes import Changes
from gui.comparing.weight_values import weight_row
from gui.document import Document
from gui.errors import explain
from gui.models.changes import COLUMNS, KINDS, ChangeRow, change_rows
from gui.running.judging import AgreementRow
from gui.table_pane import TablePane
from gui.text import one_line
from gui.widgets.run.pair import PairView

ALL = "All differences"


class ChangesPane(TablePane):
    """Differences, one a line; picking one selects its node or tensor, for a removed node what stands in its place."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Changes")
        self.kind = QComboBox()
        self.kind.setAccessibleName("Kind of difference")
        self.kind.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.kind.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.kind.currentIndexChanged.connect(self.apply_filter)
        self.top.insertWidget(0, self.kind)
        self.there = QToolButton(text="Show There", toolTip="Show this in a window of the other model (Ctrl+F7)")
        self.beside = QToolButton(text="Side by Side", toolTip="Show both models, linked (Ctrl+Alt+D)")
        self.there.clicked.connect(self._show_there)
        self.beside.clicked.connect(lambda: document.differ.show_other(document.selection, beside=True))
        for button in (self.there, self.beside):
            self.top.addWidget(button)
        self.view.set_widths(14, 40, 20, 28, 28, stretch=4)
        self.pair = PairView(document.jobs)
        self.pair.set_titles("this model", "the other")
        self.pair.hide()
        self._reading = LatestJob()
        both = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self.column.replaceWidget(self.view, both)
        both.addWidget(self.view)
        both.addWidget(self.pair)
        both.setSizes([100, 100])
        self.view.selectionModel().currentRowChanged.connect(self._show_pair)
        document.differ.changed.connect(self._show)
        self._show()

    def nothing(self) -> str:
        compared = self.document.differ.found is not None
        return "Nothing differs" if compared else "File ▸ Compare With… lists what differs from another model"

    def items_of(self, row: ChangeRow) -> Iterable[Node | Tensor]:
        item, changes = row.item, self.document.differ.changes
        if item is None and isinstance(row.other, Node) and changes is not None:
            item = changes.nearest(row.other)
        return (item,) if item is not None else ()

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        yield item

    def chooser(self) -> Callable[[ChangeRow], bool] | None:
        chosen = self.kind.currentData()
        return (lambda row: row.kind == chosen) if chosen else None

    @Slot()
    def _show_pair(self) -> None:
        """Show the two values of a weight beside the table, if one is current."""
        row = self.view.current_row()
        values = row.values if isinstance(row, ChangeRow) else None
        self._reading.cancel()
        self.pair.setVisible(values is not None)
        self.pair.set_row(None)
        if values is not None:
            self.pair.note.setText("Reading values…")
            jobs = self.document.jobs
            self._reading.replace(jobs.start(lambda _task: weight_row(values), self._pair_read, self._pair_failed))

    @Slot()
    def _show_there(self) -> None:
        """Show what the current row is about, or what is selected, in the other model."""
        row = self.view.current_row()
        item = (row.other or row.item) if isinstance(row, ChangeRow) else self.document.selection
        self.document.differ.show_other(item)

    def _pair_read(self, row: AgreementRow) -> None:
        self.pair.set_row(row)

    def _pair_failed(self, error: Exception) -> None:
        self.pair.note.setText(explain(error))

    @Slot()
    def _show(self) -> None:
        changes = self.document.differ.changes
        self.summary.setText(_summary(changes) if changes is not None else "")
        for button in (self.there, self.beside):
            button.setEnabled(changes is not None)
        self.kind.blockSignals(True)
        self.kind.clear()
        self.kind.blockSignals(False)

        def make() -> tuple[list[ChangeRow], Counter[str]]:
            rows = change_rows(changes) if changes is not None else []
            return rows, Counter(row.kind for row in rows)

        found = self.document.differ.found
        parts = 0
        if found is not None:
            parts = len(found.pairs) + len(found.added) + len(found.removed) + len(found.added_weights)
        self.fill(parts, make, self._tell)

    def _tell(self, rows: list[ChangeRow], counts: Counter[str]) -> None:
        self.kind.blockSignals(True)
        self.kind.addItem(f"{ALL} ({len(rows):,})", "")
        for kind, (title, _role) in KINDS.items():
            if counts[kind]:
                self.kind.addItem(f"{title} ({counts[kind]:,})", kind)
        self.kind.blockSignals(False)


def _summary(changes: Changes) -> str:
    found = changes.found
    name = one_line(Path(found.before.path or "").name, 60)
    if found.same:
        return f"The same as {name}, but for names" if found.renamed else f"The same as {name}"
    return f"against {name}: {counted(changes.same, 'node')} the same"
