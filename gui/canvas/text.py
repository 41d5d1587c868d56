"""Text on the canvas: fonts, widths, and two ways to draw many strings: from an atlas, or one by one for export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPixmap

from gui.canvas.buffers import Buffers
from gui.canvas.geometry import StringTable
from gui.canvas.layout.types import Floats, Ints
from gui.canvas.scene import TextStyle

SMALLEST = 5  # px; smaller text is not drawn
LARGEST = 60  # px; larger text is drawn one by one, of which little is in sight
ATLAS_WIDTH = 1024
MAX_ATLASES = 48
OVERHANG = 4.0  # px between texts, for letters that reach out of their own width


@dataclass(frozen=True, slots=True)
class _Face:
    pixels: float
    mono: bool = False
    bold: bool = False
    italic: bool = False


_FACES = {
    TextStyle.TITLE: _Face(12.5, bold=True),
    TextStyle.NOTE: _Face(10.5),
    TextStyle.PILL: _Face(12.0),
    TextStyle.CHIP: _Face(10.5),
    TextStyle.ROW_NAME: _Face(11.0, bold=True),
    TextStyle.ROW_VALUE: _Face(10.5, mono=True),
    TextStyle.LABEL: _Face(10.5, mono=True),
    TextStyle.LABEL_INFERRED: _Face(10.5, mono=True, italic=True),
    TextStyle.LABEL_BOUND: _Face(10.5, mono=True, bold=True),
    TextStyle.LABEL_BOUND_INFERRED: _Face(10.5, mono=True, bold=True, italic=True),
}


def text_pixels(style: TextStyle, scale: float) -> int:
    """Font size at a scale, rounded down so that a text never outgrows the box made for it."""
    return int(_FACES[style].pixels * scale + 0.01)


def font(style: TextStyle, pixels: float) -> QFont:
    """The font of a style at a size in px."""
    face = _FACES[style]
    result = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont) if face.mono else QFont()
    result.setPixelSize(max(1, int(pixels)))
    result.setWeight(QFont.Weight.DemiBold if face.bold else QFont.Weight.Normal)
    result.setItalic(face.italic)
    return result


class TextMeasure:
    """Widths of texts at scale 1, remembered. Usable off the GUI thread."""

    def __init__(self) -> None:
        self._widths: dict[tuple[str, TextStyle], float] = {}
        # Measured large and scaled down: sizes are whole px, and the hinted width of a small size is not proportional.
        self._metrics = {style: QFontMetricsF(font(style, 100)) for style in TextStyle}

    def __call__(self, text: str, style: TextStyle) -> float:
        key = (text, style)
        if key not in self._widths:
            self._widths[key] = self._metrics[style].horizontalAdvance(text) * _FACES[style].pixels / 100
        return self._widths[key]


class TextDrawer(Protocol):
    """Draws texts given by number, left-aligned, each around a vertical middle and cut at a width."""

    def draw(
        self, painter: QPainter, style: TextStyle, colour: str, scale: float, texts: Ints, x: Floats, y: Floats,
        room: Floats,
    ) -> None: ...  # fmt: skip


class PlainText:
    """One drawText each: real text in SVG and PDF."""

    def __init__(self, strings: StringTable) -> None:
        self._strings = strings

    def draw(
        self, painter: QPainter, style: TextStyle, colour: str, scale: float, texts: Ints, x: Floats, y: Floats,
        room: Floats,
    ) -> None:  # fmt: skip
        face = font(style, 1)
        face.setPixelSize(max(1, round(_FACES[style].pixels * scale)))
        metrics = QFontMetricsF(face)
        painter.setFont(face)
        painter.setPen(QColor(colour))
        drop = (metrics.ascent() - metrics.descent()) / 2
        for text, left, middle in zip(texts.tolist(), x.tolist(), y.tolist(), strict=True):
            painter.drawText(QPointF(left, middle + drop), self._strings.texts[text])


class AtlasText:
    """Texts rendered once per style, colour, size and device ratio into a pixmap, then drawn by one call."""

    def __init__(self, strings: StringTable, buffers: Buffers) -> None:
        self._strings = strings
        self._buffers = buffers
        self._plain = PlainText(strings)
        self._atlases: dict[tuple[TextStyle, str, int, float], _Atlas] = {}

    def draw(
        self, painter: QPainter, style: TextStyle, colour: str, scale: float, texts: Ints, x: Floats, y: Floats,
        room: Floats,
    ) -> None:  # fmt: skip
        pixels = text_pixels(style, scale)
        if pixels < SMALLEST or not len(texts):
            return
        if pixels > LARGEST:
            self._plain.draw(painter, style, colour, scale, texts, x, y, room)
            return
        ratio = painter.device().devicePixelRatioF()
        key = (style, colour, pixels, ratio)
        atlas = self._atlases.pop(key, None) or _Atlas(font(style, pixels), colour, ratio, self._strings)
        self._atlases[key] = atlas  # now the newest
        if len(self._atlases) > MAX_ATLASES:
            del self._atlases[next(iter(self._atlases))]
        atlas.add(texts)
        width = np.minimum(atlas.width[texts], np.maximum(room, 0.0))
        # Whole device px, or the fragments would be resampled and blur.
        left = np.rint(x * ratio) / ratio
        top = np.rint((y - atlas.height / 2) * ratio) / ratio
        self._buffers.fragments(
            painter, atlas.pixmap, ratio, left + width / 2, top + atlas.height / 2, atlas.left[texts],
            atlas.top[texts], width, atlas.height,
        )  # fmt: skip


class _Atlas:
    """Rows of rendered texts in one pixmap; texts are added when first drawn."""

    def __init__(self, face: QFont, colour: str, ratio: float, strings: StringTable) -> None:
        self._font, self._colour, self._ratio, self._strings = face, colour, ratio, strings
        self._metrics = QFontMetricsF(face)
        self.height = float(np.ceil(self._metrics.height()))
        self.left, self.top, self.width = np.zeros(0), np.zeros(0), np.zeros(0)
        self._x, self._y = OVERHANG, 0.0
        self.pixmap = self._blank(self.height * 4)

    def _blank(self, height: float) -> QPixmap:
        pixmap = QPixmap(int(ATLAS_WIDTH * self._ratio), int(np.ceil(height * self._ratio)))
        pixmap.setDevicePixelRatio(self._ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        return pixmap

    def add(self, texts: Ints) -> None:
        """Render those texts that are not there yet."""
        new = len(self._strings.texts) - len(self.width)
        if new:
            self.left, self.top = np.append(self.left, np.zeros(new)), np.append(self.top, np.zeros(new))
            self.width = np.append(self.width, np.full(new, -1.0))
        missing = np.unique(texts[self.width[texts] < 0]).tolist()
        if not missing:
            return
        for text in missing:
            advance = self._metrics.horizontalAdvance(self._strings.texts[text])
            width = min(float(np.ceil(advance)) + 2, ATLAS_WIDTH - OVERHANG)
            if self._x + width > ATLAS_WIDTH:
                self._x, self._y = OVERHANG, self._y + self.height
            self.left[text], self.top[text], self.width[text] = self._x, self._y, width
            self._x += width + OVERHANG
        needed = self._y + self.height
        if needed * self._ratio > self.pixmap.height():
            old, self.pixmap = self.pixmap, self._blank(needed * 2)
            painter = QPainter(self.pixmap)
            painter.drawPixmap(0, 0, old)
            painter.end()
        painter = QPainter(self.pixmap)
        painter.setFont(self._font)
        painter.setPen(QColor(self._colour))
        for text in missing:
            area = QRectF(self.left[text], self.top[text], self.width[text], self.height)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._strings.texts[text])
        painter.end()
