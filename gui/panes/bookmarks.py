"""The Bookmarks pane: what the user comes back to, with a note for each."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton

from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.bookmarks import Bookmark
from gui.document import Document
from gui.models.bookmarks import COLUMNS
from gui.table_pane import TablePane


class BookmarksPane(TablePane):
    """Bookmarks in the order they were set; picking one goes there, also to a module."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Bookmarks")
        self.note = QLineEdit(placeholderText="Note", maxLength=400)
        self.note.setAccessibleName("Note on the bookmark")
        self.remove = QToolButton(text="Remove", toolTip="Remove the bookmark (Del)")
        below = QHBoxLayout()
        below.setContentsMargins(8, 6, 8, 6)
        below.setSpacing(8)
        below.addWidget(self.note, 1)
        below.addWidget(self.remove)
        self.column.addLayout(below)
        self.view.set_widths(24, 9, 10, stretch=0)
        self.note.editingFinished.connect(self._set_note)
        self.remove.clicked.connect(self._remove)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.view)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._remove)
        document.bookmarks.changed.connect(self._show)
        self.view.selectionModel().currentRowChanged.connect(self._show_note)
        self._show()

    def nothing(self) -> str:
        return "Ctrl+B sets a bookmark on what is selected"

    def items_of(self, row: Bookmark) -> Iterable[Node | Tensor]:
        return (row.item,) if isinstance(row.item, Node | Tensor) else ()

    @property
    def current(self) -> Bookmark | None:
        """The bookmark whose row is current."""
        row = self.view.current_row()
        return row if isinstance(row, Bookmark) else None

    @Slot()
    def _show(self) -> None:
        current = self.current
        bookmarks = self.document.bookmarks.all
        self.set_rows(bookmarks)
        if current in bookmarks:
            self.view.show_row(current)
        self.summary.setText(counted(len(bookmarks), "bookmark") if bookmarks else "Ctrl+B sets one")
        self._show_note()

    @Slot()
    def _show_note(self) -> None:
        current = self.current
        self.note.setEnabled(current is not None)
        self.remove.setEnabled(current is not None)
        self.note.setText(current.mark.note if current is not None else "")

    @Slot()
    def _set_note(self) -> None:
        if self.current is not None:
            self.document.bookmarks.set_note(self.current, self.note.text())

    @Slot()
    def _remove(self) -> None:
        if self.current is not None:
            self.document.bookmarks.remove(self.current)

    @Slot(object)
    def _picked(self, row: Bookmark) -> None:
        self.document.bookmarks.open(row)
