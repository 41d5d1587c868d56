"""Bookmarks on the canvas: their signs, and the way to a module, which only the drawing knows."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from engine.graph.ir import Graph
from gui.bookmarks import MODULE, Bookmark, Bookmarks, Mark
from gui.canvas.groups import Group
from gui.canvas_view import CanvasView
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
        items: list[object] = []
        for bookmark in self._bookmarks.all:
            items.append(self._module(bookmark) if bookmark.mark.kind == MODULE else bookmark.item)
        self._view.canvas.mark([item for item in items if item is not None])

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
        grouping = self._view.grouping
        if grouping is None or grouping.tree is None or bookmark.item is not self._document.graph:
            return None
        groups = grouping.tree.root.groups()
        return next((group for group in groups if Mark.of(group).is_same(bookmark.mark)), None)
