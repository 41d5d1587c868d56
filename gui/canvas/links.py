"""What is before and after a box: cones and paths through a scene, whatever chips and frames lie between. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.graph.ir import Graph
from gui.canvas.geometry import Geometry
from gui.canvas.layout.cycles import grouped
from gui.canvas.layout.types import Bools, Ints
from gui.canvas.scene import BoxKind, Scene


@dataclass(slots=True)
class Lit:
    """What is shown in full while all else is dimmed: masks over the boxes and over the nets, buses included."""

    boxes: Bools
    nets: Bools


class Links:
    """Follows the edges of a scene.

    A chip counts as the box that makes its tensor, and the inputs and outputs inside a frame as its own.
    """

    def __init__(self, scene: Scene, geometry: Geometry) -> None:
        self._geometry = geometry
        data = scene.layout_input
        source, target = _ends(scene)
        self._net = np.concatenate([data.net, np.full(len(source) - len(data.net), -1)])
        self._source, self._target = source, target
        count = len(scene.boxes)
        self._after = grouped(count, source, target)
        self._before = grouped(count, target, source)

    def cone(self, starts: Sequence[int], upstream: bool, downstream: bool, nets: Sequence[int] = ()) -> Lit:
        """Boxes with all that they depend on, or that depends on them; of what they make, on some nets alone."""
        boxes = self._none()
        boxes[list(starts)] = True
        for start in starts if upstream else ():
            boxes |= self._reached(start, self._before)
        if downstream:
            first = np.unique(self._target[np.isin(self._net, nets)]).tolist() if nets else starts
            for start in first:
                boxes |= self._reached(start, self._after)
        return self._lit(boxes)

    def only(self, boxes: Sequence[int]) -> Lit:
        """Some boxes and the lines between them."""
        chosen = self._none()
        chosen[boxes] = True
        return self._lit(chosen)

    def paths(self, first: int, second: int) -> Lit | None:
        """All ways between two boxes, whichever comes first; None where there is none."""
        for start, end in ((first, second), (second, first)):
            boxes = self._reached(start, self._after)
            if boxes[end]:
                return self._lit(boxes & self._reached(end, self._before))
        return None

    def _none(self) -> Bools:
        return np.zeros(len(self._after), bool)

    def _reached(self, start: int, following: list[list[int]]) -> Bools:
        reached = self._none()
        reached[start] = True
        waiting = [start]
        for box in waiting:
            for other in following[box]:
                if not reached[other]:
                    reached[other] = True
                    waiting.append(other)
        return reached

    def _lit(self, boxes: Bools) -> Lit:
        """Boxes with the frames around them, and the nets between them."""
        between = boxes[self._source] & boxes[self._target] & (self._net >= 0)
        g = self._geometry
        nets = np.zeros(max(int(g.segment_net.max(initial=-1)) + 1, len(g.bus), 1), bool)
        nets[g.with_buses(np.unique(self._net[between]))] = True
        shown = boxes.copy()
        place = g.parent[boxes]
        while len(place := np.unique(place[place >= 0])):
            shown[place] = True
            place = g.parent[place]
        return Lit(shown, nets)


def _ends(scene: Scene) -> tuple[Ints, Ints]:
    """Ends of every edge, and of those between a frame and its own inputs and outputs."""
    data, boxes = scene.layout_input, scene.boxes
    extra: list[tuple[int, int]] = []
    for i, box in enumerate(boxes):
        if box.kind is BoxKind.CHIP:
            extra += [(made_by, i) for made_by in scene.locate(box.item)[:1] if made_by != i]
        elif box.parent >= 0 and isinstance(boxes[box.parent].item, Graph):
            if box.kind is BoxKind.OUTPUT:
                extra.append((i, boxes[box.parent].parent))
            elif box.kind is BoxKind.INPUT:
                extra.append((boxes[box.parent].parent, i))
    more = np.array(extra, np.int64).reshape(-1, 2)
    return np.concatenate([data.source, more[:, 0]]), np.concatenate([data.target, more[:, 1]])
