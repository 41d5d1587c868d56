"""The Tensor pane: the values of a tensor as a table, with their statistics and histogram."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from engine.graph.ir import Node, Tensor
from gui.document import Document
from gui.errors import explain
from gui.jobs import Job, Task
from gui.models.values import ValuesModel
from gui.schemas import input_name, output_name
from gui.statistics import Statistics, is_numeric, summarize
from gui.text import dtype_text, one_line, shape_text
from gui.theme import mono_font
from gui.widgets.histogram import Histogram
from gui.widgets.tips import plain_tip


@dataclass(slots=True)
class _Loaded:
    """The value of a tensor as arrays: one, or one for each element of a sequence."""

    arrays: list[np.ndarray] = field(default_factory=list)
    statistics: list[Statistics | None] = field(default_factory=list)
    note: str = ""


class TensorPane(QWidget):
    """Values of the selected tensor, or of one of the selected node's tensors."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._job: Job | None = None
        self._loaded = _Loaded()
        self._tensors: list[Tensor] = []
        self._shown: Tensor | None = None
        self._build()
        document.selection_changed.connect(self._selection_changed)
        document.run_changed.connect(self._run_changed)
        self._selection_changed()

    def _build(self) -> None:
        self._choice = QComboBox()
        self._choice.setAccessibleName("Tensor of the selected node")
        self._choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._choice.activated.connect(self._choose)
        self.note = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.note.setProperty("role", "muted")
        self.figures = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.figures.setProperty("role", "muted")
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.histogram = Histogram()
        self._extent = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._extent_end = QLabel(textFormat=Qt.TextFormat.PlainText)
        for label in (self._extent, self._extent_end):
            label.setProperty("role", "muted")
            label.setFont(mono_font(0.85))
        self._indices = QHBoxLayout()
        self._indices.setSpacing(4)
        self.spinners: list[QSpinBox] = []
        self.values = ValuesModel(self)
        self._table = _values_table(self.values)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(6)
        for widgets in ((self._choice,), (self.note,), (self.histogram,), (self._extent, self._extent_end),
                        (self.figures,)):  # fmt: skip
            row = QHBoxLayout()
            row.setContentsMargins(12, 0, 12, 0)
            for widget in widgets:
                row.addWidget(widget)
            layout.addLayout(row)
        self._extent_end.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._indices.setContentsMargins(12, 0, 12, 0)
        layout.addLayout(self._indices)
        layout.addWidget(self._table, 1)
        self._stretch = layout
        layout.addStretch(0)

    # What to show

    @Slot()
    def _selection_changed(self) -> None:
        match self._document.selection:
            case Node() as node:
                named = [(tensor, output_name(node, slot)) for slot, tensor in enumerate(node.outputs)]
                named += [(tensor, input_name(node, slot)) for slot, tensor in enumerate(node.inputs)]
            case Tensor() as tensor:
                named = [(tensor, "")]
            case _:
                named = []
        present = {tensor: name for tensor, name in named if tensor is not None}
        self._tensors = list(present)
        self._choice.clear()
        self._choice.addItems([f"{name}  {one_line(tensor.name, 60)}".strip() for tensor, name in present.items()])
        self._choice.setVisible(len(self._tensors) > 1)
        self._choose(self._best())

    def _best(self) -> int:
        """The first tensor whose value is known, so that a node with weights shows something before any run."""
        known = (place for place, tensor in enumerate(self._tensors) if self._value_of(tensor) is not None)
        return next(known, 0)

    @Slot(int)
    def _choose(self, place: int) -> None:
        self._choice.setCurrentIndex(place)
        self._show(self._tensors[place] if place < len(self._tensors) else None)

    @Slot()
    def _run_changed(self) -> None:
        if self._shown is not None:
            self._show(self._shown)

    def _value_of(self, tensor: Tensor) -> Any:
        run = self._document.run
        if run is not None and tensor in run.values:
            return run.values[tensor]
        return tensor.data

    def _show(self, tensor: Tensor | None) -> None:
        self._shown = tensor
        if self._job:
            self._job.cancel()
            self._job = None
        value = self._value_of(tensor) if tensor is not None else None
        if value is None:
            self._set_loaded(_Loaded(note=_why_nothing(tensor)))
            return
        self.note.setText("Reading values…")
        self._job = self._document.jobs.start(lambda task: _load(value, task), self._set_loaded, self._set_failure)

    def _set_failure(self, error: Exception) -> None:
        self._set_loaded(_Loaded(note=explain(error)))

    def _set_loaded(self, loaded: _Loaded) -> None:
        self._job = None
        self._loaded = loaded
        self._make_spinners()
        self._refresh()

    # Showing it

    def _make_spinners(self) -> None:
        """One spinner per axis that the table can't show, and one for the elements of a sequence."""
        while (item := self._indices.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.spinners = []
        arrays = self._loaded.arrays
        if not arrays:
            return
        lengths = [len(arrays)] if len(arrays) > 1 else []
        lengths += arrays[0].shape[:-2]
        for axis, length in enumerate(lengths):
            spinner = QSpinBox(maximum=max(length - 1, 0), wrapping=True)
            spinner.setAccessibleName(f"Index of axis {axis}")
            spinner.setToolTip(f"Axis {axis}, 0 to {length - 1}")
            spinner.valueChanged.connect(self._refresh)
            self.spinners.append(spinner)
            self._indices.addWidget(spinner)
        if lengths:
            self._indices.insertWidget(0, QLabel("at", textFormat=Qt.TextFormat.PlainText))
            self._indices.addWidget(QLabel("rows × columns" if arrays[0].ndim > 1 else ""))
            self._indices.addStretch(1)

    @Slot()
    def _refresh(self) -> None:
        loaded = self._loaded
        array, statistics, fixed = self._current()
        has_values = array is not None
        self._table.setVisible(has_values and array.size > 0)
        self._show_statistics(statistics)
        try:
            self.values.set_plane(array, fixed)
        except IndexError:  # elements of a sequence differ in shape, and this one is smaller
            self.values.set_plane(None)
        self._table.horizontalHeader().setDefaultSectionSize(_column_width(self._table))
        note = loaded.note
        if array is not None:
            note = " ".join(filter(None, (_describe(self._shown, array), loaded.note)))
            note += "; the table shows the first part" if self.values.cut else ""
        self.note.setText(note)
        self.note.setToolTip(plain_tip(note))
        self._stretch.setStretch(self._stretch.count() - 1, 0 if has_values else 1)

    def _show_statistics(self, statistics: Statistics | None) -> None:
        """The histogram where there is more than one value to count, and the figures."""
        has_bars = statistics is not None and statistics.size > 1 and statistics.counts.size > 0
        for widget in (self.histogram, self._extent, self._extent_end):
            widget.setVisible(has_bars)
        self.figures.setVisible(statistics is not None)
        if statistics is not None:
            self.figures.setText(figures_text(statistics))
        if has_bars:
            self.histogram.set_histogram(statistics.counts, statistics.edges)
            self._extent.setText(f"{statistics.minimum:.4g}")
            self._extent_end.setText(f"{statistics.maximum:.4g}")

    def _current(self) -> tuple[np.ndarray | None, Statistics | None, tuple[int, ...]]:
        arrays = self._loaded.arrays
        if not arrays:
            return None, None, ()
        places = [spinner.value() for spinner in self.spinners]
        element = places.pop(0) if len(arrays) > 1 else 0
        array = arrays[element]
        return array, self._loaded.statistics[element], tuple(places[: max(array.ndim - 2, 0)])


def _values_table(model: ValuesModel) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName("Values")
    table.setFont(mono_font())
    table.horizontalHeader().setFont(mono_font(0.85))
    table.verticalHeader().setFont(mono_font(0.85))
    table.verticalHeader().setDefaultSectionSize(round(table.fontMetrics().height() * 1.35))
    table.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setWordWrap(False)
    table.setShowGrid(False)

    def copy() -> None:
        indexes = table.selectedIndexes()
        lines: dict[int, list[str]] = {}
        for index in sorted(indexes, key=lambda i: (i.row(), i.column())):
            lines.setdefault(index.row(), []).append(str(index.data()))
        QGuiApplication.clipboard().setText("\n".join("\t".join(line) for line in lines.values()))

    def open_menu(position: QPoint) -> None:
        menu = QMenu(table)
        menu.addAction("&Copy values", copy)
        menu.exec(table.viewport().mapToGlobal(position))
        menu.deleteLater()

    shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), table)
    shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
    shortcut.activated.connect(copy)
    table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    table.customContextMenuRequested.connect(open_menu)
    return table


