"""Paints one frame of a scene. Far away: rectangles and lines only, snapped to pixels and without doubles;
near: rounded boxes with rows, curved lines, arrowheads and labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter

from gui.canvas.box_painter import BoxPainter
from gui.canvas.buffers import Buffers
from gui.canvas.colouring import Colouring
from gui.canvas.copies import CopyMarks
from gui.canvas.copy_painter import CopyPainter
from gui.canvas.edge_labels import STYLES, EdgeLabels
from gui.canvas.geometry import CHIP, HEADED, Geometry, StringTable
from gui.canvas.layout.types import Floats, Ints
from gui.canvas.line_painter import LinePainter
from gui.canvas.links import Lit
from gui.canvas.palette import CanvasColours
from gui.canvas.ports import Ports, paint_ports
from gui.canvas.scene import CHIP_HEIGHT, HEADER_HEIGHT, PADDING, ROW_GAP, TextStyle
from gui.canvas.text import TextDrawer
from gui.canvas.view import View
from gui.canvas.visible import Visible

SMALL_DROP = 0.7  # px that smaller text stands lower, so that it shares the baseline of the text beside it
NOTE_COLOUR = GLYPH_COLOUR = "#e9edf4"  # on headers, which are dark in both themes
NOTE_ROOM = 4.0  # px between a title and the note behind it, at least
VEIL = 205  # of 255: how much what is not lit is covered
LABEL_ROOM = 400.0  # px of the scene that a label may take
INFERRED = (TextStyle.LABEL_INFERRED, TextStyle.LABEL_BOUND_INFERRED)


@dataclass(slots=True)
class Emphasis:
    """What stands out: boxes, nets and rows by index, and the numbers at a node. A hovered thing is -1 for none."""

    selected: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    nets: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    found: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    marked: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    ports: Ports | None = None
    hover_box: int = -1
    hover_net: int = -1


class FramePainter:
    """Paints a geometry and its labels, with text drawers that `drawer` makes for tables of strings.

    `exact` paints everything in full whatever the scale, for export.
    """

    def __init__(
        self, geometry: Geometry, labels: EdgeLabels, buffers: Buffers, drawer: Callable[[StringTable], TextDrawer],
        exact: bool = False, glyphs: bool = True,
    ) -> None:  # fmt: skip
        self._g = geometry
        self._drawer = drawer
        self._text = drawer(geometry.strings)
        self.set_labels(labels)
        self._exact = exact
        self._glyphs = glyphs
        self._lines = LinePainter(geometry, buffers)
        self._boxes = BoxPainter(geometry, buffers)
        self._copies: CopyPainter | None = None
        self._is_headed = np.isin(geometry.kind, HEADED)

    def set_labels(self, labels: EdgeLabels) -> None:
        """Take other labels for the same lines."""
        self._labels = labels
        self._label_text = self._drawer(labels.strings)

    def set_copies(self, marks: CopyMarks | None) -> None:
        """Mark where tensors are copied between devices, or nothing."""
        self._copies = CopyPainter(marks, self._lines, self._drawer) if marks is not None else None

    def paint(
        self,
        painter: QPainter,
        view: View,
        colours: CanvasColours,
        colouring: Colouring,
        lit: Lit | None = None,
        moving: bool = False,
        area: QRectF | None = None,
    ) -> None:
        """Paint what is seen, or of it what lies in an area of the widget; the background is the caller's."""
        self._layers(painter, Visible(self._g, view, moving, self._exact, area), colours, colouring)
        if lit is not None:
            veil = QColor(colours.background)
            veil.setAlpha(VEIL)
            painter.fillRect(area or QRectF(0, 0, view.width, view.height), veil)
            only = (lit.boxes, lit.nets)
            self._layers(painter, Visible(self._g, view, moving, self._exact, area, only), colours, colouring)

    def _layers(self, painter: QPainter, seen: Visible, colours: CanvasColours, colouring: Colouring) -> None:
        if not seen.lit_only:
            self._boxes.paint_frames(painter, seen, colours)
        self._lines.paint(painter, seen, colours)
        if self._copies is not None:
            self._copies.paint_lines(painter, seen, colours)
        self._boxes.paint(painter, seen, colours, colouring)
        self._texts(painter, seen, colours)
        if self._copies is not None:
            self._copies.paint_badges(painter, seen, colours)

    def paint_emphasis(
        self, painter: QPainter, view: View, colours: CanvasColours, emphasis: Emphasis, moving: bool = False
    ) -> None:
        """Paint what stands out, over a frame."""
        seen = Visible(self._g, view, moving, self._exact)
        g, lines, boxes = self._g, self._lines, self._boxes
        painter.save()
        if seen.titled:  # the titles of opened modules stay above the lines
            painter.setClipRegion(boxes.beside_frame_headers(seen))
        if emphasis.hover_net >= 0:
            lines.paint_nets(painter, seen, g.with_buses(np.array([emphasis.hover_net])), colours.hover)
        if len(emphasis.nets):
            lines.paint_nets(painter, seen, g.with_buses(emphasis.nets), colours.accent)
        painter.restore()
        if len(emphasis.rows):
            boxes.paint_marked_rows(painter, seen, emphasis.rows, colours.accent)
        boxes.paint_flags(painter, seen, emphasis.marked, colours.accent)
        boxes.paint_outlines(painter, seen, emphasis.found, colours.found, 2.0)
        if emphasis.hover_box >= 0:
            boxes.paint_outlines(painter, seen, np.array([emphasis.hover_box]), colours.hover, 1.5)
        boxes.paint_outlines(painter, seen, emphasis.selected, colours.accent, 2.4)
        if emphasis.ports is not None:
            paint_ports(painter, seen, emphasis.ports, colours)

    # Texts

    def _texts(self, painter: QPainter, seen: Visible, colours: CanvasColours) -> None:
        if not seen.titled:
            return
        g = self._g
        headed, chip = self._is_headed[seen.boxes], g.kind[seen.boxes] == CHIP
        for boxes, style, height, colour, note_colour in (
            (seen.boxes[headed], TextStyle.TITLE, HEADER_HEIGHT, colours.header_text, NOTE_COLOUR),
            (seen.boxes[~headed & ~chip], TextStyle.PILL, HEADER_HEIGHT, colours.text, colours.muted),
            (seen.boxes[chip], TextStyle.CHIP, CHIP_HEIGHT, colours.text, colours.muted),
        ):
            middle = g.y0[boxes] + height / 2
            left = g.x0[boxes] + self._shift(seen, boxes) + g.title_x[boxes]
            end = g.x0[boxes] + np.where(g.note_x[boxes] > g.title_x[boxes], g.note_x[boxes] - NOTE_ROOM, np.inf)
            room = np.minimum(end, g.x1[boxes]) - left
            self._write(painter, seen, style, colour, g.title[boxes], left, middle, room)
            if seen.detailed:
                note_x = g.x0[boxes] + g.note_x[boxes]
                drop = middle + SMALL_DROP
                self._write(
                    painter, seen, TextStyle.NOTE, note_colour, g.note[boxes], note_x, drop, g.x1[boxes] - note_x
                )
        if self._glyphs:
            self._glyph_texts(painter, seen, seen.boxes[headed])
        if seen.detailed:
            self._row_texts(painter, seen, colours)
            self._label_texts(painter, seen, colours)

    def _shift(self, seen: Visible, boxes: Ints) -> Floats:
        """How far titles move to the right to stay in sight, of frames that begin left of the widget."""
        begin = seen.view.to_scene(0.0, 0.0)[0]
        return np.clip(begin - self._g.x0[boxes], 0.0, self._g.slack[boxes])

    def _glyph_texts(self, painter: QPainter, seen: Visible, boxes: Ints) -> None:
        g = self._g
        x, middle = g.x0[boxes] + PADDING - 1 + self._shift(seen, boxes), g.y0[boxes] + HEADER_HEIGHT / 2
        room = np.full(len(boxes), 14.0)
        self._write(painter, seen, TextStyle.NOTE, GLYPH_COLOUR, g.glyph[boxes], x, middle, room)

    def _row_texts(self, painter: QPainter, seen: Visible, colours: CanvasColours) -> None:
        g = self._g
        rows = g.rows_of(seen.boxes)
        box = g.rows.box[rows]
        left, middle = g.x0[box] + PADDING, g.y0[box] + g.rows.middle[rows]
        room = g.x1[box] - left - PADDING / 2
        self._write(painter, seen, TextStyle.ROW_NAME, colours.text, g.rows.name[rows], left, middle, room)
        shift = g.rows.value_x[rows] + ROW_GAP
        left, middle, room = left + shift, middle + SMALL_DROP, room - shift
        self._write(painter, seen, TextStyle.ROW_VALUE, colours.muted, g.rows.value[rows], left, middle, room)

    def _label_texts(self, painter: QPainter, seen: Visible, colours: CanvasColours) -> None:
        g = self._g
        shown = seen.labels
        texts, styles = self._labels.look_up(shown)
        for number, style in enumerate(STYLES):
            mine = styles == number
            colour = colours.accent if style in INFERRED else colours.muted
            at_x, at_y = seen.points(g.labels[shown[mine]])
            room = np.full(len(at_x), LABEL_ROOM * seen.scale)
            self._label_text.draw(painter, style, colour, seen.scale, texts[mine], at_x, at_y, room)

    def _write(
        self, painter: QPainter, seen: Visible, style: TextStyle, colour: str, texts: Ints, x: Floats, y: Floats,
        room: Floats,
    ) -> None:  # fmt: skip
        if len(texts):
            at_x, at_y = seen.points(np.stack([x, y], 1))
            self._text.draw(painter, style, colour, seen.scale, texts, at_x, at_y, room * seen.scale)
