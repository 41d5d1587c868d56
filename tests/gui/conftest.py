"""A real window, empty settings, and a way to open a model in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from gui.main_window import MainWindow
from gui.settings import Settings

Opener = Callable[[str | Path], None]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings in a file of this test alone."""
    return Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def window(qtbot: QtBot, settings: Settings) -> Iterator[MainWindow]:
    """The real main window, shown and active."""
    window = MainWindow(settings)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    yield window
    window.close()
    assert window.document.jobs.idle, "closing the window left a job running"
    window.deleteLater()


@pytest.fixture
def open_model(qtbot: QtBot, window: MainWindow) -> Opener:
    """Opens a model and waits until its graph is on the canvas and nothing is under way."""

    def open_and_wait(path: str | Path) -> None:
        with qtbot.waitSignal(window.canvas.drawn, timeout=20_000):
            window.document.open(path)
        qtbot.waitUntil(lambda: not window.document.busy, timeout=20_000)

    return open_and_wait
