"""Which of many rectangles lie in a part of a drawing, found without asking each of them. No Qt.

A drawing is cut into bands across its longer side, and each band knows what reaches into it. So what a frame asks is
as much as it shows, not as much as there is; and NumPy keeps the interpreter over such short arrays, while over long
ones it lets go of it, to be waited for again behind every other thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gui.canvas.layout.types import Floats, Ints

IN_A_BAND = 16  # rectangles, on average
MOST_BANDS = 8192
MOST_ENTRIES = 16  # bands that a rectangle is listed in; one that reaches through more is looked at every time
LARGEST_PART = 1 / 16  # of all; more is not worth sorting out, and everything is looked at then


@dataclass(slots=True)
class Bands:
    """Rectangles by the bands they reach into.

    Attributes
    ----------
    count
        How many rectangles there are.
    axis
        0 where bands lie side by side, 1 where they lie one below the other.
    width
        Of a band, across, px of the scene.
    first
        Where in `item` those of each band begin, shape (bands + 1,).
    item
        Rectangles, band by band.
    far
        Rectangles that reach through many bands.
    """

    count: int
    axis: int
    width: float
    first: Ints
    item: Ints
    far: Ints

    @classmethod
    def of(cls, size: tuple[float, float], x0: Floats, y0: Floats, x1: Floats, y1: Floats) -> Bands:
        """Bands over a drawing of a size for rectangles given by their edges, shape (n,) each."""
        axis = int(size[1] >= size[0])
        low, high = (y0, y1) if axis else (x0, x1)
        count = min(len(low) // IN_A_BAND + 1, MOST_BANDS)
        width = max(size[axis], 1.0) / count
        begin, end = _band(low, width, count), _band(high, width, count)
        reach = end - begin + 1
        near = np.flatnonzero(reach <= MOST_ENTRIES)
        item = np.repeat(near, reach[near])
        within = np.arange(len(item)) - np.repeat(np.cumsum(reach[near]) - reach[near], reach[near])
        band = np.repeat(begin[near], reach[near]) + within
        order = np.argsort(band, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(band, minlength=count))])
        return cls(len(low), axis, width, first, item[order], np.flatnonzero(reach > MOST_ENTRIES))

    def near(self, x0: float, y0: float, x1: float, y1: float) -> Ints | slice:
        """All that may meet a rectangle, in their order, among others; everything where that is quicker."""
        low, high = (y0, y1) if self.axis else (x0, x1)
        last = len(self.first) - 2
        begin = min(max(int(low // self.width), 0), last)
        end = min(max(int(high // self.width), 0), last)
        found = self.item[self.first[begin] : self.first[end + 1]]
        if len(found) + len(self.far) > LARGEST_PART * self.count:
            return slice(None)
        return np.unique(np.concatenate([found, self.far]))


def _band(at: Floats, width: float, count: int) -> Ints:
    return np.clip(at // width, 0, count - 1).astype(np.int64)
