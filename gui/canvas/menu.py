"""The context menu of the canvas: what can be done with the thing under the pointer, with the keys that do it too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas.groups import Group
from gui.canvas.labels import clean
from gui.canvas.scene import BoxKind
from gui.widgets.menus import clear_menu

if TYPE_CHECKING:
    from gui.canvas.canvas import GraphCanvas


class CanvasMenu(QMenu):
    """Filled anew each time it opens."""

    def __init__(self, canvas: GraphCanvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._does: list[Callable[[], object]] = []
        self.triggered.connect(self._chosen)

    def show_subgraphs(self, node: Node, at: QPoint) -> None:
        """Ask which subgraph of a node to open."""
        self._clear()
        self._add_subgraphs(node)
        self.popup(at)

    def show_for(self, item: object, at: QPoint) -> None:
        """Offer what can be done with an item, or with the whole picture."""
        self._clear()
        canvas = self._canvas
        if isinstance(item, Group):
            opened = canvas.shows_as(item) is BoxKind.FRAME
            self._add("Close Module\tE" if opened else "Open Module\tE", lambda: canvas.toggled.emit(item))
        if isinstance(item, Node) and item.subgraphs:
            opened = canvas.shows_as(item) is BoxKind.FRAME
            self._add("Close Subgraphs\tE" if opened else "Open in Place\tE", lambda: canvas.toggled.emit(item))
            self._add_subgraphs(item)
        if item is not None:
            self.addSeparator()
            self._add("Show What It Depends On\tU", lambda: canvas.light_cone(upstream=True, downstream=False))
            self._add("Show What Depends on It\tD", lambda: canvas.light_cone(upstream=False, downstream=True))
            self._add("Show Both\tC", lambda: canvas.light_cone(upstream=True, downstream=True))
            self._add("Show Paths to the Next Selection\tP", canvas.path_key)
            self._add("Go to the Next Reader\tN", lambda: canvas.follow(1))
        if canvas.lit is not None:
            self._add("Show All Again\tEsc", lambda: canvas.light(None))
        if isinstance(item, Node | Tensor | Group):
            self._add("Set or Remove Bookmark\tCtrl+B", lambda: canvas.bookmarked.emit(item))
        if isinstance(item, Node | Tensor):
            self.addSeparator()
            name = item.qualified_name
            self._add("Copy Name\tCtrl+C", lambda: QGuiApplication.clipboard().setText(name))
        self.addSeparator()
        canvas.menu_opening.emit(self, item)
        self.addSeparator()
        self._add("Fit Graph\tF", canvas.fit)
        self.popup(at)

    def _add_subgraphs(self, node: Node) -> None:
        for name, graph in node.subgraphs.items():
            text = f"Open {clean(name)} ({len(graph.nodes):,} nodes)".replace("&", "&&")
            self._add(text, partial(self._open, graph))

    def _open(self, graph: Graph) -> None:
        self._canvas.graph_opened.emit(graph)

    def _add(self, text: str, does: Callable[[], object]) -> None:
        self.addAction(text).setData(len(self._does))
        self._does.append(does)

    def _clear(self) -> None:
        clear_menu(self)
        self._does.clear()

    def _chosen(self, action: QAction) -> None:
        does = action.data()
        if isinstance(does, int):  # else it is of whoever added it
            self._does[does]()
