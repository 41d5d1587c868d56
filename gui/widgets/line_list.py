"""The list of labelled values that the Properties pane shows: painted, with links, nothing instantiated per line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gui.look.theme import Theme, on_theme, theme_manager, ui_font
from gui.models.lines import Line, LineKind
from gui.models.table import ITEM_ROLE, PLAIN, Style
from gui.widgets.nothing import paint_nothing
from gui.widgets.texts import LONGEST, Texts
from gui.widgets.tips import plain_tip

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_MARGIN = 14
_MAX_LABEL = 108
_SQUARE_ROOM = 15  # px of a coloured square with the gap behind it
_LEAST_BAR = 40  # px that names leave to the bars
_TALLEST = 600  # px of a wrapped text; all of it is in the tooltip and what is copied
_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
_SELECTABLE = (LineKind.PAIR, LineKind.COUNT, LineKind.TEXT)


class LineModel(QAbstractListModel):
    """The lines, as a list model."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []

    def set_lines(self, lines: list[Line]) -> None:
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self.lines[index.row()]
        if role == ITEM_ROLE:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return " ".join(filter(None, (line.label, line.value, line.detail)))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip("\n".join(filter(None, (line.tip or line.full or line.value, line.detail))))
        return None


class LineDelegate(QStyledItemDelegate):
    """Paints a line. Labels stand in a column as wide as the widest of them, up to a limit."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.label_width = 80
        self._texts = Texts()
        self._rooms: dict[int, tuple[int, int]] = {}  # px for name and number, of counts by their identity
        self.width = 240  # of the view

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme, and the fonts as they are now."""
        self._texts.set_theme(theme)

    def fit_labels(self, lines: list[Line]) -> None:
        """Make room for the labels of some lines, and for the names and numbers of their counts."""
        labels = {line.label for line in lines if line.kind is LineKind.PAIR}
        widest = max((self._texts.width(label, PLAIN) for label in labels), default=0)
        self.label_width = max(64, min(widest, _MAX_LABEL)) + 16
        self._rooms.clear()
        for is_count, section in groupby(lines, lambda line: line.kind is LineKind.COUNT):
            if is_count:
                self._fit_counts(list(section))

    def _fit_counts(self, section: list[Line]) -> None:
        """Lines of one section have their bars and their numbers below each other."""
        name = max(self._texts.width(line.label, PLAIN) for line in section) + _SQUARE_ROOM + 8
        number = max(self._texts.width(line.value, line.style) for line in section) + 6
        self._rooms |= {id(line): (name, number) for line in section}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # type: ignore[override]
        line: Line = index.data(ITEM_ROLE)
        text = option.fontMetrics.height()
        if line.kind is LineKind.TITLE:
            return QSize(80, round(text * 2.5))
        if line.kind is LineKind.HEADING:
            return QSize(80, round(text * 2.0))
        if line.kind is LineKind.TEXT:
            return QSize(80, self._wrapped_height(line, self.width - 2 * _MARGIN) + round(text * 0.35))
        if line.wrapped:
            room = self.width - 2 * _MARGIN
            return QSize(80, self._wrapped_height(line, room - self._label_room(room)) + round(text * 0.25))
        return QSize(80, round(text * (2.25 if line.detail else 1.25)))

    def _wrapped_height(self, line: Line, width: int) -> int:
        """Of a value in as many lines as it takes, in px."""
        room = QRect(0, 0, max(80, width), _TALLEST)
        return min(self._texts.look(line.style).metrics.boundingRect(room, _WRAPPED, line.value).height(), _TALLEST)

    def _label_room(self, width: int) -> int:
        """What labels take of a line, with the gap behind them, in px."""
        return min(self.label_width, width // 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]
        line: Line = index.data(ITEM_ROLE)
        theme = theme_manager().theme
        if option.state & QStyle.StateFlag.State_Selected and line.kind in _SELECTABLE:
            painter.fillRect(option.rect, theme.colour("selection"))
        rect = option.rect.adjusted(_MARGIN, 0, -_MARGIN, 0)
        match line.kind:
            case LineKind.TITLE:
                self._title(painter, rect, line, theme)
            case LineKind.HEADING:
                font = ui_font(0.9)
                font.setBold(True)
                font.setCapitalization(QFont.Capitalization.AllUppercase)
                font.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 106)
                below = rect.adjusted(0, round(rect.height() * 0.3), 0, 0)
                _text(painter, below, line.label, font, theme.colour("muted"))
            case LineKind.PAIR:
                self._pair(painter, rect, line)
            case LineKind.COUNT:
                self._count(painter, rect, line, theme)
            case LineKind.TEXT:
                self._texts.take_up(painter, line.style)
                painter.drawText(rect, _WRAPPED, line.value)

    def _title(self, painter: QPainter, rect: QRect, line: Line, theme: Theme) -> None:
        font = ui_font()
        font.setBold(True)
        metrics = QFontMetrics(font)
        width = min(metrics.horizontalAdvance(line.label[:LONGEST]) + 16, rect.width() * 3 // 4)
        height = round(metrics.height() * 1.3)
        badge = QRect(rect.left(), rect.center().y() - height // 2 + 2, width, height)
        is_category = line.badge_colour.startswith("#")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(line.badge_colour) if is_category else theme.colour("selection"))
        painter.drawRoundedRect(QRectF(badge), 4, 4)
        ink = QColor("white") if is_category else theme.colour("accent")
        _text(painter, badge.adjusted(7, 0, -5, 0), line.label, font, ink)
        name = QRect(badge.right() + 10, badge.top(), rect.right() - badge.right() - 10, height)
        self._texts.draw(painter, name, line.value, PLAIN)

    def _count(self, painter: QPainter, rect: QRect, line: Line, theme: Theme) -> None:
        """A coloured square, the label, a bar, and the number at the right edge."""
        name, room = self._rooms[id(line)]
        half = min(max(rect.width() // 2, name), rect.width() - room - _LEAST_BAR)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if line.badge_colour:
            painter.setBrush(QColor(line.badge_colour))
            painter.drawRoundedRect(QRectF(rect.left(), rect.center().y() - 3.5, 8, 8), 2, 2)
        bar = theme.colour("accent")
        bar.setAlphaF(0.75)
        painter.setBrush(bar)
        length = max(1.0, (rect.width() - half - room - 10) * line.share)
        painter.drawRoundedRect(QRectF(rect.left() + half, rect.center().y() - 2.5, length, 6), 1.5, 1.5)
        indent = _SQUARE_ROOM if line.badge_colour else 0
        label = QRect(rect.left() + indent, rect.top(), half - indent - 7, rect.height())
        self._texts.draw(painter, label, line.label, PLAIN)
        value = QRect(rect.right() - room, rect.top(), room, rect.height())
        self._texts.draw(painter, value, line.value, replace(line.style, role="muted"), right=True)

    def _pair(self, painter: QPainter, rect: QRect, line: Line) -> None:
        label_width = self._label_room(rect.width())
        if line.wrapped:
            self._wrapped_pair(painter, rect, label_width, line)
            return
        half = rect.height() // 2 if line.detail else rect.height()
        label = QRect(rect.left(), rect.top(), label_width - 10, half)
        self._texts.draw(painter, label, line.label, Style(line.label_style.role))
        value = QRect(rect.left() + label_width, rect.top(), rect.width() - label_width, half)
        self._texts.draw(painter, value, line.value, line.style)
        if line.detail:
            below = value.translated(0, half - 1)
            self._texts.draw(painter, below, line.detail, line.detail_style)

    def _wrapped_pair(self, painter: QPainter, rect: QRect, label_width: int, line: Line) -> None:
        """The label beside the first line of the value."""
        first = round(painter.fontMetrics().height() * 1.25)
        label = QRect(rect.left(), rect.top(), label_width - 10, first)
        self._texts.draw(painter, label, line.label, Style(line.label_style.role))
        self._texts.take_up(painter, line.style)
        below = round(painter.fontMetrics().height() * 0.125)
        painter.drawText(rect.adjusted(label_width, below, 0, 0), _WRAPPED, line.value)


def _text(painter: QPainter, rect: QRect, text: str, font: QFont, colour: QColor) -> None:
    """Draw one line in a font of its own."""
    painter.setFont(font)
    painter.setPen(colour)
    shown = painter.fontMetrics().elidedText(text[:LONGEST], Qt.TextElideMode.ElideMiddle, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)


class LineList(QListView):
    """Shows lines; `followed(target)` says that a link was clicked, or entered with Return."""

    followed = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.nothing: Callable[[], str] = str  # what to say where there is no line
        self._lines = LineModel(self)
        self._delegate = LineDelegate(self)
        self.setModel(self._lines)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        on_theme(self._set_theme)

    @property
    def lines(self) -> list[Line]:
        return self._lines.lines

    def set_lines(self, lines: list[Line]) -> None:
        self._delegate.fit_labels(lines)
        self._lines.set_lines(lines)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.lines:
            paint_nothing(self.viewport(), self.nothing())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._delegate.width = self.viewport().width()
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():  # Qt lays lists out anew for another height alone
            self.scheduleDelayedItemsLayout()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        line = self.indexAt(event.position().toPoint()).data(ITEM_ROLE)
        is_link = isinstance(line, Line) and line.target is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        is_plain = event.button() is Qt.MouseButton.LeftButton and not event.modifiers()
        index = self.indexAt(event.position().toPoint())
        if is_plain and len(self.selectionModel().selectedRows()) == 1 and index == self.currentIndex():
            self._follow(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_lines()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._follow(self.currentIndex())
        else:
            super().keyPressEvent(event)

    @Slot()
    def copy_lines(self) -> None:
        """Put the selected lines on the clipboard, as TSV."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        lines = (self.lines[row] for row in rows)
        text = "\n".join("\t".join(filter(None, (line.label, line.value, line.detail))) for line in lines)
        if text:
            QGuiApplication.clipboard().setText(text)

    @Slot()
    def _copy_value(self) -> None:
        line = self.currentIndex().data(ITEM_ROLE)
        if isinstance(line, Line):
            QGuiApplication.clipboard().setText(line.full or line.value)

    def _follow(self, index: QModelIndex) -> None:
        line = index.data(ITEM_ROLE)
        if isinstance(line, Line) and line.target is not None:
            self.followed.emit(line.target)

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        if not self.indexAt(position).isValid():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy &value", self._copy_value)
        menu.addAction("&Copy lines as table", QKeySequence(QKeySequence.StandardKey.Copy), self.copy_lines)
        menu.popup(self.viewport().mapToGlobal(position))

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self._delegate.set_theme(theme)
        self.viewport().update()
