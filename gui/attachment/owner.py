"""The file that is attached to the document's model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from gui.attachment.attached import Attached, attach
from gui.background.jobs import LatestJob
from gui.errors import explain

if TYPE_CHECKING:
    from gui.document import Document


class Attachment(QObject):
    """Reads a file in a job; `changed()` says that `found` is another, or None. A model read anew gets it again."""

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._model_path = ""
        self._waiting = ("", "")  # a model's path, and what is attached to that one once it is open
        self.found: Attached | None = None
        self._job = LatestJob()
        document.model_changed.connect(self._again)

    def open(self, path: str | Path) -> None:
        """Read the file at `path` for the document's model; ends in `changed`, or in the document's `failed`."""
        model, path = self._document.model, str(path)
        if model is None:
            return

        def failed(error: Exception) -> None:
            self._document.failed.emit(f"Could not attach {Path(path).name or path}", explain(error, path))

        text = f"Reading {Path(path).name}"
        self._job.replace(self._document.start(text, lambda _task: attach(path, model), self._set, failed))

    def open_with(self, model_path: str, path: str) -> None:
        """Read the file at `path` as soon as the model at `model_path` has opened."""
        self._waiting = model_path, path

    def end(self) -> None:
        """Forget the file."""
        self._job.cancel()
        self._set(None)

    def _set(self, found: Attached | None) -> None:
        self.found = found
        self._model_path = self._document.path or ""
        self.changed.emit()

    @Slot()
    def _again(self) -> None:
        """Another model, or the same read anew: the nodes are others."""
        path = self.found.path if self.found is not None and self._model_path == self._document.path else ""
        (awaited, waiting), self._waiting = self._waiting, ("", "")
        if waiting and awaited == self._document.path:
            path = waiting
        if self.found is not None or self._job.running:
            self.end()
        if path:
            self.open(path)
