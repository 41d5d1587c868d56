"""`oinfer --smoke`: the real window on a model, opened, drawn, run and grabbed once, with the time of each phase.

People, CI and frozen builds share this one check. It leaves the user's settings alone.
"""
from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEventLoop, QObject, QSettings, Qt, QTimer, Signal, Slot

import resources
from gui.app import Application, keep_moving
from gui.measuring.busy_frames import Times, frames_while, rest, settle
from gui.measuring.frame_times import frame_times, peak_memory_mib
from gui.measuring.heartbeat import Heartbeat
from gui.panes.run import RunPane
from gui.running.report import report_of
from gui.window.main_window import MainWindow

TIMEOUT_MS = 600_000

FIGURES = (
    "first_frame_ms", "first_frame_cpu_ms", "opened_ms", "opened_cpu_ms", "layout_ms", "selection_ms", "hit_test_ms",
    "longest_pause_ms", "cancel_opening_ms", "cancel_run_ms", "peak_memory_mib",
)  # fmt: skip
BUSY = ("frames_during_opening", "frames_during_layout", "frames_during_run")


@dataclass(slots=True)
class SmokeReport:
    """What the check did. `phases_ms`: read, link, infer, layout, first_frame, open_to_frame, run.

    `first_frame_ms` is from the start of opening to the first complete frame once the process is warm, that is, at the
    second opening; `opened_ms` is until the model itself is drawn, shapes and findings included, which is later where
    a large model is seen in modules first. `…_cpu_ms` is the processor time of that, without the layout process.
    `phases_ms` are those of the first opening. `longest_pause_ms` is the longest the GUI thread worked without
    answering in the second one. Times of frames are as in `FrameTimes`, but those during something are wall times:
    other threads keep the interpreter. `cancel_…_ms` is how long cancelling took where something had not ended after
    a few seconds.
    """

    model: str
    ok: bool = False
    reason: str = ""
    nodes: int = 0
    boxes: int = 0
    first_frame_ms: float | None = None
    first_frame_cpu_ms: float | None = None
    opened_ms: float | None = None
    opened_cpu_ms: float | None = None
    layout_ms: float | None = None
    pan_ms: dict[str, tuple[float, float]] = field(default_factory=dict)
    zoom_ms: dict[str, tuple[float, float]] = field(default_factory=dict)
    still_ms: dict[str, tuple[float, float]] = field(default_factory=dict)
    selection_ms: float | None = None
    hit_test_ms: float | None = None
    longest_pause_ms: float | None = None
    frames_during_opening: Times | None = None
    frames_during_layout: Times | None = None
    frames_during_run: Times | None = None
    cancel_opening_ms: float | None = None
    cancel_run_ms: float | None = None
    peak_memory_mib: float | None = None
    phases_ms: dict[str, float] = field(default_factory=dict)
    placement: dict[str, int] = field(default_factory=dict)
    mixed_ms: float | None = None
    cpu_only_ms: float | None = None
    speedup_pct: float | None = None
    agree: bool | None = None
    result: str = ""
    picture: str = ""


class Waiter(QObject):
    """Waits in an event loop for one of several ends."""

    done = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.failure = ""
        self._loop = QEventLoop()
        self.done.connect(self._loop.quit)

    @Slot(str, str)
    def fail(self, title: str, message: str = "") -> None:
        """End the wait with a reason."""
        self.failure = f"{title}: {message}" if message else title
        self._loop.quit()

    def wait(self, timeout_ms: int = TIMEOUT_MS) -> str:
        """Wait; the reason of a failure, else empty."""
        timer = QTimer(singleShot=True, interval=timeout_ms)
        timer.timeout.connect(lambda: self.fail(f"nothing happened for {timeout_ms / 1000:.0f} s"))
        timer.start()
        self._loop.exec()
        timer.stop()
        return self.failure


