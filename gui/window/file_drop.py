"""Files dragged onto a widget, from the file manager."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from gui.attachment.forms import looks_attached

MODEL_NAMES = (".onnx", ".ort", ".onnxtxt")


def told_apart(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of files dropped together those to open as models, and those to attach to the first one.

    Files of weights come with their model: where some files have a model's name, all others that are not attached are
    taken for such.
    """
    attached = [path for path in paths if looks_attached(path)]
    others = [path for path in paths if path not in attached]
    named = [path for path in others if path.lower().endswith(MODEL_NAMES)]
    return named or others, attached


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
