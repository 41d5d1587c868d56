"""The Timings pane: the result in one line, both sides with every sample, the time of every node as plot and table."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QStackedLayout, QVBoxLayout, QWidget

from engine.graph.ir import Graph, Node, Tensor
from gui.document import Document, Item
from gui.models.order import category_color
from gui.models.table import Column, Style
from gui.running.report import NodeTime, node_times, report_of
from gui.table_pane import TablePane, node_first
from gui.text import ms_text
from gui.widgets.result_line import ResultLine
from gui.widgets.run_plots import NodesPlot, RunsPlot

_COLUMNS = (
    Column("node", lambda r: r.node.qualified_name, square=lambda r: category_color(r.node)),
    Column("ms", lambda r: ms_text(r.ms), right=True, key=lambda r: r.ms, bar=lambda r: r.bar,
           heading_tip="Median of the measured runs, of the chosen providers"),
    Column("±", lambda r: ms_text(r.spread), Style("muted"), right=True, key=lambda r: r.spread,
           heading_tip="Half the width of the middle half of the runs, in ms"),
    Column("share", lambda r: f"{r.share:.1%}", Style("muted"), right=True, key=lambda r: r.share,
           heading_tip="Of all nodes of the main graph"),
    Column("operator", lambda r: r.node.op_type, Style("muted"), tip=lambda r: r.node.qualified_op),
    Column("provider", lambda r: r.provider, Style("muted")),
)  # fmt: skip

_EMPTY = "No run yet. Press F5 to run the model and see where the time goes."
_PARTIAL = "The last run ended early, so there are no times. What it had computed can be looked at in the other panes."


class NodeTimes(TablePane):
    """The table of all nodes, slowest first."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, _COLUMNS, "Time per node")
        self.view.set_widths(16, 10, 6, 7, 12, 9)

    def items_of(self, row: NodeTime) -> Iterable[Node | Tensor]:
        return (row.node,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        return node_first(item)


class TimingsPane(QWidget):
    """Follows the document's run; a click on a bar or a row selects the node."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._rows: list[NodeTime] = []
        self.result = ResultLine(1.15)
        self.runs = RunsPlot()
        self.nodes = NodesPlot()
        self.table = NodeTimes(document)
        self._empty = QLabel(_EMPTY)
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._page())

        self.nodes.picked.connect(document.select)
        document.run_changed.connect(self._show_run)
        document.graph_changed.connect(self._show_graph)
        document.selection_changed.connect(self._show_selection)
        self._show_run()

    def _page(self) -> QWidget:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(12, 8, 8, 4)
        column.addWidget(self.result)
        column.addWidget(self.runs, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        for widget in (left, self.nodes, self.table):
            splitter.addWidget(widget)
        splitter.setSizes([360, 260, 340])
        splitter.setChildrenCollapsible(False)
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(splitter)
        return page

    @Slot()
    def _show_run(self) -> None:
        run = self.document.run
        comparison = run.comparison if run else None
        self._empty.setText(_PARTIAL if run and comparison is None else _EMPTY)
        self._stack.setCurrentIndex(1 if comparison else 0)
        self._rows = node_times(run) if run and comparison else []
        self.result.set_report(report_of(comparison) if comparison else None)
        self.runs.set_comparison(comparison)
        self.table.set_rows(self._rows)
        self._show_graph(self.document.graph)

    @Slot(object)
    def _show_graph(self, graph: Graph | None) -> None:
        rows = [row for row in self._rows if row.node.graph is graph]
        self.nodes.set_rows(sorted(rows, key=lambda row: row.node.index))

    @Slot(object)
    def _show_selection(self, item: Item) -> None:
        if self._rows:
            self.nodes.select(item if isinstance(item, Node) else item.producer if item is not None else None)
