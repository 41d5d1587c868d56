"""The last frame as a picture, to be moved or scaled while the view moves instead of being painted anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

from gui.canvas.view import View

MOST_SCALED = 2.6  # beyond that, or below its inverse, a scaled frame says too little
MOST_EXPOSED = 0.5  # of the widget; with more of it new, the frame is painted anew

Paint = Callable[[QPainter, bool, QRectF | None], None]


class FrameCache:
    """Keeps one frame and the view it shows.

    `paint(painter, moving, area)` paints the drawing without background: quickly while moving, and of the widget only
    `area` where one is given.
    """

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._pixmap = QPixmap()
        self._holds = False  # whether the pixmap shows a frame: it is kept to be painted on again
        self._view = View()
        self._calm = False  # whether it was painted in full, not quickly
        self._whole = False  # and in one piece: titles keep to the border of the widget, so they move on their own

    def clear(self) -> None:
        """Forget the frame: what it shows has changed."""
        self._holds = False

    def draw(self, painter: QPainter, view: View, size: QSize, ratio: float, background: str, moving: bool) -> None:
        """Draw the frame for a view onto the widget's painter."""
        if self._pixmap.size() != size * ratio or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap, self._holds = _blank(size, ratio), False
        if not self._holds or not self._serves(view, moving):
            self._render(view, background, moving)
        elif not self._shows(view):
            if math.isclose(view.scale, self._view.scale, rel_tol=1e-9):
                self._shift(view, size, ratio, background)
            else:
                self._scaled(painter, view, size, background)
                return
        painter.drawPixmap(0, 0, self._pixmap)

    def _shows(self, view: View) -> bool:
        mine = self._view
        return (view.scale, view.dx, view.dy) == (mine.scale, mine.dx, mine.dy)

    def _serves(self, view: View, moving: bool) -> bool:
        """Whether the kept frame can be used for a view."""
        if not moving:
            return self._calm and self._whole and self._shows(view)
        factor = view.scale / self._view.scale
        if not 1 / MOST_SCALED <= factor <= MOST_SCALED:
            return False
        kept = self._place(view).intersected(QRectF(0, 0, view.width, view.height))
        return kept.width() * kept.height() >= (1 - MOST_EXPOSED) * view.width * view.height

    def _place(self, view: View) -> QRectF:
        """Where the kept frame lies in the widget."""
        mine, factor = self._view, view.scale / self._view.scale
        return QRectF(view.dx - mine.dx * factor, view.dy - mine.dy * factor, mine.width * factor, mine.height * factor)

    def _render(self, view: View, background: str, moving: bool) -> None:
        self._pixmap.fill(QColor(background))
        painter = QPainter(self._pixmap)
        self._paint(painter, moving, None)
        painter.end()
        self._view, self._holds, self._calm, self._whole = replace(view), True, not moving, True

    def _shift(self, view: View, size: QSize, ratio: float, background: str) -> None:
        """Move the frame and paint what comes into sight."""
        right, down = round((view.dx - self._view.dx) * ratio), round((view.dy - self._view.dy) * ratio)
        dx, dy = right / ratio, down / ratio
        if abs(dx - (view.dx - self._view.dx)) > 1e-6 or abs(dy - (view.dy - self._view.dy)) > 1e-6:
            self._render(view, background, moving=True)
            return
        self._pixmap.scroll(right, down, self._pixmap.rect())
        painter = QPainter(self._pixmap)
        self._strips(painter, QRectF(dx, dy, size.width(), size.height()), size, background, moving=not self._calm)
        painter.end()
        self._view, self._whole = replace(view), False

    def _scaled(self, painter: QPainter, view: View, size: QSize, background: str) -> None:
        """Show the frame larger or smaller, with what lies around it painted quickly."""
        place = self._place(view)
        painter.drawPixmap(place, self._pixmap, QRectF(self._pixmap.rect()))
        self._strips(painter, place, size, background, moving=True)

    def _strips(self, painter: QPainter, kept: QRectF, size: QSize, background: str, moving: bool) -> None:
        """Paint what of the widget lies outside a rectangle."""
        width, height = float(size.width()), float(size.height())
        left, right = min(max(kept.left(), 0.0), width), min(max(kept.right(), 0.0), width)
        top, bottom = min(max(kept.top(), 0.0), height), min(max(kept.bottom(), 0.0), height)
        for area in (
            QRectF(0, 0, width, top),
            QRectF(0, bottom, width, height - bottom),
            QRectF(0, top, left, bottom - top),
            QRectF(right, top, width - right, bottom - top),
        ):
            if area.width() > 0 and area.height() > 0:
                painter.save()
                painter.setClipRect(area)
                painter.fillRect(area, QColor(background))
                self._paint(painter, moving, area)
                painter.restore()


def _blank(size: QSize, ratio: float) -> QPixmap:
    pixmap = QPixmap(size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
