"""The Properties pane: everything known about what is selected, or about the model."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.graph.ir import Graph, Node, Tensor
from gui.background.when_seen import WhenSeen
from gui.document import Document
from gui.models.properties import lines_for
from gui.widgets.line_list import LineList


class PropertiesPane(QWidget):
    """A list of labelled values, with links to other nodes, tensors and subgraphs."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._subject: object = None
        self.list = LineList("Properties")
        self.list.nothing = lambda: document.why_no_model
        self.list.followed.connect(self._follow)
        document.opening_changed.connect(self.list.viewport().update)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.addWidget(self.list)
        seen = WhenSeen(self, self._show, document.turns)
        for signal in (document.selection_changed, document.model_changed, document.run_changed, document.dims_changed,
                       document.costing.changed, document.attachment.changed):  # fmt: skip
            signal.connect(seen.ask)
        seen.ask()

    @Slot()
    def _show(self) -> None:
        """Show what is selected; where more has become known of the same thing, the list stays where it is."""
        subject = self._document.selection or self._document.graph
        bar = self.list.verticalScrollBar()
        at = bar.value() if subject is self._subject else 0
        self._subject = subject
        self.list.set_lines(lines_for(self._document))
        bar.setValue(at)

    @Slot(object)
    def _follow(self, target: object) -> None:
        if isinstance(target, Graph):
            self._document.show_graph(target)
        elif isinstance(target, str):
            self._document.find_requested.emit(target)
        elif isinstance(target, Node | Tensor):
            self._document.select(target)
