"""Work for a widget that is put off until somebody sees it: panes behind others cost nothing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtGui import QPaintEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QWidget

from gui.background.turns import Turns


class WhenSeen(QObject):
    """Calls `show` when `widget` is seen: in a turn of its own while it is, else once, when it next comes into view.

        self._values = WhenSeen(self, self._show_values, document.turns)
        document.selection_changed.connect(self._values.ask)

    A dock behind another's tab is visible as far as Qt is concerned, and stands outside the window; its signal tells
    when it comes to the front, before anything is painted.
    """

    def __init__(self, widget: QWidget, show: Callable[[], None], turns: Turns) -> None:
        super().__init__(widget)
        self._widget = widget
        self._show = show
        self._turns = turns
        self._due = False
        self._dock: QDockWidget | None = None
        widget.installEventFilter(self)

    @Slot()
    def ask(self) -> None:
        """What is shown is not up to date any more."""
        self._due = True
        self._turns.ask(self._check)
        if self._dock is None:
            self._dock = _dock_around(self._widget)
            if self._dock is not None:
                self._dock.visibilityChanged.connect(self._come)

    def now(self) -> None:
        """Bring up to date what is shown, seen or not, for who is about to show it."""
        if self._due:
            self._due = False
            self._show()

    @Slot()
    def _check(self) -> None:
        if self._due and self._widget.isVisible() and not self._widget.visibleRegion().isEmpty():
            self.now()

    @Slot(bool)
    def _come(self, visible: bool) -> None:
        if visible:
            self.now()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self._due and isinstance(event, QShowEvent | QPaintEvent):
            self._turns.ask(self._check)
        return False


def _dock_around(widget: QWidget | None) -> QDockWidget | None:
    while widget is not None and not isinstance(widget, QDockWidget):
        widget = widget.parentWidget()
    return widget
