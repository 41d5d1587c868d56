"""The dialogs of the Help menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from gui.errors import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gui.main_window import MainWindow

CANVAS_KEYS = (
    ("Arrow keys", "On the graph: producer, consumer, siblings"), ("Home, End", "First, last node"),
    ("Enter", "Open a module or a subgraph"), ("E", "Open or close in place"),
    ("U, D, C", "What it depends on, what depends on it, both"), ("N, Shift+N", "Next, previous reader of a tensor"),
    ("Shift+click", "Paths from the selection"), ("Mouse wheel", "Zoom"), ("F", "Fit"),
)  # fmt: skip


def show_shortcuts(window: MainWindow, commands: Sequence[tuple[str, str]]) -> None:
    """List every shortcut, those of the canvas included; `commands` are (text, keys)."""
    lines = [(keys, text) for text, keys in commands] + list(CANVAS_KEYS)
    _tell(window, "Keyboard shortcuts", "\n".join(f"{keys}\t{text}" for keys, text in lines))


def show_about(window: MainWindow) -> None:
    """What the program is, and the versions it runs with."""
    _tell(window, "About OInfer", f"OInfer opens, runs and debugs ONNX models.\nNothing leaves this machine.\n\n"
                                  f"{environment()}")  # fmt: skip


def _tell(window: MainWindow, title: str, text: str) -> None:
    box = QMessageBox(QMessageBox.Icon.NoIcon, title, "", QMessageBox.StandardButton.Close, window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
