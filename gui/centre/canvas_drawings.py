"""The drawings of a model's graphs: made in a job, and kept, so that going back to a graph costs nothing."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from engine.graph.ir import Graph
from engine.words import counted
from gui.background.jobs import Cancelled, Job, Task
from gui.canvas.drawing import Drawing, draw, let_go
from gui.canvas.layout_process import LayoutCancelled
from gui.canvas.scene import Scene, SceneOptions
from gui.canvas.text import TextMeasure
from gui.centre.canvas_modules import CanvasModules
from gui.document import Document
from gui.errors import explain

MAX_KEPT = 24  # drawings of one model


class CanvasDrawings(QObject):
    """Makes one drawing at a time, in the grouping that `modules` has for its graph, which it takes from the first.

    `made(drawing)` says that one is there; `ended()` that none is being made any more, whether one came of it or not.
    """

    made = Signal(object)
    ended = Signal()

    def __init__(self, document: Document, modules: CanvasModules) -> None:
        super().__init__(document)
        self._document, self._modules = document, modules
        self._kept: dict[object, Drawing] = {}
        self._job: Job | None = None
        self.measure = TextMeasure()
        document.model_changed.connect(self._let_go)

    def find(self, graph: Graph | None, options: SceneOptions) -> Drawing | None:
        """The drawing of a graph as it shall be now, where it is kept."""
        grouping = self._modules.of(graph)
        return self._kept.get((graph, options, grouping.key)) if graph is not None and grouping is not None else None

    def of_scene(self, scene: Scene | None) -> Drawing | None:
        """The drawing that a scene is part of."""
        return next((drawing for drawing in self._kept.values() if drawing.scene is scene), None) if scene else None

    def forget(self) -> None:
        """Have whatever is shown next drawn anew."""
        self._kept.clear()

    def make(self, graph: Graph, options: SceneOptions, flat: bool = False) -> None:
        """Start to draw a graph instead of whatever is being drawn; one that opens with all nodes if `flat`."""
        self.stop()
        grouping = self._modules.of(graph)

        def work(task: Task) -> Drawing:
            try:
                return draw(graph, grouping, options, self.measure, task.cancelled, flat)
            except LayoutCancelled as error:
                raise Cancelled from error

        def arrived(drawing: Drawing) -> None:
            self._modules.settle(graph, drawing.grouping)
            self._keep((graph, options, drawing.grouping.key), drawing)
            self.made.emit(drawing)

        self._job = self._document.start(f"Laying out {counted(len(graph.nodes), 'node')}", work, arrived, self._failed)
        self._job.finished.connect(self._finished)

    def stop(self) -> None:
        """Have nothing drawn any more; neither `made` nor `ended` follows."""
        if self._job:
            self._job.cancel()
            self._job = None

    def _keep(self, key: object, drawing: Drawing) -> None:
        self._kept[key] = drawing
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        if self._document.model is not None:
            self._document.model.timings_ms["layout"] = drawing.seconds * 1e3

    def _failed(self, error: Exception) -> None:
        self._document.failed.emit("Could not lay out the graph", explain(error))

    @Slot()
    def _finished(self) -> None:
        if self.sender() is self._job:
            self._job = None
            self.ended.emit()

    @Slot()
    def _let_go(self) -> None:
        """Free the drawings of the model before, away from the GUI thread."""
        self.stop()
        old = list(self._kept.values())
        self._kept.clear()
        self._document.jobs.start(lambda task: let_go(old, task.cancelled))
