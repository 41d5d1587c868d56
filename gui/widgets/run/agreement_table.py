"""The table of the Compare pane: every tensor of a run with how far it is from what it is held against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtWidgets import QComboBox

from engine.graph.ir import Node, Tensor
from gui.document import Document
from gui.running.agreement_table import COLUMNS
from gui.running.judging import AgreementRow
from gui.table_pane import TablePane, own_tensors

ALL, BEYOND, NONFINITE = "all tensors", "beyond tolerance", "non-finite"
_CHOOSERS: dict[str, Callable[[AgreementRow], bool] | None] = {
    ALL: None, BEYOND: lambda row: not row.agreement.agrees, NONFINITE: lambda row: not row.finite,
}  # fmt: skip


class AgreementTable(TablePane):
    """The tensors in run order, all of them or those that need a look."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, COLUMNS, "Agreement of every tensor", filtered=False)
        self.show_only = QComboBox()
        self.show_only.setAccessibleName("Tensors to show")
        self.show_only.addItems([ALL, BEYOND, NONFINITE])
        self.show_only.currentIndexChanged.connect(self.apply_filter)
        self.view.set_widths(4, 18, 14, 6, 9, 13, 9, 9, 30)

    def items_of(self, row: AgreementRow) -> Iterable[Node | Tensor]:
        return (row.tensor,)

    def candidates(self, item: Node | Tensor) -> Iterator[Node | Tensor]:
        return own_tensors(item)

    def chooser(self) -> Callable[[AgreementRow], bool] | None:
        return _CHOOSERS[self.show_only.currentText()]
