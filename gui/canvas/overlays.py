"""What lies over the canvas: the minimap in one corner, the legend of the colouring in another."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from gui.canvas.buffers import Buffers
from gui.canvas.colouring import Colouring, Legend
from gui.canvas.geometry import FRAME, Geometry
from gui.canvas.layout.types import Floats, Ints
from gui.canvas.palette import CanvasColours
from gui.canvas.scene import TextStyle
from gui.canvas.text import font
from gui.canvas.view import View
from gui.canvas.visible import distinct_rows

MAP_SIZE = QSize(92, 150)  # lying down for a drawing that is wider than high
MAP_PADDING = 6.0
MAX_WIDENING = 14.0  # how much more a thin drawing may be magnified across its length than along it


class Minimap(QWidget):
    """The whole drawing as one cached picture, with the view as a rectangle on it; pressing and dragging moves it.

    Signals: `moved(x, y)`, the point of the scene to be put in the middle.
    """

    moved = Signal(float, float)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(MAP_SIZE)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Overview of the graph")
        self._geometry: Geometry | None = None
        self._colouring: Colouring | None = None
        self._colours: CanvasColours | None = None
        self._view: View | None = None
        self._found = self._marked = np.zeros(0, np.int64)
        self._picture: QPixmap | None = None
        self._buffers = Buffers()

    def show_scene(
        self, geometry: Geometry | None, colouring: Colouring | None, colours: CanvasColours, view: View, found: Ints,
        marked: Ints,
    ) -> None:  # fmt: skip
        """Show another scene or the same in other colours; `view` is read at every repaint.

        `found` and `marked` are the boxes that a search found and that have bookmarks.
        """
        self._geometry, self._colouring, self._colours = geometry, colouring, colours
        self._view, self._found, self._marked = view, found, marked
        self._picture = None
        is_wide = geometry is not None and geometry.size[0] > geometry.size[1]
        self.setFixedSize(MAP_SIZE.transposed() if is_wide else MAP_SIZE)
        self.update()

    def _scales(self) -> tuple[float, float]:
        """Map px per scene px, across and along."""
        size = self._geometry.size if self._geometry else (1.0, 1.0)
        across = (self.width() - 2 * MAP_PADDING) / max(size[0], 1.0)
        along = (self.height() - 2 * MAP_PADDING) / max(size[1], 1.0)
        least = min(across, along)
        return min(across, least * MAX_WIDENING, 0.3), min(along, least * MAX_WIDENING, 0.3)

    def _origin(self) -> tuple[float, float]:
        size = self._geometry.size if self._geometry else (1.0, 1.0)
        across, along = self._scales()
        return (self.width() - size[0] * across) / 2, (self.height() - size[1] * along) / 2

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._geometry is None or self._colours is None or self._view is None:
            return
        painter = QPainter(self)
        if self._picture is None:
            self._picture = self._render()
        painter.drawPixmap(0, 0, self._picture)
        (across, along), (left, top) = self._scales(), self._origin()
        x0, y0, x1, y1 = self._view.visible()
        area = QRectF(left + x0 * across, top + y0 * along, max((x1 - x0) * across, 4), max((y1 - y0) * along, 4))
        area = area.intersected(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5))
        painter.setPen(QPen(QColor(self._colours.accent), 1.2))
        tint = QColor(self._colours.accent)
        tint.setAlpha(30)
        painter.setBrush(tint)
        painter.drawRect(area)
        painter.end()

    def _render(self) -> QPixmap:
        g, colours, colouring = self._geometry, self._colours, self._colouring
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        if g is None or colours is None or colouring is None:
            return picture
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.border), 1))
        panel = QColor(colours.panel)
        panel.setAlpha(235)
        painter.setBrush(panel)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        (across, along), (left, top) = self._scales(), self._origin()
        x, y = left + g.x0 * across, top + g.y0 * along
        width, height = np.maximum((g.x1 - g.x0) * across, 1.5), np.maximum((g.y1 - g.y0) * along, 1.0)
        frames = np.flatnonzero(g.kind == FRAME)
        painter.setBrush(QColor(colours.border))
        self._fill(painter, x[frames], y[frames], width[frames], height[frames])
        for i, colour in enumerate(colouring.colours):
            same = (colouring.index == i) & (g.kind != FRAME)
            painter.setBrush(QColor(colour))
            self._fill(painter, x[same], y[same], width[same], height[same])
        if len(self._found):
            painter.setBrush(QColor(colours.found))
            count = len(self._found)
            middle = y[self._found] - 0.5
            self._fill(painter, x[self._found] - 2, middle, width[self._found] + 4, np.full(count, 2.0))
        if len(self._marked):  # at the left border, where the boxes of a tall graph cannot hide them
            painter.setBrush(QColor(colours.accent))
            border, wide, high = (np.full(len(self._marked), size) for size in (2.0, 5.0, 3.0))
            self._fill(painter, border, y[self._marked] - 1, wide, high)
        painter.end()
        return picture

    def _fill(self, painter: QPainter, x: Floats, y: Floats, width: Floats, height: Floats) -> None:
        """Fill rectangles of one colour; those of a large graph share few pixels, and each is filled once."""
        ratio = self.devicePixelRatioF()
        kept = distinct_rows(edge * ratio for edge in (x, y, x + width, y + height))
        self._buffers.rects(painter, x[kept], y[kept], width[kept], height[kept])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._emit_moved(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._emit_moved(event)

    def _emit_moved(self, event: QMouseEvent) -> None:
        (across, along), (left, top) = self._scales(), self._origin()
        self.moved.emit((event.position().x() - left) / across, (event.position().y() - top) / along)
        event.accept()


class LegendPanel(QWidget):
    """What the colours mean; lets every click through."""

    MAX_ENTRIES = 10

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._legend: Legend | None = None
        self._colours: CanvasColours | None = None
        self.hide()

    @property
    def legend(self) -> Legend | None:
        """The legend shown, or None."""
        return self._legend

    def show_legend(self, legend: Legend | None, colours: CanvasColours) -> None:
        """Show a legend, or nothing."""
        self._legend, self._colours = legend, colours
        self.setVisible(legend is not None)
        if legend is not None:
            bold, plain = (QFontMetricsF(font(style, 11)) for style in (TextStyle.TITLE, TextStyle.NOTE))
            entries = legend.entries[: self.MAX_ENTRIES]
            width = max(
                bold.horizontalAdvance(legend.title),
                *(18 + plain.horizontalAdvance(text) for _, text in entries),
                150.0 if legend.ramp else 0.0,
            )
            self.resize(int(width) + 24, 26 + 16 * len(entries) + (30 if legend.ramp else 0))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        legend, colours = self._legend, self._colours
        if legend is None or colours is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.setBrush(QColor(colours.panel))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setFont(font(TextStyle.TITLE, 11))
        painter.setPen(QColor(colours.text))
        painter.drawText(QRectF(10, 6, self.width(), 14), Qt.AlignmentFlag.AlignVCenter, legend.title)
        painter.setFont(font(TextStyle.NOTE, 11))
        y = 24.0
        for colour, text in legend.entries[: self.MAX_ENTRIES]:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(10, y + 2, 10, 10), 2, 2)
            painter.setPen(QColor(colours.muted))
            painter.drawText(QRectF(27, y, self.width(), 14), Qt.AlignmentFlag.AlignVCenter, text)
            y += 16
        if legend.ramp:
            self._paint_ramp(painter, legend, colours, y)
        painter.end()

    def _paint_ramp(self, painter: QPainter, legend: Legend, colours: CanvasColours, y: float) -> None:
        width = self.width() - 20.0
        gradient = QLinearGradient(10, 0, 10 + width, 0)
        for i, colour in enumerate(legend.ramp):
            gradient.setColorAt(i / (len(legend.ramp) - 1), QColor(colour))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(gradient)
        painter.drawRoundedRect(QRectF(10, y, width, 8), 2, 2)
        painter.setPen(QColor(colours.muted))
        below = QRectF(10, y + 10, width, 14)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, legend.low)
        painter.drawText(below, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, legend.high)
