"""The dialogs of the Help menu: every key with what it does, and what this program is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine.cli.window import version
from gui.errors import environment
from gui.look.theme import ui_font
from gui.models.table import MUTED, Column, Style, TableModel
from gui.widgets.filter_line import FilterLine
from gui.widgets.table_view import TableView

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

ICON_SIZE = 56  # px


@dataclass(frozen=True, slots=True)
class Shortcut:
    """Keys, what they do, and where: a menu, or a place in the window."""

    keys: str
    name: str
    place: str


OTHER_KEYS = (
    Shortcut("Arrow keys", "Producer, consumer, siblings", "Graph"),
    Shortcut("Home, End", "First, last node", "Graph"),
    Shortcut("Enter", "Open a module or a subgraph", "Graph"),
    Shortcut("E", "Open or close in place", "Graph"),
    Shortcut("U, D, C", "What it depends on, what depends on it, both", "Graph"),
    Shortcut("N, Shift+N", "Next, previous reader of a tensor", "Graph"),
    Shortcut("Shift+click", "Paths from the selection", "Graph"),
    Shortcut("Shift+arrow keys", "Move the picture", "Graph"),
    Shortcut("Page Up, Page Down", "Move the picture by a page", "Graph"),
    Shortcut("P", "Paths from the selection to where P is pressed again", "Graph"),
    Shortcut("Mouse wheel", "Zoom, or move the picture (Ctrl+M)", "Graph"),
    Shortcut("Shift+wheel, Ctrl+wheel", "Zoom", "Graph"),
    Shortcut("Ctrl+C", "Copy the name of the selection", "Graph"),
    Shortcut("F", "Fit", "Graph"),
    Shortcut("Shift+Backspace", "Full size", "Graph"),
    Shortcut("Enter", "Go where the line leads", "Lists"),
    Shortcut("Ctrl+C", "Copy the selected rows", "Lists"),
    Shortcut("Menu, Shift+F10", "What can be done with the row", "Lists"),
    Shortcut("Space", "Use a provider or not", "Run pane"),
    Shortcut("Alt+Up, Alt+Down", "Move a provider", "Run pane"),
)
_COLUMNS = (
    Column("keys", lambda s: s.keys, Style(bold=True)),
    Column("what they do", lambda s: s.name),
    Column("where", lambda s: s.place, MUTED),
)


def show_shortcuts(window: MainWindow, commands: Sequence[Shortcut]) -> None:
    """List every shortcut: those of the menus, and those of the graph and of the panes."""
    ShortcutsDialog([*commands, *OTHER_KEYS], window).open()


def show_about(window: MainWindow) -> None:
    """What the program is, and the versions it runs with."""
    AboutDialog(window).open()


class ShortcutsDialog(QDialog):
    """A table of keys that is searched by typing."""

    def __init__(self, shortcuts: Sequence[Shortcut], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard Shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.filter = FilterLine("Filter shortcuts", "Filter: a key, or what it does")
        self.model = TableModel(_COLUMNS, self)
        self.model.set_rows(shortcuts)
        self.view = TableView(self.model, "Shortcuts")
        self.view.nothing = lambda: "No such key"
        self.view.set_widths(20, 50, 10, stretch=1)
        self.filter.textChanged.connect(self.model.set_filter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        for part in (self.filter, self.view, _closing(self)):
            layout.addWidget(part)
        self.resize(600, min(640, parent.height() - 80))


class AboutDialog(QDialog):
    """Name, version, what the program does and what it never does."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("About OInfer")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        picture = QLabel(pixmap=QGuiApplication.windowIcon().pixmap(ICON_SIZE, ICON_SIZE))
        name = _words(f"OInfer {version()}")
        name.setFont(ui_font(1.45))
        told = _words("Opens, runs and debugs ONNX models, with an inference engine of its own.")
        promise = _words("Nothing leaves this machine: no account, no telemetry, no expiry.\n"
                         "Apache License 2.0", "muted")  # fmt: skip
        self.versions = _words(environment(), "muted")
        self.versions.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        text = QVBoxLayout()
        text.setSpacing(8)
        for part in (name, told, promise, self.versions):
            text.addWidget(part)
        top = QHBoxLayout()
        top.setSpacing(18)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(text, 1)
        buttons = _closing(self)
        self.copy = buttons.addButton("Copy Versions", QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.clicked.connect(self._copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(22, 20, 16, 14)
        layout.setSpacing(16)
        layout.addLayout(top)
        layout.addWidget(buttons)
        self.setFixedWidth(500)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(f"OInfer {version()}, {environment()}")
        self.copy.setText("Copied")
        QTimer.singleShot(1500, self.copy, lambda: self.copy.setText("Copy Versions"))


def _words(text: str, role: str = "") -> QLabel:
    label = QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
    label.setProperty("role", role)
    return label


def _closing(dialog: QDialog) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.button(QDialogButtonBox.StandardButton.Close).setDefault(True)
    buttons.rejected.connect(dialog.reject)
    return buttons
