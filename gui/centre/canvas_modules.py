"""Which modules of the document's graphs are shown as boxes, and which of those are open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas.drawing import Grouping
from gui.canvas.groups import Group, GroupTree
from gui.document import Document


class CanvasModules(QObject):
    """The grouping of each graph of the model that was drawn; commands change that of the graph shown.

    `changed(hold)` says that it is another now; `hold` is what shall stay in its place, or None.
    """

    changed = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._groupings: dict[Graph, Grouping] = {}
        document.model_changed.connect(self._forget)

    @Slot()
    def _forget(self) -> None:
        self._groupings.clear()

    def of(self, graph: Graph | None) -> Grouping | None:
        """How the modules of a graph are shown; None before it was drawn."""
        return self._groupings.get(graph) if graph is not None else None

    def settle(self, graph: Graph, grouping: Grouping) -> None:
        """Take the grouping that a graph was first drawn in."""
        self._groupings.setdefault(graph, grouping)

    @property
    def grouping(self) -> Grouping | None:
        """How the modules of the graph shown are."""
        return self.of(self._document.graph)

    @property
    def tree(self) -> GroupTree | None:
        """The modules of the graph shown; None before it was drawn, and where its nodes tell of none."""
        return self.grouping.tree if self.grouping is not None else None

    @property
    def shown(self) -> bool:
        """Whether modules are boxes; false where there are none."""
        return self.grouping is not None and self.grouping.tree is not None and self.grouping.shown

    # Commands

    def set_shown(self, on: bool) -> None:
        """Show modules as boxes, or every node by itself."""
        self._change(shown=on)

    def open_to_level(self, level: int) -> None:
        """Open the modules down to a level: 0 shows the outermost ones closed."""
        if self.tree is not None:
            self._change(shown=True, opened=self.tree.at_level(level))

    def open_all(self) -> None:
        self.open_to_level(self.tree.levels if self.tree is not None else 0)

    def close_all(self) -> None:
        self.open_to_level(0)

    @Slot(object)
    def toggle(self, item: Group | Node) -> None:
        """Open a module, or the subgraphs of a node in place; close what is open. It stays where it is."""
        grouping = self.grouping
        if grouping is not None:
            self._change(item, opened=grouping.opened ^ {item})

    def open_around(self, item: Node | Tensor | Group | None) -> None:
        """Open the modules around an item, so that it is seen itself; around what reads it where it is in none."""
        grouping, group = self.grouping, self._innermost(item) or self._first_reader(item)
        if grouping is None or group is None:
            return
        around: Iterable[Group] = group.ancestors() if isinstance(item, Group) else (group, *group.ancestors())
        self._change(item, shown=True, opened=grouping.opened.union(around))

    def _change(self, hold: object = None, **changes: Any) -> None:
        graph, grouping = self._document.graph, self.grouping
        if graph is not None and grouping is not None:
            self._groupings[graph] = replace(grouping, **changes)
            self.changed.emit(hold)

    # Where things are

    def around(self, item: Node | Tensor | Group | None) -> list[Group]:
        """The modules around an item and the item if it is one, outer ones first, where modules are shown."""
        group = self._innermost(item)
        return [*reversed(list(group.ancestors())), group] if self.shown and group is not None else []

    def _first_reader(self, item: Node | Tensor | Group | None) -> Group | None:
        """The module that is the first to read a tensor, such as a weight."""
        readers = (self._innermost(node) for node, _slot in item.consumers) if isinstance(item, Tensor) else ()
        return next(filter(None, readers), None)

    def _innermost(self, item: Node | Tensor | Group | None) -> Group | None:
        """The module that an item is, or is in; None where it is in none."""
        tree = self.tree
        node = item.producer if isinstance(item, Tensor) else item
        group = tree.group_of.get(node) if isinstance(node, Node) and tree is not None else node
        return group if isinstance(group, Group) and group.parent is not None else None
