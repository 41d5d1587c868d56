"""Which two-dimensional slice of an array is looked at: two axes to choose, an index for each of the others."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QSpinBox, QWidget

from gui.facts.tensor_values import Plane
from gui.widgets.flow_layout import FlowLayout


class SliceBar(QWidget):
    """`changed()` says that another slice, or another element of a sequence, is wanted."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._layout = FlowLayout(self, spacing=4)
        self._shape: tuple[int, ...] = ()
        self._elements = 1
        self.spinners: list[QSpinBox] = []
        self.rows, self.columns = _axis_box("Axis of the rows", self), _axis_box("Axis of the columns", self)
        for box in (self.rows, self.columns):
            box.activated.connect(self._axes_chosen)
        self._order = [0, 1]

    def set_shape(self, shape: Sequence[int], elements: int = 1) -> None:
        """Ask for slices of an array of that shape, one of so many in a sequence; the last two axes at first."""
        if (tuple(shape), elements) == (self._shape, self._elements) and self._layout.count():
            return
        self._shape, self._elements = tuple(shape), elements
        self._order = [max(len(shape) - 2, 0), max(len(shape) - 1, 0)]
        self._fill()

    @property
    def plane(self) -> Plane:
        """The slice that is wanted."""
        places = [spinner.value() for spinner in self.spinners]
        return Plane(self._order[0], self._order[1], tuple(places[self._elements > 1 :]))

    @property
    def element(self) -> int:
        """Which element of the sequence."""
        return self.spinners[0].value() if self._elements > 1 and self.spinners else 0

    @Slot()
    def _axes_chosen(self) -> None:
        """The axis that one box takes from the other, the other gets in exchange."""
        before = list(self._order)
        chosen = [self.rows.currentIndex(), self.columns.currentIndex()]
        if chosen[0] == chosen[1]:
            chosen = before[::-1]
        self._order = chosen
        self._fill()
        self.changed.emit()

    def _fill(self) -> None:
        while (item := self._layout.takeAt(0)) is not None:
            widget = item.widget()
            if widget not in (self.rows, self.columns) and widget is not None:
                widget.hide()
                widget.deleteLater()
        self.spinners = []
        rank = len(self._shape)
        rest = [axis for axis in range(rank) if axis not in self._order] if rank > 2 else []
        lengths = [("element", self._elements)] if self._elements > 1 else []
        lengths += [(f"axis {axis}", self._shape[axis]) for axis in rest]
        for name, length in lengths:
            spinner = QSpinBox(maximum=max(length - 1, 0), wrapping=True)
            spinner.setAccessibleName(f"Index of {name}")
            spinner.setToolTip(f"0 to {length - 1}")
            spinner.valueChanged.connect(self.changed)
            self.spinners.append(spinner)
            self._add(name, spinner)
        for box, axis in zip((self.rows, self.columns), self._order):
            box.setVisible(rank > 1)
            if rank > 1:
                box.clear()
                box.addItems([f"{a}: {length}" for a, length in enumerate(self._shape)])
                box.setCurrentIndex(axis)
                self._add("rows" if box is self.rows else "columns", box)
        self.setVisible(bool(lengths) or rank > 1)

    def _add(self, text: str, field: QWidget) -> None:
        label = QLabel(text, textFormat=Qt.TextFormat.PlainText)
        label.setProperty("role", "muted")
        label.setBuddy(field)
        self._layout.addWidget(label)
        self._layout.addWidget(field)


def _axis_box(name: str, parent: QWidget) -> QComboBox:
    box = QComboBox(parent)
    box.setAccessibleName(name)
    box.setToolTip(f"{name}: its number and length")
    return box
