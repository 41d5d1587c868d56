"""NumPy arrays that QPainter reads in place: no Python object per rectangle, line or letter run."""

from __future__ import annotations

import numpy as np
import shiboken6
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter, QPixmap

from gui.canvas.layout.types import Floats


class _Buffer:
    """A growing float64 table with one row per C++ object."""

    def __init__(self, kind: type, columns: int) -> None:
        self._kind = kind
        self._table = np.empty((256, columns))

    def pointer(self, *columns: Floats | float, count: int) -> object:
        """Fill the first `count` rows and return the first object, whose successors lie behind it in memory."""
        if count > len(self._table):
            self._table = np.empty((int(count * 1.5), self._table.shape[1]))
        for i, column in enumerate(columns):
            self._table[:count, i] = column
        return shiboken6.wrapInstance(self._table.ctypes.data, self._kind)


class Buffers:
    """Draws many rectangles, lines or pixmap fragments by one call each."""

    def __init__(self) -> None:
        self._rects = _Buffer(QRectF, 4)
        self._lines = _Buffer(QLineF, 4)
        self._fragments = _Buffer(QPainter.PixmapFragment, 10)

    def rects(self, painter: QPainter, x: Floats, y: Floats, width: Floats, height: Floats) -> None:
        if len(x):
            painter.drawRects(self._rects.pointer(x, y, width, height, count=len(x)), len(x))

    def lines(self, painter: QPainter, lines: Floats) -> None:
        """Draw lines given as an array (m, 4)."""
        if len(lines):
            painter.drawLines(self._lines.pointer(*lines.T, count=len(lines)), len(lines))

    def fragments(
        self, painter: QPainter, pixmap: QPixmap, ratio: float, x: Floats, y: Floats, left: Floats, top: Floats,
        width: Floats, height: float,
    ) -> None:  # fmt: skip
        """Draw parts of a pixmap unscaled; `x` and `y` are middles, everything in logical px except the ratio."""
        count = len(x)
        if count:
            first = self._fragments.pointer(
                x, y, left * ratio, top * ratio, width * ratio, height * ratio, 1 / ratio, 1 / ratio, 0.0, 1.0,
                count=count,
            )  # fmt: skip
            painter.drawPixmapFragments(first, count, pixmap)  # type: ignore[arg-type]
