"""What stands where the results of a run would stand, while there are none."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QLabel

from gui.document import Document

_PARTIAL = "The last run ended early, so there are no times. What it had computed can be looked at in the other panes."


class NoRun(QLabel):
    """Says why there are no results, and how to get them: `aim` is what a run would be for."""

    def __init__(self, document: Document, aim: str) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.setProperty("role", "muted")
        self._document = document
        self._aim = aim
        for signal in (document.opening_changed, document.model_changed, document.run_changed):
            signal.connect(self._tell)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        document = self._document
        if document.model is None or document.opening_name:
            self.setText(document.why_no_model)
        elif document.run is not None:
            self.setText(_PARTIAL)
        else:
            self.setText(f"No run yet. Press F5 to run the model and {self._aim}.")
