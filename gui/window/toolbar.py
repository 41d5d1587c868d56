"""The window's toolbar: open, the way back, search, colours, zoom, theme, run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolBar,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from gui.centre.colour_modes import COLOUR_MODES
from gui.commands.attachment import NumbersMenu
from gui.look.icons import SIZE, ButtonIcon
from gui.widgets.bars import Segments
from gui.widgets.search_box import SearchBox

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

MARGIN = 16
MIN_SEARCH = 260


class ToolBar(QToolBar):
    """Buttons over the window's actions; the search box and the colour choice are its own."""

    def __init__(self, window: MainWindow, actions: dict[str, QAction]) -> None:
        super().__init__("Toolbar", window, objectName="toolbar")
        self.setMovable(False)
        self.setIconSize(QSize(SIZE, SIZE))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.toggleViewAction().setEnabled(False)
        self.search = SearchBox(window.document.finder)
        self.colours = Segments(COLOUR_MODES, "Colour by")
        self.numbers = QToolButton(text="…", toolTip="Colour by a number of the attachment (Alt+7)")
        self.numbers.setAccessibleName("Colour by a number of the attachment")
        self.numbers.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.numbers.setMenu(NumbersMenu(window, self.numbers))
        self.numbers.hide()
        colours = QWidget()
        beside = QHBoxLayout(colours)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(4)
        beside.addWidget(self.colours)
        beside.addWidget(self.numbers)
        label = QLabel("Colour by")
        label.setProperty("role", "muted")
        self.zoom = _button("100 %", "Full size (Ctrl+1)", actions["full_size"])
        self.zoom.setMinimumWidth(self.fontMetrics().horizontalAdvance("000 %") + 24)
        self.theme = QToolButton(toolTip="Light or dark", accessibleName="Light or dark theme")
        self.theme_icon = ButtonIcon(self.theme, "moon")
        self.run = QPushButton("Run  F5")
        ButtonIcon(self.run, "run", "on_accent")
        self.run.setProperty("accent", "true")
        self.run.setAccessibleName("Run")
        self.run.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # like its neighbours: a click leaves the keyboard where it is
        self.run.clicked.connect(actions["run"].trigger)
        actions["run"].changed.connect(lambda: self.run.setEnabled(actions["run"].isEnabled()))
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        fit = _button("Fit", "Show the whole graph (Ctrl+0)", actions["fit"])
        places = {
            widget: self._place(widget)
            for widget in (
                _button("Open…", "Open a model (Ctrl+O)", actions["open"]),
                _button("", "Back (Alt+Left)", actions["back"], "back"),
                _button("", "Forward (Alt+Right)", actions["forward"], "forward"),
                self.search, spacer, label, colours, fit, self.zoom, self.theme, self.run,
            )
        }  # fmt: skip
        # What a narrow window can do without, first to go first; all of it stands in the menus too.
        self._dispensable = [(widget, places[widget]) for widget in (label, self.zoom, colours, self.theme, fit)]
        self._fixed = [w for w in places if w not in (spacer, label, self.zoom, colours, self.theme, fit)]

    def _place(self, widget: QWidget) -> QWidgetAction:
        """Add a widget by an action made here: PySide can let go of those that `addWidget` makes."""
        action = QWidgetAction(self)
        action.setDefaultWidget(widget)
        self.addAction(action)
        return action

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what has no room, so that Run never goes."""
        super().resizeEvent(event)
        layout = self.layout()
        assert layout is not None  # tool bars bring their own
        gap = layout.spacing()
        room = event.size().width() - 2 * MARGIN - sum(_least_width(widget) + gap for widget in self._fixed)
        for widget, action in reversed(self._dispensable):
            room -= widget.sizeHint().width() + gap
            action.setVisible(room >= 0)


def _least_width(widget: QWidget) -> int:
    return max(widget.minimumWidth(), MIN_SEARCH if isinstance(widget, SearchBox) else widget.sizeHint().width())


def _button(text: str, tip: str, action: QAction, icon: str = "") -> QToolButton:
    """A button that does what an action does and is enabled when it is; its text or icon is its own."""
    button = QToolButton(text=text, toolTip=tip, accessibleName=tip.partition(" (")[0])
    if icon:
        ButtonIcon(button, icon)
    button.setEnabled(action.isEnabled())
    button.clicked.connect(action.trigger)
    action.changed.connect(lambda: button.setEnabled(action.isEnabled()))
    return button
