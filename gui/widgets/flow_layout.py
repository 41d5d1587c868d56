"""A layout that puts widgets beside each other and goes on in the next line where there is no more room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLabel, QLayout, QLayoutItem, QWidget

BETWEEN_LINES = 6  # px at most


class FlowLayout(QLayout):
    """Widgets in lines, each as wide as it likes, centred on its line's height.

    A label stays beside its buddy, which follows it. What can use more room, as a line to type in can, takes what its
    line has left.
    """

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        inner = QRect(0, 0, width - margins.left() - margins.right(), 0)
        return self._arrange(inner, move=False) + margins.top() + margins.bottom()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(self.contentsRect(), move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, move: bool) -> int:
        """Height of all lines; the widgets are put there if they are to be moved."""
        y, between = rect.y(), min(self.spacing(), BETWEEN_LINES)
        for line in self._lines(rect.width()):
            height = max(item.sizeHint().height() for item in line)
            greedy = [item for item in line if item.expandingDirections() & Qt.Orientation.Horizontal]
            left = rect.width() - sum(item.sizeHint().width() + self.spacing() for item in line) + self.spacing()
            x = rect.x()
            for item in line:
                size = item.sizeHint()
                size.setWidth(min(size.width(), rect.width()))
                if item in greedy:
                    size.setWidth(size.width() + max(left, 0) // len(greedy))
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (height - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += height + between
        return max(y - between - rect.y(), 0)

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        used = 0
        for together in self._units():
            wanted = sum(item.sizeHint().width() + self.spacing() for item in together) - self.spacing()
            if not lines or used + wanted > width:
                lines.append([])
                used = 0
            lines[-1] += together
            used += wanted + self.spacing()
        return lines

    def _units(self) -> list[list[QLayoutItem]]:
        """What is not to be parted: labels with their buddies."""
        units: list[list[QLayoutItem]] = []
        is_open = False
        for item in self._items:
            if item.isEmpty():
                continue
            if is_open:
                units[-1].append(item)
            else:
                units.append([item])
            label = item.widget()
            is_open = isinstance(label, QLabel) and label.buddy() is not None
        return units
