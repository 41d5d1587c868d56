"""What went wrong, in as many lines as it takes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy

from gui.text import one_line
from gui.widgets.tips import set_tip

_MOST = 600  # characters; the tooltip has more


class FailureLabel(QLabel):
    """Plain text in the colour of errors, wrapped, that can be selected; not there while there is none."""

    def __init__(self) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.setProperty("role", "error")
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # no window is wider for a name
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()

    def setText(self, text: str) -> None:
        super().setText(one_line(text, _MOST))
        set_tip(self, text)
        self.setVisible(bool(text))
