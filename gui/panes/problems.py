"""The Problems pane: everything that was found wrong with the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Signal, Slot

from engine.graph.ir import Node, Tensor
from gui.document import Document
from gui.models.problems import COLUMNS, ProblemRow, problem_rows
from gui.table_pane import TablePane
from gui.text import plural


class ProblemsPane(TablePane):
    """Diagnostics, errors first; picking one selects its place. `count_changed(n)` says how many there are."""

    count_changed = Signal(int)

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Problems")
        self.view.set_widths(13, 90, 26, 20, stretch=1)
        document.problems_changed.connect(self._show)
        self._show()

    def items_of(self, row: ProblemRow) -> Iterable[Node | Tensor]:
        return (row.item,) if row.item is not None else ()

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        """What concerns the item itself, then what concerns a node's tensors or a tensor's producer."""
        yield item
        if isinstance(item, Node):
            yield from (t for t in (*item.outputs, *item.inputs) if t is not None)
        elif item.producer is not None:
            yield item.producer

    @Slot()
    def _show(self) -> None:
        document = self.document
        rows = problem_rows(document.model.diagnostics, document.index) if document.model and document.index else []
        self.set_rows(rows)
        self.summary.setText(plural(len(rows), "problem") if rows else "No problems found")
        self.count_changed.emit(len(rows))
