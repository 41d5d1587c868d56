"""The Documentation pane: what the selected node's operator does, in the version that the model uses."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.graph.ir import Node, Tensor
from gui.background.when_seen import WhenSeen
from gui.document import Document
from gui.facts.markup import Block, BlockKind
from gui.facts.operator_docs import documentation
from gui.widgets.doc_view import DocView

_NOTHING = [Block(BlockKind.TEXT, "Select a node to read what its operator does.")]


class DocumentationPane(QWidget):
    """Follows the selection, while it is seen; for a tensor it is the operator that makes it."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._shown: tuple[object, ...] | None = None
        self.view = DocView("Documentation of the operator")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        seen = WhenSeen(self, self._show, document.turns)
        document.selection_changed.connect(seen.ask)
        document.model_changed.connect(seen.ask)
        seen.ask()

    @Slot()
    def _show(self) -> None:
        item, model = self._document.selection, self._document.model
        node = item.producer if isinstance(item, Tensor) else item
        key = (node.op_type, node.since_version, node.domain, model) if isinstance(node, Node) else ()
        if key != self._shown:
            self._shown = key
            self.view.set_blocks(documentation(node, model) if isinstance(node, Node) else _NOTHING)
