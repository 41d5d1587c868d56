"""The application: a window per model, files from the command line and the desktop, errors caught once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication

import resources
from gui.errors import ErrorReporter
from gui.interrupt import Interrupt
from gui.main_window import MainWindow
from gui.settings import Settings
from gui.theme import ThemeManager

# Threads that compute hold the interpreter for 5 ms at a time by default, which makes a moving picture stutter.
SWITCH_INTERVAL = 0.0005
# A full collection walks every node of every model; at the default it would run several times while one is opened.
COLLECT_AFTER = (20_000, 20, 50)


class Application(QApplication):
    """Keeps the windows and opens files that the desktop hands over."""

    def __init__(self, argv: Sequence[str]) -> None:
        super().__init__(list(argv))
        self.setOrganizationName("OInfer")
        self.setApplicationName("OInfer")
        self.setDesktopFileName("oinfer")
        self.setWindowIcon(QIcon(str(resources.path(resources.APP_ICON))))
        self.windows: list[MainWindow] = []
        self.settings = Settings()
        self.themes = ThemeManager(self, self.settings.theme)
        self.reporter = ErrorReporter(self)

    @Slot(str)
    def new_window(self, path: str = "") -> MainWindow:
        """Open a window, with the model at `path` if one is given."""
        window = MainWindow(self.settings)
        window.window_wanted.connect(self.new_window)
        window.closed.connect(self._window_closed)
        self.windows.append(window)
        if self.windows[:-1]:
            last = self.windows[-2]
            window.move(last.x() + 32, last.y() + 32)
        window.show()
        if path:
            window.document.open(path)
        return window

    def open_file(self, path: str) -> None:
        """Open a file in an empty window if there is one, else in a new one."""
        empty = next((w for w in self.windows if w.document.model is None and not w.document.busy), None)
        if empty is not None:
            empty.document.open(path)
        else:
            self.new_window(path)

    @Slot()
    def _window_closed(self) -> None:
        window = self.sender()
        if isinstance(window, MainWindow) and window in self.windows:
            self.windows.remove(window)
            window.deleteLater()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent):
            self.open_file(event.file())
            return True
        return super().event(event)


def main(argv: Sequence[str] = ()) -> int:
    """Open a window on each of the model files in `argv`, or an empty one; the exit status once all are closed."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.set_threshold(*COLLECT_AFTER)
    app = Application([sys.argv[0], *argv])
    app.reporter.install()
    Interrupt(app)
    for path in argv or [""]:
        app.new_window(path)
    return app.exec()
