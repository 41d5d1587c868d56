"""A laid-out scene as a widget: what is shown, in which colours, and what stands out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from engine.graph.ir import Node
from engine.session import ProviderEdge
from engine.shapes.bind import Binder
from gui.background import right_of_way
from gui.background.jobs import JobRunner, LatestJob
from gui.canvas.buffers import Buffers
from gui.canvas.colouring import Colouring, make_colouring
from gui.canvas.copies import CopyMarks, copies_text
from gui.canvas.edge_labels import EdgeLabels
from gui.canvas.frame_cache import FrameCache
from gui.canvas.geometry import Geometry
from gui.canvas.layout import Layout
from gui.canvas.layout.types import Ints
from gui.canvas.links import Lit
from gui.canvas.painter import Emphasis, FramePainter
from gui.canvas.palette import CanvasColours, ColourBy, canvas_colours
from gui.canvas.ports import ports_of
from gui.canvas.scene import Scene
from gui.canvas.text import AtlasText, TextMeasure
from gui.canvas.viewport import Viewport
from gui.look.theme import LIGHT

if TYPE_CHECKING:
    from gui.look.theme import Theme

FEW_COLOURED = 5_000  # nodes that are coloured at once; 50,000 take a tenth of a second


class GraphPicture(Viewport):
    """Shows one graph; takes no input but the minimap's."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._painter: FramePainter | None = None
        self._made: Colouring | None = None  # the same in every theme
        self._colouring: Colouring | None = None
        self._coloured_by: tuple[ColourBy, Mapping[Node, object] | None, str] = (ColourBy.CATEGORY, None, "")
        self._emphasis = Emphasis()
        self._colours = canvas_colours(LIGHT)
        self._buffers = Buffers()
        self._measure = TextMeasure()
        self._binder: Binder | None = None
        self._copies: tuple[ProviderEdge, ...] = ()
        self._selected: object = None
        self._lit: Lit | None = None
        self._netron = False
        self._cache = FrameCache(self._paint_frame)
        self.jobs: JobRunner | None = None  # runs what takes long, where there is one
        self._colouring_job = LatestJob()

    # What is shown

    def set_scene(
        self, scene: Scene | None, layout: Layout | None, geometry: Geometry | None = None, hold: object = None
    ) -> None:  # fmt: skip
        """Show a scene with its layout, or nothing. The view starts readable; the selection is empty.

        Parameters
        ----------
        geometry
            `Geometry.of(scene, layout)`, where it has been made already.
        hold
            What shall stay in its place on the screen, for another drawing of the same graph.
        """
        place = self.place_of(hold)
        self._scene, self._made = scene, None
        self._emphasis, self._selected, self._opened, self._lit = Emphasis(), None, False, None
        if scene is None or layout is None:
            self._scene = self._geometry = self._painter = self._colouring = None
        else:
            self._geometry = geometry or Geometry.of(scene, layout)
            labels = EdgeLabels(scene, self._geometry, self._measure, self._binder)
            drawer = partial(AtlasText, buffers=self._buffers)
            self._painter = FramePainter(self._geometry, labels, self._buffers, drawer, glyphs=not self._netron)
            self._mark_copies()
        self._recolour()
        if place is None or not self._hold(hold, place):
            self._open_view()

    def set_sizes(self, binder: Binder | None) -> None:
        """Write shapes with the sizes that a binder gives their symbols; None writes the symbols."""
        self._binder = binder
        if self._painter is not None and self._scene is not None and self._geometry is not None:
            self._painter.set_labels(EdgeLabels(self._scene, self._geometry, self._measure, binder))
            self._cache.clear()
            self.update()

    def set_copies(self, edges: Sequence[ProviderEdge]) -> None:
        """Mark the lines along which tensors are copied between devices, with how much; none for no marks.

        Constants are left out: they have no lines, and are copied once.
        """
        copies = tuple(edge for edge in edges if not edge.tensor.is_constant)
        if copies == self._copies == ():
            return
        self._copies = copies
        self._mark_copies()
        self._show_colouring()

    def _mark_copies(self) -> None:
        if self._painter is not None and self._scene is not None and self._geometry is not None:
            marks = CopyMarks.of(self._scene, self._geometry, self._copies, self._measure) if self._copies else None
            self._painter.set_copies(marks)

    def set_netron(self, on: bool) -> None:
        """Take Netron's colours of operators, and leave out the signs of their categories."""
        if on != self._netron:
            self._netron = on
            self._recolour()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._colours = canvas_colours(theme)
        self._show_colouring()

    def set_colours(self, by: ColourBy, values: Mapping[Node, object] | None = None, title: str = "") -> None:
        """Colour the nodes by something, with a legend.

        Parameters
        ----------
        by
            What the values are.
        values
            By node. A node without a value is grey.
        title
            Of the legend, for `ColourBy.NUMBER`.

        Raises
        ------
        ValueError
            If the values are none of these.
        """
        self._coloured_by = (by, values, title)
        self._recolour()

    def _recolour(self) -> None:
        """Colour the scene by what was asked for; a large one in a job, meanwhile as it is or by category."""
        self._colouring_job.cancel()
        scene, (by, values, title), netron = self._scene, self._coloured_by, self._netron
        if scene is None:
            self._take_colouring(None)
        elif self.jobs is None or by is ColourBy.CATEGORY or len(scene.graph.nodes) <= FEW_COLOURED:
            self._take_colouring(make_colouring(scene, by, values, title, netron))
        else:
            if self._made is None:
                self._take_colouring(make_colouring(scene, ColourBy.CATEGORY, netron=netron))
            make = partial(make_colouring, scene, by, values, title, netron)
            self._colouring_job.replace(self.jobs.start(lambda _task: make(), self._take_colouring))

    def _take_colouring(self, made: Colouring | None) -> None:
        self._made = made
        self._show_colouring()

    def _show_colouring(self) -> None:
        self._colouring = self._made.suited(self._colours) if self._made is not None else None
        if self._colouring is not None and self._colouring.legend is not None and self._copies:
            self._colouring.legend.entries.append((self._colours.copied, copies_text(self._copies)))
        self._legend.show_legend(self._colouring.legend if self._colouring else None, self._colours)
        self._cache.clear()
        self._update_minimap()
        self._place_overlays()
        self.update()

    @property
    def copies(self) -> tuple[ProviderEdge, ...]:
        """What `set_copies` was given last."""
        return self._copies

    @property
    def colours(self) -> CanvasColours:
        """The colours of the theme."""
        return self._colours

    @property
    def colouring(self) -> Colouring | None:
        """The colours of the boxes; None where nothing is shown."""
        return self._colouring

    def _update_minimap(self) -> None:
        found, marked = self._emphasis.found, self._emphasis.marked
        self._minimap.show_scene(self._geometry, self._colouring, self._colours, self.view, found, marked)

    # Selection

    def select(self, item: object) -> None:
        """Make a node, tensor or group stand out, with all branches of its tensors; None for nothing. Emits no signal.

        Of what is in a closed group, or is read there alone, the group stands out.
        """
        self._selected = item
        scene, emphasis = self._scene, self._emphasis
        none = np.zeros(0, np.int64)
        emphasis.selected, emphasis.nets, emphasis.rows, emphasis.ports = none, none, none, None
        if scene is not None and item is not None and self._geometry is not None:
            emphasis.ports = ports_of(scene, self._geometry, item)
            own = scene.box_with(item)
            nets = scene.nets_of.get(id(item), [])
            if own >= 0:
                emphasis.selected = np.array([own])
            if nets:
                emphasis.nets = np.array(nets)
            elif own >= 0:
                edges = scene.layout_input
                emphasis.nets = np.unique(edges.net[(edges.source == own) | (edges.target == own)])
            else:
                constants = [t for t in item.outputs if t is not None] if isinstance(item, Node) else [item]
                emphasis.rows = self._rows_of(constants)
                with_rows = self._geometry.rows.box[emphasis.rows]
                emphasis.selected = np.setdiff1d(np.array(scene.locate(item), np.int64), with_rows)
        self.update()

    def _rows_of(self, constants: Iterable[object]) -> Ints:
        """Numbers of the rows that stand for some constants."""
        assert self._scene is not None
        assert self._geometry is not None
        found = []
        for constant in constants:
            for box in self._scene.readers.get(id(constant), []):
                first = int(self._geometry.rows.first[box])
                found += [first + i for i, row in enumerate(self._scene.boxes[box].rows) if row.item is constant]
        return np.array(found, np.int64)

    @property
    def selected(self) -> object:
        """What `select` was given last."""
        return self._selected

    def light(self, lit: Lit | None) -> None:
        """Dim everything but some boxes and nets; None lights all again."""
        self._lit = lit
        self._cache.clear()
        self.update()

    @property
    def lit(self) -> Lit | None:
        """What is not dimmed, or None where nothing is."""
        return self._lit

    def mark(self, items: Iterable[object]) -> None:
        """Put a bookmark's sign on some items."""
        boxes = [box for item in items for box in self._scene.locate(item)[:1]] if self._scene else []
        self._emphasis.marked = np.array(boxes, np.int64)
        self._update_minimap()
        self.update()

    def highlight(self, nodes: Iterable[object]) -> None:
        """Outline the results of a search, on the minimap too."""
        self.outline(self._scene.locate_all(nodes) if self._scene else np.zeros(0, np.int64))

    def outline(self, boxes: Ints) -> None:
        """The same of boxes that are found already."""
        self._emphasis.found = boxes
        self._update_minimap()
        self.update()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        with right_of_way.first():
            self._paint()

    def _paint(self) -> None:
        painter = QPainter(self)
        if self._painter is None or self._colouring is None:
            painter.fillRect(self.rect(), QColor(self._colours.background))
        else:
            ratio = painter.device().devicePixelRatioF()
            self._cache.draw(painter, self.view, self.size(), ratio, self._colours.background, self._moving)
            self._painter.paint_emphasis(painter, self.view, self._colours, self._emphasis, self._moving)
        painter.end()

    def _paint_frame(self, painter: QPainter, moving: bool, area: QRectF | None) -> None:
        assert self._painter is not None
        assert self._colouring is not None
        self._painter.paint(painter, self.view, self._colours, self._colouring, self._lit, moving, area)
