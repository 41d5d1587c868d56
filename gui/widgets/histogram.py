"""A small histogram, drawn with pyqtgraph."""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import Slot
from PySide6.QtGui import QColor

from gui.look.theme import Theme, on_theme
from gui.widgets.plot import Plot


class Histogram(Plot):
    """Counts over values: bars on a bare ground; what surrounds it says what the extent is."""

    def __init__(self) -> None:
        super().__init__("Histogram")
        self.setFixedHeight(90)
        self.getAxis("left").hide()
        self.getAxis("bottom").setStyle(tickLength=0, showValues=False)
        self.getAxis("bottom").setHeight(1)
        self._bars = pyqtgraph.BarGraphItem(x0=[], x1=[], height=[])
        self.addItem(self._bars)
        on_theme(self._set_theme)

    def set_histogram(self, counts: np.ndarray, edges: np.ndarray) -> None:
        """Show counts [n] between edges [n + 1]; empty arrays show nothing."""
        self._bars.setOpts(x0=edges[:-1], x1=edges[1:], height=counts)
        if counts.size:
            self.setXRange(edges[0], edges[-1], padding=0.02)
            self.setYRange(0, max(int(counts.max()), 1), padding=0.02)

    @property
    def counts(self) -> np.ndarray:
        """What is shown."""
        return np.asarray(self._bars.opts["height"])

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.style_axes(theme)
        bar = QColor(theme.accent)
        bar.setAlphaF(0.8)
        self._bars.setOpts(brush=bar, pen=pyqtgraph.mkPen(theme.window, width=0.5))
