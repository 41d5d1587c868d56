"""Where a window and its panes stand: as they did when the last one was closed, or as they do at first."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow

from gui.settings import STATE_VERSION, Settings
from gui.window.docks import arrange, hide_waiting, refresh_titles, set_corners

FRAME = QSize(8, 40)  # px at most around a window


class WindowLayout:
    """Remembers it in the settings."""

    def __init__(self, window: QMainWindow, docks: dict[str, QDockWidget], settings: Settings) -> None:
        self._window, self._docks, self._settings = window, docks, settings
        self._are_panes_restored = False

    def restore(self) -> None:
        """Give the window its size and place; the panes stand as at first until `restore_panes`."""
        self._window.resize(self._first_size())
        geometry = self._settings.geometry
        if not geometry.isEmpty():
            self._window.restoreGeometry(geometry)
        arrange(self._window, self._docks)

    def restore_panes(self) -> None:
        """Put the panes where they stood, once; in a window not shown yet, Qt would leave their first tabs over the
        menus."""
        state = self._settings.state
        if not self._are_panes_restored and not state.isEmpty():
            self._window.restoreState(state, STATE_VERSION)
            set_corners(self._window)
            hide_waiting(self._docks)
            refresh_titles(self._docks)
        self._are_panes_restored = True

    def save(self) -> None:
        """Remember how all stands now; of a window that was never shown, there is nothing to remember."""
        if self._are_panes_restored:
            self._settings.geometry = self._window.saveGeometry()
            self._settings.state = self._window.saveState(STATE_VERSION)

    def _first_size(self) -> QSize:
        """What the window would like, as far as the screen has it; the offscreen platform's is a stand-in."""
        wanted = self._window.sizeHint()
        if QGuiApplication.platformName() == "offscreen":
            return wanted
        return wanted.boundedTo(self._window.screen().availableSize() - FRAME)
