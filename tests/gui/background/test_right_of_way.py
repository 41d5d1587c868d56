"""Who comes first: a job stands back while a frame is painted, and goes on after it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gui.background import right_of_way
from gui.background.jobs import JobRunner, Task
from gui.canvas.picture import GraphPicture


@pytest.fixture
def asked() -> Iterator[list[int]]:
    """What grows while a thread asks its task again and again."""
    counted, task, end = [0], Task(lambda *_: None), threading.Event()

    def ask() -> None:
        while not end.is_set():
            task.cancelled()
            counted[0] += 1

    thread = threading.Thread(target=ask)
    thread.start()
    yield counted
    end.set()
    thread.join()


def test_a_job_stands_back_while_a_frame_is_painted(
    qtbot: QtBot, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(right_of_way, "LONGEST", 60.0)
    picture, during = GraphPicture(), []
    qtbot.addWidget(picture)

    def painted() -> None:
        before = asked[0]
        threading.Event().wait(0.02)  # lets go of the interpreter, as painting does
        during.append(asked[0] - before)

    monkeypatch.setattr(picture, "_paint", painted)
    picture.show()
    qtbot.waitUntil(lambda: bool(during))
    assert during[0] <= 1  # the question it was at
    before = asked[0]
    qtbot.waitUntil(lambda: asked[0] > before)


def test_nobody_stands_back_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(right_of_way, "LONGEST", 0.0)
    with right_of_way.first():
        right_of_way.stand_back()


def test_who_is_cancelled_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(right_of_way, "LONGEST", 3600.0)
    task = Task(lambda *_: None)
    task.cancel()
    with right_of_way.first():
        assert task.cancelled()


def test_the_gui_thread_asks_after_its_jobs_without_standing_back(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As tables do while they are painted, to say what is on its way."""
    stood_back: list[bool] = []
    monkeypatch.setattr("gui.background.jobs.stand_back", lambda: stood_back.append(True))
    runner = JobRunner()
    job = runner.start(lambda _task: None)
    assert job.running
    qtbot.waitUntil(lambda: runner.active == 0)
    assert stood_back == []
