"""The graph canvas: the picture of a graph that people pan, zoom, point at, select on and walk by keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QAction, QHelpEvent, QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas import navigation
from gui.canvas.labels import clean, format_dims
from gui.canvas.picture import GraphPicture

REACH = 5.0  # px around the pointer within which a line counts as hit
CLICK = 4.0  # px a press may move and still be a click
ZOOM_STEP = 1.25


class GraphCanvas(GraphPicture):
    """Shows one graph and says what people do with it.

    Signals
    -------
    node_clicked(Node), tensor_clicked(Tensor)
        A node; or a line, a pill or a constant's row. Emitted by mouse and keyboard alike.
    graph_opened(Graph)
        A subgraph was asked for by double click or Enter.
    background_clicked()
        Nothing was hit, or Escape was pressed.
    """

    node_clicked = Signal(object)
    tensor_clicked = Signal(object)
    graph_opened = Signal(object)
    background_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Graph")
        self._pressed: QPointF | None = None
        self._dragged = QPointF()
        self._is_drag = False
        self._choices: list[Graph] = []  # what the entries of the menu open
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._chosen)

    # Pointing

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
        graphs = item.subgraphs if isinstance(item, Node) else {}
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
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self._tooltip(QPointF(event.pos()))
            if text:
                QToolTip.showText(event.globalPos(), text, self)
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


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
