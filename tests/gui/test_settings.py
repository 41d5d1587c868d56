"""What is remembered, and that nonsense in the file counts as unset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from gui.settings import MAX_RECENT, MAX_REMEMBERED, MAX_REMEMBERED_CHARS, Settings
from gui.window.main_window import MainWindow


def test_recent_files_are_few_and_the_newest_first(settings: Settings) -> None:
    for number in range(MAX_RECENT + 3):
        settings.add_recent(f"/models/{number}.onnx")
    settings.add_recent("/models/5.onnx")
    assert settings.recent[:2] == ["/models/5.onnx", f"/models/{MAX_RECENT + 2}.onnx"]
    assert len(settings.recent) == len(set(settings.recent)) == MAX_RECENT
    settings.clear_recent()
    assert settings.recent == []


def test_a_recent_file_that_cannot_even_be_looked_for_hinders_no_start(
    settings: Settings, new_window: Callable[[], MainWindow]
) -> None:
    """Such as one on a drive that does not answer; here its name is longer than a name can be."""
    settings.add_recent("/" + "x" * 300)
    menu = new_window().recent_menu
    menu.aboutToShow.emit()
    assert [action.isEnabled() for action in menu.actions()[:1]] == [False]


def test_one_recent_file_stays_one(settings: Settings) -> None:
    settings.add_recent("/models/a, b.onnx")
    assert settings.recent == ["/models/a, b.onnx"]


def test_inputs_are_remembered_per_model(settings: Settings) -> None:
    for number in range(MAX_REMEMBERED + 5):
        settings.remember_inputs(f"/{number}", {"dims": {"N": number}})
    assert settings.inputs_of("/0") == {}
    assert settings.inputs_of(f"/{MAX_REMEMBERED}") == {"dims": {"N": MAX_REMEMBERED}}


def test_what_is_too_long_to_remember_is_forgotten(settings: Settings) -> None:
    settings.remember_inputs("/a", {"dims": {"N": 1}})
    settings.remember_inputs("/b", {"dims": {"N" * MAX_REMEMBERED_CHARS: 1}})
    settings.remember_bookmarks("/b", "model", [{"name": "n" * MAX_REMEMBERED_CHARS}])
    assert settings.inputs_of("/a") == {"dims": {"N": 1}}
    assert settings.inputs_of("/b") == {}
    assert settings.bookmarks_of("/b", "model") == []


def test_one_bookmark_too_long_to_remember_takes_no_other_with_it(settings: Settings) -> None:
    short, long = {"name": "a", "note": ""}, {"name": "n" * MAX_REMEMBERED_CHARS}
    settings.remember_bookmarks("/a", "model", [short, long, short])
    assert settings.bookmarks_of("/a", "model") == [short, short]


def test_the_newest_bookmarks_are_remembered_where_not_all_can_be(settings: Settings) -> None:
    marks = [{"name": f"{place}" + "n" * (MAX_REMEMBERED_CHARS // 4)} for place in range(5)]
    settings.remember_bookmarks("/a", "model", marks)
    assert settings.bookmarks_of("/a", "model") == marks[2:]


def test_bookmarks_follow_a_file_that_moves_and_stay_with_one_that_changes(settings: Settings) -> None:
    marks = [{"kind": "node", "graph": "", "name": "a"}]
    settings.remember_bookmarks("/a.onnx", "one", marks)
    assert settings.bookmarks_of("/a.onnx", "other") == marks
    assert settings.bookmarks_of("/moved/a.onnx", "one") == marks
    assert settings.bookmarks_of("/b.onnx", "other") == []
    settings.remember_bookmarks("/moved/a.onnx", "one", [])
    assert settings.bookmarks_of("/moved/a.onnx", "one") == []
    assert settings.bookmarks_of("/a.onnx", "one") == marks


@pytest.mark.parametrize("value", ["[", "{}", "5", '["ok", 3]', "", "[" * 100_000])
def test_nonsense_counts_as_unset(tmp_path: Path, value: str) -> None:
    store = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    for key in ("files/recent", "run/providers", "run/inputs", "window/geometry"):
        store.setValue(key, value)
    settings = Settings(store)
    assert settings.recent == [] or settings.recent == ["ok"]
    assert all(isinstance(name, str) for name in settings.providers)
    assert settings.inputs_of("x") == {}
    assert settings.geometry.isEmpty()
