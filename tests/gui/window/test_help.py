"""The dialogs of the Help menu, as one reads them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gui.window.help import AboutDialog, ShortcutsDialog
from gui.window.main_window import MainWindow


def rows(dialog: ShortcutsDialog) -> list[tuple[str, str, str]]:
    model = dialog.model
    return [tuple(model.index(r, c).data() for c in range(3)) for r in range(model.rowCount())]  # type: ignore[misc]


def test_shortcuts_are_listed_and_found_by_typing(qtbot: QtBot, window: MainWindow) -> None:
    window.actions_by_name["shortcuts"].trigger()
    dialog = window.findChild(ShortcutsDialog)
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    every = rows(dialog)
    assert ("F5", "Run", "Run") in every
    assert ("Arrow keys", "Producer, consumer, siblings", "Graph") in every
    assert len(every) > 40
    qtbot.keyClicks(dialog.filter, "next pane")
    assert rows(dialog) == [("F6", "Next Pane", "View")]
    dialog.filter.setText("no such thing")
    assert rows(dialog) == []
    dialog.close()


def test_about_names_the_version_and_copies_it(qtbot: QtBot, window: MainWindow) -> None:
    window.actions_by_name["about"].trigger()
    dialog = window.findChild(AboutDialog)
    assert dialog is not None
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(("OInfer 0.", "OInfer (not installed)"))
    assert dialog.versions.text() in copied
    assert "PySide6" in copied
    dialog.close()
