"""The graph canvas: the picture of a graph that people pan, zoom, point at, select on and walk by keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QHelpEvent,
    QInputDevice,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas import navigation
from gui.canvas.copies import copies_text
from gui.canvas.groups import Group
from gui.canvas.menu import CanvasMenu
from gui.canvas.related import RelatedPicture
from gui.canvas.scene import HEADER_HEIGHT, BoxKind, Item
from gui.canvas.tips import item_lines, tip_text
from gui.widgets.aloud import say_aloud
from gui.widgets.focus_line import FocusLine

REACH = 5.0  # px around the pointer within which a line counts as hit
CLICK = 4.0  # px a press may move and still be a click
ZOOM_STEP = 1.25
WHEEL_MOVES = 0.5  # px for an eighth of a degree of the wheel: 60 px a notch
PANS = {  # shares of the widget's width and height that a key moves the picture by
    Qt.Key.Key_Left: (0.125, 0.0), Qt.Key.Key_Right: (-0.125, 0.0), Qt.Key.Key_Up: (0.0, 0.125),
    Qt.Key.Key_Down: (0.0, -0.125), Qt.Key.Key_PageUp: (0.0, 0.8), Qt.Key.Key_PageDown: (0.0, -0.8),
}  # fmt: skip
SIGN_ROOM = 24.0  # px of the scene at the right of a header, where its + or − is


class GraphCanvas(RelatedPicture):
    """Shows one graph and says what people do with it.

    Signals
    -------
    node_clicked(Node), tensor_clicked(Tensor), group_clicked(Group)
        A node; a line, a pill, a chip or a constant's row; a closed or opened module. Emitted by mouse and keyboard.
    graph_opened(Graph)
        A subgraph was asked for, to be shown alone.
    toggled(Group | Node)
        A module, or the subgraphs of a node, shall be opened in place, or closed.
    background_clicked()
        Nothing was hit, or Escape was pressed.
    bookmarked(Node | Tensor | Group)
        A bookmark shall be set, or taken away.
    menu_opening(QMenu, Item | None)
        The context menu of an item opens; whoever knows more that can be done with it adds it now.
    """

    node_clicked = Signal(object)
    tensor_clicked = Signal(object)
    group_clicked = Signal(object)
    graph_opened = Signal(object)
    toggled = Signal(object)
    background_clicked = Signal()
    bookmarked = Signal(object)
    menu_opening = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.wheel_moves = False  # whether the wheel moves the picture, and zooms with Shift or Ctrl
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Graph")
        self._pressed: QPointF | None = None
        self._dragged = QPointF()
        self._is_drag = False
        self._menu = CanvasMenu(self)
        FocusLine(self)

    def select(self, item: object) -> None:
        """Select an item, as `GraphPicture.select` does, and tell a screen reader, which sees no picture."""
        is_new = item is not self.selected
        super().select(item)
        if is_new:
            told = ", ".join(item_lines(item, self._binder))
            self.setAccessibleDescription(told)
            say_aloud(self, told)

    # Pointing

    def hit(self, pos: QPointF) -> tuple[int, int]:
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
            self.pan(pos.x() - self._dragged.x(), pos.y() - self._dragged.y())
            self._dragged = pos

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        self._pressed = None
        self.unsetCursor()
        if not self._is_drag and event.button() == Qt.MouseButton.LeftButton:
            self._click(event.position(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def _click(self, pos: QPointF, shift: bool) -> None:
        box, net = self.hit(pos)
        if self._scene is None or (box < 0 and net < 0):
            self.background_clicked.emit()
        elif box < 0:
            self._emit_net(net)
        elif shift and self._selected is not None:
            self.light_path(self._scene.boxes[box].item)
        elif self._is_sign(box, pos):
            self.toggled.emit(self._scene.boxes[box].item)
        else:
            row = self._row_item(box, pos)
            if isinstance(row, Tensor):
                self.tensor_clicked.emit(row)
            else:
                self._emit_clicked(box)

    def _is_sign(self, box: int, pos: QPointF) -> bool:
        """Whether a point is on the + or − of a header."""
        if self._scene is None or self._geometry is None or not self._toggles(box) or self.view.scale < 0.4:
            return False
        x, y = self.view.to_scene(pos.x(), pos.y())
        g = self._geometry
        return bool(x >= g.x1[box] - SIGN_ROOM and y <= g.y0[box] + HEADER_HEIGHT)

    def _toggles(self, box: int) -> bool:
        item = self._scene.boxes[box].item if self._scene else None
        return isinstance(item, Group) or (isinstance(item, Node) and bool(item.subgraphs))

    def _row_item(self, box: int, pos: QPointF) -> object:
        """What the row under a point stands for, if rows are large enough to be aimed at."""
        if self._scene is None or self._geometry is None or self.view.scale < 0.5:
            return None
        row = self._geometry.row_at(box, self.view.to_scene(pos.x(), pos.y())[1])
        return self._scene.boxes[box].rows[row].item if row >= 0 else None

    def _emit_clicked(self, box: int) -> None:
        assert self._scene is not None
        item = self._scene.boxes[box].item
        self._reader = -1
        if isinstance(item, Graph):
            item = item.owner or item
        if isinstance(item, Node):
            self.node_clicked.emit(item)
        elif isinstance(item, Group):
            self.group_clicked.emit(item)
        elif isinstance(item, Tensor):
            self.tensor_clicked.emit(item)

    def _emit_net(self, net: int) -> None:
        """A line: its tensor, or where it goes if it is a bus."""
        assert self._scene is not None
        assert self._geometry is not None
        if net < len(self._scene.nets):
            self._reader = -1
            self.tensor_clicked.emit(self._scene.nets[net].tensor)
            return
        data = self._scene.layout_input
        for edge in (self._geometry.bus[data.net] == net).nonzero()[0][:1].tolist():
            self._emit_clicked(int(data.target[edge]))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        box = self._box_at(event.position())
        if box >= 0:
            self._open(box, self._row_item(box, event.position()))

    def _open(self, box: int, row: object = None) -> None:
        """Open or close a module; go to where a chip comes from; show a subgraph alone: the one hit, the only one, or
        the one chosen from a menu.
        """
        assert self._scene is not None
        item = self._scene.boxes[box].item
        if isinstance(item, Group) or (isinstance(item, Node) and self._scene.boxes[box].kind is BoxKind.FRAME):
            self.toggled.emit(item)
        elif isinstance(item, Graph):
            self.graph_opened.emit(item)
        elif self._scene.boxes[box].kind is BoxKind.CHIP:
            self.centre_on(item)
        elif isinstance(item, Node) and item.subgraphs:
            chosen = next((graph for graph in item.subgraphs.values() if graph is row), None)
            if chosen is None and len(item.subgraphs) == 1:
                chosen = next(iter(item.subgraphs.values()))
            if chosen is not None:
                self.graph_opened.emit(chosen)
            else:
                self._menu.show_subgraphs(item, self.mapToGlobal(self._box_rect(box).center().toPoint()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of what is under the pointer, or of the selection where the keyboard asks for it."""
        if self._scene is None:
            return
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            box = next(iter(self._scene.locate(self._selected)), -1)
            at = self._box_rect(box).center().toPoint() if box >= 0 else event.pos()
            self._menu.show_for(self._selected if box >= 0 else None, self.mapToGlobal(at))
            return
        pos = QPointF(event.pos())
        item = self._item_at(pos)
        if isinstance(item, Tensor):
            self._reader = -1
            self.tensor_clicked.emit(item)
        elif item is not None:
            self._emit_clicked(self._box_at(pos))
        self._menu.show_for(item, event.globalPos())

    def _item_at(self, pos: QPointF) -> Item | None:
        """What is under a point: what a box stands for, or the tensor of a row or a line."""
        box, net = self.hit(pos)
        if self._scene is None or (box < 0 and not 0 <= net < len(self._scene.nets)):
            return None
        item = self._row_item(box, pos) if box >= 0 else self._scene.nets[net].tensor
        return item if isinstance(item, Tensor) else self._scene.boxes[box].item

    def _hover(self, pos: QPointF) -> None:
        box, net = self.hit(pos)
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
        item = self._item_at(pos)
        if item is None:
            return ""
        copies = [f"{e.source} → {e.target}: {copies_text([e])}" for e in self._copies if e.tensor is item]
        return tip_text(item, self._binder, copies)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom, or move the picture: with two fingers on a touchpad always, unless Shift or Ctrl is held."""
        turn = event.angleDelta()
        by_fingers = (event.phase() != Qt.ScrollPhase.NoScrollPhase
                      or event.device().type() == QInputDevice.DeviceType.TouchPad)  # fmt: skip
        zooms = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier)
        if zooms or not (self.wheel_moves or by_fingers):
            self.zoom(1.0015 ** (turn.y() or turn.x()), event.position())
        else:
            way = event.pixelDelta().toPointF() if event.hasPixelDelta() else turn.toPointF() * WHEEL_MOVES
            self.pan(way.x(), way.y())
        event.accept()

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.matches(QKeySequence.StandardKey.Copy) and isinstance(self._selected, Node | Tensor):
            QGuiApplication.clipboard().setText(self._selected.qualified_name)
        elif not (self._view_key(event.key(), control, shift) or (not control and self._graph_key(event.key(), shift))):
            super().keyPressEvent(event)

    def _view_key(self, key: int, control: bool, shift: bool) -> bool:
        """Act on a key that changes the view; whether it was one."""
        keys = Qt.Key
        if key in PANS and (shift or key in (keys.Key_PageUp, keys.Key_PageDown)):
            across, along = PANS[keys(key)]
            self.pan(across * self.width(), along * self.height())
        elif key in (keys.Key_Plus, keys.Key_Equal):
            self.zoom(ZOOM_STEP)
        elif key == keys.Key_Minus:
            self.zoom(1 / ZOOM_STEP)
        elif (key == keys.Key_F and not control) or (key == keys.Key_0 and control):
            self.fit()
        elif (key == keys.Key_1 and control) or (key == keys.Key_Backspace and shift):
            self.zoom_to(1.0)
        elif key == keys.Key_Escape and self.lit is not None:
            self.light(None)
        elif key == keys.Key_Escape:
            self.background_clicked.emit()
        else:
            return False
        return True

    def _graph_key(self, key: int, shift: bool) -> bool:
        """Act on a key that needs a graph; whether it was one."""
        if self._scene is None or self._geometry is None:
            return False
        keys = Qt.Key
        box = next(iter(self._scene.locate(self._selected)), -1)
        if key in (keys.Key_U, keys.Key_D, keys.Key_C):
            return self.light_cone(upstream=key != keys.Key_D, downstream=key != keys.Key_U)
        if key == keys.Key_P:
            return self.path_key()
        if key == keys.Key_N:
            return self.follow(-1 if shift else 1)
        if key == keys.Key_E and box >= 0 and self._toggles(box):
            self.toggled.emit(self._scene.boxes[box].item)
            return True
        if key in (keys.Key_Return, keys.Key_Enter) and box >= 0:
            self._open(box)
            return True
        return self._walk(key, box)

    def _walk(self, key: int, box: int) -> bool:
        """Go to another box by an arrow key, Home or End."""
        assert self._scene is not None
        assert self._geometry is not None
        keys = Qt.Key
        arrows = [keys.Key_Up, keys.Key_Down, keys.Key_Left, keys.Key_Right]
        if key in arrows and box >= 0:
            if self._geometry.horizontal:
                arrows = [keys.Key_Left, keys.Key_Right, keys.Key_Up, keys.Key_Down]
            target = self._next_box(box, arrows.index(keys(key)))
        elif key in (*arrows, keys.Key_Home, keys.Key_End):
            target = navigation.first_and_last(self._scene)[key == keys.Key_End]
        else:
            return False
        if target >= 0:
            item = self._scene.boxes[target].item
            self.select(item)
            self._emit_clicked(target)
            self.reveal(item)
        return True

    def _next_box(self, box: int, way: int) -> int:
        """Against the flow (0), along it (1), before (2) or after (3) in the same layer; from a line, its own ends."""
        assert self._scene is not None
        assert self._geometry is not None
        if way > 1:
            return navigation.sibling(self._geometry, box, 2 * way - 5)
        if isinstance(self._selected, Tensor) and self.shows_as(self._selected) is None:
            return navigation.end_of_line(self._scene, self._selected, downstream=way == 1)
        return (navigation.producer, navigation.consumer)[way](self._scene, box)
