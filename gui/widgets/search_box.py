"""The search line of the toolbar: a query, how many it finds, and steps from one to the next."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QToolButton, QWidget


class SearchBox(QWidget):
    """Reports `query_changed(text)` while typing and `found(item)` when stepping through what was found."""

    query_changed = Signal(str)
    found = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._results: list[Any] = []
        self._at = -1
        self.edit = QLineEdit(placeholderText="Find: words, op:Conv, shape:*×64×*", clearButtonEnabled=True)
        self.edit.setAccessibleName("Find nodes and tensors")
        self.edit.setToolTip(
            "Words that names or operators hold, op:Conv, name:attn, dtype:f16, shape:*×64×*. Enter or F3 goes on."
        )
        self.count = QLabel()
        self.count.setProperty("role", "muted")
        self.count.setMinimumWidth(self.fontMetrics().horizontalAdvance("0000 of 0000"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.edit, 1)
        steps = (("↑", "Previous match (Shift+F3)", self.previous), ("↓", "Next match (F3)", self.next))
        for text, name, step in steps:
            button = QToolButton(text=text, accessibleName=name, toolTip=name)
            button.setProperty("flat", "true")
            button.clicked.connect(step)
            layout.addWidget(button)
        layout.addWidget(self.count)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaximumWidth(440)
        self._delay = QTimer(self, singleShot=True, interval=120)
        self._delay.timeout.connect(self._report)
        self.edit.textChanged.connect(self._delay.start)
        self.edit.installEventFilter(self)

    def sizeHint(self) -> QSize:
        return QSize(420, super().sizeHint().height())

    def start(self) -> None:
        """Put the cursor into the line, everything in it selected."""
        self.window().activateWindow()  # the keys may come from a floating pane
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.edit.selectAll()

    def set_results(self, results: list[Any]) -> None:
        """What the query found, in the order of stepping."""
        self._results = results
        self._at = -1
        self._show_count()

    @Slot()
    def next(self) -> None:
        self._step(1)

    @Slot()
    def previous(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        if self._delay.isActive():  # Enter right after typing means what has been typed
            self._delay.stop()
            self._report()
        if self._results:
            self._at = (self._at + by) % len(self._results) if self._at >= 0 else (0 if by > 0 else -1)
            self._at %= len(self._results)
            self._show_count()
            self.found.emit(self._results[self._at])

    @Slot()
    def _report(self) -> None:
        self.query_changed.emit(self.edit.text())

    def _show_count(self) -> None:
        if not self.edit.text().strip():
            self.count.setText("")
        elif not self._results:
            self.count.setText("no match")
        elif self._at < 0:
            self.count.setText(f"{len(self._results):,} found")
        else:
            self.count.setText(f"{self._at + 1:,} of {len(self._results):,}")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.edit and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self._step(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.edit.clear()
                self.edit.clearFocus()
                return True
        return super().eventFilter(watched, event)
