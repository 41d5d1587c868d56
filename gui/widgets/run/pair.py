"""One tensor beside the expected one, or a weight beside another model's: values, pictures, spread of differences."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSpinBox, QStackedWidget, QVBoxLayout, QWidget

from gui.background.jobs import JobRunner, LatestJob, Task
from gui.errors import explain
from gui.running.difference import Planes, Spread, comparable, planes_of, spread_of
from gui.running.judging import AgreementRow
from gui.text import shape_text
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.run.pair_plots import DifferencePlot, PairPictures
from gui.widgets.run.pair_tables import PairTables

_HINT = "Choose a tensor to see both sides."


@dataclass(slots=True)
class _Loaded:
    planes: Planes | None = None
    spread: Spread | None = None


class PairView(QWidget):
    """Shows an `AgreementRow`; what takes time is computed in a job."""

    def __init__(self, jobs: JobRunner) -> None:
        super().__init__()
        self._jobs = jobs
        self._job = LatestJob()
        self._row: AgreementRow | None = None
        self._spread: Spread | None = None
        self.note = ElidedLabel(_HINT, role="muted")
        self.worst = QPushButton("Worst")
        self.worst.setToolTip("Go to the element with the largest difference")
        self.spinners: list[QSpinBox] = []
        self._indices = QHBoxLayout()
        self._indices.setSpacing(4)
        self.tables = PairTables()
        self.pictures = PairPictures()
        self.histogram = DifferencePlot()
        self.pages = QStackedWidget()
        self.view = QComboBox(accessibleName="View of both sides")
        for page, title in ((self.tables, "Values"), (self.pictures, "Pictures"), (self.histogram, "Histogram")):
            self.pages.addWidget(page)
            self.view.addItem(title)
        self.view.activated.connect(self.pages.setCurrentIndex)
        self.worst.clicked.connect(self.show_worst)
        self._arrange()
        self.set_row(None)

    def _arrange(self) -> None:
        top, row = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.note, 1)
        top.addWidget(self.worst)
        row.setSpacing(4)
        row.addWidget(self.view)
        row.addLayout(self._indices)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 6)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addLayout(row)
        layout.addWidget(self.pages, 1)
        self._filler = layout
        layout.addStretch(0)

    def show_page(self, place: int) -> None:
        """Show values (0), pictures (1) or the histogram (2)."""
        self.view.setCurrentIndex(place)
        self.pages.setCurrentIndex(place)

    def set_titles(self, actual: str, expected: str) -> None:
        """What the two sides are called."""
        self.tables.set_titles(actual, expected)
        self.pictures.set_titles(actual, expected)
        self.histogram.set_titles(actual, expected)

    def set_row(self, row: AgreementRow | None) -> None:
        """Show a tensor, at its worst element; None shows nothing."""
        self._row, self._spread = row, None
        self._job.cancel()
        shown = row is not None and _same_shape(row)
        self.pages.setVisible(shown)
        self.worst.setVisible(row is not None and bool(row.agreement.max_abs) and row.agreement.worst is not None)
        self._filler.setStretch(3, 0 if shown else 1)
        self.note.setText(_words(row))
        self._make_spinners(row.actual.shape[:-2] if row is not None and shown else ())
        drawable = row is not None and shown and comparable(row.actual, row.expected)
        self.view.setVisible(drawable)
        if row is None or not shown:
            return
        if not drawable:
            self.show_page(0)
        self._refresh()
        if row.agreement.worst is not None:
            self.show_worst()

    @Slot()
    def show_worst(self) -> None:
        """Turn the indices to the element with the largest difference, and show it."""
        worst = self._row.agreement.worst if self._row is not None else None
        if worst is None:
            return
        for spinner, place in zip(self.spinners, worst):
            spinner.setValue(place)
        self.tables.show_element(worst[len(self.spinners) :])

    # Slices

    def _make_spinners(self, lengths: tuple[int, ...]) -> None:
        while (item := self._indices.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.spinners = []
        for axis, length in enumerate(lengths):
            spinner = QSpinBox(maximum=max(length - 1, 0), wrapping=True)
            spinner.setAccessibleName(f"Index of axis {axis}")
            spinner.setToolTip(f"Axis {axis}, 0 to {length - 1}; Up and Down or the wheel change it")
            spinner.setFixedWidth(58)
            spinner.valueChanged.connect(self._refresh)
            self._indices.addWidget(spinner)
            self.spinners.append(spinner)

    @Slot()
    def _refresh(self) -> None:
        row = self._row
        if row is None:
            return
        fixed = tuple(spinner.value() for spinner in self.spinners)
        if not row.actual.size:
            return
        actual, expected = row.actual[fixed], row.expected[fixed]
        self.tables.set_planes(np.asarray(actual), np.asarray(expected), row.agreement.tolerance)
        if comparable(row.actual, row.expected):
            self._load(row, fixed)

    def _load(self, row: AgreementRow, fixed: tuple[int, ...]) -> None:
        spread = self._spread

        def work(task: Task) -> _Loaded:
            planes = planes_of(row.actual, row.expected, fixed)
            task.check()
            return _Loaded(planes, spread or spread_of(row.actual, row.expected, task.check))

        self._job.replace(self._jobs.start(work, self._loaded, self._failed))

    def _loaded(self, loaded: _Loaded) -> None:
        self._spread = loaded.spread
        if loaded.planes is not None:
            self.pictures.set_planes(loaded.planes)
        if loaded.spread is not None:
            self.histogram.set_spread(loaded.spread)

    def _failed(self, error: Exception) -> None:
        self.note.setText(explain(error))


def _same_shape(row: AgreementRow) -> bool:
    return (
        isinstance(row.actual, np.ndarray) and isinstance(row.expected, np.ndarray)
        and row.actual.shape == row.expected.shape
    )  # fmt: skip


def _words(row: AgreementRow | None) -> str:
    if row is None:
        return _HINT
    agreement = row.agreement
    parts = [row.name]
    if isinstance(row.actual, np.ndarray):
        parts.append(f"{row.actual.dtype} {shape_text(row.actual.shape)}")
    parts += filter(None, (row.words or agreement.words, "" if row.words else agreement.reason, row.note))
    if agreement.worst is not None and agreement.max_abs:
        parts.append(f"worst at {list(agreement.worst)}")
    if not row.finite:
        parts.append(f"{row.nan:,} NaN, {row.inf:,} infinite")
    return " · ".join(parts)
