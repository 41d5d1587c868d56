"""Weights behind links that lead out of the model's folder: read only after a yes that shows the real places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from gui.commands.command import Command

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

_SHOWN = 8  # links named in the question


def outside_links(window: MainWindow) -> list[str]:
    """What the findings say of each link that was refused, the real place included."""
    model = window.document.model
    return [d.message for d in model.diagnostics if d.code == "external-link"] if model else []


def ask_for_outside_weights(window: MainWindow) -> None:
    """Ask, naming the places; yes opens the model anew with them."""
    links, path = outside_links(window), window.document.path
    if not links or path is None:
        return
    yes, no = QMessageBox.StandardButton.Yes, QMessageBox.StandardButton.No
    box = QMessageBox(QMessageBox.Icon.Warning, "Weights outside the folder", "", yes | no, window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    more = [f"and {len(links) - _SHOWN} more"] if len(links) > _SHOWN else []
    box.setText("\n".join(["Read weights outside the model's folder?", "", *links[:_SHOWN], *more]))
    box.setDefaultButton(no)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.finished.connect(lambda answer: window.document.open(path, allow_external=True) if answer == yes else None)
    box.open()


OUTSIDE_COMMAND = Command("outside_weights", "File", "Open with &Outside Weights…", ask_for_outside_weights, (),
                          lambda w: bool(outside_links(w)))  # fmt: skip
