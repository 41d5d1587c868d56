"""A widget that looks at a laid-out scene: from where, how large, and what lies at a point of it."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gui.canvas.geometry import INPUT, Geometry
from gui.canvas.overlays import LegendPanel, Minimap
from gui.canvas.scene import BoxKind, Item, Scene
from gui.canvas.view import View

SETTLE_MS = 120
OVERLAY_MARGIN = 12
TALL = 400.0  # px of a box of which the middle is brought into sight; of a taller one, its beginning
MINIMAP_FROM = 0.9  # the minimap is shown when less than this share of the drawing is seen


class Viewport(QWidget):
    """The view of a scene with its minimap and legend; what is painted in it is a subclass's matter.

    Signals
    -------
    view_changed()
        Scale or place changed.
    """

    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(120, 90)
        self.view = View()
        self._scene: Scene | None = None
        self._geometry: Geometry | None = None
        self._moving = False
        self._opened = False  # whether the first view of this scene has been chosen
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.settle)
        self._minimap = Minimap(self)
        self._minimap.moved.connect(self._minimap_moved)
        self._minimap.hide()
        self._legend = LegendPanel(self)

    @property
    def scene(self) -> Scene | None:
        """The scene shown, or None."""
        return self._scene

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

    def put(self, item: object, place: QPointF, scale: float) -> bool:
        """Look at an item from a scale, with its header at a place of the widget; False if it is not shown."""
        if self.place_of(item) is None:
            return False
        self.view.scale = scale
        return self._hold(item, place, animated=True)

    def centre_on(self, item: object) -> bool:
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
        self.view.centre_on(float(g.x0[box] + g.x1[box]) / 2, float(g.y0[box] + min(g.y1[box] - g.y0[box], TALL) / 2))
        self.view.cover(g.size)
        self._moved(animated=False)

    def reveal(self, item: object) -> bool:
        """Like `centre_on`, but stays put while the item is well in sight already."""
        boxes = self._scene.locate(item) if self._scene else []
        inner = QRectF(self.rect()).adjusted(20, 20, -20, -20)
        if boxes and self.view.scale >= 0.25 and any(inner.contains(self._box_rect(box).center()) for box in boxes):
            return True
        return self.centre_on(item)

    # What is where

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

    def shows_as(self, item: object) -> BoxKind | None:
        """What kind of box an item has; None if it has none of its own."""
        box = self._scene.box_of.get(id(item), -1) if self._scene else -1
        return self._scene.boxes[box].kind if self._scene and box >= 0 else None

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

    # Moving

    def _open_view(self) -> None:
        """Choose the first view of a scene, as soon as the widget has its size."""
        self.view.width, self.view.height = float(self.width()), float(self.height())
        if self._geometry is None or self._scene is None:
            self._moved(animated=False)
            return
        g = self._geometry
        top = np.flatnonzero((g.kind == INPUT) & (g.y0 < self.height()))
        if not len(top) and len(g.y0):
            top = np.argmin(g.y0, keepdims=True)
        middle = float(np.mean((g.x0[top] + g.x1[top]) / 2)) if len(top) else g.size[0] / 2
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
        self.view.centre_on(x, y)
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
