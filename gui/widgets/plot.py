"""What all plots are: a box of items with an axis to its left and one below it, without chrome."""

from __future__ import annotations

import math
from typing import Any

import pyqtgraph
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QGraphicsGridLayout, QGraphicsItem

from gui.look.theme import Theme

_BETWEEN = 8  # px from one number of an axis to the next
_ON_TOP = 0.5  # axes over pictures, under whatever asks to be over them


class Axis(pyqtgraph.AxisItem):
    """An axis whose numbers stand apart: pyqtgraph writes all of the coarsest level, whether they have room or not."""

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """Distances of the marks, coarsest first, and where each begins; `size` is the length of the axis in px."""
        levels: list[tuple[float, float]] = super().tickSpacing(minVal, maxVal, size)
        if self.orientation != "bottom" or not levels or maxVal <= minVal:
            return levels
        step = levels[0][0]
        while step <= maxVal - minVal and size * step / (maxVal - minVal) < self._room(maxVal, step):
            step = _coarser(step)
        return [(step, 0), *(level for level in levels if level[0] < step)]

    def _room(self, value: float, step: float) -> float:
        """What a number needs, in px, if others are to stand beside it."""
        font = self.style["tickFont"] or QApplication.font()
        return QFontMetricsF(font).horizontalAdvance(self.tickStrings([value], self.scale, step)[0]) + _BETWEEN


def _coarser(step: float) -> float:
    """The next round distance: 1, 2, 5, 10 and so on."""
    unit = 10.0 ** math.floor(math.log10(step) + 1e-9)
    return unit * next(factor for factor in (2, 5, 10) if factor > step / unit * 1.001)


class Plot(pyqtgraph.GraphicsView):
    """Hairline axes, no menus; `mouse` says whether it can be dragged and zoomed.

    pyqtgraph's own PlotWidget makes some sixty hidden widgets for its menus. Seven plots with those had nearly as many
    widgets as all the rest of the window, and a change of theme touches each.
    """

    def __init__(self, name: str, mouse: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._box = pyqtgraph.ViewBox(enableMouse=mouse, enableMenu=False)
        self._axes = {side: Axis(side, linkView=self._box) for side in ("left", "bottom")}
        grid = QGraphicsGridLayout()
        grid.setContentsMargins(1, 5, 1, 1)  # the topmost number needs some room
        grid.setSpacing(0)
        for item, row, column in ((self._box, 0, 1), (self._axes["left"], 0, 0), (self._axes["bottom"], 1, 1)):
            grid.addItem(item, row, column)
        grid.setRowStretchFactor(0, 1)
        grid.setColumnStretchFactor(1, 1)
        for axis in self._axes.values():
            axis.setZValue(_ON_TOP)
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            axis.enableAutoSIPrefix(False)  # it would turn ms into thousandths of ms
        ground = pyqtgraph.GraphicsWidget()
        ground.setLayout(grid)
        self.setCentralItem(ground)

    def getAxis(self, side: str) -> pyqtgraph.AxisItem:
        """The axis of a side, "left" or "bottom"."""
        return self._axes[side]

    def getViewBox(self) -> pyqtgraph.ViewBox:
        """The box with the items in it."""
        return self._box

    def addItem(self, item: QGraphicsItem, ignoreBounds: bool = False) -> None:
        """Show an item."""
        self._box.addItem(item, ignoreBounds=ignoreBounds)

    def setXRange(self, low: float, high: float, padding: float) -> None:
        """Show values from `low` to `high` and a share `padding` of that around."""
        self._box.setXRange(low, high, padding=padding)

    def setYRange(self, low: float, high: float, padding: float) -> None:
        """As `setXRange`, of the other axis."""
        self._box.setYRange(low, high, padding=padding)

    def style_axes(self, theme: Theme) -> None:
        """Take the ground and the axes to a theme."""
        self.setBackground(theme.window)
        for axis in self._axes.values():
            axis.setPen(theme.colour("line"))
            axis.setTextPen(theme.colour("muted"))

    def wheelEvent(self, event: Any) -> None:
        """Wheels turn what is around a plot that cannot be zoomed."""
        if any(self._box.mouseEnabled()):
            super().wheelEvent(event)
        else:
            event.ignore()
