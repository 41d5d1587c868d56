"""The table of a tensor's values: one width for all columns, cells copied as they stand."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QRect, QSize, Qt, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from gui.look.theme import mono_font, theme_manager
from gui.models.values import ValuesModel
from gui.widgets.cells import in_sight

PAD = 4  # px
SAMPLE = 16  # rows and columns whose widest cell decides the width
MOST_COPIED = 100_000  # values that are put on the clipboard as NumPy writes them


class IndexHeader(QHeaderView):
    """Numbers of rows or of columns. The last one is the longest; Qt would lay out two hundred at every change."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget) -> None:
        super().__init__(orientation, parent)
        self.setFont(mono_font(0.85))
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSectionsClickable(True)
        self.setHighlightSections(True)

    def sizeHint(self) -> QSize:
        return self.sectionSizeFromContents(max(self.count() - 1, 0))


class ValuesTable(QTableView):
    """Shows a `ValuesModel`."""

    def __init__(self, model: ValuesModel) -> None:
        super().__init__()
        self._values = model
        self._plane: np.ndarray | None = None
        self.setModel(model)
        self.setAccessibleName("Values")
        self.setFont(mono_font())
        self.setHorizontalHeader(IndexHeader(Qt.Orientation.Horizontal, self))
        self.setVerticalHeader(IndexHeader(Qt.Orientation.Vertical, self))
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 1.35))
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self.copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)

    def set_plane(self, plane: np.ndarray | None) -> None:
        """Show an array of at most two axes, or nothing."""
        self._plane = plane
        self._values.set_plane(plane)
        self.horizontalHeader().setDefaultSectionSize(self._width())

    def _width(self) -> int:
        """One width for all columns, so that turning an index moves nothing: that of the widest of the first cells."""
        model = self._values
        cells = ((r, c) for r in range(min(model.rowCount(), SAMPLE)) for c in range(min(model.columnCount(), SAMPLE)))
        longest = max((len(model.text(r, c)) for r, c in cells), default=1)
        return self.fontMetrics().averageCharWidth() * (min(max(longest, 4), 40) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write the cells in sight: a delegate would ask the model for each of them six times."""
        painter = QPainter(self.viewport())
        area, theme = event.rect(), theme_manager().theme
        for part in self.selectionModel().selection().toList():
            corners = self.visualRect(part.topLeft()) | self.visualRect(part.bottomRight())
            painter.fillRect(corners & area, theme.colour("selection"))
        painter.setFont(self.font())
        painter.setPen(theme.colour("text"))
        columns = in_sight(self.columnAt(area.left()), self.columnAt(area.right()), self._values.columnCount())
        for row in in_sight(self.rowAt(area.top()), self.rowAt(area.bottom()), self._values.rowCount()):
            for column in columns:
                room = QRect(
                    self.columnViewportPosition(column) + PAD, self.rowViewportPosition(row),
                    self.columnWidth(column) - 2 * PAD, self.rowHeight(row),
                )  # fmt: skip
                self._write(painter, room, self._values.text(row, column))
        painter.end()

    def _write(self, painter: QPainter, room: QRect, text: str) -> None:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(text)
        if width > room.width():
            text, width = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width()), room.width()
        middle = room.top() + (room.height() + metrics.ascent() - metrics.descent() + 1) // 2
        painter.drawText(room.right() + 1 - width, middle, text)

    @Slot()
    def copy(self) -> None:
        """Put the selected cells on the clipboard, as TSV."""
        lines: dict[int, list[str]] = {}
        for index in sorted(self.selectedIndexes(), key=lambda i: (i.row(), i.column())):
            lines.setdefault(index.row(), []).append(str(index.data()))
        QGuiApplication.clipboard().setText("\n".join("\t".join(line) for line in lines.values()))

    @Slot()
    def copy_literal(self) -> None:
        """Put the slice on the clipboard as a list that Python reads."""
        if self._plane is not None:
            QGuiApplication.clipboard().setText(str(self._plane.tolist()))

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("&Copy values", QKeySequence(QKeySequence.StandardKey.Copy), self.copy)
        whole = menu.addAction("Copy slice as Python &list", self.copy_literal)
        whole.setEnabled(self._plane is not None and self._plane.size <= MOST_COPIED)
        menu.popup(self.viewport().mapToGlobal(position))
