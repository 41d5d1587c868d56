"""The table of a tensor's values: one width for all columns, cells copied as they stand."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView

from gui.models.values import ValuesModel
from gui.theme import mono_font

SAMPLE = 16  # rows and columns whose widest cell decides the width
MOST_COPIED = 100_000  # values that are put on the clipboard as NumPy writes them


class ValuesTable(QTableView):
    """Shows a `ValuesModel`."""

    def __init__(self, model: ValuesModel) -> None:
        super().__init__()
        self._values = model
        self._plane: np.ndarray | None = None
        self.setModel(model)
        self.setAccessibleName("Values")
        self.setFont(mono_font())
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setFont(mono_font(0.85))
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
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
        longest = max((len(str(model.index(r, c).data())) for r, c in cells), default=1)
        return self.fontMetrics().averageCharWidth() * (min(max(longest, 4), 40) + 2)

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
