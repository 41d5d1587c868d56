"""Work away from the GUI thread: a function runs on a pool, its progress and its end arrive back as Qt signals.

    job = runner.start(read, on_success=show, on_failure=complain)

`read(task)` runs on a pool thread and reports and asks through its `Task`; the callbacks run on the GUI thread, each
job's in a turn of its own. A job that was cancelled delivers neither result nor failure, however late its function
notices.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal, Slot

from engine.errors import RunCancelled
from gui.background.right_of_way import stand_back
from gui.background.turns import Turns

REPORTS_PER_SECOND = 10  # as fast as people read; each is painted in the status bar and the panes


class Cancelled(Exception):
    """Raised by `Task.check` where the job has been cancelled."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: its phase in words, how much is done of a total (0 of 0 where nobody knows), and at what of
    the model it is, such as a node's name. Empty for no job."""

    text: str = ""
    done: int = 0
    total: int = 0
    place: str = ""


class Task:
    """What the function of a job is given: a cancel token and a way to say how far it is. Knows no Qt."""

    __slots__ = ("_cancelled", "_due", "_publish")

    def __init__(self, publish: Callable[[Progress], None]) -> None:
        self._publish = publish
        self._cancelled = threading.Event()
        self._due = 0.0

    def cancel(self) -> None:
        """Ask the function to stop; from any thread."""
        self._cancelled.set()

    @property
    def was_cancelled(self) -> bool:
        """Whether somebody has asked it to stop; for the GUI thread, which must not stand back for itself."""
        return self._cancelled.is_set()

    def cancelled(self) -> bool:
        """Whether the function should stop; for the function, and cheap enough to ask between any two steps.

        Who asks stands back while a frame is painted: asked often, it keeps the window moving.
        """
        if not self.was_cancelled:
            stand_back()
        return self.was_cancelled

    def check(self) -> None:
        """Leave the function if it should stop.

        Raises
        ------
        Cancelled
        """
        if self.cancelled():
            raise Cancelled

    def report(self, text: str, done: int = 0, total: int = 0, place: str = "") -> None:
        """Say which phase runs, how far it is and where; reports that come too fast for a screen are dropped."""
        now = time.monotonic()
        if now >= self._due or done == total:
            self._due = now + 1 / REPORTS_PER_SECOND
            self._publish(Progress(text, done, total, place))


Function: TypeAlias = Callable[[Task], Any]


class Job(QObject):
    """One function on its way: `progress(Progress)` while it runs, `finished()` always, and last.

    Lives in the GUI thread; only `_run` executes on the pool.
    """

    progress = Signal(object)
    finished = Signal()
    _reported = Signal(object)
    _ended = Signal(object, object)

    def __init__(
        self,
        function: Function,
        on_success: Callable[[Any], None] | None,
        on_failure: Callable[[Exception], None] | None,
        parent: QObject,
        turns: Turns,
    ) -> None:
        super().__init__(parent)
        self._turns = turns
        self._function = function
        self._on_success = on_success
        self._on_failure = on_failure
        self._has_ended = False
        self.task = Task(self._reported.emit)
        self._reported.connect(self._forward)
        self._ended.connect(self._end)

    def cancel(self) -> None:
        """Stop as soon as the function asks; no callback but `finished` follows."""
        self.task.cancel()

    @property
    def cancelled(self) -> bool:
        return self.task.was_cancelled

    @property
    def running(self) -> bool:
        """Whether a result or a failure is still to come; false already when the callbacks are called."""
        return not (self._has_ended or self.cancelled)

    def _run(self) -> None:
        try:
            result, error = self._function(self.task), None
        except (Cancelled, RunCancelled):
            self.task.cancel()
            result, error = None, None
        except Exception as caught:  # noqa: BLE001 - every failure is the caller's to show
            result, error = None, caught
        self._ended.emit(result, error)

    @Slot(object)
    def _forward(self, progress: Progress) -> None:
        if not self.cancelled:
            self.progress.emit(progress)

    @Slot(object, object)
    def _end(self, result: object, error: Exception | None) -> None:
        self._turns.ask(partial(self._deliver, result, error))

    def _deliver(self, result: object, error: Exception | None) -> None:
        self._has_ended = True
        try:
            if self.cancelled:
                return
            if error is None and self._on_success:
                self._on_success(result)
            elif error is not None and self._on_failure:
                self._on_failure(error)
            elif error is not None:
                raise error
        finally:
            self.finished.emit()


class LatestJob:
    """The newest job of its kind, for those who want the answer to their last question alone."""

    __slots__ = ("_job",)

    def __init__(self) -> None:
        self._job: Job | None = None

    @property
    def running(self) -> bool:
        """Whether its result or its failure is still to come."""
        return self._job is not None and self._job.running

    def replace(self, job: Job) -> None:
        """Cancel the job before and go on with this one."""
        self.cancel()
        self._job = job

    def cancel(self) -> None:
        """Stop it, if there is one; its answer does not come."""
        if self._job is not None:
            self._job.cancel()
            self._job = None


class JobRunner(QObject):
    """Starts jobs on a pool of its own and keeps them alive until they have delivered."""

    def __init__(self, parent: QObject | None = None, turns: Turns | None = None, threads: int = 4) -> None:
        super().__init__(parent)
        self._turns = turns or Turns(self)
        self._pool = QThreadPool()
        self._pool.setMaxThreadCount(threads)
        self._jobs: set[Job] = set()
        self._shut = False

    def start(
        self,
        function: Function,
        on_success: Callable[[Any], None] | None = None,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> Job:
        """Run `function(task)` on the pool. An exception nobody handles ends in `sys.excepthook`, on the GUI thread.

        After `shutdown` nothing is run any more: the job only finishes.
        """
        job = Job(function, on_success, on_failure, self, self._turns)
        self._jobs.add(job)
        job.finished.connect(self._forget)
        if self._shut:
            job.cancel()
            QTimer.singleShot(0, job, job.finished.emit)
        else:
            self._pool.start(job._run)
        return job

    @property
    def active(self) -> int:
        """Number of jobs that have not delivered yet."""
        return len(self._jobs)

    @property
    def idle(self) -> bool:
        """Whether no function runs any more, delivered or not."""
        return self._pool.activeThreadCount() == 0

    def cancel_all(self) -> None:
        for job in self._jobs:
            job.cancel()

    def shutdown(self, timeout_ms: int = 0) -> bool:
        """Cancel everything and wait, at most `timeout_ms`, -1 for as long as it takes; whether all functions have
        returned by then."""
        self._shut = True
        self.cancel_all()
        self._pool.clear()
        return self._pool.waitForDone(timeout_ms)

    @Slot()
    def _forget(self) -> None:
        job = self.sender()
        if isinstance(job, Job):
            self._jobs.discard(job)
            job.deleteLater()
