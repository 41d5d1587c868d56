"""What stands where results would: nothing is asked of the user that cannot be done yet."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from gui.widgets.run.no_run import NoRun
from gui.window.main_window import MainWindow
from tests.gui.window_panes import SAMPLE


@pytest.mark.parametrize("pane", ["timings", "compare"])
def test_f5_is_offered_once_there_is_a_model(qtbot: QtBot, window: MainWindow, pane: str) -> None:
    (words,) = window.docks[pane].widget().findChildren(NoRun)
    assert words.text() == "No model open"
    window.document.open(SAMPLE)
    assert words.text() == f"Opening {SAMPLE.name}…"
    qtbot.waitUntil(lambda: words.text().startswith("No run yet. Press F5"))
    window.document.reload()
    assert words.text() == f"Opening {SAMPLE.name}…"
    qtbot.waitUntil(lambda: words.text().startswith("No run yet. Press F5"))
