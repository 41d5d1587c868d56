"""How smooth the canvas moves while the window is at something: a scripted pan, one step a frame."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median, quantiles

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer

from gui.window.main_window import MainWindow

FRAME_MS = 16
LIMIT_MS = 4_000  # of panning; what still goes on then is cancelled
STEPS = 30  # that the picture moves one way before it moves back
FEWEST = 5  # frames that a percentile says something of
ENOUGH = 20  # frames; what ends earlier is done again
MOST_TIMES = 6
CANCEL_MS = 60_000
LOOK_MS = 5
SETTLE_MS = 400  # the canvas draws its fine frame once nothing has moved for a moment

Times = tuple[float, float]
"""Median and 95th percentile, ms of wall time from when a frame was due to when it was painted."""


class Panner(QObject):
    """Pans what is on the canvas, a step every `FRAME_MS` or as soon as the last frame is painted."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self._window = window
        self._times: list[float] = []
        self._due = 0.0
        self._steps = 0
        self._timer = QTimer(self, interval=FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._step)

    def start(self) -> None:
        """Begin to pan."""
        self._due = time.perf_counter() + FRAME_MS / 1e3
        self._timer.start()

    def stop(self) -> None:
        """Leave the picture where it is."""
        self._timer.stop()

    @property
    def frames(self) -> int:
        return len(self._times)

    @property
    def times(self) -> Times | None:
        """Of all frames; None where there were too few."""
        if len(self._times) < FEWEST:
            return None
        return round(median(self._times), 1), round(quantiles(self._times, n=20, method="inclusive")[-1], 1)

    def _step(self) -> None:
        canvas, begun = self._window.canvas.seen, time.perf_counter()
        if canvas.scene is not None:
            turn = 1 if self._steps // STEPS % 2 == 0 else -1
            self._steps += 1
            canvas.pan(turn * 9.0, turn * -13.0)
            canvas.repaint()
            self._times.append((time.perf_counter() - min(self._due, begun)) * 1e3)
        self._due = time.perf_counter() + FRAME_MS / 1e3


def frames_while(window: MainWindow, start: Callable[[], object]) -> tuple[Times | None, float | None]:
    """Start a job and pan until it ends; the times of the frames, and how long cancelling took, if it had to.

    What ends before `ENOUGH` frames is done again from rest, up to `MOST_TIMES`. A job ends when the window is busy no
    more. After `LIMIT_MS` it is cancelled; the second figure is in ms.
    """
    panner, cancel_ms = Panner(window), None
    for _ in range(MOST_TIMES):
        rest(window)
        cancel_ms = _pan_while(window, start, panner)
        if panner.frames >= ENOUGH:
            break
    rest(window)
    return panner.times, cancel_ms


def _pan_while(window: MainWindow, start: Callable[[], object], panner: Panner) -> float | None:
    document, loop = window.document, QEventLoop()
    look = QTimer(interval=FRAME_MS)
    look.timeout.connect(lambda: None if document.busy else loop.quit())
    panner.start()
    start()
    QTimer.singleShot(LIMIT_MS, loop.quit)
    QTimer.singleShot(2 * FRAME_MS, look.start)  # a layout begins after the panes have been told
    loop.exec()
    panner.stop()
    if not document.busy:
        return None
    asked = time.perf_counter()
    document.cancel()
    QTimer.singleShot(CANCEL_MS, loop.quit)
    loop.exec()
    return round((time.perf_counter() - asked) * 1e3, 1)


def rest(window: MainWindow) -> None:
    """Wait until nothing is under way any more, such as counting what the model costs, and all is painted."""
    loop = QEventLoop()
    look = QTimer(interval=LOOK_MS)
    look.timeout.connect(lambda: None if window.document.jobs.active else loop.quit())
    look.start()
    loop.exec()
    look.stop()
    settle()


def settle() -> None:
    """Wait until the canvas has drawn its fine frame."""
    loop = QEventLoop()
    QTimer.singleShot(SETTLE_MS, loop.quit)
    loop.exec()
