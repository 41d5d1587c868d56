"""Which columns a table shows, and the menu on its header that lets the user choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QTableView


class ColumnChooser(QObject):
    """Shows the columns that the user wants, and of those he said nothing about the ones that say something.

    `changed()` tells that he chose; `choices` has what he chose, by title.
    """

    changed = Signal()

    def __init__(self, view: QTableView, titles: Sequence[str]) -> None:
        super().__init__(view)
        self._view = view
        self._titles = tuple(titles)
        self._useful = [True] * len(self._titles)
        self.choices: dict[str, bool] = {}
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_menu)

    def set_titles(self, titles: Sequence[str]) -> None:
        """Take the titles of other columns, all of which have something to say."""
        self._titles = tuple(titles)
        self._useful = [True] * len(self._titles)
        self._show_all()

    def set_useful(self, column: int, useful: bool) -> None:
        """Say whether a column has anything to say now."""
        self._useful[column] = useful
        self._show(column)

    def set_choices(self, choices: Mapping[str, bool]) -> None:
        """Take choices made before; those of columns that there are not are kept, and do nothing."""
        self.choices = dict(choices)
        self._show_all()

    def fill(self, menu: QMenu) -> None:
        """Add an entry for each column, and one that takes all choices back."""
        shown = [self._is_shown(column) for column in range(len(self._titles))]
        for column, title in enumerate(self._titles):
            action = menu.addAction(title.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(shown[column])
            action.setEnabled(not shown[column] or sum(shown) > 1)
            action.toggled.connect(partial(self._choose, column))
        menu.addSeparator()
        action = menu.addAction("As at First")
        action.setEnabled(any(title in self.choices for title in self._titles))
        action.triggered.connect(self._forget)

    def _is_shown(self, column: int) -> bool:
        return self.choices.get(self._titles[column], self._useful[column])

    def _choose(self, column: int, shown: bool) -> None:
        self.choices.pop(self._titles[column], None)
        if shown is not self._useful[column]:
            self.choices[self._titles[column]] = shown
        self._show(column)
        self.changed.emit()

    @Slot()
    def _forget(self) -> None:
        self.choices.clear()
        self._show_all()
        self.changed.emit()

    def _show_all(self) -> None:
        for column in range(len(self._titles)):
            self._show(column)

    def _show(self, column: int) -> None:
        self._view.setColumnHidden(column, not self._is_shown(column))

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill(menu)
        menu.popup(self._view.horizontalHeader().mapToGlobal(position))
