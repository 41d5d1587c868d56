"""The document of one window: its model, the graph shown, the one selection with its history, the last run.

Panes read the document and listen to its signals; they never talk to each other. Everything slow runs as a job.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from PySide6.QtCore import QObject, Signal, Slot

from engine.graph.ir import Graph, Model, Node, Tensor
from engine.graph.reader import ModelFile
from engine.opening import open_model
from engine.shapes.bind import Binder
from gui.attachment.owner import Attachment
from gui.background.collector import uncollected
from gui.background.jobs import Function, Job, JobRunner, Progress, Task
from gui.background.turns import Turns
from gui.bookmarks import Bookmarks
from gui.comparing.differ import Differ
from gui.errors import explain
from gui.facts.index import ModelIndex
from gui.finding.finder import Finder
from gui.history import History, Place
from gui.running.costing import Costing
from gui.running.forecast import Forecast
from gui.running.state import RunState
from gui.settings import Settings
from gui.text import one_line

Item: TypeAlias = "Node | Tensor | None"

SHOWN_WITHIN = 0.5  # seconds that reading waits at most until a sketch is seen


class Document(QObject):
    """One model and what is being looked at. `finder` searches it, `costing` counts what it costs, `forecast` tells who
    would compute it, `differ` holds it against another one, `attachment` has what a file beside it says, `bookmarks`
    what the user comes back to.

    A large model can be shown before it is linked: what `sketcher(file, task)` makes in the thread that opens the file,
    `sketched(sketch)` hands out. `is_sketched` is true until the model is there, or until the opening has ended without
    one, which `sketched(None)` says.

    Signals: `opening_changed()` (an opening begins or ends), `sketched(object)`, `model_changed()`,
    `graph_changed(Graph | None)`, `selection_changed(Node | Tensor | None)`, `history_changed()`, `problems_changed()`,
    `run_changed()`, `providers_changed()`, `dims_changed()`, `overrides_changed()`, `run_requested()` and
    `find_requested(query)` (the user wants it), `busy_changed(Progress)` (empty when idle) and
    `failed(title, message)`.
    """

    opening_changed = Signal()
    sketched = Signal(object)
    model_changed = Signal()
    graph_changed = Signal(object)
    selection_changed = Signal(object)
    history_changed = Signal()
    problems_changed = Signal()
    run_changed = Signal()
    providers_changed = Signal()
    dims_changed = Signal()
    overrides_changed = Signal()
    run_requested = Signal()
    find_requested = Signal(str)
    busy_changed = Signal(object)
    failed = Signal(str, str)
    _sketch_made = Signal(object, object, object)

    def __init__(self, parent: QObject | None = None, settings: Settings | None = None) -> None:
        super().__init__(parent)
        self.settings = settings or Settings()
        self.path: str | None = None
        self.model: Model | None = None
        self.index: ModelIndex | None = None
        self.graph: Graph | None = None
        self.selection: Item = None
        self.run: RunState | None = None
        self.providers: list[str] = []
        self.dims: dict[str, int] = {}
        self.binder: Binder | None = None
        self.overrides: dict[str, str] = {}
        self.turns = Turns(self)
        self.jobs = JobRunner(self, self.turns)
        self.finder = Finder(self)
        self.costing = Costing(self)
        self.forecast = Forecast(self)
        self.differ = Differ(self)
        self.attachment = Attachment(self)
        self.bookmarks = Bookmarks(self)
        self._history = History()
        self._foreground: list[Job] = []
        self._loading: Job | None = None
        self._allow_external = False
        self.sketcher: Callable[[ModelFile, Task], Any] | None = None
        self.is_sketched = False
        self.opening_path = ""
        self._sketch_made.connect(self._show_sketch)

    # Opening

    def open(self, path: str | Path, allow_external: bool = False) -> None:
        """Read the model at `path` (`opening_path` then) in the background; the one shown stays until it is there.

        `allow_external` follows links to weights outside the model's folder: only after the user has said so.
        Ends in `model_changed` or in `failed`.
        """
        self.opening_path = path = str(path)
        if self._loading:
            self._loading.cancel()
        self._end_sketch()

        def loaded(result: tuple[Model, ModelIndex]) -> None:
            self._allow_external = allow_external
            self._set_model(*result, path)

        def failed(error: Exception) -> None:
            self.failed.emit(f"Could not open {Path(path).name or path}", explain(error, path))

        def load(task: Task) -> tuple[Model, ModelIndex]:
            return _load(path, allow_external, task, partial(self._sketch, task))

        self._loading = self.start(f"Opening {Path(path).name}", load, loaded, failed)
        self.opening_changed.emit()

    @property
    def opening_name(self) -> str:
        """The name of the file that is being opened; empty where none is."""
        return one_line(Path(self.opening_path).name) if self._loading is not None else ""

    @property
    def why_no_model(self) -> str:
        """What to say where a model would be shown and none is there; nothing where one is there."""
        if self.opening_name:
            return f"Opening {self.opening_name}…"
        return "No model open" if self.model is None else ""

    def _sketch(self, task: Task, file: ModelFile) -> None:
        """Make the sketch and hand it to the GUI thread; in the thread that opens the file."""
        sketch = self.sketcher(file, task) if self.sketcher is not None else None
        if sketch is not None:
            shown = threading.Event()
            self._sketch_made.emit(task, sketch, shown)
            shown.wait(SHOWN_WITHIN)  # reading on would take the interpreter from the GUI thread

    @Slot(object, object, object)
    def _show_sketch(self, task: Task, sketch: object, shown: threading.Event) -> None:
        if self._loading is not None and self._loading.task is task and self._loading.running:
            self.is_sketched = True
            self.sketched.emit(sketch)
        shown.set()

    def _end_sketch(self) -> None:
        """What was sketched did not become a model."""
        if self.is_sketched:
            self.is_sketched = False
            self.sketched.emit(None)

    def reload(self) -> None:
        """Read the file again, keeping the selection where it still exists."""
        if self.path:
            self.open(self.path, self._allow_external)

    def _set_model(self, model: Model, index: ModelIndex, path: str) -> None:
        again = path == self.path
        place = self._history.current if again else None
        had_run = self.run is not None
        self.path, self.model, self.index, self.run = path, model, index, None
        self.is_sketched = False
        self._history.clear()
        graph, selection = _find_again(place, index) if place else (None, None)
        self.graph, self.selection = graph or model.graph, selection
        self._history.visit(Place(self.graph, self.selection))
        self.model_changed.emit()
        self.graph_changed.emit(self.graph)
        self.selection_changed.emit(self.selection)
        self.problems_changed.emit()
        if had_run:
            self.run_changed.emit()
        self.history_changed.emit()

    # What is looked at

    def select(self, item: Item) -> None:
        """Select a node, a tensor or nothing; its graph is shown where another one is.

        Nothing happens for an item of a model that is gone, as from a list or a menu that was open when another came.
        """
        if item is self.selection or not (item is None or self._has(item.graph)):
            return
        self._go(Place(item.graph if item is not None else self.graph, item))
        self._visit()

    def show_graph(self, graph: Graph) -> None:
        """Show a graph of this model, with nothing selected unless it is shown already."""
        if graph is not self.graph and self._has(graph):
            self._go(Place(graph, None))
            self._visit()

    def _has(self, graph: Graph) -> bool:
        """Whether a graph is one of this model, or of a function of it."""
        if self.model is None:
            return False
        outermost = graph.outermost
        return outermost is self.model.graph or any(outermost is f.body for f in self.model.functions.values())

    def back(self) -> None:
        self._travel(self._history.back())

    def forward(self) -> None:
        self._travel(self._history.forward())

    @property
    def can_go_back(self) -> bool:
        return self._history.can_go_back

    @property
    def can_go_forward(self) -> bool:
        return self._history.can_go_forward

    def _visit(self) -> None:
        self._history.visit(Place(self.graph, self.selection))
        self.history_changed.emit()

    def _travel(self, place: Place | None) -> None:
        if place:
            self._go(place)
            self.history_changed.emit()

    def _go(self, place: Place) -> None:
        graph_changes = place.graph is not self.graph
        self.graph, self.selection = place.graph, place.item
        if graph_changes:
            self.graph_changed.emit(self.graph)
        self.selection_changed.emit(self.selection)

    # Runs

    def set_run(self, run: RunState | None) -> None:
        """Replace the results of the last run."""
        self.run = run
        self.run_changed.emit()

    def set_providers(self, names: Sequence[str]) -> None:
        """The providers to try, in order."""
        if list(names) != self.providers:
            self.providers = list(names)
            self.providers_changed.emit()

    def set_dims(self, dims: Mapping[str, int]) -> None:
        """The sizes that the user gives symbolic dims; `binder` writes shapes with them, None while there are none."""
        if dict(dims) != self.dims:
            self.dims = dict(dims)
            self.binder = Binder(dims) if dims else None
            self.dims_changed.emit()

    def set_overrides(self, overrides: Mapping[str, str]) -> None:
        """The user's own placements in the next run: providers by ``node:NAME`` or ``op:OPERATOR``."""
        if dict(overrides) != self.overrides:
            self.overrides = dict(overrides)
            self.overrides_changed.emit()

    # Jobs the user waits for

    def start(
        self,
        text: str,
        function: Function,
        on_success: Callable[[Any], None] | None = None,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> Job:
        """Run a job that the window shows as busy and that `cancel` stops; see `JobRunner.start`."""
        job = self.jobs.start(function, on_success, on_failure)
        self._foreground.append(job)
        job.progress.connect(self.busy_changed)
        job.finished.connect(self._job_finished)
        self.busy_changed.emit(Progress(text))
        return job

    def cancel(self) -> None:
        """Stop every job the user waits for."""
        for job in self._foreground:
            job.cancel()

    @property
    def busy(self) -> bool:
        return bool(self._foreground)

    def close(self, timeout_ms: int = 0) -> bool:
        """Stop all jobs and wait for their functions, at most `timeout_ms` (-1: as long as they take); whether all have
        ended. None starts any more."""
        return self.jobs.shutdown(timeout_ms)

    @Slot()
    def _job_finished(self) -> None:
        job = self.sender()
        self._foreground = [j for j in self._foreground if j is not job]
        if job is self._loading:
            self._loading = None
            self._end_sketch()
            self.opening_changed.emit()
        if not self._foreground:
            self.busy_changed.emit(Progress())


def _load(
    path: str, allow_external: bool, task: Task, on_read: Callable[[ModelFile], None]
) -> tuple[Model, ModelIndex]:
    def report(phase: str, done: int, total: int) -> None:
        task.check()
        task.report(f"{phase}: {Path(path).name}", done, total + 1)

    with ExitStack() as until_seen:
        until_seen.enter_context(uncollected())

        def read(file: ModelFile) -> None:
            on_read(file)
            until_seen.close()

        model = open_model(path, report, allow_external, read, task.check)
    report("Indexing", 3, 3)
    return model, ModelIndex.of(model)


def _find_again(place: Place, index: ModelIndex) -> tuple[Graph | None, Item]:
    """The same place in a model that was read anew, by name."""
    item = index.like(place.item) if place.item is not None else None
    if item is not None:
        return item.graph, item
    return (index.graphs.get(place.graph.prefix) if place.graph else None), None
