"""The mouse's own Back and Forward buttons."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from gui.document import Document


class MouseHistory(QObject):
    """Goes back and forward in the document's history, wherever in some widgets the pointer is."""

    def __init__(self, document: Document, widgets: Iterable[QWidget]) -> None:
        super().__init__(document)
        self._steps = {Qt.MouseButton.BackButton: document.back, Qt.MouseButton.ForwardButton: document.forward}
        for widget in widgets:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:  # few events get further
            step = self._steps.get(event.button())
            if step is not None:
                step()
                return True
        return super().eventFilter(watched, event)
