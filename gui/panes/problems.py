"""The Problems pane: everything that was found wrong with the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel

from engine.diagnostics import Diagnostic, Severity
from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.document import Document
from gui.models.problems import COLUMNS, ProblemRow, problem_rows
from gui.table_pane import TablePane


class ProblemsPane(TablePane):
    """Findings of the model and its last run, errors first; picking one selects its place and says what to do.

    Of a code with very many, the first are shown and a row that stands for the others until it is picked; the filter
    looks at all. `count_changed(n, errors, warnings)` says how many there are, and how many of these are grave.
    """

    count_changed = Signal(int, int, int)

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Problems")
        self._opened: set[str] = set()  # codes that are listed to the end
        self._mismatches: list[Diagnostic] = []  # of the last run
        self.view.set_widths(13, 90, 26, 20, stretch=1)
        self.advice = QLabel()
        self.advice.setTextFormat(Qt.TextFormat.PlainText)
        self.advice.setWordWrap(True)
        self.advice.setContentsMargins(8, 4, 8, 4)
        self.advice.setProperty("role", "muted")
        self.advice.setAccessibleName("What to do")
        self.advice.hide()
        self.column.addWidget(self.advice)
        self.view.selectionModel().currentRowChanged.connect(self._show_advice)
        self.view.picked.connect(self._open_group)
        document.problems_changed.connect(self.list_soon)
        document.run_changed.connect(self._run_changed)
        self.list_rows()

    def nothing(self) -> str:
        return "No problems found"

    def items_of(self, row: ProblemRow) -> Iterable[Node | Tensor]:
        return (row.item,) if row.item is not None else ()

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        """What concerns the item itself, then what concerns a node's tensors or a tensor's producer."""
        yield item
        if isinstance(item, Node):
            yield from (t for t in (*item.outputs, *item.inputs) if t is not None)
        elif item.producer is not None:
            yield item.producer

    def chooser(self) -> Callable[[ProblemRow], bool] | None:
        opened, filtered = frozenset(self._opened), bool(self.filter.text())

        def chosen(row: ProblemRow) -> bool:
            return not row.more if filtered or row.diagnostic.code in opened else not row.beyond

        return chosen

    def list_rows(self) -> None:
        document = self.document
        index, found = document.index, [*(document.model.diagnostics if document.model else ()), *self._mismatches]

        def make() -> tuple[list[ProblemRow], Counter[Severity]]:
            rows = problem_rows(found, index) if index is not None else []
            return rows, Counter(row.diagnostic.severity for row in rows if not row.more)

        self._opened = set()
        self.fill(len(found), make, self._tell)

    def _tell(self, rows: list[ProblemRow], counts: Counter[Severity]) -> None:
        self.summary.setText(counted(counts.total(), "problem") if rows else "")
        self.count_changed.emit(counts.total(), counts[Severity.ERROR], counts[Severity.WARNING])
        self._show_advice()

    @Slot()
    def _run_changed(self) -> None:
        """Show what the run made otherwise than inferred, and forget what the run before it did."""
        run = self.document.run
        mismatches = run.mismatches if run else []
        if mismatches != self._mismatches:
            self._mismatches = mismatches
            self.list_soon()

    @Slot(object)
    def _open_group(self, row: ProblemRow) -> None:
        if row.more:
            self._opened.add(row.diagnostic.code)
            QTimer.singleShot(0, self, self.apply_filter)  # not while the view is still dealing with the click

    @Slot()
    def _show_advice(self) -> None:
        row = self.view.current_row()
        self.advice.setText(row.advice if isinstance(row, ProblemRow) else "")
        self.advice.setVisible(bool(self.advice.text()))
