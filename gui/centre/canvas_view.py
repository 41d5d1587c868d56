"""The centre of the window: the graph canvas with the way to what it shows above it, tied to the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from engine.graph.ir import Graph, Node, Tensor
from engine.graph.reader import ModelFile
from gui.background.jobs import LatestJob, Task
from gui.canvas.canvas import ZOOM_STEP, GraphCanvas
from gui.canvas.drawing import Drawing
from gui.canvas.groups import Group
from gui.canvas.layout.types import Ints
from gui.canvas.layout_process import warm
from gui.canvas.scene import stored_options
from gui.centre.canvas_bar import CanvasBar, way_to
from gui.centre.canvas_drawings import CanvasDrawings
from gui.centre.canvas_modules import CanvasModules
from gui.centre.colour_modes import colour_by, colour_title, colour_values, shown_copies
from gui.centre.sketch import SketchedCanvas, sketch_of
from gui.commands.placement import add_placement
from gui.document import Document, Item
from gui.look.theme import Theme, on_theme
from gui.widgets.aloud import say_aloud

FEW_FOUND = 1_000  # matches whose boxes are looked up at once; 100,000 take a tenth of a second


class CanvasView(QWidget):
    """The canvas and its breadcrumb; `modules` says which modules are open.

    `drawn()` says that the document's graph is on the canvas, `options_changed()` that the options or the modules shown
    are others now.
    """

    drawn = Signal()
    view_changed = Signal()
    options_changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(objectName="centre")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._document = document
        self._colour_mode = "category"
        self._found: list[Node | Tensor] = []
        self._marking = LatestJob()
        self._hold: object = None  # what stays in its place when the next drawing comes
        self._group: Group | None = None  # selected on the canvas; the document knows nodes and tensors only
        self.options = stored_options(document.settings.view_options)
        self.modules = CanvasModules(document)
        self._drawings = CanvasDrawings(document, self.modules)
        self.opens_flat = False  # whether large graphs open with every node by itself
        self.canvas = GraphCanvas()
        self.canvas.jobs = document.jobs
        self.canvas.set_netron(self.options.netron)
        self.stack = SketchedCanvas(self.canvas)
        self.set_wheel_moves(document.settings.wheel_moves)
        self.bar = CanvasBar()
        self.breadcrumb = self.bar.breadcrumb
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.stack, 1)
        self._connect()

    def _connect(self) -> None:
        document, canvas = self._document, self.canvas
        document.graph_changed.connect(self._show_graph)
        document.model_changed.connect(self._model_changed)
        document.sketcher = self._make_sketch
        document.sketched.connect(self._show_sketch)
        self.stack.said.connect(self.say)
        document.selection_changed.connect(self._show_selection)
        document.run_changed.connect(self._recolour)
        document.forecast.changed.connect(self._recolour)
        document.dims_changed.connect(self._bind)
        canvas.node_clicked.connect(document.select)
        canvas.tensor_clicked.connect(document.select)
        canvas.graph_opened.connect(document.show_graph)
        canvas.group_clicked.connect(self._select_group)
        canvas.toggled.connect(self.modules.toggle)
        self.modules.changed.connect(self._redraw)
        self._drawings.made.connect(self._show_made)
        self._drawings.ended.connect(self._laid_out)
        canvas.said.connect(self.say)
        canvas.menu_opening.connect(self._extend_menu)
        canvas.background_clicked.connect(self._clear_selection)
        document.opening_changed.connect(warm)
        for seen in (canvas, self.stack.sketch):
            seen.view_changed.connect(self.view_changed)
        self.breadcrumb.clicked.connect(self._go_to)
        self.bar.layout_wanted.connect(self._lay_out)
        self.bar.all_wanted.connect(self.show_left_out)
        on_theme(self._set_theme)

    def sizeHint(self) -> QSize:
        return QSize(800, 600)

    # What the window's commands ask for

    def fit(self) -> None:
        self.seen.fit()

    def full_size(self) -> None:
        self.seen.zoom_to(1.0)

    def zoom_in(self) -> None:
        self.seen.zoom(ZOOM_STEP)

    def zoom_out(self) -> None:
        self.seen.zoom(1 / ZOOM_STEP)

    @property
    def scale(self) -> float:
        """The magnification, 1 for full size."""
        return self.seen.view.scale

    @property
    def seen(self) -> GraphCanvas:
        """The canvas that is seen: the document's, or that of a sketch over it."""
        return self.stack.sketch if self.stack.is_covered else self.canvas

    def set_colour_mode(self, mode: str) -> None:
        """Colour the nodes by one of the modes of `gui.centre.colour_modes`."""
        self._colour_mode = mode
        self._document.forecast.want(mode == "provider")
        self._recolour()

    def highlight(self, items: Iterable[Node | Tensor]) -> None:
        """Mark what a search found; what lies in other graphs shows when they do."""
        self._found = found = list(items)
        self._marking.cancel()
        scene, graph = self.canvas.scene, self._document.graph
        here = (item for item in found if item.graph is graph)
        if scene is None or len(found) <= FEW_FOUND:
            self.canvas.highlight(here)
            return

        def mark(boxes: Ints) -> None:
            if self.canvas.scene is scene:
                self.canvas.outline(boxes)

        self._marking.replace(self._document.jobs.start(lambda _task: scene.locate_all(here), mark))

    def light_found(self) -> None:
        """Dim everything but what a search found."""
        if not self.canvas.light_items(item for item in self._found if item.graph is self._document.graph):
            self.say("Nothing that was found is in this graph")

    # What is shown, and how

    def set_options(self, **changes: Any) -> None:
        """Change options of the drawing (`SceneOptions`); remembered for all models."""
        self.options = replace(self.options, **changes)
        self._document.settings.view_options = {f.name: getattr(self.options, f.name) for f in fields(self.options)}
        self.canvas.set_netron(self.options.netron)
        self._redraw()

    @property
    def wheel_moves(self) -> bool:
        """Whether the wheel moves the picture rather than zooming."""
        return self.canvas.wheel_moves

    def set_wheel_moves(self, moves: bool) -> None:
        """Let the wheel move the picture, or zoom; remembered."""
        self.canvas.wheel_moves = self.stack.sketch.wheel_moves = self._document.settings.wheel_moves = moves
        self.options_changed.emit()

    @Slot()
    def show_left_out(self) -> None:
        """Show the kinds of nodes again that are left out."""
        self.set_options(hide_casts=False, hide_qdq=False, hide_shapes=False)

    def reveal_hidden(self) -> None:
        """Open the modules around the selected item, so that it is seen itself."""
        self.modules.open_around(self._document.selection)

    def show_group(self, group: Group) -> None:
        """Select a module and bring it into sight; where it has no box yet, open the modules around it."""
        if self.modules.grouping is not None and self.canvas.shows_as(group) is None:
            self._document.select(None)
            self._group = group
            self.modules.open_around(group)
        else:
            self._select_group(group)
            self.canvas.reveal(group)

    @Slot(object)
    def _redraw(self, hold: object = None) -> None:
        """Show the same graph as it shall be now, from the drawings kept or by a job."""
        self.options_changed.emit()
        self._hold = hold or self._document.selection
        if self._document.graph is not None:
            self._show_graph(self._document.graph, again=True)

    @property
    def drawing(self) -> Drawing | None:
        """What is on the canvas."""
        return self._drawings.of_scene(self.canvas.scene)

    def forget_drawings(self) -> None:
        """Have whatever is shown next drawn anew."""
        self._drawings.forget()

    # Following the document

    @Slot()
    def _model_changed(self) -> None:
        self._found = []
        self._group = None

    def _make_sketch(self, file: ModelFile, task: Task) -> Drawing | None:
        """In the thread that opens the file."""
        return None if self.opens_flat else sketch_of(file, self.options, self._drawings.measure, task)

    @Slot(object)
    def _show_sketch(self, drawing: Drawing | None) -> None:
        if drawing is None:
            self.bar.show_state("")
            self.stack.uncover()
        else:
            self.bar.show_state("Reading on…")
            self.stack.cover(drawing, self.options.netron)
        self._show_places()

    def _uncover(self, drawing: Drawing) -> Item | Group:
        """Give way to the model's own drawing; what was picked on the sketch."""
        index = self._document.index
        if self._document.is_sketched or index is None:
            return None
        return self.stack.hand_over(drawing, index)

    @Slot(object)
    def _show_graph(self, graph: Graph | None, again: bool = False) -> None:
        self._drawings.stop()  # what is being drawn is not what is wanted now
        self._keep_view()
        self._show_places()
        drawing = self._drawings.find(graph, self.options)
        if drawing is not None:
            self._show(drawing)
            return
        if not again:
            self.canvas.set_scene(None, None)
        self.bar.show_state("Laying out…")
        # After all panes have shown the graph: the job would take the interpreter from them.
        QTimer.singleShot(0, self, self._lay_out)

    @Slot()
    def _lay_out(self) -> None:
        """Make the drawing of the document's graph in a job."""
        if self._document.graph is not None:
            self.bar.show_state("Laying out…")
            self._drawings.make(self._document.graph, self.options, self.opens_flat)

    @Slot(object)
    def _show_made(self, drawing: Drawing) -> None:
        if drawing.scene.graph is self._document.graph:
            self._show(drawing)

    @Slot()
    def _laid_out(self) -> None:
        is_shown = self.canvas.scene is not None
        if not is_shown and not self._document.is_sketched:
            self.stack.uncover()
        self.bar.show_state("" if is_shown else "Not laid out", again=not is_shown)

    def _show(self, drawing: Drawing) -> None:
        self.bar.show_state("")
        self.bar.show_left_out(len(drawing.scene.left_out))
        hold, self._hold = self._hold, None
        self.canvas.set_scene(drawing.scene, drawing.layout, drawing.geometry, hold)
        if drawing.view is not None and hold is None:
            self.canvas.look(drawing.view)
        picked = self._uncover(drawing)
        self.highlight(self._found)
        self._recolour()
        if isinstance(picked, Group):
            self._select_group(picked)
        elif picked is not None:
            self._document.select(picked)
        self.canvas.select(self._group or self._document.selection)
        if hold is None and picked is None and self._document.selection is not None:
            self.canvas.reveal(self._document.selection)
        elif hold is not None and hold is self._group:
            self.canvas.reveal(hold)
        self._show_places()
        self.options_changed.emit()
        self.drawn.emit()

    def _keep_view(self) -> None:
        """Remember where the user looked, before another graph takes the canvas."""
        drawing = self.drawing
        if drawing is not None:
            drawing.view = replace(self.canvas.view)

    @Slot(object)
    def _show_selection(self, item: Item) -> None:
        self._group = None
        self.canvas.select(item)
        if item is not None and self.canvas.scene is not None:
            self.canvas.reveal(item)
            if self.canvas.scene.leaves_out(item):
                self.say("Its kind is hidden (Graph ▸ Hide)")
            elif self.canvas.scene.conceals(item):
                self.say("It is inside this module (Ctrl+E opens it)")
        self._show_places()

    @Slot(object)
    def _select_group(self, group: Group) -> None:
        """A module is selected on the canvas, and nothing in the document."""
        self._document.select(None)
        self._group = group
        self.canvas.select(group)
        self._show_places()

    @Slot()
    def _clear_selection(self) -> None:
        self._document.select(None)
        self._group = None
        self.canvas.select(None)
        self._show_places()

    @Slot(object, object)
    def _extend_menu(self, menu: QMenu, item: object) -> None:
        add_placement(menu, self._document, item)

    @Slot(str)
    def say(self, text: str) -> None:
        """Show a sentence above the canvas for a while."""
        self.bar.say(text)
        say_aloud(self.canvas, text)

    @property
    def notice(self) -> str:
        """The sentence above the canvas."""
        return self.bar.notice

    @Slot()
    def _recolour(self) -> None:
        mode, document = self._colour_mode, self._document
        self.canvas.set_colours(colour_by(mode, document), colour_values(mode, document), colour_title(mode))
        self.canvas.set_copies(shown_copies(mode, document))

    @Slot()
    def _bind(self) -> None:
        self.canvas.set_sizes(self._document.binder)

    # The way here

    def _show_places(self) -> None:
        modules = self.modules.around(self._group or self._document.selection)
        self.breadcrumb.set_places(list(way_to(self._document, modules)))

    @Slot(object)
    def _go_to(self, place: object) -> None:
        """A graph of the way; the model itself stands for its main graph with nothing selected."""
        document = self._document
        if isinstance(place, Group):
            self.show_group(place)
        elif isinstance(place, Graph):
            document.show_graph(place)
        elif document.model is not None and not document.is_sketched:
            document.show_graph(document.model.graph)
            document.select(None)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.canvas.set_theme(theme)
        self.stack.set_theme(theme)
