"""The graph, or a part of it, as a picture: SVG, PDF or PNG, made without a display."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF, QSizeF
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPageSize, QPaintDevice, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from engine.errors import EngineError
from engine.graph.ir import Graph, Model
from engine.session import ProviderEdge
from engine.shapes.bind import Binder
from engine.writing import replacing
from gui.canvas.buffers import Buffers
from gui.canvas.colouring import Colouring, make_colouring
from gui.canvas.copies import CopyMarks
from gui.canvas.drawing import Drawing, Grouping, draw
from gui.canvas.edge_labels import EdgeLabels
from gui.canvas.labels import clean
from gui.canvas.painter import FramePainter
from gui.canvas.palette import CanvasColours, ColourBy, canvas_colours
from gui.canvas.scene import SceneOptions
from gui.canvas.text import PlainText, TextMeasure
from gui.canvas.view import View
from gui.look.scaling import drop_impossible_scales
from gui.look.theme import DARK, LIGHT
from gui.output.png import Pixels, write_png

MARGIN = 24.0
PNG_SCALE = 2.0
PNG_AREA = 400e6  # px; a larger picture is made smaller unless a scale is asked for
PNG_SIDE = (1 << 31) - 1  # px; the limit of the format
TILE = 4096  # px
PDF_SIDE = 14_400.0  # points; the limit of the format (PDF 1.7, annex C.2)
POINTS_PER_PX = 0.75

Cancelled = Callable[[], bool]


class ExportCancelled(Exception):
    """The picture was not finished, since nobody wants it any more."""


@dataclass(slots=True)
class Picture:
    """What is to be pictured: a drawing in its colours, all of it or an area in px of the scene.

    `binder` has the sizes that are written for symbolic dims; `copies` are marked on the lines they run along.
    """

    drawing: Drawing
    colours: CanvasColours
    colouring: Colouring
    title: str = ""
    netron: bool = False
    area: QRectF | None = None
    binder: Binder | None = None
    copies: Sequence[ProviderEdge] = ()
    cancelled: Cancelled = lambda: False

    @property
    def rect(self) -> QRectF:
        """The area, with a margin around the whole."""
        if self.area is not None:
            return self.area
        width, height = self.drawing.geometry.size
        return QRectF(-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN)

    def paint(self, painter: QPainter, part: QRectF | None = None, scale: float = 1.0) -> None:
        """Paint a part of the scene, its corner at (0, 0)."""
        part = part or self.rect
        if self.cancelled():
            raise ExportCancelled
        geometry = self.drawing.geometry
        labels = EdgeLabels(self.drawing.scene, geometry, TextMeasure(), self.binder)
        view = View(scale, -part.x() * scale, -part.y() * scale, part.width() * scale, part.height() * scale)
        painter.fillRect(QRectF(0, 0, view.width, view.height), QColor(self.colours.background))
        frame = FramePainter(geometry, labels, Buffers(), PlainText, exact=True, glyphs=not self.netron)
        if self.copies:
            frame.set_copies(CopyMarks.of(self.drawing.scene, geometry, self.copies, TextMeasure()))
        frame.paint(painter, view, self.colours, self.colouring, area=QRectF(0, 0, view.width, view.height))


def render(
    model: Model,
    path: str | os.PathLike[str],
    graph: Graph | None = None,
    dark: bool = False,
    options: SceneOptions | None = None,
    scale: float | None = None,
    grouped: bool = False,
    sizes: Mapping[str, int] | None = None,
) -> str:
    """Write a picture of a graph of the model, the main one by default.

    Parameters
    ----------
    path
        Where to write; the ending decides between ``.svg``, ``.pdf`` and ``.png``.
    scale
        Of a PNG: px to a px of the drawing, 2 by default, less for very large graphs.
    grouped
        Show modules as closed boxes instead of every node.
    sizes
        Of symbolic dims, to be written in the shapes.

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
    target = _checked(path)
    _ensure_application()
    options = options or SceneOptions()
    graph = graph or model.graph
    grouping = Grouping.at_first(graph)
    grouping.shown = grouped and grouping.tree is not None
    drawing = draw(graph, grouping, options, TextMeasure())
    colours = canvas_colours(DARK if dark else LIGHT)
    colouring = make_colouring(drawing.scene, ColourBy.CATEGORY, netron=options.netron).suited(colours)
    title = clean(model.graph.name or target.stem, 80)
    binder = Binder(sizes) if sizes else None
    return write(Picture(drawing, colours, colouring, title, options.netron, binder=binder), target, scale)


