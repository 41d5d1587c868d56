"""A table over one two-dimensional slice of an array: cells are read from the array when they come into view."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gui.text import one_line
from gui.widgets.tips import plain_tip

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
WRAP = 8  # columns in which a vector is shown
MAX_ROWS, MAX_COLUMNS = 1_000_000, 4_096  # Qt keeps sizes for each


class ValuesModel(QAbstractTableModel):
    """Shows an array of two axes; vectors and scalars in lines of eight."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._plane: np.ndarray = np.zeros((0, 0))
        self._size: int | None = None  # of a wrapped vector, whose last line may be short

    def set_plane(self, plane: np.ndarray | None) -> None:
        """Show an array of at most two axes; None shows nothing."""
        self.beginResetModel()
        plane = np.zeros((0, 0)) if plane is None else plane
        self._size = plane.size if plane.ndim < 2 else None
        self._plane = plane.reshape(-1) if plane.ndim < 2 else plane
        self.endResetModel()

    @property
    def cut(self) -> bool:
        """Whether the slice has more rows or columns than are shown."""
        if self._size is not None:
            return self._size > MAX_ROWS * WRAP
        return bool(self._plane.shape[0] > MAX_ROWS or self._plane.shape[1] > MAX_COLUMNS)

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        if parent.isValid():
            return 0
        rows = self._plane.shape[0] if self._size is None else -(-self._size // WRAP)
        return min(rows, MAX_ROWS)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        if parent.isValid():
            return 0
        return min(self._plane.shape[1], MAX_COLUMNS) if self._size is None else min(self._size, WRAP)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation is Qt.Orientation.Vertical and self._size is not None:
            return f"{section * WRAP}"
        return f"{section}"

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._text(index.row(), index.column()))
        return None

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        return one_line(self._text(row, column), 60)

    def _text(self, row: int, column: int) -> str:
        if self._size is None:
            return value_text(self._plane[row, column])
        place = row * WRAP + column
        return value_text(self._plane[place]) if place < self._size else ""


def value_text(value: Any) -> str:
    """A single value: six significant digits for floats, text as it is."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, complex | np.complexfloating):
        return f"{complex(value):.4g}"
    number = np.asarray(value)
    if number.dtype.kind in "iu" or _is_small_integer(number.dtype):
        return str(int(number))
    return f"{float(number):.6g}"


def _is_small_integer(dtype: np.dtype) -> bool:
    return dtype.name in ("int4", "uint4", "int2", "uint2")
