"""Bookmarks on the canvas: their signs, and the way to a module, which only the drawing knows."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, Slot

from engine.graph.ir import Graph
from gui.bookmarks import MODULE, Bookmark, Bookmarks, Mark
from gui.canvas.groups import Group
from gui.centre.canvas_view import CanvasView
from gui.document import Document


class CanvasBookmarks(QObject):
    """Keeps the signs on the canvas up to date and shows the modules that are asked for."""

    def __init__(self, document: Document, view: CanvasView) -> None:
        super().__init__(view)
        self._document, self._view = document, view
        self._wanted: Bookmark | None = None  # a module in a graph that is being drawn
        bookmarks = self._bookmarks
        bookmarks.changed.connect(self._mark)
        bookmarks.module_wanted.connect(self._show_module)
        view.drawn.connect(self._drawn)
        view.canvas.bookmarked.connect(bookmarks.toggle)

    @property
    def _bookmarks(self) -> Bookmarks:
        return self._document.bookmarks

    def toggle(self) -> None:
        """Set or take away the bookmark of what is selected on the canvas, a module too."""
        selected = self._view.canvas.selected
        item = selected if isinstance(selected, Group) else self._document.selection
        if item is None:
            self._view.say("Select a node, a tensor or a module first")
        self._bookmarks.toggle(item)

    @Slot()
    def _mark(self) -> None:
        bookmarks = self._bookmarks.all
        marked = {bookmark.mark.key for bookmark in bookmarks if bookmark.mark.kind == MODULE}
        modules = [group for group in self._groups() if Mark.of(group).key in marked] if marked else []
        items = [b.item for b in bookmarks if b.mark.kind != MODULE and b.item is not None]
        self._view.canvas.mark([*items, *modules])

    @Slot()
    def _drawn(self) -> None:
        self._mark()
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted.item is self._document.graph:
            self._show_module(wanted)

    @Slot(object)
    def _show_module(self, bookmark: Bookmark) -> None:
        if bookmark.item is not self._document.graph and isinstance(bookmark.item, Graph):
            self._wanted = bookmark
            self._document.show_graph(bookmark.item)
            return
        group = self._module(bookmark)
        if group is None:
            self._view.say("This module is no more")
        else:
            self._view.show_group(group)

    def _module(self, bookmark: Bookmark) -> Group | None:
        """The module of the graph shown that a bookmark is of."""
        return next((group for group in self._groups() if Mark.of(group).key == bookmark.mark.key), None)

    def _groups(self) -> Iterator[Group]:
        """The modules of the graph shown."""
        tree = self._view.modules.tree
        if tree is not None:
            yield from tree.root.groups()
