"""The keyboard's way from pane to pane: F6 goes round, a pane that Tab reaches comes to the front, Shift+F10 is the
Menu key that many keyboards lack.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QContextMenuEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget


class PaneFocus(QObject):
    """Knows the docks of a window and the graph in its middle."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, QDockWidget], graph: QWidget) -> None:
        super().__init__(window)
        self._docks, self._graph = docks, graph
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)
        QShortcut(QKeySequence("Shift+F10"), window).activated.connect(open_menu)

    def step(self, by: int) -> None:
        """Go to the next pane that is shown, or with -1 to the previous one; the graph is one of them."""
        panes = [self._graph, *(d.widget() for d in self._docks.values() if d.toggleViewAction().isChecked())]
        focus = QApplication.focusWidget()
        here = next((i for i, pane in enumerate(panes) if focus and (pane is focus or pane.isAncestorOf(focus))), -1)
        pane = panes[(here + by) % len(panes) if here >= 0 else 0]
        if isinstance(dock := pane.parent(), QDockWidget):
            dock.raise_()
        enter(pane)

    @Slot(QWidget, QWidget)
    def _follow(self, old: QWidget | None, new: QWidget | None) -> None:
        """Bring forward what Tab reached behind another pane. From a button that is disabled, as Run is by a click, Qt
        goes on to the next field by itself: the graph gets the keyboard instead, and no pane comes forward."""
        if new is None:
            return
        if old is not None and not old.isEnabled() and old.window() is new.window() is self._graph.window():
            self._graph.setFocus()
            return
        for dock in self._docks.values():
            if dock.isAncestorOf(new) and is_behind(dock):
                dock.raise_()


def open_menu() -> None:
    """Open the menu of what has the keyboard, at its cursor, as the Menu key does."""
    focus = QApplication.focusWidget()
    if focus is not None:
        at = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(focus, QContextMenuEvent(reason, at, focus.mapToGlobal(at)))


def is_behind(dock: QDockWidget) -> bool:
    """Whether a dock lies behind another one of its tabs: Qt calls it visible, and moves it out of the window."""
    window = dock.window()
    return not dock.isFloating() and not window.rect().intersects(dock.geometry())


def enter(pane: QWidget) -> None:
    """Put the cursor into the first widget of a pane that Tab stops at, else on the pane itself.

    Qt looks for it. To PySide what `nextInFocusChain` returns belongs to the widget that was asked, and becomes invalid
    with it: the whole window, once a label of a form was deleted.
    """
    reason = Qt.FocusReason.ShortcutFocusReason
    pane.setFocus(reason)
    if not pane.focusPolicy() & Qt.FocusPolicy.TabFocus:
        pane.focusNextChild()
        reached = QApplication.focusWidget()
        if reached is None or not pane.isAncestorOf(reached):
            pane.setFocus(reason)
