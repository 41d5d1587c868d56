"""Keys and menus of the window: no two commands share a key, and the keys of another viewer do what they do there."""

from __future__ import annotations

from collections import Counter

import pytest
import shiboken6
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

import resources
from gui.background.jobs import Task
from gui.settings import Settings
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener


def test_every_key_belongs_to_one_command(window: MainWindow) -> None:
    keys = [key.toString() for action in window.actions_by_name.values() for key in action.shortcuts()]
    assert len(keys) > 40
    assert [key for key, count in Counter(keys).items() if count > 1] == []


def test_commands_outlive_what_python_knows_of_the_menus(window: MainWindow) -> None:
    """PySide makes invalid, now and then, what Qt has made in a window, and what belongs to that."""
    shiboken6.invalidate(window)
    window.refresh_commands()
    window.toolbar.resizeEvent(QResizeEvent(QSize(400, 40), QSize(800, 40)))
    assert all(shiboken6.isValid(action) for action in window.actions_by_name.values())
    assert shiboken6.isValid(window.recent_menu)


def test_commands_are_looked_at_as_work_begins_and_ends_and_not_as_it_goes_on(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel, looks, reports = window.actions_by_name["cancel"], [], []
    refresh = window.refresh_commands
    monkeypatch.setattr(window, "refresh_commands", lambda: looks.append(refresh()))
    window.document.busy_changed.connect(lambda progress: reports.append(progress.done))

    def work(task: Task) -> None:
        for step in (1, 2, 3):
            task.report("Working", step, step)  # a last step is always told

    window.document.start("Working", work)
    assert cancel.isEnabled()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert not cancel.isEnabled()
    assert reports == [0, 1, 2, 3, 0]
    assert len(looks) == 2


def test_keys_of_another_viewer_do_what_they_do_there(
    qtbot: QtBot, window: MainWindow, settings: Settings, open_model: Opener
) -> None:
    open_model(resources.path(resources.SAMPLE_MODEL))
    canvas, document = window.canvas.canvas, window.document
    document.select(document.model.graph.nodes[3])  # type: ignore[union-attr]
    document.select(document.model.graph.nodes[5])  # type: ignore[union-attr]
    qtbot.keyClick(canvas, Qt.Key.Key_Backspace)
    assert document.selection is document.model.graph.nodes[3]  # type: ignore[union-attr]
    window.docks["tensor"].raise_()
    qtbot.keyClick(canvas, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert document.selection is None
    qtbot.waitUntil(lambda: not window.docks["properties"].visibleRegion().isEmpty())
    qtbot.keyClick(canvas, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert canvas.wheel_moves
    assert settings.wheel_moves
    assert window.actions_by_name["wheel_moves"].isChecked()


@pytest.mark.qt_log_ignore("does not support grabbing the keyboard", extend=True)
def test_the_menu_of_the_canvas_itself_offers_what_is_drawn(window: MainWindow, open_model: Opener) -> None:
    open_model(resources.path(resources.SAMPLE_MODEL))
    canvas = window.canvas.canvas
    menu = canvas.findChild(QMenu)
    assert menu is not None
    canvas._menu.show_for(None, canvas.mapToGlobal(QPoint(3, 3)))
    offered = menu.actions()
    menu.close()
    for name in ("show_weights", "show_names", "show_horizontal", "export_picture"):
        assert window.actions_by_name[name] in offered
    canvas._menu.show_for(next(iter(window.document.model.graph.tensors.values())), QPoint(3, 3))  # type: ignore[union-attr]
    assert window.actions_by_name["save_values"] in menu.actions()
    menu.close()
