"""Work that is put off to the next turn of the event loop."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from gui.turns import next_turn


def test_what_was_posted_before_and_after_comes_first(qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    QTimer.singleShot(0, owner, lambda: seen.append("before"))
    next_turn(owner, lambda: seen.append("next turn"))
    QTimer.singleShot(0, owner, lambda: seen.append("after"))
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == ["before", "after", "next turn"]
    qtbot.waitUntil(lambda: not owner.children())  # it leaves no timer behind


def test_nothing_is_called_for_an_owner_that_is_gone(qtbot: QtBot) -> None:
    owner, other, seen = QObject(), QObject(), []
    next_turn(owner, lambda: seen.append("gone"))
    shiboken6.delete(owner)
    next_turn(other, lambda: seen.append("there"))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["there"]
