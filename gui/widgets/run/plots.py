"""Plots of a run: both sides with every sample, run after run, and the time of each node and operator type."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QResizeEvent

from engine.compare import Comparison, Side
from engine.graph.ir import Node
from gui.look.theme import Theme, on_theme, theme_manager
from gui.running.times import NodeTime, OperatorTime
from gui.text import ms_text, one_line
from gui.widgets.plot import Plot

_BAR = 0.56  # of the distance between two bars
_MOST_BARS = 1000  # more than that are narrower than a pixel
_NAMES_WIDTH = 70  # pixels for the names of the two sides, and their times below
_BARS_WIDTH = 100  # pixels that their bars have at least
_ROW_HEIGHT = 17  # pixels of an operator's bars
_EXPLAINED_WIDTH = 240  # pixels from which on a plot of nodes says what its ticks are
_OPERATOR_WIDTH = 104  # pixels for the names of operators
_PROVIDER_COLOURS = {"CPU": "neutral", "CUDA": "accent", "Accelerate": "good"}


def provider_colour(name: str, theme: Theme) -> QColor:
    """The colour of a provider in plots; those not known here take the warning colour."""
    return theme.colour(_PROVIDER_COLOURS.get(name, "warning"))


def _legend(names: Iterable[str], theme: Theme) -> str:
    """The providers in their colours, as HTML, where there are more than one; the names are ours."""
    shown = sorted({name for name in names if name})
    parts = [f"<span style='color:{provider_colour(n, theme).name()}'>■</span> {escape(n)}" for n in shown]
    return "&nbsp;&nbsp; ".join(["", *parts]) if len(shown) > 1 else ""


def _set_bars(bars: pyqtgraph.BarGraphItem, colours: Sequence[QColor], **opts: Any) -> None:
    """Set bars without outlines; pyqtgraph takes no empty list of colours."""
    bars.setOpts(brushes=list(colours) or None, pen=pyqtgraph.mkPen(None), **opts)


class ComparisonPlot(Plot):
    """A plot of the two `sides` of a comparison; subclasses call `on_theme` when their items stand."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.sides: list[Side] = []

    def set_comparison(self, comparison: Comparison | None) -> None:
        """Show a comparison, or nothing."""
        self.sides = [comparison.mixed, comparison.cpu_only] if comparison else []
        self._set_theme(theme_manager().theme)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.style_axes(theme)
        self._draw(theme)

    def _draw(self, theme: Theme) -> None:
        """Show `sides`, in the colours of a theme."""
        raise NotImplementedError


class RunsPlot(ComparisonPlot):
    """Two bars, mixed over CPU only, as long as their medians, with every measured run as a dot."""

    def __init__(self) -> None:
        super().__init__("Mixed against CPU-only time")
        self.samples = [pyqtgraph.ScatterPlotItem(size=6, pxMode=True) for _ in range(2)]
        self.bars = pyqtgraph.BarGraphItem(x0=[], y=[], width=[], height=_BAR)
        for item in (self.bars, *self.samples):
            self.addItem(item)
        left = self.getAxis("left")
        left.setStyle(tickLength=0)
        left.setWidth(_NAMES_WIDTH)
        self.setMinimumWidth(_NAMES_WIDTH + _BARS_WIDTH)
        self.getAxis("bottom").setLabel("ms")
        self.getAxis("bottom").setGrid(38)  # of 255
        self.setYRange(-0.6, 1.6, padding=0)
        on_theme(self._set_theme)

    def _draw(self, theme: Theme) -> None:
        sides = self.sides
        medians = [side.median_ms for side in sides]
        colours = [theme.colour("accent"), theme.colour("neutral")]
        _set_bars(
            self.bars, colours[: len(sides)], x0=[0.0] * len(sides), width=medians, y=[1.0, 0.0][: len(sides)],
            height=_BAR,
        )  # fmt: skip
        names = (f"{name}\n{ms_text(ms)} ms" for name, ms in zip(("mixed", "CPU only"), medians, strict=False))
        self.getAxis("left").setTicks([[(1 - row, name) for row, name in enumerate(names)]])
        longest = 0.0
        for row, scatter in enumerate(self.samples):
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
        self.setXRange(0, longest * 1.06 or 1, padding=0)


