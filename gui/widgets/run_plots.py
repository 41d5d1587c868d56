"""Plots of a run: both sides with every sample, and the time of each node in run order."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor

from engine.compare import Comparison
from engine.graph.ir import Node
from gui.running.report import NodeTime
from gui.text import ms_text
from gui.theme import Theme, on_theme, theme_manager

_BAR = 0.56  # of the distance between two bars
_PROVIDER_COLORS = {"CPU": "neutral", "CUDA": "accent", "Accelerate": "good"}


def provider_color(name: str, theme: Theme) -> QColor:
    """The colour of a provider in plots; those not known here take the warning colour."""
    return theme.color(_PROVIDER_COLORS.get(name, "warning"))


def _set_bars(bars: pyqtgraph.BarGraphItem, colors: Sequence[QColor], **opts: Any) -> None:
    """Set bars without outlines; pyqtgraph takes no empty list of colours."""
    bars.setOpts(brushes=list(colors) or None, pen=pyqtgraph.mkPen(None), **opts)


class _Plot(pyqtgraph.PlotWidget):
    """A plot without chrome: hairline axes, no menus, no dragging."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setMenuEnabled(False)
        self.setMouseEnabled(x=False, y=False)
        self.hideButtons()
        for side in ("left", "bottom"):
            self.getAxis(side).enableAutoSIPrefix(False)  # it would turn ms into thousandths of ms

    def _style_axes(self, theme: Theme) -> None:
        self.setBackground(theme.window)
        for side in ("left", "bottom"):
            axis = self.getAxis(side)
            axis.setPen(theme.color("line"))
            axis.setTextPen(theme.color("muted"))


class RunsPlot(_Plot):
    """Two bars, mixed over CPU only, as long as their medians, with every measured run as a dot."""

    def __init__(self) -> None:
        super().__init__("Mixed against CPU-only time")
        self._comparison: Comparison | None = None
        self.samples = [pyqtgraph.ScatterPlotItem(size=6, pxMode=True) for _ in range(2)]
        self.bars = pyqtgraph.BarGraphItem(x0=[], y=[], width=[], height=_BAR)
        self._labels = [pyqtgraph.TextItem(anchor=(0, 0.5)) for _ in range(2)]
        for item in (self.bars, *self.samples, *self._labels):
            self.addItem(item)
        left = self.getAxis("left")
        left.setTicks([[(1, "mixed"), (0, "CPU only")]])
        left.setStyle(tickLength=0)
        left.setWidth(70)
        self.getAxis("bottom").setLabel("ms")
        self.showGrid(x=True, alpha=0.15)
        self.setYRange(-0.6, 1.6, padding=0)
        on_theme(self._set_theme)

    def set_comparison(self, comparison: Comparison | None) -> None:
        """Show a comparison, or nothing."""
        self._comparison = comparison
        self._set_theme(theme_manager().theme)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self._style_axes(theme)
        sides = [self._comparison.mixed, self._comparison.cpu_only] if self._comparison else []
        medians = [side.median_ms for side in sides]
        colors = [theme.color("accent"), theme.color("neutral")]
        _set_bars(
            self.bars, colors[: len(sides)], x0=[0.0] * len(sides), width=medians, y=[1.0, 0.0][: len(sides)],
            height=_BAR,
        )  # fmt: skip
        longest = 0.0
        for row, (scatter, label) in enumerate(zip(self.samples, self._labels, strict=True)):
            label.setVisible(row < len(sides))
            if row >= len(sides):
                scatter.setData([], [])
                continue
            runs = np.asarray(sides[row].runs_ms)
            longest = max(longest, float(runs.max()))
            # Spread over the bar's height in the order of the runs, so that dots do not hide each other.
            heights = 1 - row + np.linspace(_BAR, -_BAR, len(runs) + 2)[1:-1] * 0.42
            dot = QColor(theme.text)
            dot.setAlphaF(0.55)
            scatter.setData(runs, heights, brush=dot, pen=pyqtgraph.mkPen(theme.window, width=0.6))
            label.setText(f"{ms_text(medians[row])} ms", color=theme.text)
            label.setPos(float(runs.max()), 1 - row)
        self.setXRange(0, longest * 1.45 or 1, padding=0)


class NodesPlot(_Plot):
    """A bar for each node in run order, coloured by provider; `picked(Node)` on a click."""

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__("Time per node, in run order")
        self._rows: list[NodeTime] = []
        self._selected: Node | None = None
        self.bars = pyqtgraph.BarGraphItem(x=[], height=[], width=0.8)
        self.addItem(self.bars)
        self.getAxis("left").setLabel("ms")
        self.getAxis("bottom").setLabel("node, in run order")
        self.scene().sigMouseClicked.connect(self._clicked)
        on_theme(self._set_theme)

    def set_rows(self, rows: Sequence[NodeTime]) -> None:
        """Show the nodes of one graph, in the order given."""
        self._rows = list(rows)
        self._set_theme(theme_manager().theme)

    def select(self, node: Node | None) -> None:
        """Light the bar of a node."""
        self._selected = node
        self._set_theme(theme_manager().theme)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self._style_axes(theme)
        count = len(self._rows)
        heights = [row.ms for row in self._rows]
        brushes = [
            theme.color("error") if row.node is self._selected else provider_color(row.provider, theme)
            for row in self._rows
        ]
        _set_bars(self.bars, brushes, x=np.arange(1, count + 1), height=heights, width=0.8)
        self.setXRange(0.4, count + 0.6 if count else 1, padding=0)
        self.setYRange(0, max(heights, default=0.0) * 1.05 or 1, padding=0)

    @Slot(object)
    def _clicked(self, event: object) -> None:
        position = getattr(event, "scenePos", lambda: None)()
        button = getattr(event, "button", lambda: None)()
        if position is None or button != Qt.MouseButton.LeftButton:
            return
        place = round(self.getViewBox().mapSceneToView(position).x()) - 1
        if 0 <= place < len(self._rows):
            self.picked.emit(self._rows[place].node)
