"""The Find pane: everything that the search found, as a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Slot

from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.document import Document
from gui.models.find import COLUMNS, FindRow
from gui.table_pane import TablePane
from gui.text import one_line

MOST = 5_000  # rows; nobody reads more, and the canvas marks all


class FindPane(TablePane):
    """Matches in the order of stepping; the filter narrows the list further."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Matches")
        self.view.set_widths(20, 50, 8, 30, 30, stretch=1)
        document.finder.found.connect(self._show)
        self._show()

    def nothing(self) -> str:
        searched = bool(self.document.finder.query.strip())
        return "Nothing matches" if searched else "Ctrl+F finds nodes and tensors; all matches are listed here"

    def items_of(self, row: FindRow) -> Iterable[Node | Tensor]:
        return (row.item,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        yield item

    @Slot()
    def _show(self) -> None:
        finder = self.document.finder
        shown = finder.items[:MOST]
        self.summary.setText(_summary(finder.query, finder.error, len(finder.items)))

        def make() -> tuple[list[FindRow], bool]:
            return [FindRow(item) for item in shown], any(item.graph.parent is not None for item in shown)

        self.fill(len(shown), make, self._tell)

    def _tell(self, _rows: list[FindRow], has_subgraphs: bool) -> None:
        self.view.columns.set_useful(4, has_subgraphs)


def _summary(query: str, error: str, count: int) -> str:
    if error:
        return one_line(error, 160)
    if not query.strip():
        return ""
    cut = f", the first {MOST:,} listed" if count > MOST else ""
    return f"{counted(count, 'match')} for {one_line(query, 60)}{cut}"
