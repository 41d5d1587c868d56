"""No two commands of the window share a key."""

from __future__ import annotations

from collections import Counter

import pytest
import shiboken6
from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from pytestqt.qtbot import QtBot

from gui.jobs import Task
from gui.main_window import MainWindow


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
    window.document.busy_changed.connect(lambda _text, done, _total: reports.append(done))

    def work(task: Task) -> None:
        for step in (1, 2, 3):
            task.report("Working", step, step)  # a last step is always told

    window.document.start("Working", work)
    assert cancel.isEnabled()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert not cancel.isEnabled()
    assert reports == [0, 1, 2, 3, 0]
    assert len(looks) == 2
