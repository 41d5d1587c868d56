"""The application: a window per model, files from the command line and the desktop, errors caught once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication

import resources
from gui.errors import ErrorReporter
from gui.interrupt import Interrupt
from gui.look.scaling import drop_impossible_scales
from gui.look.theme import ThemeManager
from gui.settings import Settings
from gui.window.main_window import MainWindow
from gui.window.windows import Windows

# Threads that compute hold the interpreter for 5 ms at a time by default, which makes a moving picture stutter.
SWITCH_INTERVAL = 0.0005
# A full collection walks every node of every model; at the default it would run several times while one is opened.
COLLECT_AFTER = (20_000, 20, 50)


class Application(QApplication):
    """The settings, the theme, the windows, and what catches errors; opens files that the desktop hands over."""

    def __init__(self, argv: Sequence[str]) -> None:
        drop_impossible_scales()
        super().__init__(list(argv))
        self.setOrganizationName("OInfer")
        self.setApplicationName("OInfer")
        self.setDesktopFileName("oinfer")
        self.setWindowIcon(QIcon(str(resources.path(resources.APP_ICON))))
        self.settings = Settings()
        self.themes = ThemeManager(self, self.settings.theme)
        self.reporter = ErrorReporter(self)
        self.windows = Windows(self.settings, self)

    def new_window(self, path: str = "") -> MainWindow:
        """Open a window, with the model at `path` if one is given."""
        return self.windows.new_window(path)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent):
            self.windows.open_file(event.file())
            return True
        return super().event(event)


def keep_moving() -> None:
    """Set the interpreter up so that the window moves while other threads work and much is made."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.set_threshold(*COLLECT_AFTER)


def main(argv: Sequence[str] = ()) -> int:
    """Open a window on each of the model files in `argv`, or an empty one; the exit status once all are closed."""
    keep_moving()
    app = Application([sys.argv[0], *argv])
    app.reporter.install()
    Interrupt(app)
    for path in argv or [""]:
        app.new_window(path)
    status = app.exec()
    app.windows.wait()
    return status
