"""Turning the theme: every widget is dressed anew, and none more often than it takes."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QCheckBox, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import getCppPointer

import resources
from gui.look.stylesheet import stylesheet
from gui.look.theme import DARK, LIGHT, theme_manager
from gui.window.main_window import MainWindow


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    """The theme is the program's: other tests find it as it was."""
    yield
    theme_manager().set_mode("light")


class Dressings(QObject):
    """Counts how often each widget is given a style."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[int] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange and isinstance(watched, QWidget):
            self.counts[getCppPointer(watched)[0]] += 1
        return False


def test_a_change_of_theme_dresses_each_widget_but_twice(window: MainWindow, qapp: QApplication) -> None:
    """Qt would do it once for each ancestor, which takes a second in this window; off and on again makes two."""
    dressings = Dressings()
    qapp.installEventFilter(dressings)
    window.toggle_theme()
    qapp.removeEventFilter(dressings)
    assert len(dressings.counts) > 300
    assert max(dressings.counts.values()) <= 2


def test_the_window_wears_the_colours_of_the_theme(qtbot: QtBot, window: MainWindow) -> None:
    for _ in range(2):
        with qtbot.waitSignal(theme_manager().changed):
            window.toggle_theme()
        theme = theme_manager().theme
        image = window.grab().toImage()
        assert image.pixelColor(window.menuBar().geometry().center()) == QColor(theme.window)
        assert image.pixelColor(window.empty.mapTo(window, QPoint(5, 5))) == QColor(theme.canvas)


def test_icons_are_found_in_a_folder_of_any_name(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a b (ü) 'c' \"d\" @text"
    shutil.copytree(resources.path("icons"), odd / "icons")
    box = QCheckBox("checked", checked=True)
    qtbot.addWidget(box)
    box.setStyleSheet(stylesheet(LIGHT))
    image = box.grab().toImage()
    monkeypatch.setattr(resources, "path", odd.joinpath)
    box.setStyleSheet(stylesheet(DARK))
    assert box.grab().toImage() != image
    box.setStyleSheet(stylesheet(LIGHT))
    assert box.grab().toImage() == image


def test_nothing_is_painted_between_the_two_turns_that_it_takes(qtbot: QtBot, window: MainWindow) -> None:
    """Else the old colours of what paints for itself would be seen in a window of the new ones."""
    with qtbot.waitSignal(theme_manager().changed):
        window.toggle_theme()
        assert not window.updatesEnabled()
    assert window.updatesEnabled()
    with qtbot.waitSignal(theme_manager().changed):  # and twice at once ends as once
        window.toggle_theme()
        window.toggle_theme()
    qtbot.waitUntil(window.updatesEnabled)
