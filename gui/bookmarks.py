"""Bookmarks: nodes and tensors of a model that the user comes back to; remembered for each file."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from engine.graph.ir import Node, Tensor
from gui.document import Document

MAX_BOOKMARKS = 200


class Bookmarks(QObject):
    """The bookmarks of a document's model, in the order they were set. `changed()` says that they are others now."""

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.items: list[Node | Tensor] = []
        document.model_changed.connect(self._load)

    @Slot()
    def _load(self) -> None:
        """Find the remembered ones in the model; those that are gone are left out."""
        document = self._document
        self.items = []
        if document.index is not None and document.path:
            for name in document.settings.bookmarks_of(document.path):
                kind, _, name = name.partition(":")
                item = (document.index.nodes if kind == "node" else document.index.tensors).get(name)
                if item is not None:
                    self.items.append(item)
        self.changed.emit()

    def toggle(self, item: Node | Tensor | None) -> None:
        """Set a bookmark, or take it away."""
        if item is None:
            return
        if any(item is kept for kept in self.items):
            self.items = [kept for kept in self.items if kept is not item]
        else:
            self.items = [*self.items, item][-MAX_BOOKMARKS:]
        if self._document.path:
            names = [f"{'node' if isinstance(i, Node) else 'tensor'}:{i.qualified_name}" for i in self.items]
            self._document.settings.remember_bookmarks(self._document.path, names)
        self.changed.emit()

    def go(self, step: int) -> None:
        """Select the next (1) or previous (-1) bookmark from the selection on."""
        if not self.items:
            return
        here = next((i for i, item in enumerate(self.items) if item is self._document.selection), None)
        place = (0 if step > 0 else -1) if here is None else (here + step) % len(self.items)
        self._document.select(self.items[place])
