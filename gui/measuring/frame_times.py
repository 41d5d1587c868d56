"""How fast a drawing is on the canvas: frames while panning and zooming, selection, hit tests."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median, quantiles

from PySide6.QtCore import QCoreApplication, QPointF, QSize

from gui.canvas.canvas import GraphCanvas
from gui.canvas.drawing import Drawing
from gui.canvas.palette import ColourBy

SIZE = QSize(1600, 1000)
FRAMES = 40
SCALES = {"fit": 0.0, "0.4": 0.4, "1.0": 1.0}  # 0 stands for the whole graph
HITS = 200
SELECTIONS = 12
EXPOSED_WITHIN = 5.0  # seconds


@dataclass(slots=True)
class FrameTimes:
    """Milliseconds of the GUI thread's own time, so that other work on the machine does not count.

    Each is (median, 95th percentile).

    `pan` and `zoom` are by the scale they begin at: the whole graph, 0.4 and full size. `still` is the frame painted in
    full once nothing moves, and `selection_ms` the one after a click on what rests at full size.
    """

    pan: dict[str, tuple[float, float]] = field(default_factory=dict)
    zoom: dict[str, tuple[float, float]] = field(default_factory=dict)
    still: dict[str, tuple[float, float]] = field(default_factory=dict)
    selection_ms: float = 0.0
    hit_test_ms: float = 0.0


def frame_times(drawing: Drawing) -> FrameTimes:
    """Measure a drawing on a canvas of its own, 1600 by 1000 px."""
    canvas = GraphCanvas()
    canvas.resize(SIZE)
    canvas.set_scene(drawing.scene, drawing.layout, drawing.geometry)
    canvas.show()
    handle = canvas.windowHandle()
    deadline = time.perf_counter() + EXPOSED_WITHIN
    while not (handle and handle.isExposed()) and time.perf_counter() < deadline:
        QCoreApplication.processEvents()
    result = FrameTimes()
    for name, scale in SCALES.items():
        _go_to(canvas, drawing, scale)
        result.still[name] = _timed(canvas, lambda: canvas.set_colours(ColourBy.CATEGORY), 5)
        result.pan[name] = _timed(canvas, lambda: canvas.pan(9.0, 13.0))
        _go_to(canvas, drawing, scale)
        turn = iter([1.06] * (FRAMES // 2) + [1 / 1.06] * (FRAMES // 2 + 1))
        result.zoom[name] = _timed(canvas, lambda turn=turn: canvas.zoom(next(turn), QPointF(700, 400)))  # type: ignore[misc]
    boxes = drawing.scene.boxes
    picked = iter([boxes[i * len(boxes) // SELECTIONS].item for i in range(SELECTIONS)])
    if boxes:
        _go_to(canvas, drawing, 1.0)  # people click on what rests
        result.selection_ms = _timed(canvas, lambda: canvas.select(next(picked)), SELECTIONS - 1)[0]
    result.hit_test_ms = _hits(canvas)
    canvas.hide()
    canvas.deleteLater()
    return result


def _go_to(canvas: GraphCanvas, drawing: Drawing, scale: float) -> None:
    """Show the whole graph, or its middle at a scale."""
    if scale == 0:
        canvas.fit()
    else:
        width, height = drawing.geometry.size
        canvas.view.scale = scale
        canvas.view.centre_on(width / 2, height / 2)
        canvas.zoom(1.0)
    canvas.settle()
    canvas.repaint()


def _timed(canvas: GraphCanvas, step: Callable[[], object], frames: int = FRAMES) -> tuple[float, float]:
    times = []
    for _ in range(frames):
        start = time.thread_time()
        step()
        canvas.repaint()
        times.append((time.thread_time() - start) * 1e3)
    return round(median(times), 2), round(quantiles(times, n=20)[-1], 2)


def _hits(canvas: GraphCanvas) -> float:
    """Mean time to find what is at a point."""
    start = time.thread_time()
    for i in range(HITS):
        canvas.hit(QPointF(i * 7919 % SIZE.width(), i * 6007 % SIZE.height()))
    return round((time.thread_time() - start) * 1e3 / HITS, 4)


def peak_memory_mib() -> float:
    """The most memory this process has held, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
