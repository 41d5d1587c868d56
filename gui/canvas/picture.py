"""A laid-out scene as a widget: what is shown, in which colours, what stands out, and from where it is seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from engine.graph.ir import Node
from engine.session import ProviderEdge
from engine.shapes.bind import Binder
from gui.canvas.buffers import Buffers
from gui.canvas.coloring import Coloring, make_coloring
from gui.canvas.copies import CopyMarks, copies_text
from gui.canvas.edge_labels import EdgeLabels
from gui.canvas.frame_cache import FrameCache
from gui.canvas.geometry import Geometry
from gui.canvas.layout import Layout
from gui.canvas.layout.types import Ints
from gui.canvas.overlays import LegendPanel, Minimap
from gui.canvas.painter import Emphasis, FramePainter, Lit
from gui.canvas.palette import CanvasColors, canvas_colors
from gui.canvas.scene import BoxKind, Item, Scene
from gui.canvas.text import AtlasText, TextMeasure
from gui.canvas.view import View
from gui.theme import LIGHT

if TYPE_CHECKING:
    from gui.theme import Theme

SETTLE_MS = 120
OVERLAY_MARGIN = 12
TALL = 400.0  # px of a box of which the middle is brought into sight; of a taller one, its beginning
MINIMAP_FROM = 0.9  # the minimap is shown when less than this share of the drawing is seen


class GraphPicture(QWidget):
    """Shows one graph; takes no input but the minimap's.

    Signals
    -------
    view_changed()
        Scale or place changed.
    """

    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(120, 90)
        self.view = View()
        self._scene: Scene | None = None
        self._geometry: Geometry | None = None
        self._painter: FramePainter | None = None
        self._coloring: Coloring | None = None
        self._mode: tuple[str, Mapping[Node, object] | None] = ("category", None)
        self._emphasis = Emphasis()
        self._colors = canvas_colors(LIGHT)
        self._buffers = Buffers()
        self._measure = TextMeasure()
        self._binder: Binder | None = None
        self._copies: tuple[ProviderEdge, ...] = ()
        self._selected: object = None
        self._moving = False
        self._opened = False  # whether the first view of this scene has been chosen
        self._lit: Lit | None = None
        self._netron = False
        self._cache = FrameCache(self._paint_frame)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.settle)
        self._minimap = Minimap(self)
        self._minimap.moved.connect(self._minimap_moved)
        self._minimap.hide()
        self._legend = LegendPanel(self)

    # What is shown

    @property
    def scene(self) -> Scene | None:
        """The scene shown, or None."""
        return self._scene

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
        self._scene = scene
        self._emphasis, self._selected, self._opened, self._lit = Emphasis(), None, False, None
        if scene is None or layout is None:
            self._scene = self._geometry = self._painter = self._coloring = None
        else:
            self._geometry = geometry or Geometry.of(scene, layout)
            labels = EdgeLabels(scene, self._geometry, self._measure, self._binder)
            drawer = partial(AtlasText, buffers=self._buffers)
            self._painter = FramePainter(self._geometry, labels, self._buffers, drawer, glyphs=not self._netron)
            self._mark_copies()
        self._recolor()
        if place is None or not self._hold(hold, place):
            self._open_view()

    def place_of(self, item: object) -> QPointF | None:
        """Where the middle of an item's header is, in px of the widget; None if it is not shown."""
        boxes = self._scene.locate(item) if self._scene and item is not None else []
        if not boxes:
            return None
        rect = self._box_rect(boxes[0])
        return QPointF(rect.center().x(), rect.top())

    def _hold(self, item: object, place: QPointF, animated: bool = False) -> bool:
        """Move the view so that the header of an item is where it was; False if it is not shown."""
        now = self.place_of(item)
        if now is None:
            return False
        self.view.dx += round(place.x() - now.x())
        self.view.dy += round(place.y() - now.y())
        self._opened = True
        self._moved(animated)
        return True

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
        self._copies = tuple(edge for edge in edges if not edge.tensor.is_constant)
        self._mark_copies()
        self._recolor()

    def _mark_copies(self) -> None:
        if self._painter is not None and self._scene is not None and self._geometry is not None:
            marks = CopyMarks.of(self._scene, self._geometry, self._copies, self._measure) if self._copies else None
            self._painter.set_copies(marks)

    def put(self, item: object, place: QPointF, scale: float) -> bool:
        """Look at an item from a scale, with its header at a place of the widget; False if it is not shown."""
        self.view.scale = scale
        return self._hold(item, place, animated=True)

    def set_netron(self, on: bool) -> None:
        """Take Netron's colours of operators, and leave out the signs of their categories."""
        self._netron = on
        self._recolor()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._colors = canvas_colors(theme)
        self._recolor()

    def set_colors(self, mode: str, values: Mapping[Node, object] | None = None) -> None:
        """Colour the nodes by something, with a legend.

        Parameters
        ----------
        mode
            "category" and "dtype" need no values; "provider" takes names; "change" takes kinds of change; "time" takes
            milliseconds; "error" takes relative differences. Any other mode is a title for numbers or `QColor`.
        values
            By node. A node without a value is grey.

        Raises
        ------
        ValueError
            If the values don't suit the mode.
        """
        self._mode = (mode, values)
        self._recolor()

    def _recolor(self) -> None:
        mode, values = self._mode
        coloring = make_coloring(self._scene, mode, values, self._netron) if self._scene else None
        self._coloring = coloring.suited(self._colors) if coloring is not None else None
        if self._coloring is not None and self._coloring.legend is not None and self._copies:
            self._coloring.legend.entries.append((self._colors.copied, copies_text(self._copies)))
        self._legend.show_legend(self._coloring.legend if self._coloring else None, self._colors)
        self._cache.clear()
        self._update_minimap()
        self._place_overlays()
        self.update()

    @property
    def copies(self) -> tuple[ProviderEdge, ...]:
        """What `set_copies` was given last."""
        return self._copies

    @property
    def colors(self) -> CanvasColors:
        """The colours of the theme."""
        return self._colors

    @property
    def coloring(self) -> Coloring | None:
        """The colours of the boxes; None where nothing is shown."""
        return self._coloring

    def _update_minimap(self) -> None:
        found, marked = self._emphasis.found, self._emphasis.marked
        self._minimap.show_scene(self._geometry, self._coloring, self._colors, self.view, found, marked)

    # Selection

    def select(self, item: object) -> None:
        """Make a node, tensor or group stand out, with all branches of its tensors; None for nothing. Emits no signal.

        Of what is in a closed group, the group stands out.
        """
        self._selected = item
        scene, emphasis = self._scene, self._emphasis
        none = np.zeros(0, np.int64)
        emphasis.selected, emphasis.nets, emphasis.rows = none, none, none
        if scene is not None and item is not None:
            own = scene.box_of.get(id(item), scene.hidden.get(id(item), -1))
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
        self.update()

    def _rows_of(self, constants: Iterable[object]) -> Ints:
        """Numbers of the rows that stand for some constants."""
        assert self._scene is not None
        assert self._geometry is not None
        found = []
        for constant in constants:
            for box in self._scene.readers.get(id(constant), []):
                first = int(np.searchsorted(self._geometry.rows.box, box))
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
        boxes = [box for node in nodes for box in self._scene.locate(node)] if self._scene else []
        self._emphasis.found = np.array(boxes, np.int64)
        self._update_minimap()
        self.update()

    # The view

    def fit(self) -> None:
        """Show the whole graph."""
        if self._geometry is not None:
            self.view.fit(self._geometry.size)
            self._moved(animated=False)

    def zoom(self, factor: float, pos: QPointF | None = None) -> None:
        """Magnify around a point of the widget, else around the middle."""
        if self._geometry is not None:
            at = pos or QPointF(self.width() / 2, self.height() / 2)
            self.view.zoom(factor, at.x(), at.y(), self._geometry.size)
            self._moved()

    def pan(self, dx: float, dy: float) -> None:
        """Move the picture by px of the widget."""
        self.view.dx += dx
        self.view.dy += dy
        self._moved()

    def look(self, view: View) -> None:
        """Look at the scene as through another view of this size."""
        now = self.view
        if (now.width, now.height) == (view.width, view.height):
            now.scale, now.dx, now.dy = view.scale, view.dx, view.dy
            self._moved(animated=False)

    def zoom_to(self, scale: float) -> None:
        """Magnify to a scale around the middle; 1 is full size."""
        self.zoom(scale / self.view.scale)

    def center_on(self, item: object) -> bool:
        """Bring a node or tensor into the middle, at a readable scale; False if it is not shown here."""
        boxes = self._scene.locate(item) if self._scene else []
        if not boxes or self._geometry is None:
            return False
        if self.view.scale < 0.5:
            self.view.scale = 1.0
        self._bring(boxes[0])
        return True

    def _bring(self, box: int) -> None:
        """Bring a box into the middle; of a frame, its header."""
        assert self._geometry is not None
        g = self._geometry
        self.view.center_on(float(g.x0[box] + g.x1[box]) / 2, float(g.y0[box] + min(g.y1[box] - g.y0[box], TALL) / 2))
        self.view.cover(g.size)
        self._moved(animated=False)

    def shows_as(self, item: object) -> BoxKind | None:
        """What kind of box an item has; None if it has none of its own."""
        box = self._scene.box_of.get(id(item), -1) if self._scene else -1
        return self._scene.boxes[box].kind if self._scene and box >= 0 else None

    def reveal(self, item: object) -> bool:
        """Like `center_on`, but stays put while the item is well in sight already."""
        boxes = self._scene.locate(item) if self._scene else []
        inner = QRectF(self.rect()).adjusted(20, 20, -20, -20)
        if boxes and self.view.scale >= 0.25 and any(inner.contains(self._box_rect(box).center()) for box in boxes):
            return True
        return self.center_on(item)

    def node_rect(self, item: object) -> QRectF:
        """Where a node, input or output is drawn, in px of the widget; empty if it is not."""
        if self._scene is None:
            return QRectF()
        box = self._scene.box_of.get(id(item), self._scene.output_box.get(id(item), -1))
        return self._box_rect(box) if box >= 0 else QRectF()

    def _box_rect(self, box: int) -> QRectF:
        assert self._geometry is not None
        g, scale = self._geometry, self.view.scale
        x, y = self.view.to_widget(float(g.x0[box]), float(g.y0[box]))
        return QRectF(x, y, float(g.x1[box] - g.x0[box]) * scale, float(g.y1[box] - g.y0[box]) * scale)

    def _box_at(self, pos: QPointF) -> int:
        if self._geometry is None:
            return -1
        return self._geometry.box_at(*self.view.to_scene(pos.x(), pos.y()), reach=1.0 / self.view.scale)

    def node_at(self, x: float, y: float) -> Item | None:
        """The node, module, subgraph, or the tensor of the pill, at a point of the widget."""
        box = self._box_at(QPointF(x, y))
        return self._scene.boxes[box].item if self._scene and box >= 0 else None

    def _open_view(self) -> None:
        """Choose the first view of a scene, as soon as the widget has its size."""
        self.view.width, self.view.height = float(self.width()), float(self.height())
        if self._geometry is None or self._scene is None:
            self._moved(animated=False)
            return
        g = self._geometry
        inputs = [i for i, box in enumerate(self._scene.boxes) if box.kind is BoxKind.INPUT]
        top = [i for i in inputs if g.y0[i] < self.height()] or ([int(np.argmin(g.y0))] if len(g.y0) else [])
        middle = float(np.mean((g.x0[top] + g.x1[top]) / 2)) if top else g.size[0] / 2
        self.view.open_at(g.size, middle)
        self._moved(animated=False)
        self._opened = self.isVisible()

    def _moved(self, animated: bool = True) -> None:
        """The view changed: keep the drawing in sight; while `animated`, frames are quick until it rests."""
        if self._geometry is not None:
            self.view.keep_in_sight(self._geometry.size)
        self._moving = animated
        if animated:
            self._settle.start()
        self._place_overlays()
        self.update()
        self.view_changed.emit()

    @Slot()
    def settle(self) -> None:
        """Paint the next frame in full, as when nothing has moved for a while."""
        self._settle.stop()
        self._moving = False
        self.update()

    @Slot(float, float)
    def _minimap_moved(self, x: float, y: float) -> None:
        self.view.center_on(x, y)
        if self._geometry is not None:
            self.view.cover(self._geometry.size)
        self._moved()

    def _place_overlays(self) -> None:
        right = self.width() - self._minimap.width() - OVERLAY_MARGIN
        bottom = self.height() - self._minimap.height() - OVERLAY_MARGIN
        self._minimap.move(right, bottom)
        self._legend.move(OVERLAY_MARGIN, self.height() - self._legend.height() - OVERLAY_MARGIN)
        g = self._geometry
        if g is None or self.height() < 2.5 * self._minimap.height() or self.width() < 3 * self._minimap.width():
            self._minimap.hide()
            return
        x0, y0, x1, y1 = self.view.visible()
        seen_x = min(x1, g.size[0]) - max(x0, 0.0)
        seen_y = min(y1, g.size[1]) - max(y0, 0.0)
        self._minimap.setVisible(seen_x < MINIMAP_FROM * g.size[0] or seen_y < MINIMAP_FROM * g.size[1])
        self._minimap.update()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._painter is None or self._coloring is None:
            painter.fillRect(self.rect(), QColor(self._colors.background))
        else:
            ratio = painter.device().devicePixelRatioF()
            self._cache.draw(painter, self.view, self.size(), ratio, self._colors.background, self._moving)
            self._painter.paint_emphasis(painter, self.view, self._colors, self._emphasis, self._moving)
        painter.end()

    def _paint_frame(self, painter: QPainter, moving: bool, area: QRectF | None) -> None:
        assert self._painter is not None
        assert self._coloring is not None
        self._painter.paint(painter, self.view, self._colors, self._coloring, self._lit, moving, area)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if not self._opened:
            self._open_view()
            return
        self.view.dx += (event.size().width() - self.view.width) / 2
        self.view.width, self.view.height = float(event.size().width()), float(event.size().height())
        self._moved()

    def showEvent(self, event: QEvent) -> None:
        if not self._opened:
            self._open_view()
