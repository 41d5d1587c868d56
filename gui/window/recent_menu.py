"""The menu of the files opened lately."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from gui.settings import Settings


class RecentMenu(QMenu):
    """Filled anew each time it opens; those that are gone cannot be chosen. `cleared()` says that none is left."""

    cleared = Signal()

    def __init__(self, settings: Settings, open_file: Callable[[str], None], parent: QWidget) -> None:
        super().__init__("Open &Recent", parent)
        self._settings = settings
        self._open_file = open_file
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for path in self._settings.recent:
            action = self.addAction(path.replace("&", "&&"))
            action.setEnabled(os.path.exists(path))
            action.triggered.connect(partial(self._open, path))
        self.addSeparator()
        self.addAction("&Clear", self._forget).setEnabled(bool(self._settings.recent))

    def _open(self, path: str, _checked: bool = False) -> None:
        self._open_file(path)

    @Slot()
    def _forget(self) -> None:
        self._settings.clear_recent()
        self.cleared.emit()
