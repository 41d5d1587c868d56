"""The whole graph as a picture: SVG, PDF or PNG, made without a display."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QColor, QGuiApplication, QImage, QImageWriter, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from engine.errors import EngineError
from engine.graph.ir import Graph, Model
from gui.canvas.buffers import Buffers
from gui.canvas.coloring import by_category
from gui.canvas.geometry import Geometry
from gui.canvas.labels import clean
from gui.canvas.layout import layout
from gui.canvas.painter import FramePainter
from gui.canvas.palette import canvas_colors
from gui.canvas.scene import SceneOptions
from gui.canvas.scene_builder import build_scene
from gui.canvas.text import PlainText, TextMeasure
from gui.canvas.view import View
from gui.theme import DARK, LIGHT

MARGIN = 24.0
PNG_SCALE = 2.0
PNG_SIDE = 16_384  # px
PNG_AREA = 134_217_728  # px, half a gigabyte in memory
PDF_SIDE = 14_400.0  # points; the limit of the format (PDF 1.7, annex C.2)
POINTS_PER_PX = 0.75

Paint = Callable[[QPainter], None]


def render(
    model: Model,
    path: str | os.PathLike[str],
    graph: Graph | None = None,
    dark: bool = False,
    options: SceneOptions | None = None,
) -> str:
    """Write a picture of a graph of the model, the main one by default.

    Parameters
    ----------
    path
        Where to write; the ending decides between ``.svg``, ``.pdf`` and ``.png``.

    Returns
    -------
    str
        A note for the user where the picture had to be made smaller, else empty.

    Raises
    ------
    EngineError
        The ending is another one.
    OSError
        The file cannot be written.
    """
    target = Path(path)
    writer = _WRITERS.get(target.suffix.lower())
    if writer is None:
        raise EngineError(f"cannot draw to {target.name!r}: the name must end in .svg, .pdf or .png")
    _ensure_application()
    scene = build_scene(graph or model.graph, TextMeasure(), options)
    geometry = Geometry.of(scene, layout(scene.layout_input))
    colors = canvas_colors(DARK if dark else LIGHT)
    painting = FramePainter(geometry, Buffers(), PlainText(geometry.strings), exact=True)
    size = QSizeF(geometry.size[0] + 2 * MARGIN, geometry.size[1] + 2 * MARGIN)

    def paint(painter: QPainter) -> None:
        view = View(1.0, MARGIN, MARGIN, size.width(), size.height())
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), QColor(colors.background))
        painting.paint(painter, view, colors, by_category(scene))

    data, note = writer(paint, size, clean(model.graph.name or target.stem, 80))
    target.write_bytes(data)
    return note


def _ensure_application() -> None:
    """Qt draws text only with an application; one without windows needs no display."""
    if QGuiApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        _ensure_application.application = QGuiApplication(["oinfer"])  # type: ignore[attr-defined]  # kept alive


def _svg(paint: Paint, size: QSizeF, title: str) -> tuple[bytes, str]:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size.toSize())
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle(title)
    painter = QPainter(generator)
    paint(painter)
    painter.end()
    return bytes(buffer.data().data()), ""


def _pdf(paint: Paint, size: QSizeF, title: str) -> tuple[bytes, str]:
    scale = min(POINTS_PER_PX, PDF_SIDE / max(size.width(), size.height()))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setResolution(72)
    writer.setPageSize(QPageSize(size * scale, QPageSize.Unit.Point, "graph", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = QPainter(writer)
    painter.scale(scale, scale)
    paint(painter)
    painter.end()
    return bytes(buffer.data().data()), _note(
        scale / POINTS_PER_PX, "a PDF page may measure 14,400 points at most; zoom in to read it"
    )


def _png(paint: Paint, size: QSizeF, title: str) -> tuple[bytes, str]:
    side = PNG_SIDE / max(size.width(), size.height())
    area = (PNG_AREA / (size.width() * size.height())) ** 0.5
    scale = min(PNG_SCALE, side, area)
    pixels = QSize(max(1, int(size.width() * scale)), max(1, int(size.height() * scale)))
    image = QImage(pixels, QImage.Format.Format_RGB32)
    if image.isNull():
        raise MemoryError
    image.setText("Title", title)
    painter = QPainter(image)
    painter.scale(scale, scale)
    paint(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    encoder = QImageWriter(buffer, QByteArray(b"png"))
    if not encoder.write(image):
        raise EngineError(f"the picture could not be encoded as PNG ({encoder.errorString()}); try .svg")
    note = _note(scale, "a PNG may measure 16,384 px a side at most; choose .svg to keep every detail")
    return bytes(buffer.data().data()), note


def _note(scale: float, reason: str) -> str:
    """What to tell the user about a picture smaller than full size."""
    if scale >= 1:
        return ""
    return f"drawn at {scale:.1%} of full size, since {reason}"


_WRITERS = {".svg": _svg, ".pdf": _pdf, ".png": _png}
