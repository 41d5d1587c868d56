"""Paints one frame of a scene. Far away: rectangles and lines only, snapped to pixels and without doubles;
near: rounded boxes with rows, curved lines, arrowheads and labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF

from gui.canvas.buffers import Buffers
from gui.canvas.coloring import Coloring
from gui.canvas.geometry import KINDS, Geometry
from gui.canvas.layout.types import Bools, Floats, Ints
from gui.canvas.palette import CanvasColors
from gui.canvas.scene import HEADER_HEIGHT, PADDING, ROW_GAP, BoxKind, TextStyle
from gui.canvas.text import TextDrawer
from gui.canvas.view import View

FAR = 0.25  # below this scale doubles on the pixel grid are dropped
TITLES = 0.4
NEAR = 0.5  # from this scale on boxes have rows and lines have arrowheads
MANY_BOXES = 600  # more visible boxes are drawn plainly
MANY_SEGMENTS = 1500
MANY_PIXELS = 2e5  # more px of visible lines across are drawn without antialiasing
FAST_BOXES = 150  # up to here a moving frame is as good as a still one
FAST_SEGMENTS = 400
RADIUS = 4.0
ARROW_WIDTH, ARROW_HEIGHT = 4.2, 7.0
PILLS = [KINDS.index(kind) for kind in BoxKind if kind is not BoxKind.NODE]
DASHED = {KINDS.index(BoxKind.CAPTURED), KINDS.index(BoxKind.MISSING)}
MISSING = KINDS.index(BoxKind.MISSING)
SMALL_DROP = 0.7  # px that smaller text stands lower, so that it shares the baseline of the text beside it


@dataclass(slots=True)
class Emphasis:
    """What stands out: boxes, nets and rows by index. A hovered thing is -1 where there is none."""

    selected: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    nets: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    found: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    hover_box: int = -1
    hover_net: int = -1


class FramePainter:
    """Paints a geometry with a text drawer; `exact` paints everything in full whatever the scale, for export."""

    def __init__(self, geometry: Geometry, buffers: Buffers, text: TextDrawer, exact: bool = False) -> None:
        self._g = geometry
        self._buffers = buffers
        self._text = text
        self._exact = exact
        self._headers: dict[tuple[float, bool], QPainterPath] = {}

    def paint(
        self, painter: QPainter, view: View, colors: CanvasColors, coloring: Coloring, emphasis: Emphasis, moving: bool
    ) -> None:
        """Paint the visible part; the background is the caller's."""
        frame = _Frame(self._g, view, moving, self._exact)
        self._lines(painter, frame, colors)
        self._boxes(painter, frame, colors, coloring)
        self._emphasis(painter, frame, colors, emphasis)
        self._texts(painter, frame, colors)

    # Lines

    def _lines(self, painter: QPainter, frame: _Frame, colors: CanvasColors) -> None:
        back = self._g.segment_back[frame.segments]
        lines = frame.lines(frame.segments)
        if frame.scale < FAR and not self._exact:
            lines = _distinct_lines(lines)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(QPen(QColor(colors.edge), 0))
            self._buffers.lines(painter, lines)
        else:
            self._draw_lines(painter, frame, lines[~back], QPen(QColor(colors.edge), frame.line_width))
        if back.any():
            pen = QPen(QColor(colors.error), max(1.2, 1.4 * frame.scale))
            pen.setDashPattern([4, 3])
            self._draw_lines(painter, frame, frame.lines(frame.segments[back]), pen)
        if frame.near:
            self._arrows(painter, frame, np.flatnonzero(~self._g.arrow_back), colors.edge)
            self._arrows(painter, frame, np.flatnonzero(self._g.arrow_back), colors.error)

    def _draw_lines(self, painter: QPainter, frame: _Frame, lines: Floats, pen: QPen) -> None:
        """Straight lines by one call, slanted ones as S-curves when near."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, frame.smooth)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if frame.curved:
            slanted = (np.abs(lines[:, 0] - lines[:, 2]) > 0.6) & (np.abs(lines[:, 1] - lines[:, 3]) > 0.6)
            path = QPainterPath()
            for x0, y0, x1, y1 in lines[slanted].tolist():
                bow = (y1 - y0) / 2
                path.moveTo(x0, y0)
                path.cubicTo(x0, y0 + bow, x1, y1 - bow, x1, y1)
            painter.drawPath(path)
            lines = lines[~slanted]
        self._buffers.lines(painter, lines)

    def _arrows(self, painter: QPainter, frame: _Frame, which: Ints, color: str) -> None:
        x, y = frame.points(self._g.arrows[which])
        seen = (x > -10) & (x < frame.view.width + 10) & (y > -10) & (y < frame.view.height + 20)
        if not seen.any():
            return
        half, high = ARROW_WIDTH * min(frame.scale, 1.5), ARROW_HEIGHT * min(frame.scale, 1.5)
        path = QPainterPath()
        for tip_x, tip_y in zip(x[seen].tolist(), y[seen].tolist(), strict=True):
            path.addPolygon(
                QPolygonF(
                    [QPointF(tip_x - half, tip_y - high), QPointF(tip_x + half, tip_y - high), QPointF(tip_x, tip_y)]
                )
            )
        path.setFillRule(Qt.FillRule.WindingFill)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.fillPath(path, QBrush(QColor(color)))

    # Boxes

    def _boxes(self, painter: QPainter, frame: _Frame, colors: CanvasColors, coloring: Coloring) -> None:
        index = coloring.index[frame.boxes]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        if frame.rounded:
            self._rounded_boxes(painter, frame, colors, coloring)
            return
        x, y, width, height = frame.rects(frame.boxes)
        if frame.scale < FAR:
            kept = _distinct_rects(x, y, index)
            x, y, width, height, index = x[kept], y[kept], width[kept], height[kept], index[kept]
            head = height
        else:
            head = np.minimum(height, self._g.header[frame.boxes] * frame.scale)
            tall = height > head + 1
            painter.setBrush(QColor(colors.body))
            painter.setPen(QPen(QColor(colors.border), 0))
            self._buffers.rects(painter, x[tall], y[tall], width[tall] - 1, height[tall])
            painter.setPen(Qt.PenStyle.NoPen)
        for i, color in enumerate(coloring.colors):
            same = index == i
            if same.any():
                painter.setBrush(QColor(color))
                self._buffers.rects(painter, x[same], y[same], width[same], head[same])

    def _rounded_boxes(self, painter: QPainter, frame: _Frame, colors: CanvasColors, coloring: Coloring) -> None:
        """Boxes near enough for corners, drawn one by one in scene px."""
        g = self._g
        painter.save()
        painter.translate(frame.view.dx, frame.view.dy)
        painter.scale(frame.scale, frame.scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        outline = QPen(QColor(colors.border), 1.0)
        brushes = [QBrush(QColor(color)) for color in coloring.colors]
        body = QBrush(QColor(colors.body))
        nodes = ~np.isin(g.kind[frame.boxes], PILLS)
        for i in frame.boxes[nodes].tolist():
            x, y, width, height = float(g.x0[i]), float(g.y0[i]), float(g.x1[i] - g.x0[i]), float(g.y1[i] - g.y0[i])
            brush = brushes[int(coloring.index[i])]
            if height > HEADER_HEIGHT:
                painter.setPen(outline)
                painter.setBrush(body)
                painter.drawRoundedRect(QRectF(x + 0.5, y + 0.5, width - 1, height - 1), RADIUS, RADIUS)
            painter.translate(x, y)
            painter.fillPath(self._header(width, height > HEADER_HEIGHT), brush)
            painter.translate(-x, -y)
        for i in frame.boxes[~nodes].tolist():
            kind = int(g.kind[i])
            pen = QPen(QColor(colors.error if kind == MISSING else colors.edge), 1.0)
            if kind in DASHED:
                pen.setDashPattern([4, 3])
            painter.setPen(pen)
            painter.setBrush(QColor(colors.pill))
            rect = QRectF(float(g.x0[i]), float(g.y0[i]), float(g.x1[i] - g.x0[i]), float(g.y1[i] - g.y0[i]))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), rect.height() / 2, rect.height() / 2)
        painter.restore()

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

    def _emphasis(self, painter: QPainter, frame: _Frame, colors: CanvasColors, emphasis: Emphasis) -> None:
        if emphasis.hover_net >= 0:
            self._net(painter, frame, np.array([emphasis.hover_net]), colors.hover)
        if len(emphasis.nets):
            self._net(painter, frame, emphasis.nets, colors.accent)
        if len(emphasis.rows):
            self._marked_rows(painter, frame, emphasis.rows, colors.accent)
        self._outlines(painter, frame, emphasis.found, colors.found, 2.0)
        if emphasis.hover_box >= 0:
            self._outlines(painter, frame, np.array([emphasis.hover_box]), colors.hover, 1.5)
        self._outlines(painter, frame, emphasis.selected, colors.accent, 2.4)

    def _net(self, painter: QPainter, frame: _Frame, nets: Ints, color: str) -> None:
        """All branches of some nets, drawn thicker."""
        mine = frame.segments[np.isin(self._g.segment_net[frame.segments], nets)]
        self._draw_lines(painter, frame, frame.lines(mine), QPen(QColor(color), max(1.6, 2.0 * frame.scale)))
        if frame.near:
            self._arrows(painter, frame, np.flatnonzero(np.isin(self._g.arrow_net, nets)), color)

    def _outlines(self, painter: QPainter, frame: _Frame, boxes: Ints, color: str, width: float) -> None:
        boxes = boxes[frame.sees(boxes)]
        if not len(boxes):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(QColor(color), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        corner = (RADIUS + 1.5) * frame.scale
        for box, x, y, w, h in zip(boxes.tolist(), *(c.tolist() for c in frame.rects(boxes)), strict=True):
            radius = h / 2 if self._g.kind[box] in PILLS else corner
            painter.drawRoundedRect(QRectF(x, y, w, h).adjusted(-1.5, -1.5, 1.5, 1.5), radius, radius)

    def _marked_rows(self, painter: QPainter, frame: _Frame, rows: Ints, color: str) -> None:
        if not frame.detailed:
            return
        g = self._g
        rows = rows[frame.sees(g.rows.box[rows])]
        box = g.rows.box[rows]
        x, y = frame.points(np.stack([g.x0[box] + 3, g.y0[box] + g.rows.middle[rows] - 7], 1))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(QColor(color), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for left, top, width in zip(x.tolist(), y.tolist(), (g.x1[box] - g.x0[box] - 6).tolist(), strict=True):
            painter.drawRoundedRect(QRectF(left, top, width * frame.scale, 14 * frame.scale), 3, 3)

    # Texts

    def _texts(self, painter: QPainter, frame: _Frame, colors: CanvasColors) -> None:
        if frame.scale < TITLES and not self._exact:
            return
        g = self._g
        pill = np.isin(g.kind[frame.boxes], PILLS)
        for boxes, style, color, note_color in (
            (frame.boxes[~pill], TextStyle.TITLE, colors.header_text, "#d5dbe6"),
            (frame.boxes[pill], TextStyle.PILL, colors.text, colors.muted),
        ):
            middle = g.y0[boxes] + HEADER_HEIGHT / 2
            room = g.x1[boxes] - g.x0[boxes]
            self._write(painter, frame, style, color, g.title[boxes], g.x0[boxes] + g.title_x[boxes], middle, room)
            if frame.detailed:
                note_x = g.x0[boxes] + g.note_x[boxes]
                self._write(
                    painter, frame, TextStyle.NOTE, note_color, g.note[boxes], note_x, middle + SMALL_DROP, room
                )
        nodes = frame.boxes[~pill]
        glyph_x, middle = g.x0[nodes] + PADDING - 1, g.y0[nodes] + HEADER_HEIGHT / 2
        room = np.full(len(nodes), 14.0)
        self._write(painter, frame, TextStyle.NOTE, "#e3e7ee", g.glyph[nodes], glyph_x, middle, room)
        if frame.detailed:
            self._row_texts(painter, frame, colors)
            self._label_texts(painter, frame, colors)

    def _row_texts(self, painter: QPainter, frame: _Frame, colors: CanvasColors) -> None:
        g = self._g
        rows = np.flatnonzero(frame.sees(g.rows.box))
        box = g.rows.box[rows]
        left, middle = g.x0[box] + PADDING, g.y0[box] + g.rows.middle[rows]
        room = g.x1[box] - left - PADDING / 2
        self._write(painter, frame, TextStyle.ROW_NAME, colors.text, g.rows.name[rows], left, middle, room)
        shift = g.rows.value_x[rows] + ROW_GAP
        left, middle, room = left + shift, middle + SMALL_DROP, room - shift
        self._write(painter, frame, TextStyle.ROW_VALUE, colors.muted, g.rows.value[rows], left, middle, room)

    def _label_texts(self, painter: QPainter, frame: _Frame, colors: CanvasColors) -> None:
        g = self._g
        x0, y0, x1, y1 = frame.view.visible()
        x, y = g.labels[:, 0], g.labels[:, 1]
        seen = (x < x1) & (x > x0 - 200) & (y > y0 - 10) & (y < y1 + 10)
        for inferred, style, color in (
            (False, TextStyle.LABEL, colors.muted),
            (True, TextStyle.LABEL_INFERRED, colors.accent),
        ):
            mine = np.flatnonzero(seen & (g.label_inferred == inferred))
            room = np.full(len(mine), 400.0)
            self._write(painter, frame, style, color, g.label_text[mine], x[mine], y[mine], room)

    def _write(
        self, painter: QPainter, frame: _Frame, style: TextStyle, color: str, texts: Ints, x: Floats, y: Floats,
        room: Floats,
    ) -> None:  # fmt: skip
        at_x, at_y = frame.points(np.stack([x, y], 1))
        self._text.draw(painter, style, color, frame.scale, texts, at_x, at_y, room * frame.scale)


class _Frame:
    """What one frame shows: the visible boxes and segments, and how much detail they get."""

    def __init__(self, geometry: Geometry, view: View, moving: bool, exact: bool) -> None:
        self.geometry = geometry
        self.view = view
        self.scale = view.scale
        visible = view.visible()
        self.boxes = geometry.boxes_within(*visible)
        self.segments = geometry.segments_within(*visible)
        self._seen = np.zeros(len(geometry.x0), bool)
        self._seen[self.boxes] = True
        few = exact or (len(self.boxes) <= MANY_BOXES and len(self.segments) <= 2 * MANY_SEGMENTS)
        fast = len(self.boxes) <= FAST_BOXES and len(self.segments) <= FAST_SEGMENTS
        calm = exact or fast or not moving
        self.detailed = exact or (self.scale >= NEAR and few)
        self.rounded = exact or (self.detailed and calm)
        self.near = self.rounded
        across = float((geometry.right[self.segments] - geometry.left[self.segments]).sum()) * self.scale
        light = len(self.segments) <= 2 * MANY_SEGMENTS and across <= MANY_PIXELS
        self.smooth = exact or (self.scale >= 0.35 and calm and light)
        self.curved = exact or (self.smooth and len(self.segments) <= MANY_SEGMENTS)
        self.line_width = max(1.2 * self.scale, 1.0) if self.smooth else 0.0

    def sees(self, boxes: Ints) -> Bools:
        return self._seen[boxes]

    def points(self, points: Floats) -> tuple[Floats, Floats]:
        return points[:, 0] * self.scale + self.view.dx, points[:, 1] * self.scale + self.view.dy

    def rects(self, boxes: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Boxes in widget px, at least a pixel large."""
        g, s = self.geometry, self.scale
        return (
            g.x0[boxes] * s + self.view.dx,
            g.y0[boxes] * s + self.view.dy,
            np.maximum((g.x1[boxes] - g.x0[boxes]) * s, 1.0),
            np.maximum((g.y1[boxes] - g.y0[boxes]) * s, 1.0),
        )

    def lines(self, segments: Ints) -> Floats:
        """Segments in widget px; long straight ones are cut at the border, since dashes and pens cost by length."""
        lines = self.geometry.segments[segments] * self.scale
        lines[:, 0::2] += self.view.dx
        lines[:, 1::2] += self.view.dy
        upright = np.abs(lines[:, 0] - lines[:, 2]) < 0.5
        lines[upright, 1::2] = np.clip(lines[upright, 1::2], -20.0, self.view.height + 20.0)
        if self.smooth:  # thin upright lines are crisp in the middle of a pixel
            lines[:, 0::2] = np.floor(lines[:, 0::2]) + 0.5
        return lines


def _distinct_lines(lines: Floats) -> Floats:
    """Lines on the pixel grid, each once."""
    grid = np.clip(np.rint(lines), -8, 32000).astype(np.int64) + 8
    key = np.unique(((grid[:, 0] * 32768 + grid[:, 1]) * 32768 + grid[:, 2]) * 32768 + grid[:, 3])
    return np.stack([(key >> shift) & 32767 for shift in (45, 30, 15, 0)], 1) - 8.0


def _distinct_rects(x: Floats, y: Floats, color: Ints) -> Ints:
    """Indices of rectangles that begin in different pixels or differ in colour."""
    key = (np.rint(x).astype(np.int64) + 4096) * 2**32 + (np.rint(y).astype(np.int64) + 4096) * 64 + color
    first: Ints = np.unique(key, return_index=True)[1]
    return first
