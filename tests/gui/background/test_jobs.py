"""Jobs: where they run, what they deliver, and what cancelling leaves undelivered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QCoreApplication, QThread
from pytestqt.qtbot import QtBot

from engine.errors import RunCancelled
from gui.background import jobs
from gui.background.jobs import JobRunner, LatestJob, Progress, Task
from tests.gui.conftest import PATIENCE


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[JobRunner]:
    runner = JobRunner()
    yield runner
    assert runner.shutdown(PATIENCE)


def test_runs_elsewhere_and_delivers_here(qtbot: QtBot, runner: JobRunner) -> None:
    here = QThread.currentThread()
    seen: list[object] = []

    def work(task: Task) -> str:
        seen.append(QThread.currentThread() is here)
        return "result"

    def deliver(result: str) -> None:
        seen.extend([result, QThread.currentThread() is here])

    job = runner.start(work, deliver)
    with qtbot.waitSignal(job.finished):
        pass
    assert seen == [False, "result", True]
    assert runner.active == 0


def test_failure_is_delivered(qtbot: QtBot, runner: JobRunner) -> None:
    errors: list[Exception] = []

    def work(task: Task) -> None:
        raise ValueError("no")

    with qtbot.waitSignal(runner.start(work, None, errors.append).finished):
        pass
    assert [str(error) for error in errors] == ["no"]


def test_failure_nobody_handles_reaches_excepthook(qtbot: QtBot, runner: JobRunner) -> None:
    def work(task: Task) -> None:
        raise ValueError("unhandled")

    with qtbot.captureExceptions() as caught, qtbot.waitSignal(runner.start(work).finished):
        pass
    assert [str(error) for _, error, _ in caught] == ["unhandled"]


@pytest.mark.parametrize("how", ["check", "engine"])
def test_cancelled_job_delivers_nothing(qtbot: QtBot, runner: JobRunner, how: str) -> None:
    started = threading.Event()
    delivered: list[object] = []

    def work(task: Task) -> str:
        started.set()
        while not task.cancelled():
            time.sleep(0.001)
        if how == "check":
            task.check()
        raise RunCancelled("stopped")

    job = runner.start(work, delivered.append, delivered.append)
    started.wait()
    with qtbot.waitSignal(job.finished):
        job.cancel()
    assert delivered == []


def test_result_that_comes_after_cancelling_is_dropped(qtbot: QtBot, runner: JobRunner) -> None:
    release = threading.Event()
    delivered: list[object] = []

    def work(task: Task) -> str:
        release.wait()
        return "late"

    job = runner.start(work, delivered.append)
    job.cancel()
    with qtbot.waitSignal(job.finished):
        release.set()
    assert delivered == []


def test_progress_is_throttled_but_the_last_report_comes(
    qtbot: QtBot, runner: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report each millisecond of a clock that only this test moves."""
    ticks = count()
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: next(ticks) / 1000))
    seen: list[Progress] = []

    def work(task: Task) -> None:
        for done in range(10_001):
            task.report("counting", done, 10_000)

    job = runner.start(work)
    job.progress.connect(seen.append)
    with qtbot.waitSignal(job.finished):
        pass
    assert seen[-1] == Progress("counting", 10_000, 10_000)
    assert 90 <= len(seen) <= 110  # 10 a second


def test_shutdown_waits_for_functions(qtbot: QtBot) -> None:
    runner = JobRunner()
    ended = threading.Event()

    def work(task: Task) -> None:
        while not task.cancelled():
            time.sleep(0.001)
        ended.set()

    job = runner.start(work)
    assert runner.shutdown(PATIENCE)
    assert ended.is_set()
    assert job.cancelled
    QCoreApplication.processEvents()


def test_shutdown_gives_up_after_its_time(qtbot: QtBot) -> None:
    runner = JobRunner()
    release = threading.Event()
    runner.start(lambda task: release.wait())
    assert not runner.shutdown(50)  # which else would never return
    release.set()
    assert runner.shutdown(PATIENCE)


def test_nothing_starts_after_shutdown(qtbot: QtBot) -> None:
    runner = JobRunner()
    assert runner.shutdown(PATIENCE)
    ran: list[int] = []
    job = runner.start(lambda _task: ran.append(1))
    with qtbot.waitSignal(job.finished):
        pass
    assert ran == []
    qtbot.waitUntil(lambda: runner.active == 0)


def test_the_latest_job_takes_the_place_of_the_one_before(qtbot: QtBot, runner: JobRunner) -> None:
    latest, gate = LatestJob(), threading.Event()
    delivered: list[tuple[str, bool]] = []

    def deliver(name: str) -> None:
        delivered.append((name, latest.running))

    def wait(_task: Task) -> str:
        gate.wait(10)
        return "first"

    assert not latest.running
    latest.replace(runner.start(wait, deliver))
    latest.replace(runner.start(lambda _task: "second", deliver))
    assert latest.running
    qtbot.waitUntil(lambda: bool(delivered))
    gate.set()
    qtbot.waitUntil(lambda: runner.active == 0)
    assert delivered == [("second", False)]


def test_the_latest_job_runs_no_more_once_somebody_cancelled_it(qtbot: QtBot, runner: JobRunner) -> None:
    latest = LatestJob()
    job = runner.start(lambda task: task.check())
    latest.replace(job)
    job.cancel()
    assert not latest.running
    qtbot.waitUntil(lambda: runner.active == 0)
