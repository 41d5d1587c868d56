"""What others do to the file that is open is told, and what was read stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pytestqt.qtbot import QtBot

from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.window_panes import CONTROL_FLOW, SAMPLE


def test_a_file_that_is_replaced_and_then_removed(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    path, other = tmp_path / "m.onnx", tmp_path / "other.onnx"
    shutil.copy(SAMPLE, path)
    open_model(path)
    model = window.document.model
    for _ in range(2):  # a file that took the place of another one is watched again
        window.message.hide()
        shutil.copy(CONTROL_FLOW, other)
        os.replace(other, path)
        qtbot.waitUntil(lambda: window.message.isVisible() and window.message.title.text() == "The file has changed")
    path.unlink()
    qtbot.waitUntil(lambda: window.message.title.text() == "The file is gone")
    assert window.document.model is model


def test_a_file_that_was_left_for_another_one_is_let_be(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    left, opened = tmp_path / "left.onnx", tmp_path / "opened.onnx"
    for path in (left, opened):
        shutil.copy(SAMPLE, path)
        open_model(path)
    left.unlink()
    opened.unlink()
    qtbot.waitUntil(lambda: window.message.title.text() == "The file is gone")
    assert window.message.text.text().startswith(str(opened))
