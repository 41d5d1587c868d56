"""The user's own placements as a button: for the selected node, for its operator, and a list to take them back from."""
from __future__ import annotations

from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QMenu, QToolButton

from gui.commands.placement import add_placement
from gui.document import Document
from gui.text import one_line
from gui.widgets.menus import clear_menu


class PlacementButton(QToolButton):
    """A button with the menu of placements, which the document has."""

    def __init__(self, document: Document) -> None:
        super().__init__(accessibleName="Placement")
        self._document = document
        self.setToolTip("Put the selected node, or all nodes of its operator, on a provider of your choice")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self.fill)
        self.setMenu(self._menu)
        document.overrides_changed.connect(self._refresh)
        self._refresh()

    @Slot()
    def fill(self) -> None:
        """Bring the menu in line with the selection."""
        menu, overrides = self._menu, self._document.overrides
        clear_menu(menu)
        add_placement(menu, self._document, self._document.selection)
        if menu.isEmpty():
            menu.addAction("Select a node to place it").setEnabled(False)
        if overrides:
            menu.addSeparator()
        for key, provider in overrides.items():
            text = f"Forget {one_line(key.partition(':')[2], 40)} on {provider}".replace("&", "&&")
            menu.addAction(text).triggered.connect(partial(self._forget, {key}))
        if overrides:
            menu.addAction("Forget All").triggered.connect(partial(self._forget, set(overrides)))

    def _forget(self, keys: set[str], _checked: bool = False) -> None:
        kept = {key: name for key, name in self._document.overrides.items() if key not in keys}
        self._document.set_overrides(kept)

    @Slot()
    def _refresh(self) -> None:
        count = len(self._document.overrides)
        self.setText(f"Placement: {count} ▾" if count else "Placement ▾")
