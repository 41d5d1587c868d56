"""The Run pane: providers in order, dims, inputs, how often; Run and Cancel; the result in a few lines."""
from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from engine.errors import InputError
from engine.feeds import fit_dims, required_inputs
from engine.graph.ir import Model
from engine.providers.ort import execution_providers
from gui.document import Document
from gui.errors import explain
from gui.icons import ButtonIcon
from gui.jobs import Job, LatestJob, Task
from gui.running.estimate import Estimate, estimate
from gui.running.execution import PartialRun, execute
from gui.running.plan import Needs, RunPlan, default_plan, recall_plan
from gui.running.state import RunState
from gui.running.times import placement_rows
from gui.widgets.bars import Segments
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.export_button import ExportButton
from gui.widgets.failure_label import FailureLabel
from gui.widgets.run.form import DimsForm, InputsForm, plain_label
from gui.widgets.run.placement import PlacementButton
from gui.widgets.run.provider_list import ProviderList
from gui.widgets.run.result_line import ResultLine
from gui.widgets.sideways import SidewaysScroll

_ESTIMATE_DELAY_MS = 200
_FEEDBACK = """How the next step is fed:
OUT=IN: an output becomes an input
OUT:argmax=IN: the likeliest token becomes an input
IN+=1: an input grows by a 1, as an attention mask does
auto: states that are named alike"""

_MODES = (("faithful", "Faithful", "The graph as stored, node by node"),
          ("fast", "Fast", "The graph made over for speed: constants computed once, nodes made one; some tensors are "
                           "not made then. CPU only always runs the graph as stored"))  # fmt: skip


