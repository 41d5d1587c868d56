"""The Timings pane: both sides with every sample; times per node, per operator type and run after run; copies."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedLayout, QTabWidget, QVBoxLayout, QWidget

from engine.graph.ir import Node, Tensor
from engine.session import ProviderEdge
from engine.words import bytes_text
from gui.background.when_seen import WhenSeen
from gui.document import Document, Item
from gui.models.order import category_colour
from gui.models.table import Column, Style
from gui.running.times import NodeTime, OperatorTime, RunTimes, copy_rows
from gui.table_pane import TablePane, node_first, own_tensors
from gui.text import ms_text
from gui.widgets.export_button import ExportButton
from gui.widgets.run.no_run import NoRun
from gui.widgets.run.plots import NodesPlot, OperatorsPlot, RunsPlot, SeriesPlot
from gui.widgets.run.result_line import ResultLine

_COLUMNS = (
    Column("node", lambda r: r.node.qualified_name, square=lambda r: category_colour(r.node), tip=lambda r: _names(r)),
    Column("ms", lambda r: ms_text(r.ms), right=True, key=lambda r: r.ms, bar=lambda r: r.bar,
           heading_tip="Median of the measured runs, of the chosen providers"),
    Column("±", lambda r: ms_text(r.spread), Style("muted"), right=True, key=lambda r: r.spread,
           heading_tip="Half the width of the middle half of the runs, in ms"),
    Column("CPU", lambda r: ms_text(r.cpu_ms), Style("muted"), right=True, key=lambda r: r.cpu_ms,
           heading_tip="Median of the runs on the CPU alone, in ms"),
    Column("share", lambda r: f"{r.share:.1%}", Style("muted"), right=True, key=lambda r: r.share,
           heading_tip="Of all nodes of the main graph"),
    Column("operator", lambda r: " + ".join(n.op_type for n in r.parts or (r.node,)), Style("muted"),
           tip=lambda r: r.operator),
    Column("provider", lambda r: r.provider, Style("muted"), heading_tip="Who ran it; on a node, why others did not",
           tip=lambda r: "\n".join(filter(None, (r.provider, r.refusals)))),
)  # fmt: skip

_COPY_COLUMNS = (
    Column("tensor", lambda e: e.tensor.qualified_name),
    Column("from", lambda e: e.source, Style("muted")),
    Column("to", lambda e: e.target, Style("muted")),
    Column("copies", lambda e: str(e.count), Style("muted"), right=True, key=lambda e: e.count),
    Column("size", lambda e: bytes_text(e.nbytes), right=True, key=lambda e: e.nbytes),
    Column("ms", lambda e: ms_text(e.seconds * 1e3), right=True, key=lambda e: e.seconds),
)  # fmt: skip


def _names(row: NodeTime) -> str:
    """The node of a row, and in the fast mode those that ran as one with it."""
    names = [node.qualified_name for node in row.parts]
    return "\n".join(["made one for speed:", *names]) if names else row.node.qualified_name


class NodeTimes(TablePane):
    """The table of all nodes, slowest first."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, _COLUMNS, "Time per node")
        self.view.set_widths(22, 10, 6, 7, 7, 12, 9)

    def items_of(self, row: NodeTime) -> Iterable[Node | Tensor]:
        return (row.node,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        return node_first(item)


class CopyTimes(TablePane):
    """The table of the tensors that went from one device to another, the slowest first."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, _COPY_COLUMNS, "Copies between devices", filtered=False)
        self.view.set_widths(20, 9, 9, 7, 9, 7)

    def items_of(self, row: ProviderEdge) -> Iterable[Node | Tensor]:
        return (row.tensor,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        return own_tensors(item)


class TimingsPane(QWidget):
    """Follows the document's run; a click on a bar or a row selects what it stands for."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._times: RunTimes | None = None
        self.result = ResultLine(1.15)
        self.export = ExportButton("Export", "timings")
        self.runs = RunsPlot()
        self.nodes = NodesPlot()
        self.operators = OperatorsPlot()
        self.series = SeriesPlot()
        self.copies = CopyTimes(document)
        self.table = NodeTimes(document)
        self.tabs = QTabWidget(documentMode=True, usesScrollButtons=False, elideMode=Qt.TextElideMode.ElideRight)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(NoRun(document, "see where the time goes"))
        self._stack.addWidget(self._page())

        self.export.add_csv(lambda: self._figures()["nodes"])
        self.export.add_json(self._figures)
        self.export.add_picture(self)
        self.nodes.picked.connect(document.select)
        self.operators.picked.connect(self._pick_operator)
        self._run = WhenSeen(self, self._show_run, document.turns)
        self._order = WhenSeen(self, self._show_graph, document.turns)
        document.run_changed.connect(self._run.ask)
        document.run_changed.connect(self._order.ask)
        document.graph_changed.connect(self._order.ask)
        document.selection_changed.connect(self._show_selection)
        self._show_run()
        self._show_graph()

    def _page(self) -> QWidget:
        tabs = ((self.nodes, "Nodes"), (self.operators, "Operators"), (self.series, "Runs"), (self.copies, "Copies"))
        for tab, title in tabs:
            self.tabs.addTab(tab, title)
        top = QHBoxLayout()
        top.setContentsMargins(12, 8, 12, 2)
        top.addStrut(self.result.room)
        top.addWidget(self.result, 1)
        top.addWidget(self.export, 0, Qt.AlignmentFlag.AlignTop)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        for widget in (self.runs, self.tabs, self.table):
            splitter.addWidget(widget)
        splitter.setSizes([170, 250, 370])  # the shares of the nodes are seen
        splitter.setChildrenCollapsible(False)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(top)
        column.addWidget(splitter, 1)
        return page

    @Slot()
    def bring_up_to_date(self) -> None:
        """Show the last run in the turns to come, so that what follows them is only to come to the front."""
        for shown in (self._run, self._order):
            self.document.turns.ask(shown.now)

    @Slot()
    def _show_run(self) -> None:
        run = self.document.run
        comparison = run.comparison if run else None
        self._times = run.times if run and comparison else None
        self._stack.setCurrentIndex(1 if self._times else 0)
        self.result.set_report(self._times.report if self._times else None)
        self.runs.set_comparison(comparison)
        self.series.set_comparison(comparison)
        self.operators.set_entries(self._times.operators if self._times else [])
        self.copies.set_rows(self._times.copies if self._times else [])
        self.tabs.setTabVisible(self.tabs.indexOf(self.copies), bool(self._times and self._times.copies))
        self.tabs.setMinimumWidth(self.tabs.tabBar().sizeHint().width())  # no title is cut
        self.table.set_rows(self._times.nodes if self._times else [])

    @Slot()
    def _show_graph(self) -> None:
        self._run.now()  # of which it shows a part
        graph = self.document.graph
        rows = self._times.in_order.get(graph, []) if self._times and graph is not None else []
        self.nodes.set_rows(rows)

    @Slot(object)
    def _show_selection(self, item: Item) -> None:
        if self._times:
            self.nodes.select(item if isinstance(item, Node) else item.producer if item is not None else None)

    @Slot(object)
    def _pick_operator(self, entry: OperatorTime) -> None:
        """Show the nodes of an operator type alone, and select the slowest."""
        self.table.filter.setText(entry.nodes[0].node.op_type)
        self.table.apply_filter()
        self.document.select(entry.nodes[0].node)

    def _figures(self) -> dict[str, Any]:
        run = self.document.run
        return {
            "comparison": run.comparison.to_json() if run and run.comparison else None,
            "nodes": [row.to_json() for row in self._times.nodes] if self._times else [],
            "operators": [entry.to_json() for entry in self._times.operators] if self._times else [],
            "copies": copy_rows(self._times.copies) if self._times else [],
        }
