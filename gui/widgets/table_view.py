"""The table that all panes use: dense rows over hairlines, colour squares, bars, copying as TSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolTip,
    QWidget,
)

from gui.models.table import BAR_ROLE, ITEM_ROLE, Style, TableModel
from gui.theme import Theme, mono_font, on_theme, theme_manager, ui_font
from gui.widgets.columns import ColumnChooser
from gui.widgets.nothing import paint_nothing

_PAD = 6
_SQUARE = 8


def font_of(style: Style) -> QFont:
    """The font that a cell's style asks for."""
    font = mono_font() if style.mono else ui_font()
    font.setItalic(style.italic)
    font.setBold(style.bold)
    return font


class CellDelegate(QStyledItemDelegate):
    """Paints a cell from its roles: text, a colour square before it, a bar in its left part.

    Names that are too long lose their middle, sentences their end.
    """

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]
        theme = theme_manager().theme
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.fillRect(option.rect, theme.color("selection"))
        painter.setPen(theme.color("line"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        rect = option.rect.adjusted(_PAD, 0, -_PAD, -1)
        rect = self._square(painter, rect, index.data(Qt.ItemDataRole.DecorationRole))
        text = index.data(Qt.ItemDataRole.DisplayRole) or ""
        font = index.data(Qt.ItemDataRole.FontRole) or option.font
        painter.setFont(font)
        bar = index.data(BAR_ROLE)
        if bar is not None:
            rect = self._bar(painter, rect, float(bar), painter.fontMetrics().horizontalAdvance(text), theme)
        painter.setPen(index.data(Qt.ItemDataRole.ForegroundRole) or theme.color("text"))
        mode = Qt.TextElideMode.ElideRight if " " in text else Qt.TextElideMode.ElideMiddle
        shown = painter.fontMetrics().elidedText(text, mode, rect.width())
        painter.drawText(rect, index.data(Qt.ItemDataRole.TextAlignmentRole) | Qt.TextFlag.TextSingleLine, shown)

    @staticmethod
    def _square(painter: QPainter, rect: QRect, color: QColor | None) -> QRect:
        if color is None:
            return rect
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        top = rect.center().y() - _SQUARE / 2 + 0.5
        painter.drawRoundedRect(QRectF(rect.left(), top, _SQUARE, _SQUARE), 2, 2)
        return rect.adjusted(_SQUARE + 7, 0, 0, 0)

    @staticmethod
    def _bar(painter: QPainter, rect: QRect, length: float, text_width: int, theme: Theme) -> QRect:
        room = rect.width() - text_width - 8
        if room >= 6 and length > 0:
            color = theme.color("accent")
            color.setAlphaF(0.75)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawRoundedRect(QRectF(rect.left(), rect.center().y() - 2.5, max(1.0, room * length), 6), 1.5, 1.5)
        return rect

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> Any:  # type: ignore[override]
        size = super().sizeHint(option, index)
        extra = 2 * _PAD + (_SQUARE + 7 if index.data(Qt.ItemDataRole.DecorationRole) else 0)
        size.setWidth(size.width() + extra)
        return size


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
        self.setItemDelegate(CellDelegate(self))
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
        header.sectionClicked.connect(self._sort_by)
        self._sorted: tuple[int, int] = (-1, 0)

    def set_widths(self, *widths: int, stretch: int | None = None) -> None:
        """Column widths in average characters; the column `stretch` takes what is left."""
        unit = self.fontMetrics().averageCharWidth()
        header = self.horizontalHeader()
        for column, width in enumerate(widths):
            header.resizeSection(column, width * unit + 2 * _PAD)
        if stretch is not None:
            header.setSectionResizeMode(stretch, QHeaderView.ResizeMode.Stretch)

    def fit_column(self, column: int, texts: Iterable[str], least: int, most: int) -> None:
        """Fit a column to its widest text and the square before it, between so many average characters."""
        metrics = self.fontMetrics()
        unit = metrics.averageCharWidth()
        widest = max(map(metrics.horizontalAdvance, set(texts)), default=0) + _SQUARE + 8
        self.horizontalHeader().resizeSection(column, max(least * unit, min(widest, most * unit)) + 2 * _PAD)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows; where there are none, why."""
        super().paintEvent(event)
        if not self._table.shown:
            paint_nothing(self.viewport(), self.nothing())

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
        row = self.current_row()
        self.horizontalHeader().setSortIndicatorShown(turns > 0)
        self.horizontalHeader().setSortIndicator(column, order)
        self._table.sort(column if turns else -1, order)
        self.show_row(row)

    # Copying

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_row() is not None:
            self.picked.emit(self.current_row())
        else:
            super().keyPressEvent(event)

    @Slot()
    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard, as TSV with titles."""
        places = sorted({index.row() for index in self.selectionModel().selectedRows()})
        columns = [c for c in range(len(self._table.columns)) if not self.isColumnHidden(c)]
        if places:
            QGuiApplication.clipboard().setText(self._table.tsv(places, columns))

    @Slot()
    def save_csv(self) -> None:
        """Ask for a file and write all rows that pass the filter, with all columns."""
        name = f"{self.accessibleName().lower().replace(' ', '_') or 'table'}.csv"
        path, _ = QFileDialog.getSaveFileName(self, "Save table", name, "CSV (*.csv)")
        if not path:
            return
        try:
            Path(path).write_text(self._table.csv(), encoding="utf-8", errors="backslashreplace", newline="")
        except OSError as error:
            self.failed.emit("Could not save the table", f"{error.strerror or error}: {path}. Choose another place.")

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
        self.columns.fill(menu.addMenu("C&olumns"))
        menu.addSeparator()
        self.menu_opening.emit(menu, self.current_row())
        menu.popup(self.viewport().mapToGlobal(position))

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        QToolTip.setFont(ui_font(0.95))
        self._table.set_look(theme.color, font_of)
        self.viewport().update()
