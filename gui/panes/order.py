"""The Order pane: the nodes of the graph shown, in the order they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox

from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.document import Document
from gui.models.order import COLUMNS, COSTS, FILE, OPERATOR, PROVIDER, TIME, NodeFacts, OrderRow, order_rows
from gui.table_pane import TablePane, node_first

OPERATOR_WIDTHS = (12, 24)  # average characters


class OrderPane(TablePane):
    """Run order, file order, time, provider and cost of each node; the costs are shown once they are chosen."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Run order")
        self._facts = NodeFacts()
        self._moved = 0  # nodes that run elsewhere than the file has them
        self._file_order = QCheckBox("File order")
        self._file_order.setToolTip("Show the nodes as the file has them; ↕ marks those that run elsewhere")
        self._file_order.toggled.connect(self._arrange)
        self.top.addWidget(self._file_order)
        self.summary.hide()
        self.view.set_widths(4, 17, 16, 8, 8, 6, 8, 10, 8, 9, stretch=2)
        for column in COSTS:
            self.view.columns.set_useful(column, False)
        document.graph_changed.connect(self.list_soon)
        document.run_changed.connect(partial(document.turns.ask, self._show_run))
        document.costing.changed.connect(self._show_costs)
        self.list_rows()

    def nothing(self) -> str:
        return "This graph has no nodes"

    def items_of(self, row: OrderRow) -> Iterable[Node | Tensor]:
        return (row.node,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        return node_first(item)

    def list_rows(self) -> None:
        graph, facts = self.document.graph, self._facts
        nodes = graph.nodes if graph else []
        facts.set_run(self.document.run, nodes)
        facts.set_costs(self.document.costing.table, nodes)

        def make() -> tuple[list[OrderRow], int]:
            rows = order_rows(graph, facts) if graph else []
            return rows, sum(row.moved for row in rows)

        self.fill(len(graph.nodes) if graph else 0, make, self._tell)

    def _tell(self, rows: list[OrderRow], moved: int) -> None:
        self._file_order.setText(f"File order ({moved} ↕)" if moved else "File order")
        self.filter.setPlaceholderText(f"Filter {counted(len(rows), 'node')}" if rows else "Filter")
        self.view.fit_column(OPERATOR, (row.node.op_type for row in rows), *OPERATOR_WIDTHS)
        self._moved = moved
        self._show_columns()

    def _show_run(self) -> None:
        graph = self.document.graph
        self._facts.set_run(self.document.run, graph.nodes if graph else [])
        self._show_columns()
        self.model.rows_changed()

    @Slot()
    def _show_costs(self) -> None:
        graph = self.document.graph
        self._facts.set_costs(self.document.costing.table, graph.nodes if graph else [])
        self.model.rows_changed()

    @Slot()
    def _arrange(self) -> None:
        self.model.sort(FILE if self._file_order.isChecked() else -1)
        self._show_columns()

    def _show_columns(self) -> None:
        """Only the columns that say something: the pane is narrow."""
        self.view.columns.set_useful(TIME, self._facts.slowest is not None)
        self.view.columns.set_useful(PROVIDER, len(self._facts.providers) > 1)
        self.view.columns.set_useful(FILE, self._file_order.isChecked() or self._moved > 0)
