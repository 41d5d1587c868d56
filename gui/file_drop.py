"""Files dragged onto a widget, from the file manager."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class FileDrop(QObject):
    """Takes local files for a widget and all that is in it.

    `hovering(bool)` says that some are above it, or no longer; `dropped(paths)` that they were let go.
    """

    hovering = Signal(bool)
    dropped = Signal(list)

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        target.setAcceptDrops(True)
        target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent):  # before its base classes: the move's, and the drop's
            if _local_files(event):
                event.acceptProposedAction()
                self.hovering.emit(True)
        elif isinstance(event, QDragMoveEvent):
            event.acceptProposedAction()
        elif isinstance(event, QDropEvent):
            self._take(event)
        elif isinstance(event, QDragLeaveEvent):
            self.hovering.emit(False)
        else:
            return super().eventFilter(watched, event)
        return True

    def _take(self, event: QDropEvent) -> None:
        self.hovering.emit(False)
        if paths := _local_files(event):
            event.acceptProposedAction()
            self.dropped.emit(paths)


def _local_files(event: QDropEvent) -> list[str]:
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
