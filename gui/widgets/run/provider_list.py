"""The execution providers in the user's order: dragged into place, checked to be used, each saying what it lacks."""
from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from engine.providers import all_providers, provider_named
from gui.look.theme import theme_manager, ui_font
from gui.widgets.tips import plain_tip

NAME_ROLE = Qt.ItemDataRole.UserRole
REASON_ROLE = Qt.ItemDataRole.UserRole + 1
FALLBACK = "CPU"
_ROLES = {FALLBACK: "takes what no other takes", "ORT": "ONNX Runtime, whole subgraphs"}


class ProviderList(QListWidget):
    """`changed` tells that order or checks have changed. CPU is always checked: it takes what no other does."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Provider order")
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setItemDelegate(_ProviderDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for provider in all_providers():
            self.addItem(_item(provider.name))
        self.itemChanged.connect(self._item_changed)
        self.model().rowsMoved.connect(self._rows_moved)

    def order(self) -> list[str]:
        """Names of all providers, as they stand."""
        return [self.item(row).data(NAME_ROLE) for row in range(self.count())]

    def enabled(self) -> list[str]:
        """Names of the checked ones, as they stand."""
        items = [self.item(row) for row in range(self.count())]
        return [item.data(NAME_ROLE) for item in items if item.checkState() == Qt.CheckState.Checked]

    def set_plan(self, order: Sequence[str], enabled: Sequence[str]) -> None:
        """Show an order and checks; those that are not available stay unchecked."""
        self.blockSignals(True)
        items = {item.data(NAME_ROLE): item for item in (self.takeItem(0) for _ in range(self.count()))}
        for name in [*order, *(n for n in items if n not in order)]:
            item = items.get(name) or _item(name)
            self.addItem(item)
            wanted = (name in enabled and not item.data(REASON_ROLE)) or name == FALLBACK
            item.setCheckState(Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)
        self.blockSignals(False)

    def add_choices(self, names: Sequence[str]) -> None:
        """Offer providers that became known only now, unchecked, at the end."""
        known = self.order()
        self.set_plan([*known, *(name for name in names if name not in known)], self.enabled())

    def move_current(self, by: int) -> None:
        """Move the current provider up (-1) or down (1)."""
        row, target = self.currentRow(), self.currentRow() + by
        if row >= 0 and 0 <= target < self.count():
            self.insertItem(target, self.takeItem(row))
            self.setCurrentRow(target)
            self.changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.modifiers() & Qt.KeyboardModifier.AltModifier and event.key() in steps:
            self.move_current(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(210, 3 * (self.fontMetrics().height() * 2 + 8) + 2)

    @Slot(QListWidgetItem)
    def _item_changed(self, item: QListWidgetItem) -> None:
        """Nobody gets a node behind CPU, so what is checked there goes before it."""
        fallback = self.order().index(FALLBACK)
        if item.checkState() == Qt.CheckState.Checked and self.row(item) > fallback:
            self.blockSignals(True)
            self.insertItem(fallback, self.takeItem(self.row(item)))
            self.setCurrentRow(fallback)
            self.blockSignals(False)
        self.changed.emit()

    @Slot()
    def _rows_moved(self) -> None:
        self.changed.emit()


def _item(name: str) -> QListWidgetItem:
    provider = provider_named(name.partition(":")[0])  # to ask for more of ONNX Runtime would import it
    available = provider.available()
    item = QListWidgetItem(name)
    item.setData(NAME_ROLE, name)
    item.setData(REASON_ROLE, available.reason)
    item.setFlags(_flags(name, bool(available)))
    used = available and provider.by_default and provider.name == name
    item.setCheckState(Qt.CheckState.Checked if used else Qt.CheckState.Unchecked)
    tip = available.reason or "Drag, or Alt+Up and Alt+Down, to change the order; Space to use it or not"
    item.setToolTip(plain_tip(f"{name}: {tip}"))
    return item


def _flags(name: str, available: bool) -> Qt.ItemFlag:
    flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemIsEnabled
    return flags | Qt.ItemFlag.ItemIsUserCheckable if available and name != FALLBACK else flags


class _ProviderDelegate(QStyledItemDelegate):
    """A check box, the name and, below it, why the provider can't be used or that it takes the rest."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # type: ignore[override]
        return QSize(160, option.fontMetrics.height() * 2 + 8)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]
        theme, height = theme_manager().theme, option.fontMetrics.height()
        reason = index.data(REASON_ROLE)
        name = index.data(NAME_ROLE)
        check = QStyleOptionViewItem(option)
        self.initStyleOption(check, index)
        check.text = ""
        check.rect = QRect(option.rect.left(), option.rect.top(), 30, option.rect.height())
        style = option.widget.style()
        painter.save()
        if option.state & style.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme.colour("selection"))
        style.drawControl(style.ControlElement.CE_ItemViewItem, check, painter, option.widget)
        text = option.rect.adjusted(30, 3, -6, -3)
        painter.setPen(theme.colour("faint" if reason else "text"))
        painter.drawText(text.adjusted(0, 0, 0, -height), Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(ui_font(0.9))
        painter.setPen(theme.colour("muted"))
        below = reason or _ROLES.get(name.partition(":")[0], "available")
        shown = painter.fontMetrics().elidedText(below, Qt.TextElideMode.ElideRight, text.width())
        painter.drawText(text.adjusted(0, height, 0, 0), Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()
