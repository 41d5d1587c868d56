"""What the panes with one table share: the table, a filter line, and the selection going both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from engine.graph.ir import Graph, Node, Tensor
from gui.background.jobs import LatestJob, Task
from gui.commands.placement import add_placement
from gui.document import Document
from gui.models.table import FEW, Column, TableModel
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.filter_line import FilterLine
from gui.widgets.table_view import TableView

FILTER_ROOM = 48  # px of a filter line around its words, its clear button included


class TablePane(QWidget):
    """A pane with one table of row objects.

    Subclasses say which engine objects a row stands for (`items_of`) and which ones stand for a selected item
    (`candidates`, best first); the pane then keeps the table's current row and the document's selection together.
    """

    def __init__(self, document: Document, columns: Sequence[Column], name: str, *, filtered: bool = True) -> None:
        super().__init__()
        self.document = document
        self.model = TableModel(columns, self, document.jobs)
        self.view = TableView(self.model, name)
        self.view.nothing = self._why_nothing
        document.opening_changed.connect(self.view.viewport().update)
        self.filter = FilterLine(f"Filter {name}")
        self.filter.setMinimumWidth(self.filter.fontMetrics().horizontalAdvance("Filter") + FILTER_ROOM)
        self.summary = ElidedLabel(role="muted", width=QSizePolicy.Policy.Maximum)
        self._by_item: dict[Any, Any] = {}
        self._graph: Graph | None = None  # whose rows are shown, or on their way
        self._filling = LatestJob()

        self.top = QHBoxLayout()
        self.top.setContentsMargins(8, 6, 8, 6)
        self.top.setSpacing(8)
        self.top.addWidget(self.filter, 1)
        self.top.addWidget(self.summary)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        if filtered:
            self.column.addLayout(self.top)
        self.column.addWidget(self.view, 1)

        self._filter_delay = QTimer(self, singleShot=True, interval=80)
        self._filter_delay.timeout.connect(self.apply_filter)
        self.filter.textChanged.connect(self._filter_delay.start)
        down = QShortcut(QKeySequence(Qt.Key.Key_Down), self.filter, context=Qt.ShortcutContext.WidgetShortcut)
        down.activated.connect(self._enter_rows)
        self.model.modelReset.connect(self._show_again)
        self.view.picked.connect(self._picked)
        self.view.failed.connect(document.failed)
        self.view.menu_opening.connect(self._extend_menu)
        self.view.columns.set_choices(document.settings.columns_of(name))
        self.view.columns.changed.connect(self._remember_columns)
        document.selection_changed.connect(self._selection_changed)

    # For subclasses

    def list_rows(self) -> None:
        """Show the rows of what the document shows now, by `fill`; for those that `list_soon`."""
        raise NotImplementedError

    def items_of(self, row: Any) -> Iterable[Node | Tensor]:
        """The engine objects that a row stands for; the first is what picking the row selects."""
        raise NotImplementedError

    def candidates(self, item: Node | Tensor) -> Iterable[Node | Tensor]:
        """The engine objects whose row may show `item`, best first."""
        yield item

    def nothing(self) -> str:
        """What to say where an open model has no row at all."""
        return ""

    def chooser(self) -> Callable[[Any], bool] | None:
        """Says of a row whether it is shown at all; None where all are. Asked on any thread."""
        return None

    @Slot()
    def list_soon(self) -> None:
        """List the rows anew in a turn of its own; those before stay in sight until then."""
        self.document.turns.ask(self.list_rows)

    def fill(
        self, size: int, make: Callable[[], tuple[list[Any], Any]], tell: Callable[[list[Any], Any], None]
    ) -> None:
        """Make rows and show them: at once where they are few, else in a job; until then those of the same graph stay.

        Parameters
        ----------
        size
            About how many rows there will be.
        make
            Makes the rows, and whatever else `tell` needs; runs on another thread, so it takes what it reads along.
        tell
            Says around the table what there is to say about its rows.
        """
        self._filling.cancel()
        is_other, self._graph = self._graph is not self.document.graph, self.document.graph
        if size <= FEW:
            rows, extra = make()
            self.set_rows(rows)
            tell(rows, extra)
            return

        def work(task: Task) -> tuple[list[Any], Any, dict[Any, Any]]:
            made, more = make()
            return made, more, self._rows_by_item(made)

        def show(result: tuple[list[Any], Any, dict[Any, Any]]) -> None:
            self.set_rows(result[0], result[2])
            tell(result[0], result[1])

        if is_other:
            self.set_rows([])
        self._filling.replace(self.document.jobs.start(work, show))

    def _why_nothing(self) -> str:
        if self.document.model is None:
            return self.document.why_no_model
        if self._filling.running or self.model.busy or self.document.turns.waits(self.list_rows):
            return "Listing…"
        return "Nothing passes the filter" if self.model.rows else self.nothing()

    def _rows_by_item(self, rows: Sequence[Any]) -> dict[Any, Any]:
        by_item: dict[Any, Any] = {}
        for row in rows:
            for item in self.items_of(row):
                by_item.setdefault(item, row)
        return by_item

    def set_rows(self, rows: Sequence[Any], by_item: dict[Any, Any] | None = None) -> None:
        """Show other rows, and the selection among them."""
        self._by_item = self._rows_by_item(rows) if by_item is None else by_item
        self.model.set_rows(rows, self.chooser())

    # Both ways

    @Slot()
    def apply_filter(self) -> None:
        """Bring the rows in line with the filter text and with `chooser`."""
        self.model.set_filter(self.filter.text(), self.chooser())

    @Slot()
    def _enter_rows(self) -> None:
        """Go on from the filter to the rows it leaves: to the current one, else to the first."""
        if self._filter_delay.isActive():
            self._filter_delay.stop()
            self.apply_filter()
        if self.model.shown:
            self.view.setFocus(Qt.FocusReason.TabFocusReason)
            if self.view.current_row() is None:
                self.view.setCurrentIndex(self.model.index(0, 0))

    @Slot()
    def _show_again(self) -> None:
        """Other rows are shown, or in another order."""
        if self.document.selection is not None:
            self._show_selection()

    @Slot()
    def _selection_changed(self) -> None:
        if self.document.selection is not None or self.view.current_row() is not None:
            self.document.turns.ask(self._show_selection)

    def _show_selection(self) -> None:
        """Show the row of what is selected. One that stands for it already stays, as the user may have picked it."""
        item = self.document.selection
        if item is None:
            self.view.show_row(None)
            return
        current = self.view.current_row()
        if current is not None and item in self.items_of(current):
            return
        rows = (self._by_item[c] for c in self.candidates(item) if c in self._by_item)
        self.view.show_row(next(rows, None))

    @Slot(object)
    def _picked(self, row: Any) -> None:
        item = next(iter(self.items_of(row)), None)
        if item is not None:
            self.document.select(item)

    @Slot()
    def _remember_columns(self) -> None:
        self.document.settings.remember_columns(self.view.accessibleName(), self.view.columns.choices)

    @Slot(object, object)
    def _extend_menu(self, menu: QMenu, row: Any) -> None:
        """What can be done with the node of a row, as on the canvas."""
        add_placement(menu, self.document, next(iter(self.items_of(row)), None) if row is not None else None)


def node_first(item: Node | Tensor) -> Iterator[Node | Tensor]:
    """For tables of nodes: the node itself, or a tensor's producer, or who reads it first."""
    if isinstance(item, Node):
        yield item
        return
    if item.producer:
        yield item.producer
    for node, _slot in item.consumers:
        yield node


def own_tensors(item: Node | Tensor) -> Iterator[Node | Tensor]:
    """For tables of tensors: the tensor itself, or what a node makes."""
    if isinstance(item, Node):
        yield from (t for t in item.outputs if t is not None)
    else:
        yield item
