"""A table over a list of objects: columns as data, cells computed when asked for, filtered and sorted in a job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from gui.background.jobs import JobRunner, LatestJob, Task
from gui.models.arrangement import Arrangement
from gui.widgets.tips import plain_tip

ITEM_ROLE = Qt.ItemDataRole.UserRole

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_ROLE = Qt.ItemDataRole
FEW = 100  # rows that are dealt with at once: four tables of more are felt together when a model opens


@dataclass(frozen=True, slots=True)
class Style:
    """How a cell is written: a theme role for its colour, and its face."""

    role: str = "text"
    mono: bool = False
    italic: bool = False
    bold: bool = False


PLAIN = Style()
MUTED = Style("muted")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, and functions from a row's object to what the cell shows.

    `text` gives the words (also the tooltip unless `tip` says more), `key` what to sort by (the text where it is None),
    `square` the colour of a small square before the text, `bar` the length, 0 to 1, of a bar.
    """

    title: str
    text: Callable[[Any], str]
    style: Style | Callable[[Any], Style] = PLAIN
    right: bool = False
    key: Callable[[Any], Any] | None = None
    tip: Callable[[Any], str] | None = None
    square: Callable[[Any], QColor | None] | None = None
    bar: Callable[[Any], float] | None = None
    heading_tip: str = ""

    def style_of(self, row: Any) -> Style:
        return self.style if isinstance(self.style, Style) else self.style(row)


class TableModel(QAbstractTableModel):
    """Rows are any objects; `shown` are those that pass the filter, in the order of the sort.

    With `jobs`, what takes long with many rows is a job: a filter or a sort shows its rows once it is done.
    """

    def __init__(
        self, columns: Sequence[Column], parent: QObject | None = None, jobs: JobRunner | None = None
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.columns = tuple(columns)
        self.rows: list[Any] = []
        self.shown: list[Any] = []
        self._jobs = jobs
        self._arranging = LatestJob()
        self._places: dict[int, int] | None = None
        self._words: tuple[str, ...] = ()
        self._accepts: Callable[[Any], bool] | None = None
        self._sort: tuple[int, Qt.SortOrder] | None = None

    # Rows

    def set_rows(self, rows: Iterable[Any], accepts: Callable[[Any], bool] | None = None) -> None:
        """Other rows, none of which are shown until they are arranged; for `accepts` see `set_filter`."""
        self.rows, self._accepts = list(rows), accepts
        if self.shown and self._takes_long(self._arrangement()):
            self._show([], {})
        self._arrange()

    def set_filter(self, text: str = "", accepts: Callable[[Any], bool] | None = None) -> None:
        """Show the rows that hold all words of `text` in any column and that `accepts`, asked on any thread."""
        self._words, self._accepts = tuple(text.casefold().split()), accepts
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 goes back to the order of `rows`."""
        self._sort = (column, order) if column >= 0 else None
        self._arrange()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows, in the order that `rows` have."""
        self.columns, self._sort = tuple(columns), None
        self._arrange()

    def _arrangement(self) -> Arrangement:
        texts = [column.text for column in self.columns]
        if self._sort is None:
            return Arrangement(texts, self._words, self._accepts)
        column, order = self._sort
        key = self.columns[column].key or self.columns[column].text
        return Arrangement(texts, self._words, self._accepts, key, order is Qt.SortOrder.DescendingOrder)

    def _takes_long(self, arrangement: Arrangement) -> bool:
        return self._jobs is not None and len(self.rows) > FEW and not arrangement.changes_nothing

    def _arrange(self) -> None:
        self._arranging.cancel()
        rows, arrangement = self.rows, self._arrangement()
        if not self._takes_long(arrangement):
            self._show(arrangement.of(rows), None)
            self._number()
            return

        def work(task: Task) -> tuple[list[Any], dict[int, int]]:
            shown = arrangement.of(rows, task.check)
            return shown, _places(shown)

        def arranged(result: tuple[list[Any], dict[int, int]]) -> None:
            self._show(*result)

        assert self._jobs is not None
        self._arranging.replace(self._jobs.start(work, arranged))

    def _number(self) -> None:
        """Make the places of many rows in a job, as they are wanted at the next selection."""
        shown = self.shown

        def numbered(places: dict[int, int]) -> None:
            if self.shown is shown:
                self._places = places

        if self._jobs is not None and len(shown) > FEW:
            self._jobs.start(lambda _task: _places(shown), numbered)

    @property
    def busy(self) -> bool:
        """Whether other rows, or another order, are on their way."""
        return self._arranging.running

    def _show(self, rows: list[Any], places: dict[int, int] | None) -> None:
        self.beginResetModel()
        self.shown, self._places = rows, places
        self.endResetModel()

    def place_of(self, row: Any) -> int:
        """The line where a row object is shown, -1 where it is not."""
        if self._places is None:
            self._places = _places(self.shown)
        return self._places.get(id(row), -1)

    def rows_changed(self) -> None:
        """The rows say something else now: sort them anew, where they are sorted."""
        if self._sort:
            self._arrange()
        else:
            self.refresh()

    def compute(
        self, size: int, work: Callable[[], Any], deliver: Callable[[Any], None],
        fail: Callable[[Exception], None] | None = None,
    ) -> None:  # fmt: skip
        """Work something out of `size` rows and deliver it: at once where they are few, else by a job."""
        if self._jobs is not None and size > FEW:
            self._jobs.start(lambda _task: work(), deliver, fail)
            return
        try:
            result = work()
        except Exception as error:
            if fail is None:
                raise
            fail(error)
        else:
            deliver(result)

    def refresh(self) -> None:
        """Ask for all cells again; the rows are the same."""
        if self.shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.shown) - 1, len(self.columns) - 1))

    # What Qt asks

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == _ROLE.DisplayRole:
            return column.title
        if role == _ROLE.TextAlignmentRole:
            return _alignment(column)
        if role == _ROLE.ToolTipRole:
            return column.heading_tip or None
        return None

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        row, column = self.shown[index.row()], self.columns[index.column()]
        match role:
            case _ROLE.DisplayRole:
                return column.text(row)
            case _ROLE.ToolTipRole:
                return plain_tip(column.tip(row) if column.tip else column.text(row))
            case _ROLE.TextAlignmentRole:
                return _alignment(column)
        if role == ITEM_ROLE:
            return row
        return None


def cell_texts(rows: Iterable[Any], columns: Sequence[Column]) -> tuple[list[str], Iterator[list[str]]]:
    """The titles of columns, and the cells of each row: what the functions of `gui.output.spreadsheet` take."""
    return [column.title for column in columns], ([column.text(row) for column in columns] for row in rows)


def _places(rows: Sequence[Any]) -> dict[int, int]:
    return {id(row): place for place, row in enumerate(rows)}


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
