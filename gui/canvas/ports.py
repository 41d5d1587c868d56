"""Which line goes to which input of the selected node: numbers at the ends of its lines, where it has several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from engine.graph.ir import Node
from gui.canvas.geometry import Geometry
from gui.canvas.layout.types import Floats
from gui.canvas.palette import CanvasColours
from gui.canvas.scene import BoxKind, Scene, TextStyle
from gui.canvas.text import font
from gui.canvas.visible import Visible

HEIGHT = 12.0  # px of the scene, as all below
CHAR_WIDTH = 6.0
AROUND = 6.0  # a number, within its pill
AWAY = 14.0  # from the end of a line to the middle of its number, so that the arrowhead is seen
LEAST_SCALE = 0.6  # below it no number can be read


@dataclass(frozen=True, slots=True)
class Ports:
    """The inputs of a node to which lines go: the middles of their numbers, shape (n, 2), in px of the scene, and the
    numbers, from 0, as texts.
    """

    middles: Floats
    texts: list[str]


def ports_of(scene: Scene, geometry: Geometry, item: object) -> Ports | None:
    """The inputs of a node to which lines go; None where there are not at least two, or for what is no single node."""
    box = scene.box_of.get(id(item), -1)
    if not isinstance(item, Node) or box < 0 or scene.boxes[box].kind is not BoxKind.NODE:
        return None
    slots: dict[int, list[str]] = {}
    for slot, tensor in enumerate(item.inputs):
        for net in scene.nets_of.get(id(tensor), []):
            slots.setdefault(net, []).append(str(slot))
    g = geometry
    here = g.arrows_within(*(float(edge[box]) + by for edge, by in ((g.x0, -1), (g.y0, -1), (g.x1, 1), (g.y1, 1))))
    places = [place for place in here.tolist() if int(g.arrow_net[place]) in slots]
    if len(places) < 2:
        return None
    texts = [",".join(slots[int(g.arrow_net[place])]) for place in places]
    return Ports(_beside(g.arrows[places], texts, g.horizontal), texts)


def _width(text: str) -> float:
    return CHAR_WIDTH * len(text) + AROUND


def _beside(ends: Floats, texts: list[str], horizontal: bool) -> Floats:
    """Where numbers stand before the ends of lines: those that would cover each other one behind the other."""
    middles = ends.copy()
    across, along = (1, 0) if horizontal else (0, 1)
    sizes = np.array([[_width(text), HEIGHT] for text in texts])
    rows: list[float] = []  # how far each is filled
    for place in np.argsort(ends[:, across]).tolist():
        begin = ends[place, across] - sizes[place, across] / 2
        row = next((row for row, filled in enumerate(rows) if filled <= begin), len(rows))
        rows[row : row + 1] = [begin + sizes[place, across]]
        middles[place, along] -= AWAY + row * (sizes[:, along].max() + 1)
    return middles


def paint_ports(painter: QPainter, seen: Visible, ports: Ports, colours: CanvasColours) -> None:
    """Paint the numbers, once they can be read."""
    scale = seen.scale
    if scale < LEAST_SCALE:
        return
    xs, ys = seen.points(ports.middles)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setFont(font(TextStyle.NOTE, 9.0 * scale))
    painter.setBrush(QColor(colours.background))
    painter.setPen(QPen(QColor(colours.accent), 1.0))
    for x, y, text in zip(xs.tolist(), ys.tolist(), ports.texts, strict=True):
        width, height = _width(text) * scale, HEIGHT * scale
        pill = QRectF(x - width / 2, y - height / 2, width, height)
        painter.drawRoundedRect(pill, height / 2, height / 2)
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)
