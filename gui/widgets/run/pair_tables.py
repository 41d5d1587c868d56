"""Two tables of numbers that scroll as one: what a run made and what is expected; cells too far apart are red."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QLabel, QTableView, QVBoxLayout, QWidget

from engine.agreement import Tolerance
from gui.look.theme import Theme, mono_font, on_theme, theme_manager
from gui.models.values import MAX_COLUMNS, MAX_ROWS, value_text
from gui.text import one_line
from gui.widgets.tips import plain_tip

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_WRAP = 4  # columns in which a vector is shown: two tables share the width
_SAMPLED = 24  # rows whose width decides on that of the columns


class PlaneModel(QAbstractTableModel):
    """One slice [rows, columns] of an array; a vector in lines of four. `is_far(row, column)` marks cells."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._plane = np.zeros((0, 0))
        self._vector = False
        self._is_far: Callable[[Any, Any], bool] = lambda _row, _column: False

    def set_plane(self, plane: np.ndarray, is_far: Callable[[Any, Any], bool]) -> None:
        """Show an array of two axes at most. `is_far` is asked with an index into it: (row, column), or (place, ())."""
        self.beginResetModel()
        self._vector = plane.ndim < 2
        self._plane = plane.reshape(-1) if self._vector else plane
        self._is_far = is_far
        self.endResetModel()

    def cell_of(self, index: tuple[int, ...]) -> QModelIndex:
        """The cell that shows the element at `index` of the slice."""
        if self._vector:
            place = index[0] if index else 0
            return self.index(place // _WRAP, place % _WRAP)
        row, column = index
        return self.index(row, column)

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        if parent.isValid():
            return 0
        rows = -(-self._plane.size // _WRAP) if self._vector else self._plane.shape[0]
        return min(rows, MAX_ROWS)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        if parent.isValid():
            return 0
        return min(self._plane.size, _WRAP) if self._vector else min(self._plane.shape[1], MAX_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return str(section * _WRAP if self._vector and orientation is Qt.Orientation.Vertical else section)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        place = self._place(index.row(), index.column())
        if not index.isValid() or place is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            text = value_text(self._plane[place[0]] if self._vector else self._plane[place])
            return one_line(text, 60) if role == Qt.ItemDataRole.DisplayRole else plain_tip(text)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole and self._is_far(*place):
            return theme_manager().theme.colour("error")
        return None

    def _place(self, row: int, column: int) -> tuple[int, Any] | None:
        if not self._vector:
            return row, column
        place = row * _WRAP + column
        return (place, ()) if place < self._plane.size else None


class PairTables(QWidget):
    """The two tables under their titles; scrolling or choosing a cell in one does so in the other."""

    def __init__(self) -> None:
        super().__init__()
        self.titles = [QLabel(textFormat=Qt.TextFormat.PlainText) for _ in range(2)]
        self.models = [PlaneModel(self) for _ in range(2)]
        self.tables = [_table(m, name) for m, name in zip(self.models, ("Values of the run", "Expected values"))]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for title, table in zip(self.titles, self.tables):
            title.setProperty("role", "muted")
            column = QVBoxLayout()
            column.setSpacing(2)
            column.addWidget(title)
            column.addWidget(table, 1)
            row.addLayout(column, 1)
        for one, other in (self.tables, reversed(self.tables)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            one.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)
            one.selectionModel().currentChanged.connect(self._current_changed)
        on_theme(self._set_theme)

    def set_titles(self, actual: str, expected: str) -> None:
        """What the two sides are called."""
        for title, text in zip(self.titles, (actual, expected)):
            title.setText(one_line(text, 40))

    def set_planes(self, actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> None:
        """Show two slices of one shape; elements further apart than `tolerance` are marked in both."""

        def is_far(row: Any, column: Any) -> bool:
            return _apart(actual[row, column], expected[row, column], tolerance) if actual.ndim > 1 else _apart(
                actual.reshape(-1)[row], expected.reshape(-1)[row], tolerance
            )  # fmt: skip

        for model, table, plane in zip(self.models, self.tables, (actual, expected)):
            model.set_plane(plane, is_far)
            table.horizontalHeader().setDefaultSectionSize(_column_width(table))

    def show_element(self, index: tuple[int, ...]) -> None:
        """Bring an element into view in both."""
        cell = self.models[0].cell_of(index)
        if cell.isValid():
            self.tables[0].setCurrentIndex(cell)
            self.tables[0].scrollTo(cell, QAbstractItemView.ScrollHint.PositionAtCenter)

    @Slot(QModelIndex, QModelIndex)
    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        for table, model in zip(self.tables, self.models):
            cell = model.index(current.row(), current.column())
            if current.isValid() and cell.isValid() and table.currentIndex() != cell:
                table.setCurrentIndex(cell)

    @Slot(object)
    def _set_theme(self, _theme: Theme) -> None:
        for table in self.tables:
            table.viewport().update()


def _apart(actual: Any, expected: Any, tolerance: Tolerance) -> bool:
    """Whether two elements are further apart than they may be; NaN equals NaN."""
    if isinstance(actual, str | bytes | np.bool_) or isinstance(expected, str | bytes):
        return bool(actual != expected)
    a, b = (complex(actual), complex(expected)) if np.iscomplexobj(actual) else (float(actual), float(expected))
    if a == b or (a != a and b != b):
        return False
    return not abs(a - b) <= tolerance.rtol * abs(b) + tolerance.atol


def _table(model: PlaneModel, name: str) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    table.setFont(mono_font(0.85))
    for header in (table.horizontalHeader(), table.verticalHeader()):
        header.setFont(mono_font(0.8))
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    table.verticalHeader().setDefaultSectionSize(round(table.fontMetrics().height() * 1.3))
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setWordWrap(False)
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    return table


def _column_width(table: QTableView) -> int:
    model = table.model()
    cells = (
        model.index(row, column)
        for row in range(min(model.rowCount(), _SAMPLED)) for column in range(min(model.columnCount(), 8))
    )  # fmt: skip
    longest = max((len(str(cell.data() or "")) for cell in cells), default=1)
    return table.fontMetrics().averageCharWidth() * (min(max(longest, 3), 32) + 2)
