"""Work that is parted over turns of the event loop."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QEventLoop, QObject, QTimer
from pytestqt.qtbot import QtBot

from gui.background.turns import Turns


def test_what_was_posted_before_and_after_comes_first(qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    turns = Turns(owner)
    QTimer.singleShot(0, owner, lambda: seen.append("before"))
    turns.ask(lambda: seen.append("its turn"))
    QTimer.singleShot(0, owner, lambda: seen.append("after"))
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == ["before", "after", "its turn"]


def test_what_a_piece_posts_is_done_before_the_next_piece(qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    turns = Turns(owner)

    def piece(name: str) -> None:
        seen.append(name)
        QTimer.singleShot(0, owner, lambda: seen.append(f"after {name}"))

    turns.ask(lambda: piece("first"))
    turns.ask(lambda: piece("second"))
    qtbot.waitUntil(lambda: len(seen) == 4)
    assert seen == ["first", "after first", "second", "after second"]


def test_what_is_asked_for_twice_before_its_turn_is_done_once(qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    turns = Turns(owner)

    def piece() -> None:
        seen.append("piece")

    for _ in range(3):
        turns.ask(piece)
    assert turns.waits(piece)
    assert seen == []
    qtbot.waitUntil(lambda: turns.idle)
    assert seen == ["piece"]
    assert not turns.waits(piece)
    turns.now(piece)  # it waits no more
    assert seen == ["piece"]
    turns.ask(piece)
    turns.now(piece)
    assert seen == ["piece"] * 2
    assert turns.idle


def test_all_that_waits_can_be_done_at_once(qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    turns = Turns(owner)
    turns.ask(lambda: turns.ask(lambda: seen.append("asked for by the first")))
    turns.ask(lambda: seen.append("second"))
    turns.finish()
    assert seen == ["second", "asked for by the first"]


def test_pieces_go_on_while_one_has_a_loop_of_its_own(qtbot: QtBot) -> None:
    owner, seen, loop = QObject(), [], QEventLoop()
    turns = Turns(owner)

    def dialog() -> None:
        turns.ask(loop.quit)
        seen.append(loop.exec())

    turns.ask(dialog)
    qtbot.waitUntil(lambda: seen == [0])


def test_nothing_is_called_for_an_owner_that_is_gone(qtbot: QtBot) -> None:
    owner, other, seen = QObject(), QObject(), []
    Turns(owner).ask(lambda: seen.append("gone"))
    shiboken6.delete(owner)
    Turns(other).ask(lambda: seen.append("there"))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["there"]
