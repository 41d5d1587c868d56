"""The Run pane: what a run is set up with, Run and Cancel, the result in a few lines."""
from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from engine.errors import InputError
from engine.graph.ir import Model
from gui.background.jobs import Job, LatestJob, Progress, Task
from gui.document import Document
from gui.errors import explain
from gui.look.icons import ButtonIcon
from gui.running.estimate import Estimate, estimate
from gui.running.execution import PartialRun, execute
from gui.running.plan import Needs, RunPlan, default_plan, recall_plan
from gui.running.state import RunState
from gui.running.times import placement_rows
from gui.widgets.elided_label import ElidedLabel
from gui.widgets.export_button import ExportButton
from gui.widgets.failure_label import FailureLabel
from gui.widgets.run.placement import PlacementButton
from gui.widgets.run.result_line import ResultLine
from gui.widgets.run.setup import RunSetup

_ESTIMATE_DELAY_MS = 200


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
        self.setup = RunSetup(document)
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
        self.setup.size_changed.connect(self._estimate_delay.start)
        self._estimate_delay.timeout.connect(self._estimate)
        document.model_changed.connect(self._model_changed)
        document.run_changed.connect(partial(document.turns.ask, self._show_run))
        document.busy_changed.connect(self._show_busy)
        document.run_requested.connect(self.start)
        self._show_model()

    # Running

    @Slot()
    def start(self) -> None:
        """Run what is set up, unless something runs already or a field is not filled in."""
        self.document.turns.now(self._show_model)
        model = self.document.model
        if model is None or self._job is not None:
            return
        fault = self.setup.fault()
        if fault:
            self._complain(fault)
            self.failed.emit(fault)
            return
        plan = self.setup.plan()
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
            self.setup.inputs.set_error(cause.input_name, str(cause))
            self.setup.inputs.focus(cause.input_name)
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
    def _model_changed(self) -> None:
        if self._job is not None:  # its results would be those of another model
            self._job.cancel()
        self.document.turns.ask(self._show_model)

    def _show_model(self) -> None:
        model = self.document.model
        self.setup.set_plan(self._recall(model) if model else RunPlan(), self._needs)
        self._say("")
        self._enable()

    @property
    def _needs(self) -> Needs:
        return self.document.index.needs if self.document.index is not None else Needs()

    def _recall(self, model: Model) -> RunPlan:
        """The plan last used with this model; for a new one the defaults, with the providers last chosen."""
        remembered = self._settings.inputs_of(model.path) if model.path else {}
        chosen = self._settings.providers
        return recall_plan(model, self._needs, remembered or ({"order": chosen, "enabled": chosen} if chosen else {}))

    @Slot()
    def _reset(self) -> None:
        if self.document.model is not None:
            self.setup.set_plan(default_plan(self._needs), self._needs)

    def _show_run(self) -> None:
        run = self.document.run
        self.result.set_report(run.times.report if run and run.times else None)
        self.export.setVisible(run is not None)

    def _figures(self) -> dict[str, Any]:
        """What was set up, who ran what, and what came of it."""
        run = self.document.run
        return {
            "plan": asdict(self.setup.plan()),
            "placement": placement_rows(run),
            "comparison": run.comparison.to_json() if run and run.comparison else None,
        }

    @Slot(object)
    def _show_busy(self, progress: Progress) -> None:
        if self._job is not None and progress.text and not self._cancelling:
            self.progress.setRange(0, max(progress.total, 0))
            self.progress.setValue(progress.done)
            self._say(progress.text)  # which node it is at, the status bar says

    @Slot()
    def _estimate(self) -> None:
        """Say how much memory the run will take, while nothing else is said."""
        model, plan = self.document.model, self.setup.plan()
        self._estimating.cancel()
        if model is None or self._job is not None or self.setup.dims.invalid() is not None:
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
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.run_button, self.cancel_button, self.reset_button, self.placement, self.progress):
            buttons.addWidget(button)
        buttons.addWidget(self.status, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 6)
        layout.setSpacing(6)
        layout.addWidget(self.setup, 1)
        layout.addLayout(buttons)
        layout.addWidget(self.failure)
        outcome = QWidget()
        outcome.setMinimumHeight(self.result.room)
        row = QHBoxLayout(outcome)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.result, 1)
        row.addWidget(self.export, 0, Qt.AlignmentFlag.AlignRight)  # also where it stands alone, after a failure
        layout.addWidget(outcome)
