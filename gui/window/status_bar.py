"""The window's status bar: the model in one line, what is under way, and how it would run."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QProgressBar, QPushButton, QSizePolicy, QStatusBar

from engine.words import bytes_text, counted
from gui.background.jobs import Progress
from gui.document import Document
from gui.text import count_text, one_line
from gui.widgets.elided_label import ElidedLabel

BUSY_DELAY_MS = 150  # shorter jobs don't flicker
BUSY_LETTERS = 44  # room for what is under way


class StatusBar(QStatusBar):
    """Reads the document."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.setSizeGripEnabled(False)
        self.facts = ElidedLabel()
        self.busy = ElidedLabel(width=QSizePolicy.Policy.Fixed)
        self.busy.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # Of one size, so that a new text has nothing arranged anew, many times a second.
        self.busy.setFixedSize(BUSY_LETTERS * self.fontMetrics().averageCharWidth(), self.busy.sizeHint().height())
        self.progress = QProgressBar(textVisible=False)
        self.progress.setFixedWidth(140)
        self.cancel = QPushButton("Cancel", toolTip="Stop what is under way (Shift+F5)")
        self.cancel.clicked.connect(self._cancel)
        self.problems = QPushButton(toolTip="Show what was found wrong with the model")
        self.problems.setProperty("flat", "true")
        self.problems.hide()
        self.settings = ElidedLabel(width=QSizePolicy.Policy.Maximum)
        self.addWidget(self.facts, 1)
        for widget in (self.busy, self.progress, self.cancel, self.problems, self.settings):
            self.addPermanentWidget(widget)
        self._delay = QTimer(self, singleShot=True, interval=BUSY_DELAY_MS)
        self._delay.timeout.connect(self._show_busy)
        self._set_busy_visible(False)
        for signal in (document.model_changed, document.opening_changed):
            signal.connect(self._show_facts)
        document.providers_changed.connect(self._show_settings)
        document.dims_changed.connect(self._show_settings)
        document.busy_changed.connect(self._busy_changed)
        self._show_facts()
        self._show_settings()

    @Slot()
    def _show_facts(self) -> None:
        model, index, path = self._document.model, self._document.index, self._document.path
        if model is None or index is None:
            self.facts.setText(self._document.why_no_model)
            return
        opset = model.opset_imports.get("") or model.opset_imports.get("ai.onnx")
        parts = [
            Path(path or "model").name,
            model.form or f"IR {model.ir_version}",
            f"opset {opset}" if opset else "",
            one_line(f"{model.producer_name} {model.producer_version}", 40),
            counted(index.node_count, "node"),
            f"{count_text(index.parameters)} parameters",
            bytes_text(index.nbytes),
        ]
        self.facts.setText(" · ".join(filter(None, parts)))

    def show_problems(self, errors: int, warnings: int) -> None:
        """Say how many grave findings there are; remarks are left to the Problems pane."""
        told = [counted(count, what) for count, what in ((errors, "error"), (warnings, "warning")) if count]
        self.problems.setText(", ".join(told))
        self.problems.setVisible(bool(told))
        self.problems.setProperty("role", "error" if errors else "warning")
        self.problems.style().polish(self.problems)

    @Slot()
    def _show_settings(self) -> None:
        dims = "   ".join(f"{one_line(name, 24)} = {value}" for name, value in list(self._document.dims.items())[:6])
        order = " → ".join(self._document.providers)
        self.settings.setText("      ".join(filter(None, (dims, order))))

    @Slot(object)
    def _busy_changed(self, progress: Progress) -> None:
        if not progress.text:
            self._delay.stop()
            self._set_busy_visible(False)
            return
        self.busy.setText(one_line(" · ".join(filter(None, (progress.text, progress.place))), 60))
        self.progress.setRange(0, max(progress.total, 0))
        self.progress.setValue(progress.done)
        if not self.busy.isVisible() and not self._delay.isActive():
            self._delay.start()

    @Slot()
    def _show_busy(self) -> None:
        self.cancel.setEnabled(True)
        self._set_busy_visible(True)

    @Slot()
    def _cancel(self) -> None:
        self.busy.setText("Cancelling…")
        self.cancel.setEnabled(False)
        self._document.cancel()

    def _set_busy_visible(self, visible: bool) -> None:
        for widget in (self.busy, self.progress, self.cancel):
            widget.setVisible(visible)
