"""`make bench-view`, second part: how long the window does not answer while somebody works with it.

Scripted actions in the real window, without a display; for each the longest stretch of the GUI thread's own processor
time between two beats of its event loop, from the action until all has come to rest. `--stacks` says where the
longest were spent, `--write` puts the table into docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "bench")]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import onnx  # noqa: E402
from odd_models import ODD  # noqa: E402
from PySide6.QtCore import QEventLoop, Qt, QTimer  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402

from engine.graph.ir import Node  # noqa: E402
from gui.measuring.heartbeat import Heartbeat  # noqa: E402
from gui.measuring.smoke import lone_window  # noqa: E402
from gui.panes.run import RunPane  # noqa: E402
from gui.table_pane import TablePane  # noqa: E402
from gui.window.main_window import MainWindow  # noqa: E402
from tests.bench.report import show_table  # noqa: E402
from tests.bench.view import CACHE, model_file  # noqa: E402

BOUND_MS = 50
REST_MS = 250  # without work for so long, and all has come to rest
LONGEST_WAIT = 300.0  # seconds
MODELS = ("light_resnet50", "tfm_3k", "tfm_10k", "tfm_50k", *ODD)
RUNS = ("light_resnet50", "tfm_3k", "tfm_10k", "large_values")
Action = tuple[str, Callable[[], object]]


class Sampler:
    """Looks where the GUI thread is after every other millisecond of work, at the next line of Python it comes to."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, tuple[str, ...]]] = []
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)

    def stop(self) -> None:
        """Look no more: a signal that comes when Python has ended kills the process."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _look(self, _signal: int, frame: FrameType | None) -> None:
        self._seen.append((time.thread_time(), tuple(_places(frame))))

    def within(self, span: tuple[float, float]) -> list[str]:
        """Where most of that stretch was spent, as paths of calls; forgets all that was seen."""
        seen, self._seen = self._seen, []
        counts = Counter(stack for when, stack in seen if span[0] <= when <= span[1])
        return [f"{count:5} × {' ◂ '.join(stack[:7])}" for stack, count in counts.most_common(6)]


def _places(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        yield f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back


class Script:
    """Runs actions in a window and measures each."""

    def __init__(self, window: MainWindow, sampler: Sampler | None) -> None:
        self.window = window
        self._sampler = sampler
        self._heart = Heartbeat()
        self.pauses: dict[str, float] = {}

    def measure(self, name: str, action: Callable[[], object]) -> None:
        """Do something in the event loop and watch it until nothing moves any more."""
        self._heart.start()
        QTimer.singleShot(0, action)
        self._rest()
        self._heart.stop()
        self.pauses[name] = round(max(self.pauses.get(name, 0.0), self._heart.longest_ms), 1)
        print(f"  {name:42}{self._heart.longest_ms:9.1f} ms", file=sys.stderr, flush=True)
        if self._sampler is not None and self._heart.longest_ms > BOUND_MS:
            print(*self._sampler.within(self._heart.span), sep="\n", file=sys.stderr, flush=True)

    def _rest(self) -> None:
        """Until no job is under way and the GUI thread has had nothing to do for a while."""
        document, loop = self.window.document, QEventLoop()
        deadline = time.perf_counter() + LONGEST_WAIT
        calm_since, spent = time.perf_counter(), time.thread_time()
        while time.perf_counter() < deadline:
            QTimer.singleShot(20, loop.quit)
            loop.exec()
            now, busy = time.perf_counter(), time.thread_time()
            if document.jobs.active or busy - spent > 0.004:
                calm_since = now
            spent = busy
            if now - calm_since > REST_MS / 1e3:
                return
        raise TimeoutError(f"nothing came to rest within {LONGEST_WAIT:.0f} s")


def _actions(window: MainWindow, path: Path, runs: bool) -> Iterator[Action]:
    document, docks = window.document, window.docks
    yield "open", lambda: document.open(path)
    yield "open again", lambda: document.open(path)
    for name, dock in docks.items():
        yield f"raise {name}", lambda dock=dock: (dock.show(), dock.raise_())
    docks["order"].raise_()
    yield from _selections(window)
    yield from _words(window)
    yield from _tables(window)
    yield "theme", window.toggle_theme
    yield "theme back", window.toggle_theme
    if runs:
        yield from _run(window)


def _selections(window: MainWindow) -> Iterator[Action]:
    document = window.document
    assert document.model is not None
    graph = document.model.graph
    for tab in ("properties", "tensor", "documentation"):
        window.docks[tab].raise_()
        for place in (0, len(graph.order) // 2, -1):
            yield f"select a node ({tab})", lambda node=graph.order[place]: document.select(node)
        stored = sorted((t for t in graph.tensors.values() if t.data is not None), key=lambda t: -t.data.nbytes)
        for tensor in [*stored[:3], *graph.outputs[:1]]:
            yield f"select a tensor ({tab})", lambda tensor=tensor: document.select(tensor)
        for node in graph.nodes:
            if node.attributes and not node.inputs:
                yield f"select a node ({tab})", lambda node=node: document.select(node)
                break
        yield "select nothing", lambda: document.select(None)


def _words(window: MainWindow) -> Iterator[Action]:
    edit = window.search.edit
    window.docks["find"].raise_()
    for text in "a1":
        yield "search", lambda text=text: QTest.keyClicks(edit, text)
    yield "search, next", lambda: QTest.keyClick(edit, Qt.Key.Key_F3)
    yield "search, clear", edit.clear


def _tables(window: MainWindow) -> Iterator[Action]:
    for name in ("order", "initializers", "shapes", "problems"):
        dock = window.docks[name]
        pane = dock.widget()
        assert isinstance(pane, TablePane)
        dock.raise_()
        view, header = pane.view, pane.view.horizontalHeader()
        yield "filter a table", lambda pane=pane: QTest.keyClicks(pane.filter, "a")
        yield "filter a table", lambda pane=pane: QTest.keyClicks(pane.filter, "1")
        yield "filter a table, clear", pane.filter.clear
        for column in range(min(len(pane.model.columns), 6)):
            for _ in range(3):
                yield "sort a table", lambda header=header, column=column: header.sectionClicked.emit(column)
        yield "select all rows", view.selectAll
        yield "copy all rows", lambda view=view: QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        yield "select none", view.clearSelection


def _run(window: MainWindow) -> Iterator[Action]:
    pane = window.docks["run"].widget()
    assert isinstance(pane, RunPane)
    pane.setup.warmup.setValue(0)
    pane.setup.repeat.setValue(1)
    yield "run", window.document.run_requested.emit
    for name in ("timings", "compare", "shapes", "order"):
        yield f"raise {name} after a run", window.docks[name].raise_
    for place in (0, -1):
        node: Node = window.document.model.graph.order[place]  # type: ignore[union-attr]
        yield "select a node after a run", lambda node=node: window.document.select(node)
    window.docks["tensor"].raise_()
    yield from ((f"{name} after a run", action) for name, action in _selections(window))
    yield "theme after a run", window.toggle_theme


def model_path(name: str) -> Path:
    """The model, made now if it is not there; or the file of that name."""
    if name.endswith(".onnx"):
        return Path(name)
    if name not in ODD:
        return model_file(name)
    path = CACHE / f"{name}.onnx"
    if not path.is_file():
        CACHE.mkdir(parents=True, exist_ok=True)
        onnx.save(ODD[name](), path)
    return path


def measure(name: str, stacks: bool, only: str) -> dict[str, float]:
    """All actions on one model, in this process."""
    path = model_path(name)
    sampler = Sampler() if stacks else None
    try:
        with lone_window() as window:
            script = Script(window, sampler)
            script.measure("empty window", lambda: None)
            for action, do in _actions(window, path, name in RUNS):
                if action.startswith("open") or only in action:
                    script.measure(action, do)
    finally:
        if sampler is not None:
            sampler.stop()
    return script.pauses


def row(name: str, stacks: bool, only: str) -> list[str]:
    """The line of one model, measured in a process of its own: its figures by group of actions."""
    command = [sys.executable, __file__, "--one", name, "--only", only, *["--stacks"] * stacks]
    heard = None if stacks else subprocess.PIPE  # what it says of each action, for whoever asks where the time goes
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=heard, text=True, timeout=1800, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {(done.stderr or '')[-2000:]}")
    pauses: dict[str, float] = json.loads(done.stdout)
    cells = [name]
    for title, prefixes in GROUPS:
        worst = max((ms for action, ms in pauses.items() if action.startswith(prefixes)), default=None)
        bound = BOUNDS_MS.get(title, BOUND_MS)
        cells.append("–" if worst is None else f"{worst:.0f}" + (" **over**" if worst > bound else ""))
    return cells


GROUPS = (
    ("open", ("open",)), ("show a pane", ("raise",)), ("select", ("select a ", "select n")), ("search", ("search",)),
    ("filter", ("filter",)), ("sort", ("sort",)), ("select all, copy", ("select all", "copy all")),
    ("theme", ("theme",)), ("run", ("run",)),
)  # fmt: skip


BOUNDS_MS = {"theme": 200}  # Qt dresses all widgets in one go


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="only these, or files")
    parser.add_argument("--one", help="measure this one here, and print its figures as JSON")
    parser.add_argument("--only", default="", help="actions that hold this word")
    parser.add_argument("--stacks", action="store_true", help="say where the longest pauses were spent")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.stacks, args.only)))
        return
    heads = ["model", *(f"{title}, ms" for title, _ in GROUPS)]
    rows = (row(name, args.stacks, args.only) for name in args.models or MODELS)
    show_table("pauses", heads, rows, args.write)


if __name__ == "__main__":
    main()
