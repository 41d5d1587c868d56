"""Pictures of two tensors and their difference, and the histogram of the differences."""
from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gui.look.theme import Theme, mono_font, on_theme, theme_manager
from gui.running.difference import Planes, Spread
from gui.widgets.plot import Plot

_VALUES, _DIFFERENCE = "viridis", "inferno"  # colour maps that come with pyqtgraph, both even to the eye


class _Picture(pyqtgraph.GraphicsView):
    """One slice as an image that fills its widget, first row on top. NaN stays blank."""

    def __init__(self, name: str, colours: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setMinimumSize(40, 30)
        self._box = pyqtgraph.ViewBox(enableMouse=False, enableMenu=False, invertY=True, defaultPadding=0)
        self.setCentralItem(self._box)
        self.image = pyqtgraph.ImageItem(axisOrder="row-major")
        self.image.setLookupTable(pyqtgraph.colormap.get(colours).getLookupTable(nPts=256))
        self._box.addItem(self.image)

    def set_plane(self, plane: np.ndarray, low: float, high: float) -> None:
        """Show values with the colours spread over low to high; infinities take the ends."""
        if not plane.size:
            self.image.clear()
            return
        shown = np.clip(plane, low, high).astype(np.float32)
        self.image.setImage(shown, autoLevels=False, levels=(low, high if high > low else low + 1))
        self._box.setRange(self.image.boundingRect(), padding=0)


class PairPictures(QWidget):
    """The run's slice, the expected one on the same scale, and |difference| on its own."""

    def __init__(self) -> None:
        super().__init__()
        self.titles = [QLabel(textFormat=Qt.TextFormat.PlainText) for _ in range(3)]
        self.scales = [QLabel(textFormat=Qt.TextFormat.PlainText) for _ in range(2)]  # of values and differences
        names = ("Picture of the run's values", "Picture of the expected values", "Picture of the differences")
        colours = (_VALUES, _VALUES, _DIFFERENCE)
        self.pictures = [_Picture(name, chosen) for name, chosen in zip(names, colours)]
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        for label in (*self.titles, *self.scales):
            label.setProperty("role", "muted")
            label.setMinimumWidth(20)
        for column, (title, picture) in enumerate(zip(self.titles, self.pictures)):
            grid.addWidget(title, 0, column)
            grid.addWidget(picture, 1, column)
            grid.setColumnStretch(column, 1)
        for scale, column, span in zip(self.scales, (0, 2), (2, 1)):
            scale.setFont(mono_font(0.8))
            grid.addWidget(scale, 2, column, 1, span)
        grid.setRowStretch(1, 1)
        self.titles[2].setText("|difference|")
        on_theme(self._set_theme)

    def set_titles(self, actual: str, expected: str) -> None:
        """What the two sides are called."""
        self.titles[0].setText(actual)
        self.titles[1].setText(expected)

    def set_planes(self, planes: Planes) -> None:
        """Show a slice."""
        both = np.concatenate([planes.actual.reshape(-1), planes.expected.reshape(-1)])
        both = both[np.isfinite(both)]
        low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 0.0)
        finite = planes.difference[np.isfinite(planes.difference)]
        largest = float(finite.max(initial=0.0))
        for picture, plane in zip(self.pictures, (planes.actual, planes.expected)):
            picture.set_plane(plane, low, high)
        self.pictures[2].set_plane(planes.difference, 0.0, largest)
        self.scales[0].setText(f"{low:.3g} … {high:.3g}")
        self.scales[1].setText(f"0 … {largest:.3g}")

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        for picture in self.pictures:
            picture.setBackground(theme.canvas)


class DifferencePlot(Plot):
    """How many elements differ by how much; heights grow with the logarithm, so that single ones can be seen."""

    def __init__(self) -> None:
        super().__init__("Histogram of the differences")
        self._bars = pyqtgraph.BarGraphItem(x0=[], x1=[], height=[])
        self.addItem(self._bars)
        self.set_titles("run", "expected")
        self.getAxis("left").setLabel("elements")
        self.counts = np.zeros(0, np.int64)
        on_theme(self._set_theme)

    def set_titles(self, actual: str, expected: str) -> None:
        """What the two sides are called."""
        self.getAxis("bottom").setLabel(f"{actual} − {expected}")

    def set_spread(self, spread: Spread) -> None:
        """Show the differences of a tensor."""
        self.counts = spread.counts
        heights = np.log10(1 + spread.counts)
        self._bars.setOpts(x0=spread.edges[:-1], x1=spread.edges[1:], height=heights)
        top = float(heights.max(initial=0.0)) or 1.0
        decades = range(int(np.ceil(top)) + 1)
        self.getAxis("left").setTicks([[(float(np.log10(1 + 10**d)), f"{10**d:,}") for d in decades]])
        if spread.edges.size:
            self.setXRange(spread.edges[0], spread.edges[-1], padding=0.02)
        self.setYRange(0, top, padding=0.03)
        self._set_theme(theme_manager().theme)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.style_axes(theme)
        bar = QColor(theme.accent)
        bar.setAlphaF(0.8)
        self._bars.setOpts(brush=bar, pen=pyqtgraph.mkPen(None))
