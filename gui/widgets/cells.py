"""What a table paints: the cells in sight, column by column."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QLine, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QTableView

from gui.look.theme import Theme, theme_manager
from gui.models.table import Column, Style, TableModel
from gui.widgets.texts import Texts

PAD = 6
SQUARE = 8
SQUARE_ROOM = SQUARE + 7  # with the gap behind it


def in_sight(first: int, last: int, count: int) -> range:
    """Rows or columns between those that Qt finds at the ends of an area, -1 where there is none any more."""
    return range(first, last + 1 if last >= 0 else count) if first >= 0 else range(0)


class CellPainter:
    """Paints the cells of a view on a `TableModel`: text, a colour square before it, a bar in its left part.

    A delegate would be asked for each cell, and Qt would dress each from the style sheet before: four times as long,
    for some hundred cells at every change of the selection.
    """

    def __init__(self, view: QTableView, model: TableModel) -> None:
        self._view, self._model = view, model
        self._texts = Texts()
        self.set_theme(theme_manager().theme)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme, and the fonts as they are now."""
        self._texts.set_theme(theme)
        self._line, self._selection, self._bar = (theme.colour(role) for role in ("line", "selection", "accent"))
        self._bar.setAlphaF(0.75)

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Paint what lies in a part of the viewport."""
        rows = self._rows_in(area)
        if not rows:
            return
        height = self._view.rowHeight(rows.start)
        tops = [self._view.rowViewportPosition(rows.start) + height * place for place in range(len(rows))]
        right = max((left + width for _column, left, width in self._columns_in(area)), default=0)
        for row in self._selected(rows):
            painter.fillRect(0, tops[row - rows.start], right, height, self._selection)
        painter.setPen(self._line)
        painter.drawLines([QLine(0, top + height - 1, right - 1, top + height - 1) for top in tops])
        shown = self._model.shown[rows.start : rows.stop]
        for column, left, width in self._columns_in(area):
            painter.save()
            self._paint_column(painter, column, QRect(left + PAD, 0, width - 2 * PAD, height - 1), shown, tops)
            painter.restore()

    def _rows_in(self, area: QRect) -> range:
        return in_sight(self._view.rowAt(area.top()), self._view.rowAt(area.bottom()), len(self._model.shown))

    def _columns_in(self, area: QRect) -> list[tuple[Column, int, int]]:
        """Each with its left side and its width."""
        placed = (
            (column, self._view.columnViewportPosition(place), self._view.columnWidth(place))
            for place, column in enumerate(self._model.columns)
            if not self._view.isColumnHidden(place)
        )
        return [(c, left, width) for c, left, width in placed if left <= area.right() and left + width > area.left()]

    def _selected(self, rows: range) -> set[int]:
        ranges = self._view.selectionModel().selection().toList()
        return {row for part in ranges for row in range(max(part.top(), rows.start), min(part.bottom() + 1, rows.stop))}

    def _paint_column(
        self, painter: QPainter, column: Column, cell: QRect, rows: list[Any], tops: list[int]
    ) -> None:  # fmt: skip
        rooms = [QRect(cell.left(), top, cell.width(), cell.height()) for top in tops]
        cells = [(row, column.text(row), column.style_of(row), room) for row, room in zip(rows, rooms, strict=True)]
        if column.square is not None or column.bar is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
        if column.square is not None:
            for row, room in zip(rows, rooms, strict=True):
                self._paint_square(painter, room, column.square(row))
        if column.bar is not None:
            painter.setBrush(self._bar)
            for row, text, style, room in cells:
                self._paint_bar(painter, room, column.bar(row), self._texts.width(text, style))
        last: Style | None = None
        for _row, text, style, room in cells:
            if style != last:
                self._texts.take_up(painter, style)
                last = style
            self._texts.put(painter, room, text, style, column.right)

    @staticmethod
    def _paint_square(painter: QPainter, room: QRect, colour: QColor | None) -> None:
        """At the left of the room, which is then narrower."""
        if colour is not None:
            top = room.center().y() - SQUARE / 2 + 0.5
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(room.left(), top, SQUARE, SQUARE), 2, 2)
            room.setLeft(room.left() + SQUARE_ROOM)

    @staticmethod
    def _paint_bar(painter: QPainter, room: QRect, share: float, text_width: int) -> None:
        length = room.width() - text_width - 8
        if length >= 6 and share > 0:
            bar = QRectF(room.left(), room.center().y() - 2.5, max(1.0, length * share), 6)
            painter.drawRoundedRect(bar, 1.5, 1.5)

    def width_of(self, place: int) -> int:
        """What the widest cell in sight needs in the column at `place`, in px."""
        column = self._model.columns[place]
        rows = self._rows_in(self._view.viewport().rect())
        return max((self._needed(column, row) for row in self._model.shown[rows.start : rows.stop]), default=0)

    def _needed(self, column: Column, row: Any) -> int:
        square = SQUARE_ROOM if column.square is not None and column.square(row) is not None else 0
        return self._texts.width(column.text(row), column.style_of(row)) + square + 2 * PAD
