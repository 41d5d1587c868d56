"""Rows of small controls: messages, a choice of one among few, a path of places, the title of a dock."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QButtonGroup,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gui.look.icons import ButtonIcon
from gui.look.theme import ui_font
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.tips import set_tip


class MessageBar(QFrame):
    """A message that stays until it is dismissed and stops nobody from working."""

    def __init__(self) -> None:
        super().__init__(objectName="messageBar")
        self.setAccessibleName("Message")
        self.title = ElidedLabel()
        bold = ui_font()
        bold.setBold(True)
        self.title.setFont(bold)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = QToolButton(accessibleName="Dismiss message", toolTip="Dismiss (Esc)")
        close.setProperty("flat", "true")
        ButtonIcon(close, "close", "muted")
        close.clicked.connect(self.hide)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.text)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.addLayout(words, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.hide)
        self.hide()

    @Slot(str, str)
    def show_message(self, title: str, text: str, severity: str = "error") -> None:
        """Show a message in place of the one before; severity is "error", "warning" or "info"."""
        self.title.setText(title)
        self.text.setText(text if len(text) <= 1200 else text[:1200] + "…")
        self.setProperty("severity", severity)
        self.style().polish(self)
        self.show()


class Segments(QWidget):
    """A choice of one among a few, side by side. `chosen(key)` says that the user changed it."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str, str]], name: str) -> None:
        """`choices` are (key, text, tooltip)."""
        super().__init__()
        self.setAccessibleName(name)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QPushButton] = {}
        for key, text, tip in choices:
            button = QPushButton(text, checkable=True, toolTip=tip)
            button.setAccessibleName(f"{name} {text}")
            button.setProperty("segment", "true" if self._buttons else "first")
            button.clicked.connect(lambda _checked=False, key=key: self.chosen.emit(key))
            self._group.addButton(button)
            self._buttons[key] = button
            layout.addWidget(button)
        self._buttons[choices[0][0]].setChecked(True)

    def set_current(self, key: str) -> None:
        """Make a choice; one that is not offered here leaves none made."""
        self._group.setExclusive(False)
        for known, button in self._buttons.items():
            button.setChecked(known == key)
        self._group.setExclusive(True)

    @property
    def current(self) -> str:
        """The key of the choice that is made; empty where none is."""
        return next((key for key, button in self._buttons.items() if button.isChecked()), "")


class Breadcrumb(QWidget):
    """Places from outer to inner, the last one being here. `clicked(place)` gives the object of a place."""

    clicked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Place in the model")
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(2)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._places: list[tuple[str, object]] = []
        self._buttons: list[QToolButton] = []

    def set_places(self, places: Sequence[tuple[str, object]]) -> None:
        """Show (text, object) pairs."""
        are = [(text, id(place)) for text, place in self._places]
        if are != [(text, id(place)) for text, place in places]:  # asked at every selection, and mostly the same
            self._places = list(places)
            self._fill()

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self._places]

    def _fill(self) -> None:
        while (item := self._layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._buttons = []
        for place, (text, target) in enumerate(self._places):
            if place:
                arrow = QLabel("›")
                arrow.setProperty("role", "muted")
                self._layout.addWidget(arrow)
            button = QToolButton()
            set_tip(button, text)
            button.setProperty("flat", "true")
            button.setProperty("current", "true" if place + 1 == len(self._places) else "false")
            button.clicked.connect(lambda _checked=False, target=target: self.clicked.emit(target))
            self._layout.addWidget(button)
            self._buttons.append(button)
        self._layout.addStretch(1)
        self._elide()

    def _elide(self) -> None:
        room = max(80, self.width() // max(len(self._places), 1) - 16)
        for button, (text, _) in zip(self._buttons, self._places, strict=True):
            shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, room)
            button.setText(shown.replace("&", "&&"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(60, super().minimumSizeHint().height())


class DockTitle(QWidget):
    """The title of a dock that stands alone; a dock among tabs has its title on the tab and needs none."""

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._dock = dock
        self._label = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._label.setProperty("role", "heading")
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._room = QHBoxLayout(self)
        self._room.addWidget(self._label)
        dock.windowTitleChanged.connect(self._label.setText)

    @Slot()
    def refresh(self) -> None:
        """Show or hide, as the dock now stands alone or among tabs."""
        window = self._dock.parent()
        among = window.tabifiedDockWidgets(self._dock) if isinstance(window, QMainWindow) else []
        alone = self._dock.isFloating() or all(other.isHidden() for other in among)
        self._label.setText(self._dock.windowTitle())
        self._label.setVisible(alone)
        self._room.setContentsMargins(*((12, 6, 6, 6) if alone else (0, 0, 0, 0)))
