"""The Initializers pane: inputs and initializers of the graph shown, and how they were fused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest

from engine.graph.ir import Node, Tensor
from engine.words import bytes_text, counted
from gui.document import Document
from gui.models.initializers import COLUMNS, DECLARED, NAME, FusionRow, fusion_rows
from gui.table_pane import TablePane

NAME_WIDTHS = (12, 19)  # average characters; wider, and the sizes were not in sight at first
LOOKED_AT = 50  # the longest names, for how wide they are: to measure tens of thousands takes too long


@dataclass(frozen=True, slots=True)
class _Facts:
    """How many inputs there are, the bytes that are stored, whether a type is declared, and the longest names."""

    inputs: int
    size: int
    declared: bool
    longest: list[str]


class InitializersPane(TablePane):
    """Which tensors are inputs, which are constants, and why."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Initializers")
        self.view.set_widths(17, 13, 11, 13, 9, 6, 6)
        document.graph_changed.connect(self.list_soon)
        self.list_rows()

    def nothing(self) -> str:
        return "This graph has neither inputs nor stored tensors"

    def items_of(self, row: FusionRow) -> Iterable[Node | Tensor]:
        return (row.tensor,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        """A node's first weight stands for it, or else the first input it reads."""
        if isinstance(item, Tensor):
            yield item
            return
        inputs = list(item.read_tensors())
        yield from (t for t in inputs if t.data is not None)
        yield from inputs

    def list_rows(self) -> None:
        graph = self.document.graph

        def make() -> tuple[list[FusionRow], _Facts]:
            rows = fusion_rows(graph) if graph else []
            stored = [row.tensor.data for row in rows if row.tensor.data is not None]
            declared = any(row.declared for row in rows)
            longest = nlargest(LOOKED_AT, (row.name for row in rows), key=len)
            return rows, _Facts(len(rows) - len(stored), sum(data.nbytes for data in stored), declared, longest)

        self.fill(len(graph.tensors) if graph else 0, make, self._tell)

    def _tell(self, rows: list[FusionRow], facts: _Facts) -> None:
        inputs = facts.inputs
        self.summary.setText(f"{counted(inputs, 'input')} · {len(rows) - inputs:,} stored" if rows else "")
        self.summary.setToolTip(f"{self.summary.text()}\n{bytes_text(facts.size)} stored")
        self.view.columns.set_useful(DECLARED, facts.declared)
        self.view.fit_column(NAME, facts.longest, *NAME_WIDTHS)
