"""The centre of the window: the graph canvas with the way to the graph above it, tied to the document.

Scenes and layouts are made in a job and kept in `Document.layouts`, so that going back to a graph costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas.canvas import ZOOM_STEP, GraphCanvas
from gui.canvas.layout.types import Layout
from gui.canvas.layout_process import LayoutCancelled, LayoutTask
from gui.canvas.scene import Scene, build_scene
from gui.canvas.text import TextMeasure
from gui.canvas.view import View
from gui.document import Document, Item
from gui.errors import explain
from gui.jobs import Cancelled, Job, Task
from gui.models.order import provider_name
from gui.text import one_line, plural
from gui.theme import Theme, on_theme
from gui.widgets.bars import Breadcrumb


@dataclass(slots=True)
class Drawing:
    """A graph ready to be shown, and where the user was looking when it was left."""

    scene: Scene
    layout: Layout
    seconds: float
    view: View | None = None


class CanvasView(QWidget):
    """The canvas and its breadcrumb. `drawn()` says that the document's graph is on the canvas."""

    drawn = Signal()
    view_changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(objectName="centre")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._document = document
        self._measure = TextMeasure()
        self._job: Job | None = None
        self._color_mode = "category"
        self._found: list[Node | Tensor] = []
        self.canvas = GraphCanvas()
        self.breadcrumb = Breadcrumb()
        self._build()
        self._connect()

    def _build(self) -> None:
        self._back = _button("◀", "Back (Alt+Left)")
        self._forward = _button("▶", "Forward (Alt+Right)")
        self._notice = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._notice.setProperty("role", "muted")
        self._again = QPushButton("Lay out")
        self._again.hide()
        path = QHBoxLayout()
        path.setContentsMargins(10, 6, 10, 2)
        path.setSpacing(2)
        for widget in (self._back, self._forward):
            path.addWidget(widget)
        path.addWidget(self.breadcrumb, 1)
        path.addWidget(self._notice)
        path.addWidget(self._again)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(path)
        layout.addWidget(self.canvas, 1)

    def _connect(self) -> None:
        document, canvas = self._document, self.canvas
        document.graph_changed.connect(self._show_graph)
        document.model_changed.connect(self._model_changed)
        document.selection_changed.connect(self._show_selection)
        document.run_changed.connect(self._recolor)
        document.history_changed.connect(self._show_history)
        canvas.node_clicked.connect(document.select)
        canvas.tensor_clicked.connect(document.select)
        canvas.graph_opened.connect(document.show_graph)
        canvas.background_clicked.connect(self._clear_selection)
        canvas.view_changed.connect(self.view_changed)
        self.breadcrumb.clicked.connect(self._go_to)
        self._back.clicked.connect(document.back)
        self._forward.clicked.connect(document.forward)
        self._again.clicked.connect(self._lay_out)
        self._show_history()
        on_theme(self._set_theme)

    def sizeHint(self) -> QSize:
        return QSize(800, 600)

    # What the window's commands ask for

    def fit(self) -> None:
        self.canvas.fit()

    def full_size(self) -> None:
        self.canvas.zoom_to(1.0)

    def zoom_in(self) -> None:
        self.canvas.zoom(ZOOM_STEP)

    def zoom_out(self) -> None:
        self.canvas.zoom(1 / ZOOM_STEP)

    @property
    def scale(self) -> float:
        """The magnification, 1 for full size."""
        return self.canvas.view.scale

    def set_color_mode(self, mode: str) -> None:
        """Colour the nodes by "category", "provider", "time", "dtype" or "error"."""
        self._color_mode = mode
        self._recolor()

    def highlight(self, items: Iterable[Node | Tensor]) -> None:
        """Mark what a search found; what lies in other graphs shows when they do."""
        self._found = list(items)
        self.canvas.highlight([item for item in self._found if item.graph is self._document.graph])

    # Following the document

    @Slot()
    def _model_changed(self) -> None:
        self._found = []

    @Slot(object)
    def _show_graph(self, graph: Graph | None) -> None:
        self._keep_view()
        self.breadcrumb.set_places(list(self._places(graph)))
        drawing = self._document.layouts.get(graph) if graph is not None else None
        if drawing is not None:
            self._show(drawing)
            return
        self.canvas.set_scene(None, None)
        self._notice.setText("Laying out…")
        # After all panes have shown the graph: the job would take the interpreter from them.
        QTimer.singleShot(0, self, self._lay_out)

    @Slot()
    def _lay_out(self) -> None:
        """Make the drawing of the document's graph in a job."""
        if self._job:
            self._job.cancel()
        graph = self._document.graph
        self._again.hide()
        if graph is None:
            return
        self._notice.setText("Laying out…")
        text = f"Laying out {plural(len(graph.nodes), 'node')}"
        job = self._document.start(text, lambda task: _draw(graph, self._measure, task), self._arrived, self._failed)
        self._job = job
        job.finished.connect(self._laid_out)

    def _arrived(self, drawing: Drawing) -> None:
        document = self._document
        document.layouts[drawing.scene.graph] = drawing
        if document.model is not None:
            document.model.timings_ms["layout"] = drawing.seconds * 1e3
        if drawing.scene.graph is document.graph:
            self._show(drawing)

    def _failed(self, error: Exception) -> None:
        self._document.failed.emit("Could not lay out the graph", explain(error))

    @Slot()
    def _laid_out(self) -> None:
        if self.sender() is not self._job:
            return
        self._job = None
        is_shown = self.canvas.scene is not None
        self._notice.setText("" if is_shown else "Not laid out")
        self._again.setVisible(not is_shown)

    def _show(self, drawing: Drawing) -> None:
        self._notice.setText("")
        self._again.hide()
        self.canvas.set_scene(drawing.scene, drawing.layout)
        if drawing.view is not None:
            self._restore(drawing.view)
        self.highlight(self._found)
        self._recolor()
        self._show_selection(self._document.selection)
        self.drawn.emit()

    def _keep_view(self) -> None:
        """Remember where the user looked, before another graph takes the canvas."""
        scene = self.canvas.scene
        drawing = self._document.layouts.get(scene.graph) if scene else None
        if drawing is not None:
            drawing.view = replace(self.canvas.view)

    def _restore(self, view: View) -> None:
        now = self.canvas.view
        if (now.width, now.height) == (view.width, view.height):
            now.scale, now.dx, now.dy = view.scale, view.dx, view.dy
            self.canvas.zoom(1.0)

    @Slot(object)
    def _show_selection(self, item: Item) -> None:
        self.canvas.select(item)
        if item is not None and self.canvas.scene is not None:
            self.canvas.reveal(item)

    @Slot()
    def _clear_selection(self) -> None:
        self._document.select(None)

    @Slot()
    def _recolor(self) -> None:
        if self._color_mode in ("category", "dtype"):
            self.canvas.set_colors(self._color_mode)
        else:
            self.canvas.set_colors(self._color_mode, self._values())

    def _values(self) -> Mapping[Node, object]:
        run = self._document.run
        if run is None:
            return {}
        if self._color_mode == "provider":
            return {node: name for node, p in run.placements.items() if (name := provider_name(p))}
        return run.node_ms if self._color_mode == "time" else run.disagreement

    # The way here

    def _places(self, graph: Graph | None) -> Iterable[tuple[str, object]]:
        document = self._document
        if graph is None or document.model is None:
            return
        name = (document.path or "model").replace("\\", "/").rsplit("/", 1)[-1]
        yield one_line(name, 80), None
        yield "main graph", document.model.graph
        way = []
        while graph is not None and graph.owner is not None:
            way.append((f"{one_line(graph.owner.name, 80)} / {graph.owner_attribute}", graph))
            graph = graph.parent
        yield from reversed(way)

    @Slot(object)
    def _go_to(self, place: object) -> None:
        """A graph of the way; the model itself stands for its main graph with nothing selected."""
        document = self._document
        if isinstance(place, Graph):
            document.show_graph(place)
        elif document.model is not None:
            document.show_graph(document.model.graph)
            document.select(None)

    @Slot()
    def _show_history(self) -> None:
        self._back.setEnabled(self._document.can_go_back)
        self._forward.setEnabled(self._document.can_go_forward)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.canvas.set_theme(theme)


def _draw(graph: Graph, measure: TextMeasure, task: Task) -> Drawing:
    start = time.perf_counter()
    scene = build_scene(graph, measure)
    task.check()
    try:
        layout = LayoutTask(scene.layout_input).run(task.cancelled)
    except LayoutCancelled as error:
        raise Cancelled from error
    return Drawing(scene, layout, time.perf_counter() - start)


def _button(text: str, name: str) -> QToolButton:
    button = QToolButton(text=text, toolTip=name, accessibleName=name)
    button.setProperty("flat", "true")
    return button
