"""A laid-out scene as arrays: what the painter culls and draws, and what hit tests search. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gui.canvas.bands import Bands
from gui.canvas.layout import Layout
from gui.canvas.layout.types import Bools, Floats, Ints
from gui.canvas.scene import HEADER_HEIGHT, ROW_HEIGHT, Box, BoxKind, Scene

CURVE_SAMPLES = np.linspace(0.0, 1.0, 13)
KINDS = list(BoxKind)
INPUT = KINDS.index(BoxKind.INPUT)
FRAME = KINDS.index(BoxKind.FRAME)
CHIP = KINDS.index(BoxKind.CHIP)
MISSING = KINDS.index(BoxKind.MISSING)
HEADED = [KINDS.index(kind) for kind in (BoxKind.NODE, BoxKind.GROUP, BoxKind.FRAME)]  # those with a coloured header
DASHED = [KINDS.index(kind) for kind in (BoxKind.CAPTURED, BoxKind.MISSING)]


class StringTable:
    """Texts by number, so that arrays can refer to them."""

    __slots__ = ("_number", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._number: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Number of a text, a new one for a text not seen before."""
        if text not in self._number:
            self._number[text] = len(self.texts)
            self.texts.append(text)
        return self._number[text]

    def numbers(self, texts: list[str]) -> Ints:
        return np.array([self.number(text) for text in texts], np.int64)


@dataclass(slots=True)
class Rows:
    """The rows of all boxes: box, height of the middle below the box's top, text numbers, place of the value.

    Those of a box begin at `first[box]` and end before `first[box + 1]`.
    """

    first: Ints
    box: Ints
    middle: Floats
    name: Ints
    value: Ints
    value_x: Floats


