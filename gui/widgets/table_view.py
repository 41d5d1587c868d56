"""The table that all panes use: dense rows over hairlines, colour squares, bars, copying as TSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHeaderView,
    QMenu,
    QTableView,
    QWidget,
)

from engine.writing import replacing
from gui.errors import explain_unwritten
from gui.look.theme import Theme, on_theme
from gui.models.table import ITEM_ROLE, TableModel, cell_texts
from gui.output.spreadsheet import csv_text, tsv_text
from gui.widgets.cells import PAD, SQUARE_ROOM, CellPainter
from gui.widgets.columns import ColumnChooser
from gui.widgets.nothing import paint_nothing


class TableView(QTableView):
    """Shows a `TableModel`; `columns` says which of its columns.

    `picked(row)` says which row object the user went to, by mouse or by keyboard, `failed(title, message)` why a file
    could not be written. `menu_opening(menu, row)` lets others add what can be done with the current row.
    """

    picked = Signal(object)
    menu_opening = Signal(object, object)
    failed = Signal(str, str)

    def __init__(self, model: TableModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = model
        self._showing = False
        self.nothing: Callable[[], str] = str  # what to say where there is no row
        self.setModel(model)
        self.setAccessibleName(name)
        self._cells = CellPainter(self, model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        self._set_up_headers()
        self.columns = ColumnChooser(self, [column.title for column in model.columns])
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self.clicked.connect(self._clicked)
        self._kept: object | None = None
        model.modelAboutToBeReset.connect(self._keep_current)
        model.modelReset.connect(self._restore_current)
        model.modelReset.connect(self._allow_scrolling)
        self._allow_scrolling()
        on_theme(self._set_theme)

    def _set_up_headers(self) -> None:
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 1.45))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(False)
        header.setSortIndicatorClearable(True)
        header.setMinimumSectionSize(28)
        # Not the rows' own: for each column that it paints, the header would ask whether every row is selected.
        header.setSelectionModel(QItemSelectionModel(self._table, header))
        header.sectionClicked.connect(self._sort_by)
        self._sorted: tuple[int, int] = (-1, 0)
        self._stretched: tuple[int, int] | None = None
        header.sectionResized.connect(self._stretch)

    def set_widths(self, *widths: int, stretch: int | None = None) -> None:
        """Column widths in average characters; the column `stretch` takes what is left, but never less than its own."""
        unit = self.fontMetrics().averageCharWidth()
        header = self.horizontalHeader()
        for column, width in enumerate(widths):
            header.resizeSection(column, width * unit + 2 * PAD)
        self._stretched = None
        if stretch is not None:
            header.setSectionResizeMode(stretch, QHeaderView.ResizeMode.Fixed)
            self._stretched = stretch, header.sectionSize(stretch)
            self._stretch()

    @Slot()
    def _stretch(self) -> None:
        """Give one column what the others leave."""
        if self._stretched is not None:
            column, least = self._stretched
            header = self.horizontalHeader()
            others = header.length() - header.sectionSize(column)
            header.resizeSection(column, max(least, self.viewport().width() - others))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stretch()

    def fit_column(self, column: int, texts: Iterable[str], least: int, most: int) -> None:
        """Fit a column to its widest text and the square before it, between so many average characters."""
        metrics = self.fontMetrics()
        unit = metrics.averageCharWidth()
        widest = max((metrics.horizontalAdvance(text[: 4 * most]) for text in set(texts)), default=0) + SQUARE_ROOM + 1
        self.horizontalHeader().resizeSection(column, max(least * unit, min(widest, most * unit)) + 2 * PAD)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows; where there are none, why."""
        painter = QPainter(self.viewport())
        self._cells.paint(painter, event.rect())
        painter.end()
        if not self._table.shown:
            paint_nothing(self.viewport(), self.nothing())

    def sizeHintForColumn(self, column: int) -> int:
        """What a double click beside a title fits a column to."""
        return self._cells.width_of(column)

    def show_row(self, row: object | None) -> None:
        """Make a row current and visible without reporting it as picked; None clears the selection."""
        if row is not None and self.current_row() is row:
            return
        place = self._table.place_of(row) if row is not None else -1
        self._showing = True
        try:
            if place < 0:
                self.clearSelection()
                self.selectionModel().clearCurrentIndex()
                return
            index = self._table.index(place, 0)
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.selectionModel().setCurrentIndex(index, flags)
            self.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)
        finally:
            self._showing = False

    def current_row(self) -> object | None:
        """The row object that is current, or None."""
        index = self.currentIndex()
        return index.data(ITEM_ROLE) if index.isValid() else None

    @Slot(QModelIndex, QModelIndex)
    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid() and not self._showing:
            self.picked.emit(current.data(ITEM_ROLE))

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        """A row may be current on behalf of something else; clicking it means the row itself."""
        self.picked.emit(index.data(ITEM_ROLE))

    @Slot(int)
    def _sort_by(self, column: int) -> None:
        """Ascending, descending, then the rows' own order again."""
        was, turns = self._sorted
        turns = (turns + 1) % 3 if was == column else 1
        self._sorted = (column, turns)
        order = Qt.SortOrder.DescendingOrder if turns == 2 else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicatorShown(turns > 0)
        self.horizontalHeader().setSortIndicator(column, order)
        self._table.sort(column if turns else -1, order)

    @Slot()
    def _keep_current(self) -> None:
        self._kept = self.current_row()

    @Slot()
    def _restore_current(self) -> None:
        """The row that was current stays so, where it is still shown."""
        kept, self._kept = self._kept, None
        if kept is not None:
            self.show_row(kept)

    @Slot()
    def _allow_scrolling(self) -> None:
        """No bar to scroll titles by, where nothing stands below them."""
        policies = Qt.ScrollBarPolicy
        self.setHorizontalScrollBarPolicy(
            policies.ScrollBarAsNeeded if self._table.shown else policies.ScrollBarAlwaysOff
        )

    def _fill_sorting(self, menu: QMenu) -> None:
        """Add what a click on a column's title does, for the keyboard: ascending, descending, as at first."""
        column, turns = self._sorted
        for place, title in enumerate(self._table.columns):
            if not self.isColumnHidden(place):
                sign = ("", " ↑", " ↓")[turns] if place == column else ""
                menu.addAction(title.title.replace("&", "&&") + sign, partial(self._sort_by, place))

    # Copying

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_row() is not None:
            self.picked.emit(self.current_row())
        else:
            super().keyPressEvent(event)

    def selected_places(self) -> list[int]:
        """The lines that are selected, from top to bottom; Qt's own list of them takes seconds with many rows."""
        ranges = self.selectionModel().selection().toList()
        return sorted({place for part in ranges for place in range(part.top(), part.bottom() + 1)})

    @Slot()
    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard, as TSV with titles."""
        rows = [self._table.shown[place] for place in self.selected_places()]
        columns = [column for place, column in enumerate(self._table.columns) if not self.isColumnHidden(place)]
        if rows:
            copied = QGuiApplication.clipboard().setText
            self._table.compute(len(rows), lambda: tsv_text(*cell_texts(rows, columns)), copied)

    @Slot()
    def save_csv(self) -> None:
        """Ask for a file and write all rows that pass the filter, with all columns."""
        name = f"{self.accessibleName().lower().replace(' ', '_') or 'table'}.csv"
        path, _ = QFileDialog.getSaveFileName(self, "Save table", name, "CSV (*.csv)")
        if not path:
            return
        rows, columns = list(self._table.shown), self._table.columns

        def write() -> None:
            with replacing(path) as file:
                file.write(csv_text(*cell_texts(rows, columns)).encode(errors="backslashreplace"))

        def failed(error: Exception) -> None:
            self.failed.emit("Could not save the table", explain_unwritten(error, path))

        self._table.compute(len(rows), write, lambda _none: None, failed)

    @Slot()
    def _copy_name(self) -> None:
        row = self.current_row()
        QGuiApplication.clipboard().setText(str(getattr(row, "name", "")))

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        if not self.indexAt(position).isValid():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if getattr(self.current_row(), "name", ""):
            menu.addAction("Copy &name", self._copy_name)
        menu.addAction("&Copy rows as table", QKeySequence(QKeySequence.StandardKey.Copy), self.copy_rows)
        menu.addAction("&Save table as CSV…", self.save_csv)
        self._fill_sorting(menu.addMenu("So&rt by"))
        self.columns.fill(menu.addMenu("C&olumns"))
        menu.addSeparator()
        self.menu_opening.emit(menu, self.current_row())
        menu.popup(self.viewport().mapToGlobal(position))

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self._cells.set_theme(theme)
        self.viewport().update()
