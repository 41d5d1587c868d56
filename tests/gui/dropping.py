"""Files dragged over a window and dropped on it, as the window system tells of it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

COPY, LEFT, PLAIN = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def drag_files(widget: QWidget, *paths: Path) -> QMimeData:
    """Bring files above a widget; what is dragged lives as long as the caller keeps it."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    QApplication.sendEvent(widget, QDragEnterEvent(QPoint(20, 20), COPY, data, LEFT, PLAIN))
    return data


def drag_away(widget: QWidget) -> None:
    """Leave again with what is dragged."""
    QApplication.sendEvent(widget, QDragLeaveEvent())


def drop_files(widget: QWidget, *paths: Path) -> None:
    """Drag files to a widget and let go there."""
    data = drag_files(widget, *paths)
    QApplication.sendEvent(widget, QDropEvent(QPointF(20, 20), COPY, data, LEFT, PLAIN))
