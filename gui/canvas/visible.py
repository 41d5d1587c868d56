"""What one frame shows: the boxes and segments in sight, and how much detail they get."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QRectF

from gui.canvas.geometry import Geometry
from gui.canvas.layout.types import Bools, Floats, Ints
from gui.canvas.view import View

FAR = 0.25  # below this scale doubles on the pixel grid are dropped
TITLES = 0.4
NEAR = 0.5  # from this scale on boxes have rows and lines have arrowheads
SMOOTH = 0.35
MANY_BOXES = 600  # more visible boxes are drawn plainly
MANY_SEGMENTS = 1500
MANY_PIXELS = 2e5  # more px of visible lines across are drawn without antialiasing
FAST_BOXES = 150  # up to here a moving frame is as good as a still one
FAST_SEGMENTS = 400
ARROW_REACH = 20.0  # px of the widget
LABEL_REACH, LABEL_RISE = 200.0, 10.0  # px of the scene that a label reaches to the right, and up and down
OVERHANG = 24.0  # px that outlines and arrowheads reach out of their box


class Visible:
    """The boxes and segments within an area of the widget.

    The detail follows from what the whole widget shows, so that a strip looks like the frame beside it.

    Attributes
    ----------
    boxes, segments
        Those in sight, or of these the ones `only` allows.
    detailed
        Whether rows, notes and labels are drawn.
    near
        Whether boxes are rounded and lines have arrowheads.
    smooth, curved
        Whether lines are antialiased, and S-curves.
    """

    def __init__(
        self,
        geometry: Geometry,
        view: View,
        moving: bool = False,
        exact: bool = False,
        area: QRectF | None = None,
        only: tuple[Bools, Bools] | None = None,
    ) -> None:
        self.geometry, self.view, self.exact = geometry, view, exact
        self.scale = view.scale
        self._only = only
        whole = view.visible()
        boxes, segments = geometry.boxes_within(*whole), geometry.segments_within(*whole)
        self._grade(boxes, segments, moving)
        if area is not None:
            edge = area.adjusted(-OVERHANG, -OVERHANG, OVERHANG, OVERHANG)
            part = (*view.to_scene(edge.left(), edge.top()), *view.to_scene(edge.right(), edge.bottom()))
            boxes, segments, whole = geometry.boxes_within(*part), geometry.segments_within(*part), part
        if only is not None:
            boxes, segments = boxes[only[0][boxes]], segments[only[1][geometry.segment_net[segments]]]
        self.area, self.boxes, self.segments = whole, boxes, segments
        self._seen = np.zeros(len(geometry.x0), bool)
        self._seen[boxes] = True

    def _grade(self, boxes: Ints, segments: Ints, moving: bool) -> None:
        g, exact = self.geometry, self.exact
        few = len(boxes) <= MANY_BOXES and len(segments) <= 2 * MANY_SEGMENTS
        fast = len(boxes) <= FAST_BOXES and len(segments) <= FAST_SEGMENTS
        calm = exact or fast or not moving
        self.detailed = exact or (self.scale >= NEAR and few)
        self.near = exact or (self.detailed and calm)
        self.smooth = exact or (self.scale >= SMOOTH and calm and len(segments) <= 2 * MANY_SEGMENTS)
        if self.smooth and not exact:
            self.smooth = float((g.right[segments] - g.left[segments]).sum()) * self.scale <= MANY_PIXELS
        self.curved = exact or (self.smooth and len(segments) <= MANY_SEGMENTS)
        self.far = self.scale < FAR and not exact
        self.titled = exact or self.scale >= TITLES
        self.line_width = max(1.2 * self.scale, 1.0) if self.smooth else 0.0

    @property
    def lit_only(self) -> bool:
        """Whether this is only what `only` allows."""
        return self._only is not None

    @property
    def arrows(self) -> Ints:
        """The arrowheads in sight, of nets that `only` allows; from far none are drawn."""
        if not self.near:
            return np.zeros(0, np.int64)
        x0, y0, x1, y1 = self.area
        reach = ARROW_REACH / self.scale
        arrows = self.geometry.arrows_within(x0 - reach, y0 - reach, x1 + reach, y1 + reach)
        return self._allowed(arrows, self.geometry.arrow_net)

    @property
    def labels(self) -> Ints:
        """The labels in sight, of nets that `only` allows."""
        x0, y0, x1, y1 = self.area
        labels = self.geometry.labels_within(x0 - LABEL_REACH, y0 - LABEL_RISE, x1, y1 + LABEL_RISE)
        return self._allowed(labels, self.geometry.label_net)

    def _allowed(self, found: Ints, net: Ints) -> Ints:
        return found if self._only is None else found[self._only[1][net[found]]]

    def sees(self, boxes: Ints) -> Bools:
        """Which of some boxes are in sight."""
        return self._seen[boxes]

    def points(self, points: Floats) -> tuple[Floats, Floats]:
        """Points of the scene, shape (m, 2), in widget px."""
        return points[:, 0] * self.scale + self.view.dx, points[:, 1] * self.scale + self.view.dy

    def rects(self, boxes: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Boxes in widget px, at least a pixel large."""
        g, s = self.geometry, self.scale
        return (
            g.x0[boxes] * s + self.view.dx,
            g.y0[boxes] * s + self.view.dy,
            np.maximum((g.x1[boxes] - g.x0[boxes]) * s, 1.0),
            np.maximum((g.y1[boxes] - g.y0[boxes]) * s, 1.0),
        )

    def lines(self, segments: Ints) -> Floats:
        """Segments in widget px; long straight ones are cut at the border, since dashes and pens cost by length."""
        lines = self.geometry.segments[segments] * self.scale
        lines[:, 0::2] += self.view.dx
        lines[:, 1::2] += self.view.dy
        upright = np.abs(lines[:, 0] - lines[:, 2]) < 0.5
        level = np.abs(lines[:, 1] - lines[:, 3]) < 0.5
        lines[upright, 1::2] = np.clip(lines[upright, 1::2], -20.0, self.view.height + 20.0)
        lines[level, 0::2] = np.clip(lines[level, 0::2], -20.0, self.view.width + 20.0)
        if self.smooth:  # thin straight lines are crisp in the middle of a pixel
            across = slice(1, None, 2) if self.geometry.horizontal else slice(0, None, 2)
            lines[:, across] = np.floor(lines[:, across]) + 0.5
        return lines

    def distinct_lines(self, segments: Ints) -> Floats:
        """Segments on the pixel grid, each once: of a large graph, most fall together."""
        at, offsets = self.geometry.segments, (self.view.dx, self.view.dy) * 2
        key = _packed(at[segments, i] * self.scale + offset for i, offset in enumerate(offsets))
        key.sort()  # np.unique would hash them, which takes many times as long where most are distinct
        first = np.ones(len(key), bool)
        first[1:] = key[1:] != key[:-1]
        return np.stack([(key[first] >> shift) & 32767 for shift in (45, 30, 15, 0)], 1) - 8.0


def distinct_rects(x: Floats, y: Floats, colour: Ints) -> Ints:
    """Indices of rectangles that begin in different pixels or differ in colour."""
    key = (np.rint(x).astype(np.int64) + 4096) * 2**32 + (np.rint(y).astype(np.int64) + 4096) * 64 + colour
    first: Ints = np.unique(key, return_index=True)[1]
    return first


def distinct_rows(columns: Iterable[Floats]) -> Ints:
    """The first of all rows that say the same in whole px, of up to four columns."""
    first: Ints = np.unique(_packed(columns), return_index=True)[1]
    return first


def _packed(columns: Iterable[Floats]) -> Ints:
    """Up to four columns of px as one number a row."""
    key: Ints = np.zeros(1, np.int64)
    for column in columns:
        key = (key << 15) + (np.clip(np.floor(column + 0.5), -8, 32000).astype(np.int64) + 8)
    return key
