"""What a screen reader says that it could not read off the widgets."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def say_aloud(widget: QWidget, text: str) -> None:
    """Have a screen reader say `text`, where one listens, if the user is at `widget`."""
    if text and widget.hasFocus():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
