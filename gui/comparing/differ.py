"""The other model that the document's one is held against, and what differs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from engine.diff import ModelDiff, diff
from engine.graph.ir import Model, Node, Tensor
from engine.opening import open_model
from gui.background.jobs import LatestJob, Task
from gui.comparing.changes import Changes
from gui.errors import explain

if TYPE_CHECKING:
    from gui.document import Document


class Differ(QObject):
    """Opens another model and compares it, in a job; `changed()` says that `changes` are others, or None.

    The other model is what was before, the document's what is after. `other_wanted(item, beside)` asks for a
    window on the other model, at one of its nodes or tensors, beside this one if so wanted.
    """

    changed = Signal()
    other_wanted = Signal(object, bool)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.path = ""
        self.changes: Changes | None = None
        self._job = LatestJob()
        document.model_changed.connect(self._again)

    def compare_with(self, path: str | Path) -> None:
        """Hold the document's model against the one at `path`; ends in `changed`, or in the document's `failed`."""
        model = self._document.model
        if model is None:
            return
        path = str(path)
        self.path = path

        def failed(error: Exception) -> None:
            self._document.failed.emit(f"Could not compare with {Path(path).name or path}", explain(error, path))
            self._set(None)

        text = f"Comparing with {Path(path).name}"
        job = self._document.start(text, lambda task: _compared(path, model, task), self._set, failed)
        self._job.replace(job)

    @property
    def found(self) -> ModelDiff | None:
        """All that differs."""
        return self.changes.found if self.changes is not None else None

    @property
    def busy(self) -> bool:
        """Whether a comparison is under way."""
        return self._job.running

    def show_other(self, item: Node | Tensor | None, beside: bool = False) -> None:
        """Ask for the other model at the counterpart of an item, or at an item of its own; None for none of them."""
        if self.changes is not None:
            there = item is not None and item.graph.outermost is self.changes.found.before.graph
            self.other_wanted.emit(item if there or item is None else self.changes.counterpart(item), beside)

    def end(self) -> None:
        """Forget the other model."""
        self._job.cancel()
        self._set(None)

    def _set(self, changes: Changes | None) -> None:
        self.changes = changes
        if changes is None:
            self.path = ""
        self.changed.emit()

    @Slot()
    def _again(self) -> None:
        """Another model, or the same read anew: what was found is of one that is gone."""
        path, had = self.path, self.found
        self.end()
        if had is not None and had.after.path == self._document.path:
            self.compare_with(path)


def _compared(path: str, model: Model, task: Task) -> Changes:
    def report(phase: str, done: int, total: int) -> None:
        task.check()
        task.report(f"{phase}: {Path(path).name}", done, total + 1)

    return Changes.of(diff(open_model(path, report), model, report=report))
