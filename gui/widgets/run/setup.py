"""What a run is set up with: providers in order, dims, inputs, and how it is measured, as a `RunPlan`."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from engine.feeds import fit_dims, required_inputs
from engine.providers.ort import execution_providers
from gui.document import Document
from gui.running.plan import Needs, RunPlan
from gui.widgets.bars import Segments
from gui.widgets.run.form import DimsForm, InputsForm, plain_label
from gui.widgets.run.provider_list import ProviderList
from gui.widgets.sideways import SidewaysScroll

_FEEDBACK = """How the next step is fed:
OUT=IN: an output becomes an input
OUT:argmax=IN: the likeliest token becomes an input
IN+=1: an input grows by a 1, as an attention mask does
auto: states that are named alike"""

_MODES = (("faithful", "Faithful", "The graph as stored, node by node"),
          ("fast", "Fast", "The graph made over for speed: constants computed once, nodes made one; some tensors are "
                           "not made then. CPU only always runs the graph as stored"))  # fmt: skip


class RunSetup(QWidget):
    """The fields of a plan. Providers, dims and placements are the document's as well, and follow here and there.

    `size_changed()` says that a run may take another amount of memory now.
    """

    size_changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
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
        self._arrange()

        self.providers.changed.connect(self._providers_changed)
        self.steps.valueChanged.connect(self._steps_changed)
        self.dims.changed.connect(self._dims_changed)
        self.dims.changed.connect(self.size_changed)
        self.per_node.toggled.connect(self.size_changed)

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
            overrides=dict(self._document.overrides),
            mode=self.mode.current,
        )

    def set_plan(self, plan: RunPlan, needs: Needs) -> None:
        """Show a plan in the fields; `needs` are those of the document's model."""
        model = self._document.model
        self.providers.set_plan(plan.order, plan.enabled)
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
        self._document.set_overrides(plan.overrides)
        self._steps_changed()
        self._providers_changed()

    def fault(self) -> str:
        """What the first field that does not hold is told, which gets the cursor; empty where all of them do."""
        missing = self.dims.invalid()
        if missing is not None:
            self.dims.focus(missing)
            return f"Give the dim {missing!r} a size: a whole number from 0 up."
        wrong = self.inputs.invalid()
        if wrong is not None:
            self.inputs.focus(wrong)
            return f"input {wrong!r}: {self.inputs.error(wrong)}"
        return ""

    @Slot()
    def _providers_changed(self) -> None:
        plan = self.plan()
        self._document.set_providers(plan.providers)
        if "ORT" in plan.providers and not self._asked_choices:
            self._asked_choices = True  # in a job, since the answer needs ONNX Runtime imported
            self._document.jobs.start(lambda _task: execution_providers(), self._add_choices, lambda _error: None)

    def _add_choices(self, choices: list[str]) -> None:
        self.providers.add_choices([f"ORT:{choice}" for choice in choices if choice != "CPU"])

    @Slot()
    def _dims_changed(self) -> None:
        self._document.set_dims(self.dims.chosen())

    @Slot()
    def _steps_changed(self) -> None:
        self.feedback.setEnabled(self.steps.value() > 1)

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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(SidewaysScroll(columns))

    def _counts(self) -> QVBoxLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(4)
        fields = (("warm-up", self.warmup), ("runs", self.repeat), ("seed", self.seed), ("steps", self.steps))
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
