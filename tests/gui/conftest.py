"""A real window, empty settings, and a way to open a model in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partialmethod
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.panes.run import RunPane
from gui.panes.timings import TimingsPane
from gui.settings import Settings
from gui.window.main_window import MainWindow
from gui.window.windows import Windows
from tests.gui.window_panes import Panes

Opener = Callable[[str | Path], None]
NewWindow = Callable[[], MainWindow]

PATIENCE = 60_000
"""Milliseconds to wait for what should happen. Waiting ends with the event, so only a test that fails takes so long."""


class PatientBot(QtBot):
    """Waits long enough for a slow machine with much else to do; tests name no times of their own."""

    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE)
    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE)
    waitActive = partialmethod(QtBot.waitActive, timeout=PATIENCE)
    waitExposed = partialmethod(QtBot.waitExposed, timeout=PATIENCE)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The one of pytest-qt, with patience."""
    return PatientBot(request)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings in a file of this test alone."""
    return Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def new_window(qtbot: QtBot, settings: Settings) -> Iterator[NewWindow]:
    """Makes windows that share their settings, and shows them; closing them must end every job."""
    windows: list[MainWindow] = []

    def make() -> MainWindow:
        windows.append(MainWindow(settings))
        windows[-1].show()
        return windows[-1]

    yield make
    for window in windows:
        window.close()
        qtbot.waitUntil(lambda window=window: window.document.jobs.idle)
        window.deleteLater()


@pytest.fixture
def windows(qtbot: QtBot, settings: Settings) -> Iterator[Windows]:
    """Keeps windows, none of them yet. What is left of them is closed, and has ended when the test has."""
    keeper = Windows(settings)
    yield keeper
    for window in list(keeper.all):
        window.close()
    keeper.wait()
    keeper.deleteLater()


@pytest.fixture
def window(qtbot: QtBot, new_window: NewWindow) -> MainWindow:
    """The real main window, shown and active."""
    window = new_window()
    with qtbot.waitActive(window):
        window.activateWindow()
    return window


@pytest.fixture
def open_model(qtbot: QtBot, window: MainWindow) -> Opener:
    """Opens a model and waits until its graph is on the canvas and nothing is under way."""

    def open_and_wait(path: str | Path) -> None:
        with qtbot.waitSignal(window.canvas.drawn):
            window.document.open(path)
        qtbot.waitUntil(lambda: not window.document.busy and window.document.turns.idle)

    return open_and_wait


@pytest.fixture
def run_pane(window: MainWindow) -> RunPane:
    """The Run pane, in front, with few runs."""
    pane = window.docks["run"].widget()
    window.docks["run"].raise_()
    pane.setup.warmup.setValue(1)
    pane.setup.repeat.setValue(3)
    return pane


@pytest.fixture
def timings(window: MainWindow) -> TimingsPane:
    """The Timings pane."""
    return window.docks["timings"].widget()


@pytest.fixture
def panes(window: MainWindow) -> Panes:
    """The panes of the window."""
    return Panes(window)