def _column_width(table: QTableView) -> int:
    """One width for all columns, so that turning an index moves nothing: that of the widest of the first cells."""
    model = table.model()
    cells = ((r, c) for r in range(min(model.rowCount(), 16)) for c in range(min(model.columnCount(), 16)))
    longest = max((len(str(model.index(r, c).data())) for r, c in cells), default=1)
    return table.fontMetrics().averageCharWidth() * (min(max(longest, 4), 40) + 2)


def _why_nothing(tensor: Tensor | None) -> str:
    if tensor is None:
        return "Select a tensor or a node to see values."
    return "No value yet: the model has not been run, or the run did not keep this tensor."


def _load(value: Any, task: Task) -> _Loaded:
    """Read a stored value, or take one from a run, and summarize it. Runs away from the GUI thread."""
    elements, note = _elements(value)
    loaded = _Loaded(note=note)
    for element in elements:
        task.check()
        array = _to_numpy(element)
        loaded.arrays.append(array)
        loaded.statistics.append(summarize(array, task.check) if is_numeric(array) and array.size else None)
    return loaded


def _elements(value: Any) -> tuple[list[Any], str]:
    """A value as a list of arrays, with a word about what it is unless it is a plain tensor."""
    if isinstance(value, dict):
        return [list(value), list(value.values())], "Map: keys at 0, values at 1."
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], dict):
            keys = list(value[0])
            return [np.array([[element.get(k) for k in keys] for element in value])], f"Maps over {len(keys)} keys."
        return list(value), f"Sequence of {len(value)}."
    return [value], ""


def _to_numpy(value: Any) -> np.ndarray:
    if hasattr(value, "array"):
        value = value.array()
    if hasattr(value, "get") and not isinstance(value, np.ndarray):  # a device array of CuPy
        value = value.get()
    return np.asarray(value)


def _describe(tensor: Tensor | None, array: np.ndarray) -> str:
    dtype = tensor.dtype if tensor else None
    return f"{dtype_text(dtype) if dtype else array.dtype} {shape_text(array.shape)}"


def figures_text(s: Statistics) -> str:
    """The statistics in one line."""
    percent = s.zeros / s.size if s.size else 0
    return (
        f"min {s.minimum:.4g} · max {s.maximum:.4g} · mean {s.mean:.4g} · std {s.deviation:.4g} · "
        f"zeros {percent:.1%} · NaN {s.nans:,} · Inf {s.infinities:,}"
    )
