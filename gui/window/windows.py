"""The windows, one for each model: made, found for files, put side by side."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from engine.graph.ir import Node, Tensor
from gui.settings import Settings
from gui.window.main_window import MainWindow
from gui.window.side_by_side import link

LOOK_AGAIN_MS = 200  # at what still runs of a closed window


class Windows(QObject):
    """All windows, in the order they were opened."""

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.all: list[MainWindow] = []
        self._closed: list[MainWindow] = []

    @Slot(str)
    def new_window(self, path: str = "") -> MainWindow:
        """Open a window, with the model at `path` if one is given."""
        window = MainWindow(self._settings)
        window.window_wanted.connect(self.new_window)
        window.comparison_wanted.connect(self._compare)
        window.closed.connect(self._window_closed)
        window.document.differ.other_wanted.connect(self._show_other)
        window.document.bookmarks.saved.connect(self._share_bookmarks)
        self.all.append(window)
        if self.all[:-1]:
            last = self.all[-2]
            window.move(last.x() + 32, last.y() + 32)
        window.show()
        if path:
            window.document.open(path)
        return window

    def open_file(self, path: str) -> None:
        """Open a file in an empty window if there is one, else in a new one."""
        empty = next((w for w in self.all if w.document.model is None and not w.document.busy), None)
        if empty is not None:
            empty.document.open(path)
        else:
            self.new_window(path)

    @Slot(str, str)
    def _compare(self, path: str, other: str) -> None:
        """Open a window on a file, compared with another one."""
        document = self.new_window(path).document
        compare = partial(document.differ.compare_with, other)
        document.model_changed.connect(compare, Qt.ConnectionType.SingleShotConnection)

    @Slot(object, bool)
    def _show_other(self, item: Node | Tensor | None, beside: bool) -> None:
        """Show the model that a window's one is compared with: at an item of it, and side by side if so wanted."""
        window = next(w for w in self.all if w.document.differ is self.sender())
        path = window.document.differ.path
        other = next((w for w in self.all if w.document.path == path and w is not window), None)
        other = other or self.new_window(path)
        document = other.document

        def go() -> None:
            if item is not None and document.index is not None:
                document.select(document.index.like(item))

        if document.index is not None:
            go()
        else:
            document.model_changed.connect(go, Qt.ConnectionType.SingleShotConnection)
        if beside:
            link(window, other)
        else:
            other.raise_()
            other.activateWindow()

    @Slot(str)
    def _share_bookmarks(self, path: str) -> None:
        """Show the bookmarks of a file in its other windows too, which would else write over them."""
        changed = self.sender()
        for document in (window.document for window in self.all):
            same = document.path and Path(document.path).absolute() == Path(path).absolute()
            if same and document.bookmarks is not changed:
                document.bookmarks.load()

    @Slot()
    def _window_closed(self) -> None:
        window = self.sender()
        if isinstance(window, MainWindow) and window in self.all:
            self.all.remove(window)
            self._closed.append(window)
            self._let_go()

    @Slot()
    def _let_go(self) -> None:
        """Delete the closed windows of which nothing runs any more: what still runs, such as one long node, reports to
        a job of its window."""
        ended = [window for window in self._closed if window.document.jobs.idle]
        self._closed = [window for window in self._closed if window not in ended]
        for window in ended:
            window.deleteLater()
        if self._closed:
            QTimer.singleShot(LOOK_AGAIN_MS, self, self._let_go)

    def wait(self) -> None:
        """Wait for what still runs of closed windows, however long it takes."""
        for window in self._closed:
            window.document.close(-1)
