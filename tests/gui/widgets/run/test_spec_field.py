"""The field of an input, and the menu of what it can hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from gui.widgets.run.spec_field import NUMERIC, SpecField

pytestmark = pytest.mark.qt_log_ignore("does not support grabbing the keyboard", extend=True)


@pytest.fixture
def field(qtbot: QtBot) -> SpecField:
    field = SpecField("uniform:0:5", NUMERIC)
    qtbot.addWidget(field)
    field.show()
    return field


def opened(qtbot: QtBot) -> QMenu:
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    return QApplication.activePopupWidget()


def choose(qtbot: QtBot, menu: QMenu, text: str) -> None:
    action = next(action for action in menu.actions() if action.text() == text)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def test_the_arrow_offers_what_stands_there_and_the_presets(qtbot: QtBot, field: SpecField) -> None:
    qtbot.mouseClick(field.findChild(QToolButton), Qt.MouseButton.LeftButton)
    menu = opened(qtbot)
    assert [action.text() for action in menu.actions()] == ["uniform:0:5", *NUMERIC, "from file…"]
    with qtbot.waitSignal(field.textChanged):
        choose(qtbot, menu, "ones")
    assert field.text() == "ones"


def test_so_does_the_keyboard(qtbot: QtBot, field: SpecField) -> None:
    qtbot.keyClick(field, Qt.Key.Key_Down)
    menu = opened(qtbot)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        qtbot.keyClick(menu, key)
    assert field.text() == "normal"


@pytest.mark.parametrize("name", ["", "x.npy"])
def test_a_file_is_asked_for_and_cancelling_changes_nothing(
    qtbot: QtBot, field: SpecField, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = str(tmp_path / name) if name else ""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_args: (path, ""))
    qtbot.keyClick(field, Qt.Key.Key_F4)
    choose(qtbot, opened(qtbot), "from file…")
    assert field.text() == (path or "uniform:0:5")