class SeriesPlot(ComparisonPlot):
    """Run after run: the cold run and the warm-ups before the line, the measured runs after it."""

    def __init__(self) -> None:
        super().__init__("Time of each run, cold and warm")
        self.lines = [pyqtgraph.PlotDataItem([], []) for _ in range(2)]
        self._start = pyqtgraph.InfiniteLine(angle=90)
        self._label = pyqtgraph.TextItem("measured", anchor=(0, 0))
        for item in self.lines:
            self.addItem(item)
        for item in (self._start, self._label):
            self.addItem(item, ignoreBounds=True)
        self.getAxis("left").setLabel("ms")
        self.getAxis("bottom").setLabel("run, the cold one first")
        on_theme(self._set_theme)

    def _draw(self, theme: Theme) -> None:
        sides = self.sides
        highest = 0.0
        for place, (line, role) in enumerate(zip(self.lines, ("accent", "neutral"), strict=True)):
            times = [*sides[place].warmup_ms, *sides[place].runs_ms] if sides else []
            highest = max(highest, *times, 0.0)
            colour = theme.colour(role)
            line.setData(
                np.arange(1, len(times) + 1), times, pen=pyqtgraph.mkPen(colour, width=1.5), symbol="o", symbolSize=5,
                symbolBrush=colour, symbolPen=None,
            )  # fmt: skip
        warmups, count = (len(sides[0].warmup_ms), len(sides[0].runs_ms)) if sides else (0, 0)
        self._start.setPen(pyqtgraph.mkPen(theme.colour("line"), style=Qt.PenStyle.DashLine))
        self._start.setPos(warmups + 0.5)
        self._start.setVisible(warmups > 0)
        self._label.setVisible(warmups > 0)
        self._label.setColor(theme.colour("muted"))
        self._label.setPos(warmups + 0.5, highest * 1.1)
        self.setXRange(0.5, warmups + count + 0.5 if count else 1, padding=0.01)
        self.setYRange(0, highest * 1.1 or 1, padding=0)


