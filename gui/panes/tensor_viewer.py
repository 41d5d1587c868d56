"""The Tensor pane: the values of a tensor as a table or a picture, with their statistics and histogram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine.graph.ir import Node, Tensor
from gui.background.jobs import LatestJob
from gui.background.when_seen import WhenSeen
from gui.document import Document
from gui.errors import explain, explain_unwritten
from gui.facts.schemas import input_name, output_name
from gui.facts.statistics import NumberStatistics
from gui.facts.tensor_values import (
    Figures,
    Loaded,
    channel_axis,
    figures_text,
    image_of,
    load_value,
    number_text,
    save_value,
)
from gui.look.theme import mono_font
from gui.models.values import ValuesModel
from gui.running.state import RunState
from gui.text import dtype_text, one_line, shape_text
from gui.widgets.bars import Segments
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.heat_map import HeatMap
from gui.widgets.histogram import Histogram
from gui.widgets.slice_bar import SliceBar
from gui.widgets.tips import set_tip
from gui.widgets.values_table import ValuesTable

MOST_CHOICES = 400  # inputs of a node that are offered
FILTER = "NumPy array (*.npy);;NumPy archive (*.npz)"
FORMS = (("table", "Table", "The numbers themselves"), ("picture", "Picture", "A colour for each number"))


class TensorPane(QWidget):
    """Values of the selected tensor, or of one of the selected node's tensors."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._job = LatestJob()
        self._loaded = Loaded()
        self._tensors: list[Tensor] = []
        self._shown: Tensor | None = None
        self.values = ValuesModel(self)
        self._values = WhenSeen(self, self._refresh, document.turns)
        self._build()
        self._arrange()
        document.selection_changed.connect(self._selection_changed)
        document.run_changed.connect(self._run_changed)
        self._selection_changed()

    def _build(self) -> None:
        self._choice = QComboBox()
        self._choice.setAccessibleName("Tensor of the selected node")
        self._choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._choice.activated.connect(self._choose)
        self.title = ElidedLabel()
        self.note = _muted(wrapped=True)
        self.figures = _muted(wrapped=True)
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.histogram = Histogram()
        self._extent, self._extent_end = _muted(), _muted()
        for label in (self._extent, self._extent_end):
            label.setFont(mono_font(0.85))
        self._extent_end.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.slices = SliceBar()
        self.slices.changed.connect(self._refresh)
        self.form = Segments(FORMS, "Show values as")
        self.form.chosen.connect(self._refresh)
        self.rgb = QCheckBox("RGB")
        self.rgb.setToolTip("Three channels as red, green and blue")
        self.rgb.toggled.connect(self._refresh)
        self.save_button = QPushButton("Save…", toolTip="Save the values as .npy or .npz (Ctrl+S)")
        self.save_button.clicked.connect(self.save)
        self.table = ValuesTable(self.values)
        self.heat_map = HeatMap()
        self.heat_map.pointed.connect(self._point)
        self._under = _muted()
        self._under.setFont(mono_font(0.85))
        self._pages = QStackedWidget()
        self._pages.addWidget(self.table)
        self._pages.addWidget(self.heat_map)

    def _arrange(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(6)
        bar = (self.form, self.rgb, self._under, self.save_button)
        told = ((self._choice,), (self.title,), (self.note,), (self.histogram,), (self._extent, self._extent_end))
        for widgets in (*told, (self.figures,), bar, (self.slices,)):
            row = QHBoxLayout()
            row.setContentsMargins(12, 0, 12, 0)
            for widget in widgets:
                row.addWidget(widget, widget is self._under)
            layout.addLayout(row)
        layout.addWidget(self._pages, 1)
        self._stretch = layout
        layout.addStretch(0)

    # What to show

    @Slot()
    def _selection_changed(self) -> None:
        match self._document.selection:
            case Node() as node:
                named = [(tensor, output_name(node, slot)) for slot, tensor in enumerate(node.outputs)]
                named += [(tensor, input_name(node, slot)) for slot, tensor in enumerate(node.inputs[:MOST_CHOICES])]
            case Tensor() as tensor:
                named = [(tensor, "")]
            case _:
                named = []
        present = {tensor: name for tensor, name in named if tensor is not None}
        self._tensors = list(present)
        self._choice.clear()
        self._choice.addItems([f"{name}  {one_line(tensor.name, 60)}".strip() for tensor, name in present.items()])
        self._choice.setVisible(len(self._tensors) > 1)
        self.title.setText(self._tensors[0].qualified_name if len(self._tensors) == 1 else "")
        self.title.setVisible(len(self._tensors) == 1)
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
        self._job.cancel()
        value = self._value_of(tensor) if tensor is not None else None
        if value is None:
            self._set_loaded(Loaded(note=_why_nothing(tensor, self._document.run)))
            return
        self.note.setText("Reading values…")
        jobs = self._document.jobs
        self._job.replace(jobs.start(lambda task: load_value(value, task), self._set_loaded, self._set_failure))

    def _set_failure(self, error: Exception) -> None:
        self._set_loaded(Loaded(note=explain(error)))

    def _set_loaded(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._values.ask()

    @property
    def spinners(self) -> list[Any]:
        """The fields of the indices, that of a sequence's element first."""
        return self.slices.spinners

    # Showing it

    @Slot()
    def _refresh(self) -> None:
        loaded = self._loaded
        if loaded.arrays:
            self.slices.set_shape(loaded.arrays[0].shape, len(loaded.arrays))
        array, figures = self._current()
        has_values = array is not None and array.size > 0
        self._show_statistics(figures)
        self._show_values(array, figures)
        note = loaded.note
        if array is not None:
            note = " ".join(filter(None, (_describe(self._shown, array), loaded.note)))
            note += "; the table shows the first part" if self.values.cut else ""
        self.note.setText(note)
        set_tip(self.note, note)
        for widget in (self._pages, self.save_button):
            widget.setVisible(has_values)
        self.slices.setVisible(has_values and bool(self.spinners or (array is not None and array.ndim > 1)))
        self._stretch.setStretch(self._stretch.count() - 1, 0 if has_values else 1)

    def _show_statistics(self, figures: Figures | None) -> None:
        """The histogram where there is more than one value to count, and the figures."""
        has_bars = isinstance(figures, NumberStatistics) and figures.size > 1 and figures.counts.size > 0
        for widget in (self.histogram, self._extent, self._extent_end):
            widget.setVisible(has_bars)
        self.figures.setVisible(figures is not None)
        if figures is not None:
            self.figures.setText(figures_text(figures))
        if isinstance(figures, NumberStatistics) and has_bars:
            self.histogram.set_histogram(figures.counts, figures.edges)
            self._extent.setText(number_text(figures.minimum))
            self._extent_end.setText(number_text(figures.maximum))

    def _show_values(self, array: np.ndarray | None, figures: Figures | None) -> None:
        """The plane that is chosen, as a table or as a picture."""
        plane = None
        if array is not None:
            try:
                plane = self.slices.plane.of(array)
            except IndexError:  # elements of a sequence differ in shape, and this one is smaller
                plane = None
        has_picture = isinstance(figures, NumberStatistics) and plane is not None and plane.ndim == 2 and plane.size > 1
        self.form.setVisible(has_picture)
        is_picture = has_picture and self.form.current == "picture"
        self.rgb.setVisible(is_picture and array is not None and channel_axis(array.shape) is not None)
        self._under.setText("")
        self._pages.setCurrentWidget(self.heat_map if is_picture else self.table)
        if is_picture:
            assert array is not None  # these three are what `has_picture` asked for
            assert plane is not None
            assert isinstance(figures, NumberStatistics)
            self._draw(array, plane, figures)
        else:
            self.table.set_plane(plane)

    def _draw(self, array: np.ndarray, plane: np.ndarray, figures: NumberStatistics) -> None:
        low, high = float(figures.minimum), float(figures.maximum)
        if self.rgb.isVisible() and self.rgb.isChecked():
            before = [spinner.value() for spinner in self.spinners][len(self._loaded.arrays) > 1 :]
            self.heat_map.set_image(image_of(array, before, low, high))
        else:
            self.heat_map.set_plane(np.abs(plane) if figures.magnitudes else plane, low, high)

    @Slot(str)
    def _point(self, text: str) -> None:
        self._under.setText(text)

    def _current(self) -> tuple[np.ndarray | None, Figures | None]:
        arrays = self._loaded.arrays
        if not arrays:
            return None, None
        element = self.slices.element
        return arrays[element], self._loaded.statistics[element]

    # Out

    @Slot()
    def save(self) -> None:
        """Ask for a file and write what is shown there, all of it."""
        arrays, tensor = self._loaded.arrays, self._shown
        if not arrays or tensor is None:
            return
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in tensor.name)[:80] or "tensor"
        folder = Path(self._document.settings.folder)
        suffix = ".npy" if len(arrays) == 1 else ".npz"
        path, _ = QFileDialog.getSaveFileName(self, "Save values", str(folder / (name + suffix)), FILTER)
        if path:
            self._document.start(
                f"Writing {Path(path).name}", lambda task: save_value(path, tensor.name, arrays, task.check), None,
                lambda error: self._document.failed.emit("Could not save the values", explain_unwritten(error, path))
            )  # fmt: skip


def _muted(wrapped: bool = False) -> QLabel:
    label = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=wrapped)
    label.setProperty("role", "muted")
    return label


def _why_nothing(tensor: Tensor | None, run: RunState | None) -> str:
    if tensor is None:
        return "Select a tensor or a node to see values."
    gone = run.made_over.why_gone(tensor) if run is not None and run.made_over is not None else ""
    if gone:
        return f"This tensor was not made: the run was in the fast mode ({one_line(gone)})."
    return "No value yet: the model has not been run, or the run did not keep this tensor."


def _describe(tensor: Tensor | None, array: np.ndarray) -> str:
    dtype = tensor.dtype if tensor else None
    return f"{dtype_text(dtype) if dtype else array.dtype} {shape_text(array.shape)}"
