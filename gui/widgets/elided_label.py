"""A line of text that shortens itself to the room it has, with the whole of it as tooltip."""
from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from gui.text import one_line
from gui.widgets.tips import set_tip


class ElidedLabel(QLabel):
    """Shows plain text on one line, its end cut where it does not fit.

    As for its `width`: ``Ignored`` takes the room that there is, ``Maximum`` no more than the text needs, ``Expanding``
    asks for what the text needs and takes more.
    """

    def __init__(
        self, text: str = "", role: str = "", width: QSizePolicy.Policy = QSizePolicy.Policy.Ignored
    ) -> None:  # fmt: skip
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self.setSizePolicy(width, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(one_line(text, 600))
        set_tip(self, text)

    def set_role(self, role: str) -> None:
        """Take the colour of a role of the style sheet: "muted", "good", "error"."""
        if self.property("role") != role:
            self.setProperty("role", role)
            self.style().polish(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, rect.width())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(rect, self.alignment() | Qt.TextFlag.TextSingleLine, text)
