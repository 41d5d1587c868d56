"""Windows that are closed while something of theirs still runs."""

from __future__ import annotations

import threading

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

import resources
from gui.background.jobs import Task
from gui.window.windows import Windows
from tests.gui.conftest import PATIENCE


def test_a_closed_window_is_gone_at_once_and_kept_until_its_last_function_has_ended(
    qtbot: QtBot, windows: Windows
) -> None:
    """As one long node of a run does: it cannot be stopped, and would report to a job that is deleted."""
    window, started, goes_on = windows.new_window(), threading.Event(), threading.Event()

    def work(_task: Task) -> None:
        started.set()
        goes_on.wait(PATIENCE / 1e3)

    window.document.start("One long node", work)
    assert started.wait(PATIENCE / 1e3)
    window.close()
    assert not window.isVisible()
    assert windows.all == []
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert shiboken6.isValid(window)
    goes_on.set()
    qtbot.waitUntil(lambda: not shiboken6.isValid(window))


def test_two_windows_on_one_file_have_the_same_bookmarks(qtbot: QtBot, windows: Windows) -> None:
    """Else each would write its own over those of the other."""
    path = str(resources.path(resources.SAMPLE_MODEL))
    one, other = windows.new_window(path), windows.new_window(path)
    qtbot.waitUntil(lambda: all(w.document.model and not w.document.busy for w in windows.all), timeout=PATIENCE)
    for window, place in ((one, 0), (other, 1)):
        window.document.bookmarks.toggle(window.document.graph.order[place])
    names = [node.name for node in one.document.graph.order[:2]]
    assert [b.name for b in one.document.bookmarks.all] == names
    assert [b.name for b in other.document.bookmarks.all] == names


def test_the_program_waits_for_it(windows: Windows) -> None:
    window, started, goes_on = windows.new_window(), threading.Event(), threading.Event()
    ended: list[bool] = []

    def work(_task: Task) -> None:
        started.set()
        goes_on.wait(PATIENCE / 1e3)
        ended.append(True)

    window.document.start("One long node", work)
    assert started.wait(PATIENCE / 1e3)
    window.close()
    threading.Timer(0.05, goes_on.set).start()
    windows.wait()
    assert ended == [True]
