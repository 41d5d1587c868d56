"""What all plots are: a box of items with an axis to its left and one below it, without chrome."""

from __future__ import annotations

from typing import Any

import pyqtgraph
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem

from gui.theme import Theme

_ON_TOP = 0.5  # axes over pictures, under whatever asks to be over them


class Plot(pyqtgraph.GraphicsView):
    """Hairline axes, no menus; `mouse` says whether it can be dragged and zoomed.

    pyqtgraph's own PlotWidget makes some sixty hidden widgets for its menus. Seven plots with those had nearly as many
    widgets as all the rest of the window, and a change of theme touches each.
    """

    def __init__(self, name: str, mouse: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._box = pyqtgraph.ViewBox(enableMouse=mouse, enableMenu=False)
        self._axes = {side: pyqtgraph.AxisItem(side, linkView=self._box) for side in ("left", "bottom")}
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
            axis.setPen(theme.color("line"))
            axis.setTextPen(theme.color("muted"))

    def wheelEvent(self, event: Any) -> None:
        """Wheels turn what is around a plot that cannot be zoomed."""
        if any(self._box.mouseEnabled()):
            super().wheelEvent(event)
        else:
            event.ignore()