@contextmanager
def lone_window() -> Iterator[MainWindow]:
    """A window to be measured, in an application of its own with settings that are forgotten; closed at the end."""
    with tempfile.TemporaryDirectory(prefix="oinfer-smoke-") as folder:
        QSettings.setDefaultFormat(QSettings.Format.IniFormat)
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, folder)
        keep_moving()
        app = Application(["oinfer"])
        window = app.new_window()
        try:
            yield window
        finally:
            window.close()
            app.windows.wait()
            app.processEvents()


def main(
    model: str | None, picture: str | None, as_json: bool, flat: bool = False, view_only: bool = False
) -> int:  # fmt: skip
    """Open the window on `model` (or the sample), run it, grab it; print a report; 0 where all went well.

    With `flat` every node is drawn by itself however many there are; with `view_only` the model is not run.
    """
    path = model or str(resources.path(resources.SAMPLE_MODEL))
    report = SmokeReport(path)
    with lone_window() as window:
        window.canvas.opens_flat = flat
        _drive(window, report, picture, view_only)
    report.ok = not report.reason
    _print(report, as_json)
    return 0 if report.ok else 1


def _drive(window: MainWindow, report: SmokeReport, picture: str | None, view_only: bool) -> None:
    report.reason = _open(window, report)
    if not report.reason:
        _measure(window, report)
        report.reason = _open_again(window, report)
        if not report.reason:
            _move(window, report)
            report.reason = "" if view_only else _run(window, report)
    if picture and window.document.model is not None:
        settle()
        if window.grab().save(picture):
            report.picture = picture
        else:
            report.reason = report.reason or f"could not write the picture {picture}"


def _open(window: MainWindow, report: SmokeReport) -> str:
    opening = Opening(window)
    failure = opening.run(report.model)
    document = window.document
    if failure or document.model is None or document.index is None:
        return failure or "the model did not open"
    report.nodes = document.index.node_count
    report.phases_ms = dict(document.model.timings_ms)
    report.phases_ms["first_frame"] = opening.painting_ms
    report.phases_ms["open_to_frame"] = opening.frames[0].wall_ms
    return ""


@dataclass(slots=True)
class Frame:
    """When a frame was complete: wall and processor time since the start of opening."""

    wall_ms: float
    cpu_ms: float