class RunPane(QWidget):
    """Sets up and starts comparisons of the document's model.

    A run ends in `finished()` when it ended well, in `failed(message)` when it did not; a cancelled one in neither.
    """

    finished = Signal()
    failed = Signal(str)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._settings = document.settings
        self._job: Job | None = None
        self._cancelling = False

        self._estimating = LatestJob()
        self._asked_choices = False

        self.providers = ProviderList()
        self.dims = DimsForm()
        self.inputs = InputsForm()
        self.warmup = _count_box("Warm-up runs", 0)
        self.repeat = _count_box("Measured runs", 1)
        self.seed = _count_box("Seed of the generated inputs", 0)
        self.steps = _count_box("Step that is measured: the model runs up to it, its states fed back", 1)
        self.feedback = QLineEdit(accessibleName="How states are fed back", maximumWidth=110)
        self.feedback.setToolTip(_FEEDBACK)
        self.mode = Segments(_MODES, "Mode")
        self.per_node = QCheckBox("Compare every tensor")
        self.per_node.setToolTip("Keeps the values of both sides and finds the first node where they part")
        self.placement = PlacementButton(document)
        self.run_button = QPushButton("Run  F5")
        ButtonIcon(self.run_button, "run", "on_accent")
        self.run_button.setProperty("accent", "true")
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip("Stop at the end of the node that runs now (Shift+F5)")
        self.reset_button = QPushButton("Defaults")
        self.reset_button.setToolTip("Forget what was set for this model")
        self.progress = QProgressBar(textVisible=False, minimumWidth=40, maximumWidth=140)
        self.status = ElidedLabel(role="muted")
        self.failure = FailureLabel()
        self.result = ResultLine()
        self.export = ExportButton("Export", "run")
        self.export.hide()
        self.export.add_csv(lambda: placement_rows(self.document.run))
        self.export.add_json(self._figures)
        self.export.add_picture(self)
        self._estimate_delay = QTimer(self, singleShot=True, interval=_ESTIMATE_DELAY_MS)
        self._arrange()

        self.run_button.clicked.connect(self.start)
        self.cancel_button.clicked.connect(self.cancel)
        self.reset_button.clicked.connect(self._reset)
        self.providers.changed.connect(self._providers_changed)
        self.steps.valueChanged.connect(self._steps_changed)
        self.dims.changed.connect(self._estimate_delay.start)
        self.dims.changed.connect(self._dims_changed)
        self.per_node.toggled.connect(self._estimate_delay.start)
        self._estimate_delay.timeout.connect(self._estimate)
        document.model_changed.connect(self._show_model)
        document.run_changed.connect(self._show_run)
        document.busy_changed.connect(self._show_busy)
        document.run_requested.connect(self.start)
        self._show_model()

    # What is set up

    def plan(self) -> RunPlan:
        """The plan as it stands in the fields."""
        return RunPlan(
            order=self.providers.order(),
            enabled=self.providers.enabled(),
            dims=self.dims.dims(),
            specs=self.inputs.specs(),
            warmup=self.warmup.value(),
            repeat=self.repeat.value(),
            seed=self.seed.value(),
            per_node=self.per_node.isChecked(),
            steps=self.steps.value(),
            feedback=self.feedback.text().strip() or "auto",
            overrides=dict(self.document.overrides),
            mode=self.mode.current,
        )

    def set_plan(self, plan: RunPlan) -> None:
        """Show a plan in the fields."""
        model = self.document.model
        self.providers.set_plan(plan.order, plan.enabled)
        needs = self._needs()
        fit = partial(fit_dims, model, needs.dims) if model else dict
        self.dims.set_dims(needs.symbols, plan.dims, fit)
        self.inputs.set_inputs(required_inputs(model) if model else [], plan.specs)
        self.warmup.setValue(plan.warmup)
        self.repeat.setValue(plan.repeat)
        self.seed.setValue(plan.seed)
        self.per_node.setChecked(plan.per_node)
        self.steps.setValue(plan.steps)
        self.feedback.setText(plan.feedback)
        self.mode.set_current(plan.mode)
        self.document.set_overrides(plan.overrides)
        self._steps_changed()
        self._providers_changed()

    # Running

    @Slot()
    def start(self) -> None:
        """Run what is set up, unless something runs already or a field is not filled in."""
        model = self.document.model
        if model is None or self._job is not None:
            return
        if not self._fields_hold():
            self.failed.emit(self.failure.text())
            return
        plan = self.plan()
        if model.path:
            self._settings.remember_inputs(model.path, asdict(plan))

        def work(task: Task) -> RunState:
            return execute(model, plan, task)

        self._cancelling = False
        self._say("")
        self._job = self.document.start("Running", work, self._succeeded, self._failed)
        self._job.finished.connect(self._ended)
        self._enable()

    def _fields_hold(self) -> bool:
        """Whether all fields are filled in; the first one that is not gets the cursor."""
        missing = self.dims.invalid()
        if missing is not None:
            self._complain(f"Give the dim {missing!r} a size: a whole number from 0 up.")
            self.dims.focus(missing)
            return False
        wrong = self.inputs.invalid()
        if wrong is not None:
            self._complain(f"input {wrong!r}: {self.inputs.error(wrong)}")
            self.inputs.focus(wrong)
            return False
        return True

    @Slot()
    def cancel(self) -> None:
        """Stop the run at the end of the node that runs now."""
        if self._job is not None:
            self._cancelling = True
            self._say("Cancelling…")
            self._job.cancel()
            self._enable()

    def _succeeded(self, state: RunState) -> None:
        self._say("")
        self.document.set_run(state)
        self.finished.emit()

    def _failed(self, error: Exception) -> None:
        cause: Exception = error
        if isinstance(error, PartialRun):
            self.document.set_run(error.state)
            cause = error.error
        if isinstance(cause, InputError) and cause.input_name:
            self.inputs.set_error(cause.input_name, str(cause))
            self.inputs.focus(cause.input_name)
        self._complain(explain(cause))
        self.failed.emit(explain(cause))

    @Slot()
    def _ended(self) -> None:
        self._job = None
        if self._cancelling:
            self._cancelling = False
            self._say("Cancelled; the results before it are kept." if self.document.run else "Cancelled.")
        self.progress.reset()
        self._enable()
        if not self.status.text() and not self.failure.text():
            self._estimate_delay.start()

    # What is shown

    @Slot()
    def _show_model(self) -> None:
        model = self.document.model
        if self._job is not None:  # its results would be those of another model
            self._job.cancel()
        self.set_plan(self._recall(model) if model else RunPlan())
        self._say("")
        self._enable()

    def _needs(self) -> Needs:
        return self.document.index.needs if self.document.index is not None else Needs()

    def _recall(self, model: Model) -> RunPlan:
        """The plan last used with this model; for a new one the defaults, with the providers last chosen."""
        remembered = self._settings.inputs_of(model.path) if model.path else {}
        chosen = self._settings.providers
        return recall_plan(model, self._needs(), remembered or ({"order": chosen, "enabled": chosen} if chosen else {}))

    @Slot()
    def _reset(self) -> None:
        if self.document.model is not None:
            self.set_plan(default_plan(self._needs()))

    @Slot()
    def _show_run(self) -> None:
        run = self.document.run
        self.result.set_report(run.times.report if run and run.times else None)
        self.export.setVisible(run is not None)

    def _figures(self) -> dict[str, Any]:
        """What was set up, who ran what, and what came of it."""
        run = self.document.run
        return {
            "plan": asdict(self.plan()),
            "placement": placement_rows(run),
            "comparison": run.comparison.to_json() if run and run.comparison else None,
        }

    @Slot(str, int, int)
    def _show_busy(self, text: str, done: int, total: int) -> None:
        if self._job is not None and text and not self._cancelling:
            self.progress.setRange(0, max(total, 0))
            self.progress.setValue(done)
            self._say(text.partition(" · ")[0])  # which node it is at, the status bar says

    @Slot()
    def _providers_changed(self) -> None:
        plan = self.plan()
        self.document.set_providers(plan.providers)
        if "ORT" in plan.providers and not self._asked_choices:
            self._asked_choices = True  # in a job, since the answer needs ONNX Runtime imported
            self.document.jobs.start(lambda _task: execution_providers(), self._add_choices, lambda _error: None)

    def _add_choices(self, choices: list[str]) -> None:
        self.providers.add_choices([f"ORT:{choice}" for choice in choices if choice != "CPU"])

    @Slot()
    def _dims_changed(self) -> None:
        self.document.set_dims(self.dims.chosen())

    @Slot()
    def _steps_changed(self) -> None:
        self.feedback.setEnabled(self.steps.value() > 1)

    @Slot()
    def _estimate(self) -> None:
        """Say how much memory the run will take, while nothing else is said."""
        model, plan = self.document.model, self.plan()
        self._estimating.cancel()
        if model is None or self._job is not None or self.dims.invalid() is not None:
            return
        self._estimating.replace(self.document.jobs.start(
            lambda _task: estimate(model, plan.dims, plan.per_node), self._estimated, lambda _error: None
        ))  # fmt: skip

    def _estimated(self, found: Estimate) -> None:
        if self._job is None and not self.failure.text():
            self._set_status(found.words, "muted" if found.fits else "warning")

    def _enable(self) -> None:
        running = self._job is not None
        self.run_button.setEnabled(self.document.model is not None and not running)
        self.cancel_button.setEnabled(running and not self._cancelling)
        self.reset_button.setEnabled(self.document.model is not None and not running)
        self.progress.setVisible(running)

    def _say(self, text: str) -> None:
        self._set_status(text, "muted")

    def _complain(self, text: str) -> None:
        self._set_status(text, "error")

    def _set_status(self, text: str, role: str) -> None:
        """Say one thing: what went wrong in lines of its own, whole, anything else beside the buttons."""
        self.failure.setText(text if role == "error" else "")
        self.status.setText("" if role == "error" else text)
        self.status.set_role(role)

    # Arrangement

    def _arrange(self) -> None:
        columns = QHBoxLayout()
        columns.setSpacing(12)
        self.providers.setMinimumWidth(160)  # its reasons elide before the fields beside it are cut
        self.providers.setMaximumWidth(240)
        columns.addLayout(_column("Providers, in order", self.providers), 3)
        columns.addLayout(_column("Dims", self.dims), 1)
        columns.addLayout(_column("Inputs", self.inputs), 4)
        columns.addLayout(self._counts())
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.run_button, self.cancel_button, self.reset_button, self.placement, self.progress):
            buttons.addWidget(button)
        buttons.addWidget(self.status, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 6)
        layout.setSpacing(6)
        layout.addWidget(SidewaysScroll(columns), 1)
        layout.addLayout(buttons)
        layout.addWidget(self.failure)
        outcome = QHBoxLayout()
        outcome.addWidget(self.result, 1)
        outcome.addWidget(self.export, 0, Qt.AlignmentFlag.AlignRight)  # also where it stands alone, after a failure
        layout.addLayout(outcome)

    def _counts(self) -> QVBoxLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(4)
        fields = (("warm-up", self.warmup), ("runs", self.repeat), ("seed", self.seed), ("step", self.steps))
        for place, (text, box) in enumerate(fields):
            _add_labelled(grid, text, box, place // 2, 2 * (place % 2))
        _add_labelled(grid, "feed back", self.feedback, 2, 0, span=3)
        _add_labelled(grid, "mode", self.mode, 3, 0, span=3)
        column = _column("Measure")
        column.addLayout(grid)
        column.addWidget(self.per_node)
        column.addStretch(1)
        return column


def _add_labelled(grid: QGridLayout, text: str, field: QWidget, row: int, column: int, span: int = 1) -> None:
    label = plain_label(text, role="muted")
    label.setBuddy(field)
    grid.addWidget(label, row, column)
    grid.addWidget(field, row, column + 1, 1, span)


def _count_box(name: str, least: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(least, 1_000_000)
    box.setFixedWidth(58)
    box.setAccessibleName(name)
    box.setToolTip(name)
    return box


def _column(title: str, *widgets: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(6)
    column.addWidget(plain_label(title, role="heading"))
    for widget in widgets:
        column.addWidget(widget, 1)
    return column
