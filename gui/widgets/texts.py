"""Texts of tables and lists, shortened to their room and laid out once: shaping them is most of what painting takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QStaticText, QTransform

from gui.look.theme import Theme, mono_font, theme_manager, ui_font
from gui.models.table import Style

_MOST_KEPT = 5_000
LONGEST = 1_000  # characters that are looked at: no cell is so wide
_UNMOVED = QTransform()


@dataclass(frozen=True, slots=True)
class Look:
    """What a style comes to in the theme: a font, its measures and the colour of the text."""

    font: QFont
    metrics: QFontMetrics
    colour: QColor


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A text ready to be painted, and its size in px."""

    text: QStaticText
    width: float
    height: float


def font_of(style: Style) -> QFont:
    """The font that a style asks for."""
    font = mono_font() if style.mono else ui_font()
    font.setItalic(style.italic)
    font.setBold(style.bold)
    return font


class Texts:
    """Draws single lines of text. Names that are too long lose their middle, sentences their end."""

    def __init__(self) -> None:
        self._theme = theme_manager().theme
        self._looks: dict[Style, Look] = {}
        self._laid_out: dict[tuple[str, Style, int], LaidOut] = {}

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme, and the fonts as they are now."""
        self._theme = theme
        self._looks.clear()
        self._laid_out.clear()

    def look(self, style: Style) -> Look:
        """What a style comes to."""
        look = self._looks.get(style)
        if look is None:
            font = font_of(style)
            look = self._looks[style] = Look(font, QFontMetrics(font), self._theme.colour(style.role))
        return look

    def width(self, text: str, style: Style) -> int:
        """Of a whole line, in px."""
        return self.look(style).metrics.horizontalAdvance(text[:LONGEST])

    def draw(self, painter: QPainter, room: QRect, text: str, style: Style, right: bool = False) -> None:
        """Draw one line in the middle of a room, at its left or right side."""
        self.take_up(painter, style)
        self.put(painter, room, text, style, right)

    def take_up(self, painter: QPainter, style: Style) -> None:
        """Have a painter write in a style."""
        look = self.look(style)
        painter.setFont(look.font)
        painter.setPen(look.colour)

    def put(self, painter: QPainter, room: QRect, text: str, style: Style, right: bool = False) -> None:
        """Draw one line with a painter that writes in its style."""
        if text:
            line = self._fitted(text, style, room.width())
            x = room.left() + (room.width() - line.width if right else 0)
            painter.drawStaticText(QPointF(x, room.top() + (room.height() - line.height + 1) // 2), line.text)

    def _fitted(self, text: str, style: Style, width: int) -> LaidOut:
        key = text, style, width
        laid_out = self._laid_out.get(key)
        if laid_out is None:
            if len(self._laid_out) > _MOST_KEPT:
                self._laid_out.clear()
            laid_out = self._lay_out(text[:LONGEST], style)
            if laid_out.width > width:
                mode = Qt.TextElideMode.ElideRight if " " in text else Qt.TextElideMode.ElideMiddle
                laid_out = self._lay_out(self.look(style).metrics.elidedText(text[:LONGEST], mode, width), style)
            self._laid_out[key] = laid_out
        return laid_out

    def _lay_out(self, text: str, style: Style) -> LaidOut:
        static = QStaticText(text)
        static.setTextFormat(Qt.TextFormat.PlainText)
        static.prepare(_UNMOVED, self.look(style).font)
        size = static.size()
        return LaidOut(static, ceil(size.width()), size.height())
