"""Bookmarks: nodes, tensors and modules that the user comes back to, with notes; remembered for each model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas.groups import Group

if TYPE_CHECKING:
    from gui.document import Document

MAX_BOOKMARKS = 200
NODE, TENSOR, MODULE = "node", "tensor", "module"


@dataclass(frozen=True, slots=True)
class Mark:
    """What is remembered of a bookmark: the kind of thing, its name inside its graph, that graph's prefix, a note."""

    kind: str
    graph: str
    name: str
    note: str = ""

    @classmethod
    def of(cls, item: Node | Tensor | Group) -> Mark:
        """The mark of an item."""
        if isinstance(item, Group):
            part = f" {item.part}/{item.parts}" if item.parts > 1 else ""
            return cls(MODULE, item.all_nodes()[0].graph.prefix, "/".join(item.path) + part)
        return cls(NODE if isinstance(item, Node) else TENSOR, item.graph.prefix, item.name)

    @property
    def key(self) -> tuple[str, str, str]:
        """What is the same for marks of the same thing."""
        return self.kind, self.graph, self.name


@dataclass(slots=True, eq=False)
class Bookmark:
    """A mark with what it is of in the model: a node or a tensor, of a module its graph; None where that is gone."""

    mark: Mark
    item: Node | Tensor | Graph | None

    @property
    def name(self) -> str:
        return self.mark.graph + self.mark.name


class Bookmarks(QObject):
    """The bookmarks of the document's model, in the order they were set.

    Those that a model read anew has no more are kept, as the file may get them back.

    Signals: `changed()` says that they are others now, `saved(path)` that the user changed those of a file,
    `module_wanted(Bookmark)` that a module shall be shown.
    """

    changed = Signal()
    saved = Signal(str)
    module_wanted = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._last: Bookmark | None = None
        self.all: list[Bookmark] = []
        document.model_changed.connect(self.load)

    @Slot()
    def load(self) -> None:
        """Find the remembered ones in the model."""
        document = self._document
        self.all, self._last = [], None
        if document.index is not None and document.path:
            marks = document.settings.bookmarks_of(document.path, document.index.fingerprint)
            self.all = [Bookmark(mark, self._found(mark)) for mark in _marks(marks)]
        self.changed.emit()

    def _found(self, mark: Mark) -> Node | Tensor | Graph | None:
        index = self._document.index
        assert index is not None
        if mark.kind == MODULE:
            return index.graphs.get(mark.graph)
        known: dict[str, Node] | dict[str, Tensor] = index.nodes if mark.kind == NODE else index.tensors
        return known.get(mark.graph + mark.name)

    def of(self, item: Node | Tensor | Group) -> Bookmark | None:
        """The bookmark of an item, if it has one."""
        key = Mark.of(item).key
        return next((bookmark for bookmark in self.all if bookmark.mark.key == key), None)

    def toggle(self, item: Node | Tensor | Group | None) -> None:
        """Set a bookmark, or take it away."""
        if item is None:
            return
        known = self.of(item)
        if known is not None:
            self.remove(known)
            return
        mark = Mark.of(item)
        self.all = [*self.all, Bookmark(mark, self._found(mark))][-MAX_BOOKMARKS:]
        self._save()

    def remove(self, bookmark: Bookmark) -> None:
        """Take a bookmark away."""
        self.all = [kept for kept in self.all if kept is not bookmark]
        self._save()

    def set_note(self, bookmark: Bookmark, note: str) -> None:
        """Give a bookmark a note."""
        if note != bookmark.mark.note:
            mark = bookmark.mark
            bookmark.mark = Mark(mark.kind, mark.graph, mark.name, note)
            self._save()

    def _save(self) -> None:
        document = self._document
        if document.path and document.index is not None:
            marks = [asdict(bookmark.mark) for bookmark in self.all]
            document.settings.remember_bookmarks(document.path, document.index.fingerprint, marks)
        self.changed.emit()
        self.saved.emit(document.path or "")

    # Going there

    def open(self, bookmark: Bookmark) -> None:
        """Select what a bookmark is of; nothing where that is gone."""
        self._last = bookmark
        if isinstance(bookmark.item, Graph):
            self.module_wanted.emit(bookmark)
        elif bookmark.item is not None:
            self._document.select(bookmark.item)

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) bookmark from the selection on."""
        present = [bookmark for bookmark in self.all if bookmark.item is not None]
        if not present:
            return
        selection = self._document.selection
        here = self.of(selection) if selection is not None else self._last
        place = present.index(here) + step if here in present else 0 if step > 0 else -1
        self.open(present[place % len(present)])


def _marks(stored: list[dict[str, str]]) -> list[Mark]:
    """The marks that were stored; what is none is left out."""
    fields = ("kind", "graph", "name", "note")
    texts = [[record.get(field, "") for field in fields] for record in stored]
    return [Mark(*row) for row in texts if row[0] in (NODE, TENSOR, MODULE) and all(isinstance(t, str) for t in row)]
