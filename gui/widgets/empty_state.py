"""What the window shows before a model is open: where to drop one, recent files, a sample."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gui.look.theme import ui_font
from gui.widgets.tips import set_tip

SHOWN_RECENT = 6
ROOM = 370  # px for the heading


class EmptyState(QWidget):
    """Asks for a model. `open_clicked()`, `sample_clicked()`, `recent_clicked(path)`."""

    open_clicked = Signal()
    sample_clicked = Signal()
    recent_clicked = Signal(str)

    def __init__(self) -> None:
        super().__init__(objectName="emptyState")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # it is not what a window is for
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._target = QFrame(objectName="dropTarget")
        self._target.setFixedWidth(440)
        self._heading = QLabel(textFormat=Qt.TextFormat.PlainText, alignment=Qt.AlignmentFlag.AlignCenter)
        self._heading.setFont(ui_font(1.45))
        self.set_opening("")
        hint = QLabel("Nothing leaves this machine, and opening a file runs nothing.",
                      alignment=Qt.AlignmentFlag.AlignCenter)  # fmt: skip
        hint.setProperty("role", "muted")
        open_button = QPushButton("Open…")
        open_button.setProperty("accent", "true")
        open_button.clicked.connect(self.open_clicked)
        sample_button = QPushButton("Open the sample")
        sample_button.clicked.connect(self.sample_clicked)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(open_button)
        buttons.addWidget(sample_button)
        buttons.addStretch(1)
        inner = QVBoxLayout(self._target)
        inner.setContentsMargins(32, 32, 32, 28)
        inner.setSpacing(12)
        for part in (self._heading, hint):
            inner.addWidget(part)
        inner.addLayout(buttons)
        self._recent_heading = QLabel("Recent")
        self._recent_heading.setProperty("role", "heading")
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        column = QVBoxLayout()
        column.addStretch(2)
        column.addWidget(self._target)
        column.addSpacing(16)
        column.addWidget(self._recent_heading)
        column.addLayout(self._recent)
        column.addStretch(3)
        layout = QHBoxLayout(self)
        layout.addStretch(1)
        layout.addLayout(column)
        layout.addStretch(1)

    def set_recent(self, paths: Sequence[str]) -> None:
        """Offer these files; those that are gone are left out."""
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        present = [path for path in paths if os.path.isfile(path)][:SHOWN_RECENT]
        for path in present:
            text = self.fontMetrics().elidedText(path, Qt.TextElideMode.ElideMiddle, 420)
            button = QPushButton(text.replace("&", "&&"))
            set_tip(button, path)
            button.setProperty("flat", "true")
            button.setStyleSheet("text-align: left")
            button.clicked.connect(lambda _checked=False, path=path: self.recent_clicked.emit(path))
            self._recent.addWidget(button)
        self._recent_heading.setVisible(bool(present))

    def set_opening(self, name: str) -> None:
        """Say which file is being opened; empty where none is."""
        text = f"Opening {name}…" if name else "Drop an .onnx file here"
        self._heading.setText(self._heading.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, ROOM))

    def set_drop_active(self, active: bool) -> None:
        """Mark the target while a file hovers over the window."""
        self._target.setProperty("active", "true" if active else "false")
        self._target.style().polish(self._target)
