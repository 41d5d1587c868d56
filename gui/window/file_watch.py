"""Looks after the file of the document's model, which others may change."""

from __future__ import annotations

import os

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal, Slot

from gui.document import Document


class FileWatch(QObject):
    """`noticed(title, text, severity)` says that the file is not the one any more that was read."""

    noticed = Signal(str, str, str)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._changed)
        document.model_changed.connect(self._watch)

    @Slot()
    def _watch(self) -> None:
        if self._watcher.files():
            self._watcher.removePaths(self._watcher.files())
        self._watcher.addPath(self._document.path or "")

    @Slot(str)
    def _changed(self, path: str) -> None:
        if path == self._document.path and not os.path.exists(path):
            self.noticed.emit("The file is gone", f"{path} was moved or removed; what was read stays.", "info")
        elif path == self._document.path:
            self._watch()  # Qt goes on watching the old file where it was replaced
            self.noticed.emit("The file has changed", "Reload it with Ctrl+R to see the new content.", "info")
