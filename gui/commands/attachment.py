"""The commands for a file attached to the model, and the menu of the numbers in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from gui.centre.colour_modes import FROM_FILE
from gui.commands.command import Command, has_model
from gui.text import one_line

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

KINDS = "Attachments (*.json *.csv);;All files (*)"
LONGEST = 60  # characters of a name in the menu


class NumbersMenu(QMenu):
    """The numbers of the attached file, to colour the canvas by one of them; filled anew each time it opens."""

    def __init__(self, window: MainWindow, parent: QWidget) -> None:
        super().__init__("Colour by A&ttachment", parent)
        self._window = window
        self.setEnabled(False)
        self.aboutToShow.connect(self._fill)
        window.document.attachment.changed.connect(self._enable)

    @Slot()
    def _enable(self) -> None:
        self.setEnabled(bool(_numbers(self._window)))

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for name in _numbers(self._window):
            action = self.addAction(one_line(name, LONGEST).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(self._window.colour_mode == FROM_FILE + name)
            action.triggered.connect(partial(_colour_by, self._window, name))


def _numbers(window: MainWindow) -> list[str]:
    found = window.document.attachment.found
    return list(found.numbers) if found is not None else []


def _colour_by(window: MainWindow, name: str, _checked: bool = False) -> None:
    window.set_colour_mode(FROM_FILE + name)


def colour_by_next(window: MainWindow) -> None:
    """Colour by the number after the one that is shown, of those in the attached file."""
    names = _numbers(window)
    now = window.colour_mode.removeprefix(FROM_FILE)
    place = names.index(now) + 1 if window.colour_mode.startswith(FROM_FILE) and now in names else 0
    if names:
        _colour_by(window, names[place % len(names)])


def open_dialog(window: MainWindow) -> None:
    """Ask for a file and attach it to the model."""
    path, _ = QFileDialog.getOpenFileName(window, "Open an attachment", window.settings.folder, KINDS)
    if path:
        window.document.attachment.open(path)


def show(window: MainWindow) -> None:
    """Show what an attached file says, its first number as colours, and what of it fits nothing; or that it is gone."""
    found = window.document.attachment.found
    dock = window.docks["attached"]
    dock.setVisible(found is not None)
    window.toolbar.numbers.setVisible(found is not None and bool(found.numbers))
    if found is not None:
        dock.raise_()
        window.message.show_message("Attached", found.words(), "warning" if found.missing else "info")
        colour_by_next(window)
    elif window.colour_mode.startswith(FROM_FILE):
        window.set_colour_mode("category")
    window.refresh_commands()


ATTACHMENT_COMMANDS = (
    Command("open_attachment", "File", "Open &Attachment…", open_dialog, ["Ctrl+Shift+A"], has_model),
    Command("end_attachment", "File", "Remove Attachment", lambda w: w.document.attachment.end(),
            enabled=lambda w: w.document.attachment.found is not None),
)  # fmt: skip
NEXT_NUMBER = Command("colour_attachment", "View", "Colour by Next Number of the Attachment", colour_by_next, ["Alt+7"],
                      lambda w: bool(_numbers(w)))  # fmt: skip
