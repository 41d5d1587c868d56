"""A laid-out scene as a widget: what is shown, in which colours, what stands out, and from where it is seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from engine.graph.ir import Node, Tensor
from gui.canvas.buffers import Buffers
from gui.canvas.coloring import Coloring, make_coloring
from gui.canvas.geometry import Geometry
from gui.canvas.layout import Layout
from gui.canvas.layout.types import Ints
from gui.canvas.overlays import LegendPanel, Minimap
from gui.canvas.painter import Emphasis, FramePainter
from gui.canvas.palette import canvas_colors
from gui.canvas.scene import BoxKind, Scene
from gui.canvas.text import AtlasText
from gui.canvas.view import View
from gui.theme import LIGHT

if TYPE_CHECKING:
    from gui.theme import Theme

SETTLE_MS = 120
OVERLAY_MARGIN = 12
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
        self._selected: object = None
        self._moving = False
        self._opened = False  # whether the first view of this scene has been chosen
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self._settled)
        self._minimap = Minimap(self)
        self._minimap.moved.connect(self._minimap_moved)
        self._minimap.hide()
        self._legend = LegendPanel(self)

    # What is shown

    @property
    def scene(self) -> Scene | None:
        """The scene shown, or None."""
        return self._scene

    def set_scene(self, scene: Scene | None, layout: Layout | None) -> None:
        """Show a scene with its layout, or nothing. The view starts readable; the selection is empty."""
        self._scene = scene
        self._emphasis, self._selected, self._opened = Emphasis(), None, False
        if scene is None or layout is None:
            self._scene = self._geometry = self._painter = self._coloring = None
        else:
            self._geometry = Geometry.of(scene, layout)
            self._painter = FramePainter(
                self._geometry, self._buffers, AtlasText(self._geometry.strings, self._buffers)
            )
        self._recolor()
        self._open_view()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._colors = canvas_colors(theme)
        self._recolor()

    def set_colors(self, mode: str, values: Mapping[Node, object] | None = None) -> None:
        """Colour the nodes by something, with a legend.

        Parameters
        ----------
        mode
            "category" and "dtype" need no values; "provider" takes names; "time" takes milliseconds;
            "error" takes relative differences. Any other mode is a title for values that are `QColor`.
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
        self._coloring = make_coloring(self._scene, mode, values) if self._scene else None
        self._legend.show_legend(self._coloring.legend if self._coloring else None, self._colors)
        self._update_minimap()
        self._place_overlays()
        self.update()

    def _update_minimap(self) -> None:
        self._minimap.show_scene(self._geometry, self._coloring, self._colors, self.view, self._emphasis.found)

    # Selection

    def select(self, item: object) -> None:
        """Make a node or tensor stand out, with all branches of its tensors; None for nothing. Emits no signal."""
        self._selected = item
        scene, emphasis = self._scene, self._emphasis
        none = np.zeros(0, np.int64)
        emphasis.selected, emphasis.nets, emphasis.rows = none, none, none
        if scene is not None and item is not None:
            own = scene.box_of.get(id(item), -1)
            net = scene.net_of.get(id(item), -1)
            if own >= 0:
                emphasis.selected = np.array([own])
            if isinstance(item, Node) and own >= 0:
                edges = scene.layout_input
                emphasis.nets = np.unique(edges.net[(edges.source == own) | (edges.target == own)])
            elif net >= 0:
                emphasis.nets = np.array([net])
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
        g, box = self._geometry, boxes[0]
        self.view.center_on(float(g.x0[box] + g.x1[box]) / 2, float(g.y0[box] + g.y1[box]) / 2)
        self.view.cover(g.size)
        self._moved(animated=False)
        return True

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

    def node_at(self, x: float, y: float) -> Node | Tensor | None:
        """The node, or the tensor of the pill, at a point of the widget."""
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
    def _settled(self) -> None:
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
        if g is None or self.height() < 2 * self._minimap.height() or self.width() < 3 * self._minimap.width():
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
        painter.fillRect(self.rect(), QColor(self._colors.background))
        if self._painter is not None and self._coloring is not None:
            self._painter.paint(painter, self.view, self._colors, self._coloring, self._emphasis, self._moving)
        painter.end()

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
