"""Paints the lines of a frame: straight ones by one call, slanted ones as S-curves when near, arrowheads."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF

from gui.canvas.buffers import Buffers
from gui.canvas.geometry import Geometry
from gui.canvas.layout.types import Floats, Ints
from gui.canvas.palette import CanvasColours
from gui.canvas.visible import Visible

ARROW_WIDTH, ARROW_HEIGHT = 4.2, 7.0
DASHES = [4, 3]


class LinePainter:
    """Paints the nets of a geometry."""

    def __init__(self, geometry: Geometry, buffers: Buffers) -> None:
        self._g = geometry
        self._buffers = buffers

    def paint(self, painter: QPainter, seen: Visible, colours: CanvasColours) -> None:
        """Paint all lines in sight: plain, dashed where a subgraph captures a value, red where they close a cycle."""
        g = self._g
        back, captured = g.segment_back[seen.segments], g.segment_captured[seen.segments]
        if seen.far:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(QPen(QColor(colours.edge), 0))
            self._buffers.lines(painter, seen.distinct_lines(seen.segments))
        else:
            plain = seen.segments[~back & ~captured]
            self._draw(painter, seen, seen.lines(plain), QPen(QColor(colours.edge), seen.line_width))
            self._dashed(painter, seen, seen.segments[captured & ~back], colours.edge, seen.line_width)
        self._dashed(painter, seen, seen.segments[back], colours.error, max(1.2, 1.4 * seen.scale))
        arrows = seen.arrows
        self._arrows(painter, seen, arrows[~g.arrow_back[arrows]], colours.edge)
        self._arrows(painter, seen, arrows[g.arrow_back[arrows]], colours.error)

    def paint_nets(self, painter: QPainter, seen: Visible, nets: Ints, colour: str) -> None:
        """Paint all branches of some nets, thicker."""
        g, segments, arrows = self._g, seen.segments, seen.arrows
        segments, arrows = segments[np.isin(g.segment_net[segments], nets)], arrows[np.isin(g.arrow_net[arrows], nets)]
        self._thick(painter, seen, segments, arrows, colour)

    def paint_segments(
        self, painter: QPainter, seen: Visible, segments: Ints, arrows: Ints, colour: str, dashed: bool = False
    ) -> None:  # fmt: skip
        """Paint some pieces of lines, thicker, and some arrowheads."""
        segments, arrows = np.intersect1d(seen.segments, segments), np.intersect1d(seen.arrows, arrows)
        self._thick(painter, seen, segments, arrows, colour, dashed)

    def _thick(
        self, painter: QPainter, seen: Visible, segments: Ints, arrows: Ints, colour: str, dashed: bool = False
    ) -> None:  # fmt: skip
        width = max(1.6, 2.0 * seen.scale)
        if dashed:
            self._dashed(painter, seen, segments, colour, width)
        else:
            self._draw(painter, seen, seen.lines(segments), QPen(QColor(colour), width))
        self._arrows(painter, seen, arrows, colour)

    def _dashed(self, painter: QPainter, seen: Visible, segments: Ints, colour: str, width: float) -> None:
        if len(segments):
            pen = QPen(QColor(colour), width)
            pen.setDashPattern(DASHES)
            self._draw(painter, seen, seen.lines(segments), pen)

    def _draw(self, painter: QPainter, seen: Visible, lines: Floats, pen: QPen) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, seen.smooth)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if seen.curved:
            slanted = (np.abs(lines[:, 0] - lines[:, 2]) > 0.6) & (np.abs(lines[:, 1] - lines[:, 3]) > 0.6)
            painter.drawPath(self._curves(lines[slanted]))
            lines = lines[~slanted]
        self._buffers.lines(painter, lines)

    def _curves(self, lines: Floats) -> QPainterPath:
        path = QPainterPath()
        if self._g.horizontal:
            for x0, y0, x1, y1 in lines.tolist():
                bow = (x1 - x0) / 2
                path.moveTo(x0, y0)
                path.cubicTo(x0 + bow, y0, x1 - bow, y1, x1, y1)
            return path
        for x0, y0, x1, y1 in lines.tolist():
            bow = (y1 - y0) / 2
            path.moveTo(x0, y0)
            path.cubicTo(x0, y0 + bow, x1, y1 - bow, x1, y1)
        return path

    def _arrows(self, painter: QPainter, seen: Visible, which: Ints, colour: str) -> None:
        if not len(which):
            return
        x, y = seen.points(self._g.arrows[which])
        half, high = ARROW_WIDTH * min(seen.scale, 1.5), ARROW_HEIGHT * min(seen.scale, 1.5)
        ends = [(-half, -high), (half, -high)] if not self._g.horizontal else [(-high, -half), (-high, half)]
        path = QPainterPath()
        for tip_x, tip_y in zip(x.tolist(), y.tolist(), strict=True):
            corners = [QPointF(tip_x + dx, tip_y + dy) for dx, dy in ends]
            path.addPolygon(QPolygonF([*corners, QPointF(tip_x, tip_y)]))
        path.setFillRule(Qt.FillRule.WindingFill)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.fillPath(path, QBrush(QColor(colour)))
