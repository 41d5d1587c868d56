"""Where tensors are copied from device to device, on the lines of a scene. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.graph.ir import Node, Tensor
from engine.providers.base import HOST
from engine.session import ProviderEdge
from engine.words import bytes_text, counted
from gui.canvas.geometry import Geometry, StringTable
from gui.canvas.layout.types import Ints
from gui.canvas.scene import HEADER_HEIGHT, Measure, Scene, TextStyle
from gui.text import ms_text

BADGE_STYLE = TextStyle.NOTE
BADGE_HEIGHT = 15.0
BADGE_PADDING = 5.0
ABOVE = 15.5  # px of a badge's middle above the box that the copies go to, so that the arrowhead is seen
BESIDE = 4.0  # px between a closed box and the badge of what is copied within it
OVER = 9.0  # where the flow goes to the right, and lines come from the side


@dataclass(slots=True)
class Badge:
    """How often, how much and how long is copied into a box, or within a closed one."""

    box: int
    text: str
    x: float  # of its middle
    y: float
    width: float


@dataclass(slots=True)
class CopyMarks:
    """Lines along which tensors are copied, by index into the geometry, and what is said beside them."""

    segments: Ints
    arrows: Ints
    badges: list[Badge]
    strings: StringTable
    texts: Ints  # numbers of the badges' texts
    planned: bool  # no run has made them yet

    @classmethod
    def of(cls, scene: Scene, geometry: Geometry, edges: Sequence[ProviderEdge], measure: Measure) -> CopyMarks:
        """Marks for the edges between providers that are in a scene, those within a closed box in one."""
        return _Placing(scene, geometry, measure).marks(edges)


def copies_text(edges: Sequence[ProviderEdge]) -> str:
    """Copies in words, such as ``2 copies · 1.2 MiB · 0.30 ms``, or, before a run, ``2 planned copies``."""
    count = sum(edge.count for edge in edges)
    if not count:
        return counted(len(edges), "planned copy")
    nbytes, seconds = sum(edge.nbytes for edge in edges), sum(edge.seconds for edge in edges)
    return f"{counted(count, 'copy')} · {bytes_text(nbytes)} · {ms_text(seconds * 1e3)} ms"


@dataclass(slots=True)
class _Entry:
    """What is copied into a box, and where on its border."""

    edges: list[ProviderEdge] = field(default_factory=list)
    arrows: list[int] = field(default_factory=list)


class _ByNet:
    """Places in an array of nets, by net."""

    def __init__(self, nets: Ints) -> None:
        self._order = np.argsort(nets, kind="stable")
        self._sorted = nets[self._order]

    def of(self, nets: Ints) -> list[int]:
        first, last = np.searchsorted(self._sorted, nets), np.searchsorted(self._sorted, nets, "right")
        spans = zip(first.tolist(), last.tolist(), strict=True)
        return [place for begin, end in spans for place in self._order[begin:end].tolist()]


class _Placing:
    def __init__(self, scene: Scene, geometry: Geometry, measure: Measure) -> None:
        self._scene, self._g, self._measure = scene, geometry, measure
        self._arrows_of, self._segments_of = _ByNet(geometry.arrow_net), _ByNet(geometry.segment_net)
        self._edges_of = _ByNet(scene.layout_input.net)
        self._entering: dict[int, _Entry] = {}
        self._inside: dict[int, list[ProviderEdge]] = {}
        self._nets: list[int] = []

    def marks(self, edges: Sequence[ProviderEdge]) -> CopyMarks:
        for edge in edges:
            self._add(edge)
        badges = [self._above(box, entry) for box, entry in self._entering.items()]
        badges += [self._beside(box, inside) for box, inside in self._inside.items()]
        arrows = np.unique([arrow for entry in self._entering.values() for arrow in entry.arrows]).astype(np.int64)
        strings = StringTable()
        badges = _apart(badges)
        texts = strings.numbers([badge.text for badge in badges])
        planned = not any(edge.count for edge in edges)
        return CopyMarks(self._segments(arrows), arrows, badges, strings, texts, planned)

    def _add(self, edge: ProviderEdge) -> None:
        """Mark the lines to all that read a tensor on the other device; it is counted where it comes first."""
        source, targets = self._source(edge.tensor), self._targets(edge)
        if targets and targets <= {source}:
            self._inside.setdefault(source, []).append(edge)
            return
        outer = sorted(targets - {source}, key=lambda box: (self._g.y0[box], self._g.x0[box]))
        nets = np.array(self._scene.nets_of.get(id(edge.tensor), []), np.int64)
        for place, box in enumerate(outer):
            entry = self._entering.setdefault(box, _Entry())
            entry.arrows += self._arrows(nets, box)
            if not place:
                entry.edges.append(edge)
        read_by = self._scene.layout_input.target
        for net in nets.tolist():
            if {int(read_by[place]) for place in self._edges_of.of(np.array([net]))} <= set(outer):
                self._nets.append(net)

    def _source(self, tensor: Tensor) -> int:
        if tensor.producer is not None:
            return self._box(tensor.producer)
        return self._scene.box_with(tensor)

    def _targets(self, edge: ProviderEdge) -> set[int]:
        boxes = {self._box(node) for node in edge.consumers}
        if edge.target == HOST:
            boxes.add(self._scene.output_box.get(id(edge.tensor), -1))
        return boxes - {-1}

    def _box(self, node: Node | None) -> int:
        """The box of a node, or of the one around it that is shown; -1 for none."""
        while node is not None:
            box = self._scene.box_with(node)
            if box >= 0:
                return box
            node = node.graph.owner
        return -1

    def _arrows(self, nets: Ints, box: int) -> list[int]:
        """The arrowheads of some nets, or of the buses they run into, at a box."""
        g, found = self._g, self._arrows_of.of(self._g.with_buses(nets))
        x, y = g.arrows[found].T
        at_box = (x >= g.x0[box] - 1) & (x <= g.x1[box] + 1) & (y >= g.y0[box] - 1) & (y <= g.y1[box] + 1)
        return [arrow for arrow, is_here in zip(found, at_box.tolist(), strict=True) if is_here]

    def _segments(self, arrows: Ints) -> Ints:
        """The last pieces of the lines that end at some arrowheads, and all of the nets that are copied to all."""
        g, chosen = self._g, self._segments_of.of(np.array(self._nets, np.int64))
        for arrow in arrows.tolist():
            own = self._segments_of.of(g.arrow_net[arrow : arrow + 1])
            off = np.abs(g.segments[own].reshape(-1, 2, 2) - g.arrows[arrow])
            chosen += np.array(own, np.int64)[(off < 1.0).all(axis=2).any(axis=1)].tolist()
        return np.unique(chosen).astype(np.int64)

    def _above(self, box: int, entry: _Entry) -> Badge:
        g, badge = self._g, self._badge(box, entry.edges)
        badge.x, badge.y = float(g.x0[box]) + badge.width / 2, float(g.y0[box]) - OVER
        if not g.horizontal:
            tips = g.arrows[sorted(set(entry.arrows)), 0]
            badge.x = float(tips.mean() if len(tips) else (g.x0[box] + g.x1[box]) / 2)
            badge.y = float(g.y0[box]) - ABOVE
        return badge

    def _beside(self, box: int, edges: list[ProviderEdge]) -> Badge:
        badge = self._badge(box, edges)
        badge.x, badge.y = float(self._g.x1[box]) + BESIDE + badge.width / 2, float(self._g.y0[box]) + HEADER_HEIGHT / 2
        return badge

    def _badge(self, box: int, edges: Sequence[ProviderEdge]) -> Badge:
        """A badge without a place; one without text where the tensor has been counted at another reader."""
        text = copies_text(edges) if edges else ""
        return Badge(box, text, 0.0, 0.0, self._measure(text, BADGE_STYLE) + 2 * BADGE_PADDING)


def _apart(badges: Iterable[Badge]) -> list[Badge]:
    """Those that say something, moved up where they would cover each other."""
    placed: list[Badge] = []
    for badge in sorted((b for b in badges if b.text), key=lambda b: (-b.y, b.x)):
        while any(abs(b.y - badge.y) < BADGE_HEIGHT and abs(b.x - badge.x) < (b.width + badge.width) / 2
                  for b in placed[-32:]):  # fmt: skip
            badge.y -= BADGE_HEIGHT + 2
        placed.append(badge)
    return placed