class Opening:
    """Opens a model and notes when it is first seen, and when the model itself is drawn."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._start = (0.0, 0.0)
        self.frames: list[Frame] = []
        self.painting_ms = 0.0  # what the first frame took

    def run(self, path: str) -> str:
        """Open the model at `path` and wait until it is on the canvas; the reason of a failure, else empty."""
        document, canvas, waiter = self._window.document, self._window.canvas, Waiter()
        connections = [
            document.failed.connect(waiter.fail),
            document.sketched.connect(lambda sketch: self._paint() if sketch is not None else None),
            canvas.drawn.connect(self._paint),
            canvas.drawn.connect(waiter.done),
        ]
        self._start = time.perf_counter(), time.process_time()
        document.open(path)
        failure = waiter.wait()
        for connection in connections:
            QObject.disconnect(connection)
        return failure

    def _paint(self) -> None:
        page = self._window.canvas.stack.currentWidget()
        assert page is not None  # the stack is never empty
        before = time.perf_counter()
        page.repaint()
        now, cpu = time.perf_counter(), time.process_time()
        if not self.frames:
            self.painting_ms = (now - before) * 1e3
        self.frames.append(Frame((now - self._start[0]) * 1e3, (cpu - self._start[1]) * 1e3))


def _measure(window: MainWindow, report: SmokeReport) -> None:
    """How fast the drawing is, and what memory it took to get there."""
    drawing = window.canvas.drawing
    if drawing is None:
        return
    report.peak_memory_mib = peak_memory_mib()
    times = frame_times(drawing)
    report.boxes, report.layout_ms = len(drawing.scene.boxes), round(drawing.layout.stats.get("seconds", 0.0) * 1e3, 1)
    report.pan_ms, report.zoom_ms, report.still_ms = times.pan, times.zoom, times.still
    report.selection_ms, report.hit_test_ms = times.selection_ms, times.hit_test_ms


def _open_again(window: MainWindow, report: SmokeReport) -> str:
    """Open the model in the warm process, watching how long the window does not answer."""
    rest(window)
    heart = Heartbeat()
    heart.start()
    opening = Opening(window)
    failure = opening.run(report.model)
    heart.stop()
    if opening.frames:
        first, last = opening.frames[0], opening.frames[-1]
        report.first_frame_ms, report.first_frame_cpu_ms = round(first.wall_ms, 1), round(first.cpu_ms, 1)
        report.opened_ms, report.opened_cpu_ms = round(last.wall_ms, 1), round(last.cpu_ms, 1)
    report.longest_pause_ms = round(heart.longest_ms, 1)
    return failure


def _move(window: MainWindow, report: SmokeReport) -> None:
    """How the canvas moves while a model is opened, laid out and run."""
    canvas, document, horizontal = window.canvas, window.document, window.canvas.options.horizontal

    def turn() -> None:
        canvas.forget_drawings()
        canvas.set_options(horizontal=not canvas.options.horizontal)

    report.frames_during_layout, _ = frames_while(window, turn)
    canvas.set_options(horizontal=horizontal)
    report.frames_during_run, report.cancel_run_ms = frames_while(window, document.run_requested.emit)
    report.frames_during_opening, report.cancel_opening_ms = frames_while(window, lambda: document.open(report.model))
    if canvas.drawing is None:  # what took too long was cancelled
        Opening(window).run(report.model)


def _run(window: MainWindow, report: SmokeReport) -> str:
    pane = window.docks["run"].widget()
    if not isinstance(pane, RunPane):
        return "the window has no Run pane"
    waiter = Waiter()
    pane.finished.connect(waiter.done)
    pane.failed.connect(waiter.fail, Qt.ConnectionType.QueuedConnection)
    start = time.perf_counter()
    window.document.run_requested.emit()
    failure = waiter.wait()
    run = window.document.run
    if failure or run is None or run.comparison is None:
        return failure or "the run left no result"
    report.phases_ms["run"] = (time.perf_counter() - start) * 1e3
    comparison, words = run.comparison, report_of(run.comparison)
    report.mixed_ms, report.cpu_only_ms = comparison.mixed_ms, comparison.cpu_only_ms
    report.speedup_pct, report.agree = comparison.speedup_pct, comparison.agree
    report.placement = comparison.mixed.placement
    report.result = f"{words.mixed} · {words.cpu_only} · {words.speedup} · {words.verdict}"
    window.docks["timings"].raise_()
    return "" if comparison.agree else f"the outputs do not agree: {words.verdict}"


def _print(report: SmokeReport, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(report)))
        return
    print(f"{Path(report.model).name}: {report.nodes} nodes")
    for name in FIGURES:
        print(f"  {name.replace('_', ' '):20}{getattr(report, name) or 0.0:10.2f}")
    for name in ("pan_ms", "zoom_ms", "still_ms"):
        times = "  ".join(f"{scale}: {m:.1f} / {p:.1f}" for scale, (m, p) in getattr(report, name).items())
        print(f"  {name.replace('_', ' '):20}{times}")
    for name in BUSY:
        told = getattr(report, name)
        print(f"  {name.replace('_', ' '):24}{'–' if told is None else ' / '.join(f'{ms:.1f}' for ms in told)}")
    for phase, ms in report.phases_ms.items():
        print(f"  {phase.replace('_', ' '):14}{ms:10.1f} ms")
    for line in (report.result, _placement(report.placement), report.picture and f"picture {report.picture}"):
        if line:
            print(f"  {line}")
    if report.reason:
        print(f"oinfer: {report.reason.encode('unicode_escape').decode()}", file=sys.stderr)


def _placement(counts: dict[str, Any]) -> str:
    total = sum(counts.values())
    return ", ".join(f"{name} {count}/{total}" for name, count in counts.items())
