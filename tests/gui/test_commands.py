"""No two commands of the window share a key."""

from __future__ import annotations

from collections import Counter

from gui.main_window import MainWindow


def test_every_key_belongs_to_one_command(window: MainWindow) -> None:
    keys = [key.toString() for action in window.actions_by_name.values() for key in action.shortcuts()]
    assert len(keys) > 40
    assert [key for key, count in Counter(keys).items() if count > 1] == []
