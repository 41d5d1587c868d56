"""Paints the boxes of a frame: plain rectangles when far or many, with corners and bodies when near."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QRegion

from gui.canvas.buffers import Buffers
from gui.canvas.colouring import Colouring
from gui.canvas.geometry import CHIP, DASHED, FRAME, HEADED, MISSING, Geometry
from gui.canvas.layout.types import Ints
from gui.canvas.palette import CanvasColours
from gui.canvas.scene import HEADER_HEIGHT
from gui.canvas.visible import Visible, distinct_rects

RADIUS = 4.0
FLAG_WIDTH, FLAG_HEIGHT, FLAG_GAP = 7.0, 18.0, 4.0  # of a bookmark


class BoxPainter:
    """Paints the boxes of a geometry."""

    def __init__(self, geometry: Geometry, buffers: Buffers) -> None:
        self._g = geometry
        self._buffers = buffers
        self._headers: dict[tuple[float, bool], QPainterPath] = {}
        self._is_frame = geometry.kind == FRAME
        self._is_headed = np.isin(geometry.kind, HEADED)

    def paint_frames(self, painter: QPainter, seen: Visible, colours: CanvasColours) -> None:
        """Paint the insides of opened modules, below the lines; outer ones first, as they are numbered."""
        frames = seen.boxes[self._is_frame[seen.boxes]]
        if not len(frames):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, seen.near)
        painter.setPen(QPen(QColor(colours.border), 1.0))
        painter.setBrush(QColor(colours.frame))
        radius = RADIUS * seen.scale if seen.near else 0.0
        for rect in self._rects(seen, frames):
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

    def beside_frame_headers(self, seen: Visible) -> QRegion:
        """The widget without the headers of opened modules."""
        widget = QRectF(0, 0, seen.view.width + 1, seen.view.height + 1)
        region = QRegion(widget.toAlignedRect())
        x, y, width, _height = seen.rects(seen.boxes[self._is_frame[seen.boxes]])
        for left, top, wide in zip(x.tolist(), y.tolist(), width.tolist(), strict=True):
            header = QRectF(left, top, wide, HEADER_HEIGHT * seen.scale).intersected(widget)
            region -= QRegion(header.toAlignedRect())
        return region

    def paint(self, painter: QPainter, seen: Visible, colours: CanvasColours, colouring: Colouring) -> None:
        """Paint boxes, and the headers of frames."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        if seen.near:
            self._near(painter, seen, colours, colouring)
            return
        g, index = self._g, colouring.index[seen.boxes]
        is_frame = self._is_frame[seen.boxes]
        x, y, width, height = seen.rects(seen.boxes)
        if seen.far:
            kept = distinct_rects(x, y, index)
            head = np.where(is_frame, np.maximum(HEADER_HEIGHT * seen.scale, 1.0), height)[kept]
            x, y, width, index = x[kept], y[kept], width[kept], index[kept]
        else:
            head = np.minimum(height, g.header[seen.boxes] * seen.scale)
            tall = (height > head + 1) & ~is_frame
            painter.setBrush(QColor(colours.body))
            painter.setPen(QPen(QColor(colours.border), 0))
            self._buffers.rects(painter, x[tall], y[tall], width[tall] - 1, height[tall])
            painter.setPen(Qt.PenStyle.NoPen)
        for i, colour in enumerate(colouring.colours):
            same = index == i
            if same.any():
                painter.setBrush(QColor(colour))
                self._buffers.rects(painter, x[same], y[same], width[same], head[same])

    def _near(self, painter: QPainter, seen: Visible, colours: CanvasColours, colouring: Colouring) -> None:
        """Boxes near enough for corners, drawn one by one in scene px."""
        painter.save()
        painter.translate(seen.view.dx, seen.view.dy)
        painter.scale(seen.scale, seen.scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        headed = self._is_headed[seen.boxes]
        self._headed(painter, seen.boxes[headed], colours, colouring)
        self._pills(painter, seen.boxes[~headed], colours)
        painter.restore()

    def _headed(self, painter: QPainter, boxes: Ints, colours: CanvasColours, colouring: Colouring) -> None:
        g = self._g
        outline = QPen(QColor(colours.border), 1.0)
        brushes = [QBrush(QColor(colour)) for colour in colouring.colours]
        body = QBrush(QColor(colours.body))
        for i in boxes.tolist():
            x, y, width, height = float(g.x0[i]), float(g.y0[i]), float(g.x1[i] - g.x0[i]), float(g.y1[i] - g.y0[i])
            if height > HEADER_HEIGHT and not self._is_frame[i]:
                painter.setPen(outline)
                painter.setBrush(body)
                painter.drawRoundedRect(QRectF(x + 0.5, y + 0.5, width - 1, height - 1), RADIUS, RADIUS)
            painter.translate(x, y)
            painter.fillPath(self._header(width, height > HEADER_HEIGHT), brushes[int(colouring.index[i])])
            painter.translate(-x, -y)

    def _pills(self, painter: QPainter, boxes: Ints, colours: CanvasColours) -> None:
        g = self._g
        for i in boxes.tolist():
            kind = int(g.kind[i])
            pen = QPen(QColor(colours.error if kind == MISSING else colours.edge), 1.0)
            if kind in DASHED:
                pen.setDashPattern([4, 3])
            painter.setPen(pen if kind != CHIP else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.chip if kind == CHIP else colours.pill))
            rect = QRectF(float(g.x0[i]), float(g.y0[i]), float(g.x1[i] - g.x0[i]), float(g.y1[i] - g.y0[i]))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), rect.height() / 2, rect.height() / 2)

    def _header(self, width: float, has_rows: bool) -> QPainterPath:
        """Shape of a header: rounded above, and below too where no rows follow."""
        path = self._headers.get((width, has_rows))
        if path is None:
            path = QPainterPath(QPointF(0, HEADER_HEIGHT - (0 if has_rows else RADIUS)))
            path.lineTo(0, RADIUS)
            path.quadTo(0, 0, RADIUS, 0)
            path.lineTo(width - RADIUS, 0)
            path.quadTo(width, 0, width, RADIUS)
            path.lineTo(width, HEADER_HEIGHT - (0 if has_rows else RADIUS))
            if not has_rows:
                path.quadTo(width, HEADER_HEIGHT, width - RADIUS, HEADER_HEIGHT)
                path.lineTo(RADIUS, HEADER_HEIGHT)
                path.quadTo(0, HEADER_HEIGHT, 0, HEADER_HEIGHT - RADIUS)
            path.closeSubpath()
            self._headers[width, has_rows] = path
        return path

    # What stands out

    def paint_outlines(self, painter: QPainter, seen: Visible, boxes: Ints, colour: str, width: float) -> None:
        """Outline some boxes."""
        boxes = boxes[seen.sees(boxes)]
        if not len(boxes):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(QColor(colour), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        corner = (RADIUS + 1.5) * seen.scale
        for box, rect in zip(boxes.tolist(), self._rects(seen, boxes), strict=True):
            radius = corner if self._is_headed[box] else rect.height() / 2
            painter.drawRoundedRect(rect.adjusted(-1.5, -1.5, 1.5, 1.5), radius, radius)

    def paint_flags(self, painter: QPainter, seen: Visible, boxes: Ints, colour: str) -> None:
        """Put a ribbon at the left of bookmarked boxes."""
        boxes = boxes[seen.sees(boxes)]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for rect in self._rects(seen, boxes):
            high = min(max(rect.height(), 8.0), FLAG_HEIGHT * max(seen.scale, 0.6))
            x, y = rect.left() - FLAG_GAP, rect.top()
            path = QPainterPath(QPointF(x, y))
            for point in (
                (x, y + high),
                (x - FLAG_WIDTH / 2, y + high - 3),
                (x - FLAG_WIDTH, y + high),
                (x - FLAG_WIDTH, y),
            ):
                path.lineTo(*point)
            painter.fillPath(path, QColor(colour))

    def paint_marked_rows(self, painter: QPainter, seen: Visible, rows: Ints, colour: str) -> None:
        """Outline some rows."""
        if not seen.detailed:
            return
        g = self._g
        rows = rows[seen.sees(g.rows.box[rows])]
        box = g.rows.box[rows]
        x, y = seen.points(np.stack([g.x0[box] + 3, g.y0[box] + g.rows.middle[rows] - 7], 1))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(QColor(colour), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for left, top, width in zip(x.tolist(), y.tolist(), (g.x1[box] - g.x0[box] - 6).tolist(), strict=True):
            painter.drawRoundedRect(QRectF(left, top, width * seen.scale, 14 * seen.scale), 3, 3)

    def _rects(self, seen: Visible, boxes: Ints) -> list[QRectF]:
        """Boxes in widget px, cut a little outside the widget, since a frame may be far larger than it."""
        x, y, width, height = seen.rects(boxes)
        left, top = np.maximum(x, -50.0), np.maximum(y, -50.0)
        right, bottom = np.minimum(x + width, seen.view.width + 50), np.minimum(y + height, seen.view.height + 50)
        columns = (left, top, np.maximum(right - left, 1.0), np.maximum(bottom - top, 1.0))
        return [QRectF(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]
