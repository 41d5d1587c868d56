"""What a list says in its middle where it has nothing to show."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from gui.look.theme import theme_manager

MARGIN = 16  # px


def paint_nothing(viewport: QWidget, text: str) -> None:
    """Write a sentence into the middle of an empty list."""
    painter = QPainter(viewport)
    painter.setPen(theme_manager().theme.colour("muted"))
    room = viewport.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, text)
    painter.end()
