"""The Run pane: providers in order, dims, inputs, how often; Run and Cancel; the result in a few lines."""
from __future__ import annotations

from dataclasses import asdict

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from engine.errors import InputError
from engine.feeds import required_inputs, symbols
from engine.graph.ir import Model
from gui.document import Document, RunState
from gui.errors import explain
from gui.jobs import Job, Task
from gui.running.execution import PartialRun, execute
from gui.running.plan import RunPlan, default_plan, recall_plan
from gui.running.report import report_of
from gui.widgets.provider_list import ProviderList
from gui.widgets.result_line import ResultLine
from gui.widgets.run_form import DimsForm, InputsForm, plain_label


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

        self.providers = ProviderList()
        self.dims = DimsForm()
        self.inputs = InputsForm()
        self.warmup = _count_box("Warm-up runs", 0)
        self.repeat = _count_box("Measured runs", 1)
        self.seed = _count_box("Seed of the generated inputs", 0)
        self.per_node = QCheckBox("Compare every tensor")
        self.per_node.setToolTip("Keeps the values of both sides and finds the first node where they part")
        self.run_button = QPushButton("▶ Run  F5")
        self.run_button.setProperty("accent", "true")
        self.cancel_button = QPushButton("Cancel")
        self.reset_button = QPushButton("Defaults")
        self.reset_button.setToolTip("Forget what was set for this model")
        self.progress = QProgressBar(textVisible=False)
        self.status = QLabel()
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setWordWrap(True)
        self.status.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.result = ResultLine()
        self._arrange()

        self.run_button.clicked.connect(self.start)
        self.cancel_button.clicked.connect(self.cancel)
        self.reset_button.clicked.connect(self._reset)
        self.providers.changed.connect(self._providers_changed)
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
        )

    def set_plan(self, plan: RunPlan) -> None:
        """Show a plan in the fields."""
        model = self.document.model
        self.providers.set_plan(plan.order, plan.enabled)
        self.dims.set_dims(symbols(model) if model else {}, plan.dims)
        self.inputs.set_inputs(required_inputs(model) if model else [], plan.specs)
        self.warmup.setValue(plan.warmup)
        self.repeat.setValue(plan.repeat)
        self.seed.setValue(plan.seed)
        self.per_node.setChecked(plan.per_node)
        self._providers_changed()

    # Running

    @Slot()
    def start(self) -> None:
        """Run what is set up, unless something runs already or a field is not filled in."""
        model = self.document.model
        if model is None or self._job is not None:
            return
        missing = self.dims.invalid()
        if missing is not None:
            self._complain(f"Give the dim {missing!r} a size: a whole number from 0 up.")
            self.dims.focus(missing)
            self.failed.emit(self.status.text())
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

    # What is shown

    @Slot()
    def _show_model(self) -> None:
        model = self.document.model
        if self._job is not None:  # its results would be those of another model
            self._job.cancel()
        self.set_plan(self._recall(model) if model else RunPlan())
        self._say("")
        self._enable()

    def _recall(self, model: Model) -> RunPlan:
        """The plan last used with this model; for a new one the defaults, with the providers last chosen."""
        remembered = self._settings.inputs_of(model.path) if model.path else {}
        chosen = self._settings.providers
        return recall_plan(model, remembered or ({"order": chosen, "enabled": chosen} if chosen else {}))

    @Slot()
    def _reset(self) -> None:
        if self.document.model is not None:
            self.set_plan(default_plan(self.document.model))

    @Slot()
    def _show_run(self) -> None:
        run = self.document.run
        self.result.set_report(report_of(run.comparison) if run and run.comparison else None)

    @Slot(str, int, int)
    def _show_busy(self, text: str, done: int, total: int) -> None:
        if self._job is not None and text and not self._cancelling:
            self.progress.setRange(0, max(total, 0))
            self.progress.setValue(done)
            self._say(text)

    @Slot()
    def _providers_changed(self) -> None:
        self.document.set_providers(self.plan().providers)

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
        self.status.setText(text)
        if self.status.property("role") != role:
            self.status.setProperty("role", role)
            self.status.style().polish(self.status)

    # Arrangement

    def _arrange(self) -> None:
        columns = QHBoxLayout()
        columns.setSpacing(18)
        self.providers.setFixedWidth(200)
        columns.addLayout(_column("Providers, in order", self.providers))
        columns.addLayout(_column("Dims", self.dims), 2)
        columns.addLayout(_column("Inputs", self.inputs), 4)
        columns.addLayout(self._control_column(), 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 6)
        layout.addLayout(columns, 1)
        layout.addWidget(self.result)

    def _control_column(self) -> QVBoxLayout:
        counts = QGridLayout()
        counts.setHorizontalSpacing(8)
        for column, (text, box) in enumerate((("warm-up", self.warmup), ("runs", self.repeat), ("seed", self.seed))):
            label = plain_label(text, role="muted")
            label.setBuddy(box)
            counts.addWidget(label, 0, column)
            counts.addWidget(box, 1, column)
        counts.setColumnStretch(3, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self.run_button)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.reset_button)
        buttons.addStretch(1)
        column = _column("Run")
        column.addLayout(counts)
        column.addWidget(self.per_node)
        column.addLayout(buttons)
        column.addWidget(self.progress)
        column.addWidget(self.status)
        column.addStretch(1)
        return column


def _count_box(name: str, least: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(least, 1_000_000)
    box.setFixedWidth(76)
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
