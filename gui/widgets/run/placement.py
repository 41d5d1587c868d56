"""The user's own placements: a provider for the selected node, or for all nodes of its operator."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from engine.graph.ir import Node
from gui.document import Document
from gui.text import one_line

BY_ORDER = "as the order says"


class PlacementButton(QToolButton):
    """A button with the menu of placements; `changed()` tells of any. `providers()` says which there are to choose."""

    changed = Signal()

    def __init__(self, document: Document, providers: Callable[[], Sequence[str]]) -> None:
        super().__init__(accessibleName="Placement")
        self._document = document
        self._providers = providers
        self.overrides: dict[str, str] = {}
        self.setToolTip("Put the selected node, or all nodes of its operator, on a provider of your choice")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self.fill)
        self.setMenu(self._menu)
        self._refresh()

    def set_overrides(self, overrides: Mapping[str, str]) -> None:
        """Show placements by ``node:NAME`` or ``op:OPERATOR``."""
        self.overrides = dict(overrides)
        self._refresh()

    def set_override(self, key: str, provider: str | None) -> None:
        """Place what `key` names on a provider; None leaves it to the order again."""
        self.overrides.pop(key, None)
        if provider is not None:
            self.overrides[key] = provider
        self._refresh()
        self.changed.emit()

    @Slot()
    def fill(self) -> None:
        """Bring the menu in line with the selection."""
        menu = self._menu
        menu.clear()
        node = self._node()
        if node is None:
            menu.addAction("Select a node to place it").setEnabled(False)
        else:
            self._add_choices(f"Node {one_line(node.name, 40)}", f"node:{node.qualified_name}")
            self._add_choices(f"All {one_line(node.qualified_op, 40)}", f"op:{node.qualified_op}")
        if self.overrides:
            menu.addSeparator()
            for key, provider in self.overrides.items():
                text = f"Forget {one_line(key.partition(':')[2], 40)} on {provider}"
                self._add(menu, text, lambda key=key: self.set_override(key, None))
            self._add(menu, "Forget all", self._forget_all)

    def _add_choices(self, title: str, key: str) -> None:
        menu = self._menu.addMenu(title.replace("&", "&&"))
        group = QActionGroup(menu)
        for name in (None, *self._providers()):
            action = menu.addAction(name or BY_ORDER)
            action.setCheckable(True)
            action.setChecked(self.overrides.get(key) == name)
            action.triggered.connect(lambda _checked=False, name=name: self.set_override(key, name))
            group.addAction(action)

    @staticmethod
    def _add(menu: QMenu, text: str, call: Callable[[], None]) -> None:
        menu.addAction(text.replace("&", "&&")).triggered.connect(lambda _checked=False: call())

    def _forget_all(self) -> None:
        self.set_overrides({})
        self.changed.emit()

    def _node(self) -> Node | None:
        item = self._document.selection
        return item if isinstance(item, Node) else item.producer if item is not None else None

    def _refresh(self) -> None:
        count = len(self.overrides)
        self.setText(f"Placement: {count} ▾" if count else "Placement ▾")