def write(picture: Picture, path: str | os.PathLike[str], scale: float | None = None) -> str:
    """Write a picture; see `render`. Needs an application, and no GUI thread.

    Raises
    ------
    EngineError, OSError
        As `render`.
    ExportCancelled
        If `picture.cancelled` became true; no file is left.
    """
    target = _checked(path)
    with replacing(target) as file:
        return _WRITERS[target.suffix.lower()](picture, file, scale)


def _checked(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix.lower() not in _WRITERS:
        raise EngineError(f"cannot draw to {target.name!r}: the name must end in .svg, .pdf or .png")
    return target


def _ensure_application() -> None:
    """Qt draws text only with an application; one without windows needs no display."""
    if QGuiApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        drop_impossible_scales()
        _ensure_application.application = QGuiApplication(["oinfer"])  # type: ignore[attr-defined]  # kept alive


@contextmanager
def painting(device: QPaintDevice) -> Iterator[QPainter]:
    """A painter that is ended whatever happens: a device that goes while it is painted on takes the program with it."""
    painter = QPainter(device)
    try:
        yield painter
    finally:
        painter.end()


def _svg(picture: Picture, file: BinaryIO, scale: float | None) -> str:
    size = picture.rect.size()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size.toSize())
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle(picture.title)
    with painting(generator) as painter:
        picture.paint(painter)
    file.write(buffer.data().data())
    return ""


def _pdf(picture: Picture, file: BinaryIO, scale: float | None) -> str:
    size = picture.rect.size()
    points = min(POINTS_PER_PX, PDF_SIDE / max(size.width(), size.height()))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(picture.title)
    writer.setResolution(72)
    page = QPageSize(QSizeF(size * points), QPageSize.Unit.Point, "graph", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageSize(page)
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    with painting(writer) as painter:
        painter.scale(points, points)
        picture.paint(painter)
    file.write(buffer.data().data())
    return _note(points / POINTS_PER_PX, "a PDF page may measure 14,400 points at most; zoom in to read it")


def _png(picture: Picture, file: BinaryIO, scale: float | None) -> str:
    rect = picture.rect
    fits = (PNG_AREA / (rect.width() * rect.height())) ** 0.5
    used = scale or min(PNG_SCALE, fits)
    width, height = max(1, round(rect.width() * used)), max(1, round(rect.height() * used))
    if max(width, height) > PNG_SIDE:
        raise EngineError(f"a PNG of {width:,} × {height:,} px cannot be: it has {PNG_SIDE:,} px a side at most")
    write_png(file, width, height, _bands(picture, width, height, used), picture.title)
    return _note(used if scale is None else 1.0, "it would be very large; --scale 1 draws it in full size all the same")


def _bands(picture: Picture, width: int, height: int, scale: float) -> Iterator[Pixels]:
    """The picture in bands, each put together from tiles."""
    rect = picture.rect
    high = max(16, min(TILE, TILE * TILE // max(width, TILE)))
    for top in range(0, height, high):
        rows = min(high, height - top)
        band = np.empty((rows, width, 3), np.uint8)
        for left in range(0, width, TILE):
            columns = min(TILE, width - left)
            image = QImage(columns, rows, QImage.Format.Format_RGB888)
            with painting(image) as painter:
                corner = QRectF(rect.x() + left / scale, rect.y() + top / scale, columns / scale, rows / scale)
                picture.paint(painter, corner, scale)
            pixels = np.frombuffer(image.constBits(), np.uint8).reshape(rows, image.bytesPerLine())
            band[:, left : left + columns] = pixels[:, : columns * 3].reshape(rows, columns, 3)
        yield band


def _note(scale: float, reason: str) -> str:
    """What to tell the user about a picture smaller than full size."""
    if scale >= 1:
        return ""
    return f"drawn at {scale:.1%} of full size, since {reason}"


_WRITERS = {".svg": _svg, ".pdf": _pdf, ".png": _png}
