"""Paints where tensors are copied from device to device: their lines, and badges that say how much."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from gui.canvas.copies import BADGE_HEIGHT, BADGE_PADDING, BADGE_STYLE, CopyMarks
from gui.canvas.geometry import StringTable
from gui.canvas.line_painter import LinePainter
from gui.canvas.palette import CanvasColours
from gui.canvas.text import TextDrawer
from gui.canvas.visible import Visible


class CopyPainter:
    """Paints the marks of a geometry's copies over its lines."""

    def __init__(self, marks: CopyMarks, lines: LinePainter, drawer: Callable[[StringTable], TextDrawer]) -> None:
        self._marks = marks
        self._lines = lines
        self._text = drawer(marks.strings)
        badges = marks.badges
        self._boxes = np.array([badge.box for badge in badges], np.int64)
        self._middles = np.array([(badge.x, badge.y) for badge in badges], float).reshape(-1, 2)
        self._widths = np.array([badge.width for badge in badges], float)

    def paint_lines(self, painter: QPainter, seen: Visible, colours: CanvasColours) -> None:
        """Paint the lines that copies run along, dashed before a run has made them."""
        marks = self._marks
        self._lines.paint_segments(painter, seen, marks.segments, marks.arrows, colours.copied, marks.planned)

    def paint_badges(self, painter: QPainter, seen: Visible, colours: CanvasColours) -> None:
        """Paint what is copied into the boxes in sight, once it can be read."""
        shown = np.flatnonzero(seen.sees(self._boxes)) if len(self._boxes) and seen.detailed else self._boxes[:0]
        if not len(shown):
            return
        x, y = seen.points(self._middles[shown])
        width, height = self._widths[shown] * seen.scale, BADGE_HEIGHT * seen.scale
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(QColor(colours.copied), 1.0))
        painter.setBrush(QColor(colours.background))
        for left, top, wide in zip((x - width / 2).tolist(), (y - height / 2).tolist(), width.tolist(), strict=True):
            painter.drawRoundedRect(QRectF(left, top, wide, height), height / 2, height / 2)
        begin = x - width / 2 + BADGE_PADDING * seen.scale
        self._text.draw(painter, BADGE_STYLE, colours.copied, seen.scale, self._marks.texts[shown], begin, y, width)