@dataclass(slots=True)
class Geometry:
    """Arrays of a scene, in scene px. Segments are sorted by their upper end.

    Attributes
    ----------
    x0, y0, x1, y1
        Box edges, shape (n,).
    header
        Height of the coloured part of each box, shape (n,).
    parent
        The frame each box stands in, or -1, shape (n,).
    kind
        Index into `KINDS`, shape (n,).
    slack
        How far the title of a frame can move to the right within it, to stay in sight; 0 for others, shape (n,).
    title, title_x, note, note_x, glyph
        Text numbers and their places, shape (n,).
    segments, segment_net, segment_back, segment_captured, left, right
        Lines (m, 4) with their net, whether they close a cycle, whether a subgraph captures the value, and their
        horizontal extent.
    bus
        The bus each net runs into, as in `Layout`.
    box_bands, segment_bands, arrow_bands, label_bands
        What finds those in a part of the drawing.
    horizontal
        Whether the lines flow to the right.
    """

    strings: StringTable
    x0: Floats
    y0: Floats
    x1: Floats
    y1: Floats
    header: Floats
    parent: Ints
    kind: NDArray[np.int8]
    slack: Floats
    title: Ints
    title_x: Floats
    note: Ints
    note_x: Floats
    glyph: Ints
    rows: Rows
    segments: Floats
    segment_net: Ints
    segment_back: Bools
    segment_captured: Bools
    left: Floats
    right: Floats
    arrows: Floats
    arrow_net: Ints
    arrow_back: Bools
    labels: Floats
    label_net: Ints
    bus: Ints
    horizontal: bool
    size: tuple[float, float]
    box_bands: Bands
    segment_bands: Bands
    arrow_bands: Bands
    label_bands: Bands

    @classmethod
    def of(cls, scene: Scene, layout: Layout) -> Geometry:
        """Arrays of a scene and its layout."""
        strings = StringTable()
        boxes = scene.boxes
        width, height = layout.width, layout.height
        kind = np.array([KINDS.index(b.kind) for b in boxes], np.int8)
        captured = np.zeros(max(len(scene.nets), int(layout.segment_net.max(initial=-1)) + 1), bool)
        captured[: len(scene.nets)] = [net.captured for net in scene.nets]
        order = np.argsort(layout.segments[:, 1], kind="stable")
        segments = np.ascontiguousarray(layout.segments[order])
        left, right = np.minimum(segments[:, 0], segments[:, 2]), np.maximum(segments[:, 0], segments[:, 2])
        x1, y1 = layout.x + width, layout.y + height
        arrows, labels = layout.arrows.T, layout.labels.T
        return cls(
            strings=strings,
            x0=layout.x,
            y0=layout.y,
            x1=x1,
            y1=y1,
            header=np.where(np.isin(kind, HEADED), HEADER_HEIGHT, height),
            parent=np.array([b.parent for b in boxes], np.int64),
            kind=kind,
            slack=np.where(kind == FRAME, width - scene.layout_input.width, 0.0),
            title=strings.numbers([b.title for b in boxes]),
            title_x=np.array([b.title_x for b in boxes]),
            note=strings.numbers([b.note for b in boxes]),
            note_x=np.where(kind == FRAME, width - _note_room(boxes), [b.note_x for b in boxes]),
            glyph=strings.numbers([b.category.glyph for b in boxes]),
            rows=_rows(scene, strings),
            segments=segments,
            segment_net=layout.segment_net[order],
            segment_back=layout.segment_back[order],
            segment_captured=captured[layout.segment_net[order]],
            left=left,
            right=right,
            arrows=layout.arrows,
            arrow_net=layout.arrow_net,
            arrow_back=layout.arrow_back,
            labels=layout.labels,
            label_net=layout.label_net,
            bus=layout.bus,
            horizontal=scene.layout_input.horizontal,
            size=layout.size,
            box_bands=Bands.of(layout.size, layout.x, layout.y, x1, y1),
            segment_bands=Bands.of(layout.size, left, segments[:, 1], right, segments[:, 3]),
            arrow_bands=Bands.of(layout.size, *arrows, *arrows),
            label_bands=Bands.of(layout.size, *labels, *labels),
        )

    def boxes_within(self, x0: float, y0: float, x1: float, y1: float) -> Ints:
        """Boxes that meet a rectangle."""
        near = self.box_bands.near(x0, y0, x1, y1)
        inside = (self.x1[near] >= x0) & (self.x0[near] <= x1) & (self.y1[near] >= y0) & (self.y0[near] <= y1)
        return chosen(near, inside)

    def segments_within(self, x0: float, y0: float, x1: float, y1: float) -> Ints:
        """Segments whose bounding box meets a rectangle."""
        near = self.segment_bands.near(x0, y0, x1, y1)
        top, bottom = self.segments[near, 1], self.segments[near, 3]
        return chosen(near, (top <= y1) & (bottom >= y0) & (self.right[near] >= x0) & (self.left[near] <= x1))

    def arrows_within(self, x0: float, y0: float, x1: float, y1: float) -> Ints:
        """Arrowheads whose tips lie in a rectangle."""
        return _points_within(self.arrow_bands, self.arrows, x0, y0, x1, y1)

    def labels_within(self, x0: float, y0: float, x1: float, y1: float) -> Ints:
        """Labels that begin in a rectangle."""
        return _points_within(self.label_bands, self.labels, x0, y0, x1, y1)

    def rows_of(self, boxes: Ints) -> Ints:
        """The rows of some boxes, box by box."""
        first, count = self.rows.first[boxes], self.rows.first[boxes + 1] - self.rows.first[boxes]
        rows: Ints = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
        return rows

    def box_at(self, x: float, y: float, reach: float = 0.0) -> int:
        """Box at a point or within `reach` of it, the nearest middle first; -1 for none. Of a frame, its header."""
        hits = self.boxes_within(x - reach, y - reach, x + reach, y + reach)
        hits = hits[(self.kind[hits] != FRAME) | (y - reach <= self.y0[hits] + HEADER_HEIGHT)]
        if not len(hits):
            return -1
        distance = np.abs(self.x0[hits] + self.x1[hits] - 2 * x) + np.abs(self.y0[hits] + self.y1[hits] - 2 * y)
        return int(hits[np.argmin(distance)])

    def row_at(self, box: int, y: float) -> int:
        """Place of the row of a box at a height, counted within the box; -1 outside the rows."""
        count = int(self.rows.first[box + 1] - self.rows.first[box])
        row = int((y - self.y0[box] - HEADER_HEIGHT - 2.0) // ROW_HEIGHT)
        return row if 0 <= row < count else -1

    def with_buses(self, nets: Ints) -> Ints:
        """Nets and the buses they run into."""
        buses = self.bus[nets[nets < len(self.bus)]]
        return np.unique(np.concatenate([nets, buses[buses >= 0]]))

    def net_at(self, x: float, y: float, reach: float) -> int:
        """Net whose drawn line passes within `reach` of a point, the nearest first; -1 for none."""
        near = self.segments_within(x - reach, y - reach, x + reach, y + reach)
        if not len(near):
            return -1
        px, py = curve_points(self.segments[near], self.horizontal)
        distance = _distance_to_polylines(px, py, x, y)
        best = int(np.argmin(distance))
        return int(self.segment_net[near[best]]) if distance[best] <= reach else -1


def chosen(near: Ints | slice, inside: Bools) -> Ints:
    """Those of what `Bands.near` found that are inside."""
    return np.flatnonzero(inside) if isinstance(near, slice) else near[inside]


def _points_within(bands: Bands, points: Floats, x0: float, y0: float, x1: float, y1: float) -> Ints:
    near = bands.near(x0, y0, x1, y1)
    x, y = points[near].T
    return chosen(near, (x > x0) & (x < x1) & (y > y0) & (y < y1))


def curve_points(segments: Floats, horizontal: bool = False) -> tuple[Floats, Floats]:
    """Points along the drawn lines, each (m, samples): S-curves whose ends go with the flow; straight ones stay so."""
    if horizontal:
        y, x = curve_points(segments[:, [1, 0, 3, 2]])
        return x, y
    x0, y0, x1, y1 = (segments[:, i : i + 1] for i in range(4))
    t = CURVE_SAMPLES[None, :]
    blend = np.where(np.abs(y1 - y0) < 0.5, t, t * t * (3 - 2 * t))
    rise = np.where(np.abs(y1 - y0) < 0.5, t, 1.5 * t * (1 - t) ** 2 + 1.5 * t * t * (1 - t) + t**3)
    return x0 + (x1 - x0) * blend, y0 + (y1 - y0) * rise


def _distance_to_polylines(px: Floats, py: Floats, x: float, y: float) -> Floats:
    ax, ay, dx, dy = px[:, :-1], py[:, :-1], np.diff(px), np.diff(py)
    length = np.maximum(dx * dx + dy * dy, 1e-9)
    t = np.clip(((x - ax) * dx + (y - ay) * dy) / length, 0.0, 1.0)
    distances: Floats = np.hypot(ax + t * dx - x, ay + t * dy - y).min(axis=1)
    return distances


def _note_room(boxes: list[Box]) -> Floats:
    """What a note takes at the right end of each box, which for a frame is wider than it was made for."""
    return np.array([box.width - box.note_x for box in boxes])


def _rows(scene: Scene, strings: StringTable) -> Rows:
    box, middle, name, value, value_x = [], [], [], [], []
    for index, item in enumerate(scene.boxes):
        for i, row in enumerate(item.rows):
            box.append(index)
            middle.append(HEADER_HEIGHT + 2.0 + (i + 0.5) * ROW_HEIGHT)
            name.append(strings.number(row.name))
            value.append(strings.number(row.value))
            value_x.append(item.name_widths[i])
    first = np.searchsorted(np.array(box, np.int64), np.arange(len(scene.boxes) + 1))
    return Rows(
        first,
        np.array(box, np.int64),
        np.array(middle, np.float64),
        np.array(name, np.int64),
        np.array(value, np.int64),
        np.array(value_x, np.float64),
    )
