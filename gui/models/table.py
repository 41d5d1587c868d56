"""A table over a list of objects: columns as data, cells computed when asked for, filter and sort by permutation."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from gui.widgets.tips import plain_tip

ITEM_ROLE = Qt.ItemDataRole.UserRole
BAR_ROLE = Qt.ItemDataRole.UserRole + 1  # a float 0..1: the length of the cell's bar

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_ROLE = Qt.ItemDataRole


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
    """Rows are any objects; `shown` are those that pass the filter, in the order of the sort."""

    def __init__(self, columns: Sequence[Column], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.rows: list[Any] = []
        self.shown: list[Any] = []
        self._places: dict[int, int] | None = None
        self._words: tuple[str, ...] = ()
        self._accepts: Callable[[Any], bool] | None = None
        self._sort: tuple[int, Qt.SortOrder] | None = None
        self._fonts: dict[Style, QFont] = {}
        self._colors: Callable[[str], QColor] = lambda _role: QColor()

    # Rows

    def set_rows(self, rows: Iterable[Any]) -> None:
        self.rows = list(rows)
        self._arrange()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows, in the order that `rows` have."""
        self.columns, self._sort = tuple(columns), None
        self._arrange()

    def set_filter(self, text: str = "", accepts: Callable[[Any], bool] | None = None) -> None:
        """Show the rows that hold all words of `text` in any column and that `accepts`."""
        self._words, self._accepts = tuple(text.casefold().split()), accepts
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 goes back to the order of `rows`."""
        self._sort = (column, order) if column >= 0 else None
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        self.shown = [row for row in self.rows if self._passes(row)]
        if self._sort:
            column, order = self._sort
            key = self.columns[column].key or self.columns[column].text
            self.shown.sort(key=key, reverse=order is Qt.SortOrder.DescendingOrder)
        self._places = None
        self.endResetModel()

    def _passes(self, row: Any) -> bool:
        if self._accepts and not self._accepts(row):
            return False
        if not self._words:
            return True
        text = " ".join(column.text(row) for column in self.columns).casefold()
        return all(word in text for word in self._words)

    def place_of(self, row: Any) -> int:
        """The line where a row object is shown, -1 where it is not."""
        if self._places is None:
            self._places = {id(shown): place for place, shown in enumerate(self.shown)}
        return self._places.get(id(row), -1)

    def rows_changed(self) -> None:
        """The rows say something else now: sort them anew, where they are sorted."""
        if self._sort:
            self._arrange()
        else:
            self.refresh()

    def refresh(self) -> None:
        """Ask for all cells again; the rows are the same."""
        if self.shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.shown) - 1, len(self.columns) - 1))

    def set_look(self, colors: Callable[[str], QColor], fonts: Callable[[Style], QFont]) -> None:
        """Colours by theme role and fonts by style."""
        self._colors = colors
        self._fonts = {}
        self._font_of = fonts
        self.refresh()

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
            case _ROLE.ForegroundRole:
                return self._colors(column.style_of(row).role)
            case _ROLE.FontRole:
                return self._font(column.style_of(row))
            case _ROLE.DecorationRole:
                return column.square(row) if column.square else None
        if role == BAR_ROLE:
            return column.bar(row) if column.bar else None
        if role == ITEM_ROLE:
            return row
        return None

    def _font(self, style: Style) -> QFont | None:
        if style not in self._fonts and hasattr(self, "_font_of"):
            self._fonts[style] = self._font_of(style)
        return self._fonts.get(style)

    def tsv(self, places: Sequence[int], columns: Sequence[int]) -> str:
        """Lines of those rows and columns, tab-separated, with a line of titles."""
        chosen = [self.columns[c] for c in columns]
        lines = ["\t".join(c.title for c in chosen)]
        for place in places:
            lines.append("\t".join(c.text(self.shown[place]).replace("\t", " ") for c in chosen))
        return "\n".join(lines)


    def csv(self, places: Sequence[int] | None = None) -> str:
        """Rows as CSV (RFC 4180) with all columns and a line of titles; those of `places`, else all that are shown."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([column.title for column in self.columns])
        rows = self.shown if places is None else [self.shown[place] for place in places]
        writer.writerows([column.text(row) for column in self.columns] for row in rows)
        return out.getvalue()


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
