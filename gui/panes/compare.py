"""The Compare pane: every tensor of the last run against the CPU, a file or a second opinion, in run order."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from engine.errors import InputError
from engine.feeds import save_arrays
from engine.words import counted
from gui.background.jobs import LatestJob, Task
from gui.background.when_seen import WhenSeen
from gui.document import Document
from gui.errors import explain, explain_unwritten
from gui.running.agreement_table import APART, figures, nonfinite_words, summary
from gui.running.execution import TaskObserver
from gui.running.judging import (
    CPU,
    OPINION,
    AgreementRow,
    Judgement,
    Reference,
    cpu_reference,
    file_reference,
    judge,
    opinion_available,
    opinion_reference,
)
from gui.running.state import RunState
from gui.text import one_line
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.export_button import ExportButton
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.run.agreement_table import ALL, AgreementTable
from gui.widgets.run.form import plain_label
from gui.widgets.run.no_run import NoRun
from gui.widgets.run.pair import PairView
from gui.widgets.tips import set_tip

BY_TYPE = "by type"
_TOLERANCES = (BY_TYPE, "1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "0")
_FROM_FILE = "file…"
_ARRAYS = "Named tensors (*.npz);;Arrays (*.npz *.npy *.pb);;All files (*)"
_NOTHING = "The run ended before the CPU side had run. Choose a file to hold what there is against it."
_VERDICT_WIDTH = 100  # at least; its tooltip has all of it
_PAIR_WIDTH = 220  # at least; there are more spinners than fit in tensors of many axes


class ComparePane(QWidget):
    """Follows the document's run. `judged()` tells that the table shows what was asked for last."""

    judged = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._reference: Reference | None = None
        self._judgement = Judgement()
        self._job = LatestJob()
        self.verdict = ElidedLabel()
        self.verdict.setMinimumWidth(_VERDICT_WIDTH)
        self.first = QPushButton("First divergence")
        self.first.setToolTip("Go to the first tensor, in run order, that is beyond its tolerance (F8)")
        self.nonfinite = QPushButton("First NaN or Inf")
        self.against = QComboBox()
        self.against.setAccessibleName("What to compare with")
        self.tolerance = QComboBox(editable=True)
        self.tolerance.setAccessibleName("Relative tolerance")
        self.tolerance.setToolTip("Relative tolerance for all tensors, or each element type's own")
        self.tolerance.addItems(_TOLERANCES)
        self.tolerance.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        edit = self.tolerance.lineEdit()
        assert edit is not None  # the list is editable
        self._tolerance_edit = edit
        self.table = AgreementTable(document)
        self.pair = PairView(document.jobs)
        self.save = ExportButton("Save", "comparison")
        self._arrange()

        self.first.clicked.connect(self.show_first)
        self.nonfinite.clicked.connect(self.show_nonfinite)
        self.against.activated.connect(self._choose_reference)
        self.tolerance.activated.connect(self._judge)
        self._tolerance_edit.editingFinished.connect(self._judge_if_changed)
        pair = WhenSeen(self, self._show_pair, document.turns)
        self.table.view.selectionModel().currentRowChanged.connect(pair.ask)
        self.table.model.modelReset.connect(pair.ask)
        self.save.add("Outputs of the run as .npz…", lambda: self._save(outputs_only=True))
        self.save.add("All tensors of the run as .npz…", lambda: self._save(outputs_only=False))
        self.save.add_csv(lambda: map(figures, self.rows))
        self.save.add_json(lambda: {"against": self._reference and self._reference.name,
                                    "tensors": [figures(row) for row in self.rows]})  # fmt: skip
        self.save.add_picture(self)
        document.run_changed.connect(partial(document.turns.ask, self._show_run))
        document.model_changed.connect(self._forget)
        self._show_run()

    def _arrange(self) -> None:
        first, second = QHBoxLayout(), FlowLayout()
        first.setSpacing(6)
        first.addWidget(self.verdict, 1)
        for button in (self.nonfinite, self.first, self.save):
            first.addWidget(button)
        for text, box in (("against", self.against), ("rtol", self.tolerance)):
            label = plain_label(text, role="muted")
            label.setBuddy(box)
            second.addWidget(label)
            second.addWidget(box)
        second.addWidget(self.table.show_only)
        second.addWidget(self.table.filter)
        self.against.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.against.setMinimumContentsLength(10)
        self.against.setMaximumWidth(160)
        self.tolerance.setFixedWidth(92)
        self.table.show_only.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.table.show_only.setMinimumContentsLength(8)
        self.pair.setMinimumWidth(_PAIR_WIDTH)
        self.pair.hide()
        left = QWidget()
        layout = QVBoxLayout(left)
        layout.setContentsMargins(0, 6, 0, 0)
        layout.setSpacing(6)
        for row in (first, second):
            row.setContentsMargins(12, 0, 8, 0)
            layout.addLayout(row)
        layout.addWidget(self.table, 1)
        page = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        page.addWidget(left)
        page.addWidget(self.pair)
        page.setSizes([560, 400])
        self._stack = QStackedLayout(self)
        self._stack.addWidget(NoRun(self.document, "hold every tensor against the CPU"))
        self._stack.addWidget(page)

    # What is compared

    @property
    def rows(self) -> list[AgreementRow]:
        """All rows, in run order."""
        return self._judgement.rows

    def rtol(self) -> float | None:
        """The tolerance asked for; None for each type's own.

        Raises
        ------
        InputError: the field holds no number from 0 up.
        """
        text = self.tolerance.currentText().strip()
        if text in ("", BY_TYPE):
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise InputError(f"the tolerance {text!r} is no number from 0 up; use one such as 1e-3, or {BY_TYPE!r}")
        return value

    @Slot()
    def _forget(self) -> None:
        """Another model: what the file held belongs to the one before."""
        self._reference = None

    def _show_run(self) -> None:
        run = self.document.run
        self._stack.setCurrentIndex(1 if run is not None else 0)
        if run is None:
            self._job.cancel()
            self._show(Judgement())
            return
        if self._reference is None or self._reference.name in (CPU, OPINION):  # a file's values outlive the run
            self._reference = cpu_reference(run)
        self._list_references()
        self._judge()

    def _list_references(self) -> None:
        run, chosen = self.document.run, self._reference
        names = [CPU] if run is not None and run.comparison is not None else []
        if chosen is not None and chosen.name not in (CPU, OPINION):
            names.append(chosen.name)
        if run is not None and run.feeds:
            names.append(OPINION)
        self.against.clear()
        self.against.addItems([one_line(name, 40) for name in names] + [_FROM_FILE])
        self.against.setCurrentIndex(names.index(chosen.name) if chosen is not None and chosen.name in names else -1)

    @Slot(int)
    def _choose_reference(self, index: int) -> None:
        run = self.document.run
        text = self.against.itemText(index)
        if text == _FROM_FILE:
            path, _ = QFileDialog.getOpenFileName(self, "Compare with", self.document.settings.folder, _ARRAYS)
            if path:
                self.compare_with_file(path)
            else:
                self._list_references()
        elif text == OPINION:
            self.ask_second_opinion()
        elif text == CPU and run is not None:
            self._reference = cpu_reference(run)
            self._list_references()
            self._judge()

    def compare_with_file(self, path: str) -> None:
        """Hold the run against the tensors of a file from now on."""
        model = self.document.model
        if model is not None:
            self._start("Reading values", lambda _task: file_reference(path, model))

    def ask_second_opinion(self) -> None:
        """Run the model in ONNX Runtime on the same feeds, and hold the run against that."""
        model, run = self.document.model, self.document.run
        missing = opinion_available()
        if missing:
            self._list_references()
            self._say(missing, "error")
        elif model is not None and run is not None:
            nodes = len(model.graph.order)

            def ask(task: Task) -> Reference:
                return opinion_reference(model, run.feeds, TaskObserver(task, nodes))

            self._start("Asking ONNX Runtime", ask)

    def _start(self, text: str, make: Callable[[Task], Reference]) -> None:
        """Make a reference in a job that the user waits for, then hold the run against it."""

        run = self.document.run

        def ready(reference: Reference) -> None:
            if self.document.run is not run:  # another run or model has come meanwhile
                return
            self._reference = reference
            self._list_references()
            self._judge()

        def failed(error: Exception) -> None:
            self._list_references()
            self._say(explain(error), "error")

        self.document.start(text, make, ready, failed)

    # Judging

    @Slot()
    def _judge_if_changed(self) -> None:
        if self.tolerance.currentText() != self.tolerance.property("judged"):
            self._judge()

    @Slot()
    def _judge(self) -> None:
        """Compare all tensors again, in a job."""
        model, run, reference = self.document.model, self.document.run, self._reference
        if model is None or run is None:
            return
        self._job.cancel()
        if reference is None:
            self._show(Judgement())
            self._say(_NOTHING, "muted")
            return
        try:
            rtol = self.rtol()
        except InputError as error:
            self._mark_tolerance(True)
            self._say(str(error), "error")
            return
        self._mark_tolerance(False)
        self.tolerance.setProperty("judged", self.tolerance.currentText())
        self._say("Comparing…", "muted")
        self.pair.set_titles("this run", reference.name)

        def work(task: Task) -> Judgement:
            return judge(model, run, reference, rtol, task.check)

        self._job.replace(self.document.jobs.start(work, self._arrived, self._failed))

    def _arrived(self, judgement: Judgement) -> None:
        self._show(judgement)
        if judgement.rows:
            self._say(*summary(judgement))
        else:
            self._say("The run and the values to compare with have no tensor in common.", "muted")
        self.judged.emit()

    def _failed(self, error: Exception) -> None:
        self._show(Judgement())
        self._say(explain(error), "error")

    def _show(self, judgement: Judgement) -> None:
        self._judgement = judgement
        rows = judgement.rows
        self.table.set_rows(rows)
        has_steps = any(r.agreement.steps is not None or r.agreement.max_ulps is not None for r in rows)
        self.table.view.columns.set_useful(APART, has_steps)
        self.table.filter.setPlaceholderText(f"Filter {counted(len(rows), 'tensor')}" if rows else "Filter")
        self.first.setVisible(judgement.first_beyond is not None)
        self.nonfinite.setVisible(judgement.first_nonfinite is not None)
        set_tip(self.nonfinite, nonfinite_words(judgement))
        self.save.setEnabled(self.document.run is not None)

    def _mark_tolerance(self, wrong: bool) -> None:
        for widget in (self.tolerance, self._tolerance_edit):
            widget.setProperty("invalid", "true" if wrong else "false")
            widget.style().polish(widget)

    def _say(self, text: str, role: str) -> None:
        self.verdict.setText(text)
        self.verdict.set_role(role)

    # Looking

    @Slot()
    def show_first(self) -> None:
        """Select the first tensor in run order that is beyond its tolerance."""
        self._go_to(self._judgement.first_beyond)

    @Slot()
    def show_nonfinite(self) -> None:
        """Select the first tensor that holds NaN or infinities though its node read none."""
        bad = self._judgement.first_nonfinite
        self._go_to(next((row for row in self.rows if bad is not None and row.tensor is bad.tensor), None))

    def _go_to(self, row: AgreementRow | None) -> None:
        if row is None:
            return
        if self.table.model.place_of(row) < 0:
            self.table.filter.clear()
            self.table.show_only.setCurrentText(ALL)
            self.table.apply_filter()
        self.table.view.show_row(row)
        self.document.select(row.tensor)

    @Slot()
    def _show_pair(self) -> None:
        row = self.table.view.current_row()
        self.pair.set_row(row if isinstance(row, AgreementRow) else None)
        self.pair.setVisible(isinstance(row, AgreementRow))

    # Saving

    def _save(self, outputs_only: bool) -> None:
        run = self.document.run
        if run is None:
            return
        folder = Path(self.document.settings.folder)
        path, _ = QFileDialog.getSaveFileName(self, "Save tensors", str(folder / "tensors.npz"), "NumPy (*.npz)")
        if path:
            self.save_tensors(path, outputs_only)

    def save_tensors(self, path: str, outputs_only: bool = False) -> None:
        """Write the run's tensors under their qualified names, in a job."""
        run = self.document.run
        if run is None:
            return
        arrays = named_values(run, outputs_only)

        def saved(left_out: list[str]) -> None:
            what = f"{counted(len(left_out), 'value')} that are no tensors, or have too long a name"
            missing = f"; {what}, are not in it" if left_out else ""
            self._say(f"saved {counted(len(arrays) - len(left_out), 'tensor')} to {path}{missing}", "muted")

        def failed(error: Exception) -> None:
            self._say(explain_unwritten(error, path), "error")

        self.document.start("Saving tensors", lambda task: save_arrays(path, arrays, task.check), saved, failed)


def named_values(run: RunState, outputs_only: bool) -> dict[str, Any]:
    """The outputs by name, or every value that was kept by its qualified name."""
    outputs = dict(run.result.outputs) if run.result is not None else {}
    return outputs if outputs_only else {t.qualified_name: v for t, v in run.values.items()} | outputs
