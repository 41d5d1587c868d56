"""The graph canvas: one widget that shows a laid-out scene, and lets people pan, zoom, point, select and walk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas import coloring as colorings
from gui.canvas import navigation
from gui.canvas.buffers import Buffers
from gui.canvas.coloring import Coloring
from gui.canvas.geometry import Geometry
from gui.canvas.labels import clean, format_dims
from gui.canvas.layout import Layout
from gui.canvas.overlays import LegendPanel, Minimap
from gui.canvas.painter import Emphasis, FramePainter
from gui.canvas.palette import canvas_colors
from gui.canvas.scene import BoxKind, Functions, Scene, subgraphs_of
from gui.canvas.text import AtlasText
from gui.canvas.view import View
from gui.theme import LIGHT

if TYPE_CHECKING:
    from gui.theme import Theme

SETTLE_MS = 120
REACH = 5.0  # px around the pointer within which a line counts as hit
CLICK = 4.0  # px a press may move and still be a click
ZOOM_STEP = 1.25
OVERLAY_MARGIN = 12
MINIMAP_FROM = 0.9  # the minimap is shown when less than this share of the drawing is seen


class GraphCanvas(QWidget):
    """Shows one graph.

    Signals
    -------
    node_clicked(Node), tensor_clicked(Tensor)
        A node; or a line, a pill or a constant's row. Emitted by mouse and keyboard alike.
    graph_opened(Graph)
        A subgraph was asked for by double click or Enter.
    background_clicked()
        Nothing was hit, or Escape was pressed.
    view_changed()
        Scale or place changed.
    """

    node_clicked = Signal(object)
    tensor_clicked = Signal(object)
    graph_opened = Signal(object)
    background_clicked = Signal()
    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Graph")
        self.setMinimumSize(120, 90)
        self.view = View()
        self._scene: Scene | None = None
        self._geometry: Geometry | None = None
        self._functions: Functions = {}
        self._painter: FramePainter | None = None
        self._coloring: Coloring | None = None
        self._mode: tuple[str, Mapping[Node, object] | None] = ("category", None)
        self._emphasis = Emphasis()
        self._colors = canvas_colors(LIGHT)
        self._buffers = Buffers()
        self._selected: object = None
        self._moving = False
        self._pressed: QPointF | None = None
        self._dragged = QPointF()
        self._is_drag = False
        self._opened = False  # whether the first view of this scene has been chosen
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self._settled)
        self._minimap = Minimap(self)
        self._minimap.moved.connect(self._minimap_moved)
        self._minimap.hide()
        self._legend = LegendPanel(self)
        self._choices: list[Graph] = []  # what the entries of the menu open
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._chosen)

    # What is shown

    @property
    def scene(self) -> Scene | None:
        """The scene shown, or None."""
        return self._scene

    def set_scene(self, scene: Scene | None, layout: Layout | None, functions: Functions | None = None) -> None:
        """Show a scene with its layout, or nothing. The view starts readable; the selection is empty.

        Parameters
        ----------
        functions
            The model's local functions, whose bodies open from the nodes that call them.
        """
        self._scene, self._functions = scene, functions or {}
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

    def _rows_of(self, constants: Iterable[object]) -> np.ndarray:
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

    # Pointing

    def _box_at(self, pos: QPointF) -> int:
        if self._geometry is None:
            return -1
        return self._geometry.box_at(*self.view.to_scene(pos.x(), pos.y()), reach=1.0 / self.view.scale)

    def _hit(self, pos: QPointF) -> tuple[int, int]:
        """Box and net at a point, -1 where there is none; boxes win."""
        box = self._box_at(pos)
        if box >= 0 or self._geometry is None:
            return box, -1
        return -1, self._geometry.net_at(*self.view.to_scene(pos.x(), pos.y()), reach=REACH / self.view.scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed = self._dragged = event.position()
            self._is_drag = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pos = event.position()
        if self._pressed is None:
            self._hover(pos)
            return
        if (pos - self._pressed).manhattanLength() >= CLICK:
            self._is_drag = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._is_drag:
            self.view.dx += pos.x() - self._dragged.x()
            self.view.dy += pos.y() - self._dragged.y()
            self._dragged = pos
            self._moved()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        self._pressed = None
        self.unsetCursor()
        if not self._is_drag and event.button() == Qt.MouseButton.LeftButton:
            self._click(event.position())

    def _click(self, pos: QPointF) -> None:
        box, net = self._hit(pos)
        if self._scene is None or (box < 0 and net < 0):
            self.background_clicked.emit()
        elif box < 0:
            self.tensor_clicked.emit(self._scene.nets[net].tensor)
        else:
            row = self._row_item(box, pos)
            if isinstance(row, Tensor):
                self.tensor_clicked.emit(row)
            else:
                self._emit_clicked(box)

    def _row_item(self, box: int, pos: QPointF) -> object:
        """What the row under a point stands for, if rows are large enough to be aimed at."""
        if self._scene is None or self._geometry is None or self.view.scale < 0.5:
            return None
        row = self._geometry.row_at(box, self.view.to_scene(pos.x(), pos.y())[1])
        return self._scene.boxes[box].rows[row].item if row >= 0 else None

    def _emit_clicked(self, box: int) -> None:
        assert self._scene is not None
        item = self._scene.boxes[box].item
        (self.node_clicked if isinstance(item, Node) else self.tensor_clicked).emit(item)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        box = self._box_at(event.position())
        if box >= 0:
            row = self._row_item(box, event.position())
            self._open(box, row)

    def _open(self, box: int, row: object = None) -> None:
        """Open a subgraph of a box: the one whose row was hit, else the only one, else ask."""
        item = self._scene.boxes[box].item if self._scene else None
        graphs = subgraphs_of(item, self._functions) if isinstance(item, Node) else {}
        chosen = next((graph for graph in graphs.values() if graph is row), None)
        if chosen is None and len(graphs) == 1:
            chosen = next(iter(graphs.values()))
        if chosen is not None:
            self.graph_opened.emit(chosen)
        elif graphs:
            self._menu.clear()
            self._choices = list(graphs.values())
            for name, graph in graphs.items():
                self._menu.addAction(f"Open {clean(name)} ({len(graph.nodes):,} nodes)".replace("&", "&&"))
            self._menu.popup(self.mapToGlobal(self._box_rect(box).center().toPoint()))

    @Slot(QAction)
    def _chosen(self, action: QAction) -> None:
        self.graph_opened.emit(self._choices[self._menu.actions().index(action)])

    def _hover(self, pos: QPointF) -> None:
        box, net = self._hit(pos)
        if (box, net) == (self._emphasis.hover_box, self._emphasis.hover_net):
            return
        self._emphasis.hover_box, self._emphasis.hover_net = box, net
        self.setCursor(Qt.CursorShape.PointingHandCursor if box >= 0 or net >= 0 else Qt.CursorShape.ArrowCursor)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(QPointF(-1e6, -1e6))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            text = self._tooltip(QPointF(event.pos()))  # type: ignore[attr-defined]
            if text:
                QToolTip.showText(event.globalPos(), text, self)  # type: ignore[attr-defined]
            else:
                QToolTip.hideText()
            return True
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom(1.0 + event.value(), event.position())
            return True
        return super().event(event)

    def _tooltip(self, pos: QPointF) -> str:
        """Name, operator and shape of what is under a point; always plain text, as all words of a model are."""
        box, net = self._hit(pos)
        if self._scene is None or (box < 0 and net < 0):
            return ""
        item = self._row_item(box, pos) if box >= 0 else self._scene.nets[net].tensor
        if not isinstance(item, Tensor):
            item = self._scene.boxes[box].item
        if isinstance(item, Node):
            lines = [clean(item.name, 120), clean(item.qualified_op, 80)]
        else:
            shape = item.inferred_shape if item.inferred_shape is not None else item.stored_shape
            lines = [clean(item.name, 120), f"{item.dtype or 'unknown type'}  {format_dims(shape)}"]
            lines += [clean(item.unknown_because, 160)] if item.unknown_because else []
        # As HTML with everything escaped, since Qt would guess whether plain text is meant to be HTML.
        return f"<p style='white-space:pre'>{_escaped(chr(10).join(lines))}</p>"

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn = event.angleDelta().y() or event.angleDelta().x()
        self.zoom(1.0015**turn, event.position())
        event.accept()

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._key(event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)):
            super().keyPressEvent(event)

    def _key(self, key: int, control: bool) -> bool:
        """Act on a key; whether it was one of ours."""
        keys = Qt.Key
        if key in (keys.Key_Plus, keys.Key_Equal):
            self.zoom(ZOOM_STEP)
        elif key == keys.Key_Minus:
            self.zoom(1 / ZOOM_STEP)
        elif (key == keys.Key_F and not control) or (key == keys.Key_0 and control):
            self.fit()
        elif key == keys.Key_1 and control:
            self.zoom_to(1.0)
        elif key == keys.Key_Escape:
            self.background_clicked.emit()
        elif self._scene is not None and self._geometry is not None and not control:
            return self._walk(key)
        else:
            return False
        return True

    def _walk(self, key: int) -> bool:
        assert self._scene is not None
        assert self._geometry is not None
        box = next(iter(self._scene.locate(self._selected)), -1)
        keys = Qt.Key
        first, last = (-1, -1)
        if key in (keys.Key_Home, keys.Key_End) or (
            box < 0 and key in (keys.Key_Up, keys.Key_Down, keys.Key_Left, keys.Key_Right)
        ):
            first, last = navigation.first_and_last(self._scene)
        if key == keys.Key_Home:
            target = first
        elif key == keys.Key_End:
            target = last
        elif key in (keys.Key_Up, keys.Key_Down, keys.Key_Left, keys.Key_Right):
            target = first if box < 0 else self._next_box(key, box)
        elif key in (keys.Key_Return, keys.Key_Enter) and box >= 0:
            self._open(box)
            return True
        else:
            return False
        if target >= 0:
            item = self._scene.boxes[target].item
            self.select(item)
            self._emit_clicked(target)
            self.reveal(item)
        return True

    def _next_box(self, key: int, box: int) -> int:
        assert self._scene is not None
        assert self._geometry is not None
        if key == Qt.Key.Key_Up:
            return navigation.producer(self._scene, box)
        if key == Qt.Key.Key_Down:
            return navigation.consumer(self._scene, box)
        return navigation.sibling(self._geometry, box, 1 if key == Qt.Key.Key_Right else -1)


def make_coloring(scene: Scene, mode: str, values: Mapping[Node, object] | None) -> Coloring:
    """The colouring of a mode of `GraphCanvas.set_colors`."""
    if mode == "category":
        return colorings.by_category(scene)
    if mode == "dtype":
        return colorings.by_dtype(scene)
    given = values or {}
    if all(isinstance(value, QColor) for value in given.values()) and given:
        return colorings.by_color(scene, mode, {n: v.name() for n, v in given.items() if isinstance(v, QColor)})
    if mode == "provider":
        return colorings.by_name(scene, "Provider", {node: str(value) for node, value in given.items()})
    numbers = {node: float(value) for node, value in given.items() if isinstance(value, int | float | np.number)}
    if len(numbers) != len(given):
        raise ValueError(f"colouring by {mode} needs a number for each node")
    if mode == "error":
        return colorings.by_number(scene, "Relative difference from CPU", numbers, logarithmic=True)
    return colorings.by_number(scene, "Time per node" if mode == "time" else mode, numbers, unit="ms")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