class OperatorsPlot(Plot):
    """A bar for each operator type, stacked by provider, over the CPU's own; `picked(OperatorTime)` on a click."""

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__("Time per operator type")
        self._entries: list[OperatorTime] = []
        self.shown: list[OperatorTime] = []
        self.bars = pyqtgraph.BarGraphItem(x0=[], width=[], y=[], height=0.45)
        self.cpu_bars = pyqtgraph.BarGraphItem(x0=[], width=[], y=[], height=0.2)
        self.addItem(self.bars)
        self.addItem(self.cpu_bars)
        self.getAxis("left").setStyle(tickLength=0)
        self.getAxis("left").setWidth(_OPERATOR_WIDTH)
        self.getAxis("bottom").setLabel("ms")
        self.scene().sigMouseClicked.connect(self._clicked)
        on_theme(self._set_theme)

    def set_entries(self, entries: Sequence[OperatorTime]) -> None:
        """Show operator types, the first on top; as many as there is room for."""
        self._entries = list(entries)
        self._set_theme(theme_manager().theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if getattr(self, "_entries", None) and len(self.shown) != self._room():
            self._set_theme(theme_manager().theme)

    def _room(self) -> int:
        """How many bars fit, so that their names can be read."""
        height: int = self.height()
        return min(len(self._entries), max(3, (height - 42) // _ROW_HEIGHT))

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.style_axes(theme)
        self.shown = self._entries[: self._room()]
        starts: list[float] = []
        widths: list[float] = []
        rows: list[float] = []
        colours: list[QColor] = []
        for place, entry in enumerate(self.shown):
            start = 0.0
            for provider, ms in sorted(entry.by_provider.items()):
                starts.append(start)
                widths.append(ms)
                rows.append(-place + 0.12)
                colours.append(provider_colour(provider, theme))
                start += ms
        _set_bars(self.bars, colours, x0=starts, width=widths, y=rows, height=0.45)
        cpu = [entry.cpu_ms for entry in self.shown]
        _set_bars(
            self.cpu_bars, [theme.colour("faint")] * len(cpu), x0=[0.0] * len(cpu), width=cpu,
            y=[-place - 0.24 for place in range(len(cpu))], height=0.2,
        )  # fmt: skip
        self.getAxis("bottom").setLabel("ms" + _legend((p for e in self.shown for p in e.by_provider), theme))
        self.getAxis("left").setTicks([[(-p, one_line(e.operator, 16)) for p, e in enumerate(self.shown)]])
        longest = max((max(entry.ms, entry.cpu_ms) for entry in self.shown), default=0.0)
        self.setXRange(0, longest * 1.03 or 1, padding=0)
        self.setYRange(-len(self.shown) + 0.45, 0.55, padding=0)

    @Slot(object)
    def _clicked(self, event: object) -> None:
        point = _left_click(event)
        if point is not None:
            place = round(-self.getViewBox().mapSceneToView(point).y())
            if 0 <= place < len(self.shown):
                self.picked.emit(self.shown[place])


class NodesPlot(Plot):
    """A bar for each node in run order, coloured by provider, a tick at its time on the CPU alone; `picked(Node)` on a
    click. Of more nodes than can be told apart, neighbours share a bar: that of the slowest of them."""

    picked = Signal(object)

    def __init__(self) -> None:
        self._rows: list[NodeTime] = []  # before all else: Qt resizes the plot while it is being made
        super().__init__("Time per node, in run order")
        self._legend = ""
        self._selected: Node | None = None
        self._bars: dict[str, pyqtgraph.BarGraphItem] = {}  # of one colour each: many colours in one draw slowly
        self.light = pyqtgraph.BarGraphItem(x=[], height=[], width=0.8)
        self.cpu_ticks = pyqtgraph.PlotDataItem(connect="pairs")
        self.addItem(self.light)
        self.addItem(self.cpu_ticks)
        self.light.setZValue(1)
        self.cpu_ticks.setZValue(2)
        self.getAxis("left").setLabel("ms")
        self.scene().sigMouseClicked.connect(self._clicked)
        on_theme(self._set_theme)

    def set_rows(self, rows: Sequence[NodeTime]) -> None:
        """Show the nodes of one graph, in the order given."""
        self._rows = list(rows)
        self._set_theme(theme_manager().theme)

    def heights(self) -> dict[str, list[float]]:
        """The bars by provider, from left to right."""
        return {name: [float(h) for h in bars.opts["height"]] for name, bars in self._bars.items()}

    def select(self, node: Node | None) -> None:
        """Light the bar of a node."""
        self._selected = node
        place = next((place for place, row in enumerate(self._rows) if row.node is node), None)
        colour = theme_manager().theme.colour("error")
        x, height = ([place + 1], [self._rows[place].ms]) if place is not None else ([], [])
        _set_bars(self.light, [colour] * len(x), x=x, height=height, width=max(0.8, self._step() * 0.8))

    def _step(self) -> int:
        """How many neighbours share a bar."""
        return max(1, -(-len(self._rows) // _MOST_BARS))

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.style_axes(theme)
        step, count = self._step(), len(self._rows)
        groups = [self._rows[start : start + step] for start in range(0, count, step)]
        slowest = [max(group, key=lambda row: row.ms) for group in groups]
        centres = np.arange(len(groups)) * step + (step + 1) / 2
        by_provider: dict[str, list[int]] = {name: [] for name in self._bars}
        for place, row in enumerate(slowest):
            by_provider.setdefault(row.provider, []).append(place)
        for name, places in by_provider.items():
            if name not in self._bars:
                self._bars[name] = pyqtgraph.BarGraphItem(x=[], height=[], width=0.8)
                self.addItem(self._bars[name])
            self._bars[name].setOpts(
                x=centres[places], height=[slowest[p].ms for p in places], width=0.8 * step,
                brush=provider_colour(name, theme), pen=pyqtgraph.mkPen(None),
            )  # fmt: skip
        cpu = np.array([max(row.cpu_ms for row in group) for group in groups])
        ends = centres[:, None] + np.array([-0.4, 0.4]) * step
        self.cpu_ticks.setData(ends.reshape(-1), np.repeat(cpu, 2), pen=pyqtgraph.mkPen(theme.colour("text"), width=1))
        self._legend = _legend(by_provider, theme)
        self._name_axis()
        self._set_ranges(max((row.ms for row in slowest), default=0.0), float(cpu.max(initial=0.0)))
        self.select(self._selected)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._rows:
            self._name_axis()

    def _name_axis(self) -> None:
        """Say what the ticks are, where there is room for it."""
        ticks = ", ticks: CPU only" if self.width() >= _EXPLAINED_WIDTH else ""
        axis = self.getAxis("bottom")
        axis.setLabel(f"run order{ticks}{self._legend}")
        axis.resizeEvent()  # pyqtgraph puts a label in the middle only then

    def _set_ranges(self, highest: float, highest_cpu: float) -> None:
        count = len(self._rows)
        self.setXRange(0.4, count + 0.6 if count else 1, padding=0)
        self.setYRange(0, max(highest, highest_cpu) * 1.05 or 1, padding=0)

    @Slot(object)
    def _clicked(self, event: object) -> None:
        point = _left_click(event)
        if point is not None:
            place = round(self.getViewBox().mapSceneToView(point).x()) - 1
            if 0 <= place < len(self._rows):
                self.picked.emit(self._rows[place].node)


def _left_click(event: object) -> QPointF | None:
    """Where in the scene the left button was clicked; None for other buttons."""
    position = getattr(event, "scenePos", lambda: None)()
    button = getattr(event, "button", lambda: None)()
    return position if isinstance(position, QPointF) and button == Qt.MouseButton.LeftButton else None
