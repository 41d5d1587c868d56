"""Frames: boxes that hold others. Each is laid out by itself, innermost first, and is one box of the level around it.

A line that crosses a frame's border gets a port there: inside, the port is a box without height at the frame's
beginning or end; outside, it is the place where the line meets the frame. Frames that hold the same are laid out once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from gui.canvas.layout.cycles import grouped
from gui.canvas.layout.level import lay_out
from gui.canvas.layout.types import Bools, Drawing, Floats, Ints, Layout, LayoutInput, Level

PORT_WIDTH = 6.0
TITLE = 28.0  # height above the content of a frame, for its title
SIDE = 14.0  # empty strip at the other sides
LABEL_BAND = 15.0  # straight part below a layer whose outputs carry labels
LABEL_HEIGHT = 14.0

ROOT = -1


@dataclass(slots=True)
class _Frame:
    """What is in a frame: its boxes, its edges as (source, target, net), and the nets that come in and go out.

    In an edge, source or target None stands for the port of the net. Each edge has its slot.
    """

    boxes: list[int]
    edges: dict[tuple[int | None, int | None, int], int] = field(default_factory=dict)
    entries: dict[int, None] = field(default_factory=dict)
    exits: dict[int, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Placed:
    """A frame laid out: drawing, boxes, nets by their number in the drawing, and where its ports are from its left."""

    drawing: Drawing
    boxes: list[int]
    nets: Ints
    entries: dict[int, float]
    exits: dict[int, float]


def lay_out_frames(data: LayoutInput) -> Layout:
    """Lay out all frames and the level around them; coordinates flow down even where `data` says horizontal."""
    if data.horizontal:
        width, height = data.height.copy(), data.width.copy()
        across, along = np.where(data.label_width > 0, LABEL_HEIGHT, 0.0), np.ceil(data.label_width + LABEL_BAND / 2)
        along = np.where(data.label_width > 0, along, 0.0)
    else:
        width, height = data.width.copy(), data.height.copy()
        across, along = data.label_width, np.where(data.label_width > 0, LABEL_BAND, 0.0)
    compound = _Compound(data, width, height, across, along)
    return compound.lay_out()


class _Compound:
    def __init__(self, data: LayoutInput, width: Floats, height: Floats, across: Floats, along: Floats) -> None:
        self.data = data
        self.width, self.height, self.across, self.along = width, height, across, along
        self.anchor = width / 2
        self.slot = data.slot if data.slot is not None else np.zeros(len(data.source), np.int64)
        # Title and side strips in the directions of the flow: left, top, right, bottom.
        self.inset = (TITLE, SIDE, SIDE, SIDE) if data.horizontal else (SIDE, TITLE, SIDE, SIDE)
        self.placed: dict[int, _Placed] = {}
        self.known: dict[bytes, Drawing] = {}

    def lay_out(self) -> Layout:
        if self.data.parent is None:
            level = self.plain_level()
            drawing = lay_out(level)
            self.placed[ROOT] = _Placed(drawing, list(range(len(self.width))), np.arange(len(self.across)), {}, {})
            return self.assemble([ROOT])
        frames = self.sorted_out()
        for frame in sorted(frames, reverse=True):
            self.place(frame, frames)
        return self.assemble(sorted(frames))

    def plain_level(self) -> Level:
        count, edges, data = len(self.width), len(self.data.source), self.data
        free = np.full(edges, np.nan)
        return Level(
            self.width, self.height, data.source, data.target, data.net, self.anchor, free, free,
            self.slot, np.zeros(count, np.int64), self.across, self.along,
        )  # fmt: skip

    def sorted_out(self) -> dict[int, _Frame]:
        """Every frame with its boxes and with its share of every edge."""
        assert self.data.parent is not None
        parent = self.data.parent.tolist()
        members = grouped(len(parent) + 1, self.data.parent + 1, np.arange(len(parent)))
        frames = {f: _Frame(members[f + 1]) for f in range(ROOT, len(parent)) if members[f + 1] or f == ROOT}
        chains: dict[int, list[int]] = {ROOT: []}
        for frame in sorted(frames)[1:]:
            chains[frame] = [*chains[parent[frame]], frame]
        columns = (self.data.source.tolist(), self.data.target.tolist(), self.data.net.tolist(), self.slot.tolist())
        for source, target, net, slot in zip(*columns, strict=True):
            above, below = chains[parent[source]], chains[parent[target]]
            if target in above or source in below:
                continue  # from inside a frame to the frame itself
            common = 0
            while common < min(len(above), len(below)) and above[common] == below[common]:
                common += 1
            outer = above[common - 1] if common else ROOT
            ways_out, ways_in = [*above[common:], source], [*below[common:], target]
            frames[outer].edges.setdefault((ways_out[0], ways_in[0], net), slot)
            for frame, item in pairwise(ways_out):
                frames[frame].exits[net] = None
                frames[frame].edges.setdefault((item, None, net), slot)
            for frame, item in pairwise(ways_in):
                frames[frame].entries[net] = None
                frames[frame].edges.setdefault((None, item, net), slot)
        return frames

    def place(self, number: int, frames: dict[int, _Frame]) -> None:
        """Lay out one frame, whose inner frames are laid out already, and give it its size."""
        frame = frames[number]
        level, nets = self.level_of(frame)
        key = b"".join(getattr(level, name).tobytes() + b"|" for name in Level.__dataclass_fields__)
        if key not in self.known:
            self.known[key] = lay_out(level)
        drawing = self.known[key]
        boxes, entries, exits = len(frame.boxes), list(frame.entries), list(frame.exits)
        left, top, right, bottom = self.inset
        middle = drawing.x + PORT_WIDTH / 2 + left
        place = {net: float(middle[boxes + i]) for i, net in enumerate(entries)}
        away = {net: float(middle[boxes + len(entries) + i]) for i, net in enumerate(exits)}
        self.placed[number] = _Placed(drawing, frame.boxes, nets, place, away)
        if number != ROOT:
            self.width[number] = max(self.width[number], drawing.size[0] + left + right)
            self.height[number] = max(self.height[number], drawing.size[1] + top + bottom)
            self.anchor[number] = drawing.spine + left

    def level_of(self, frame: _Frame) -> tuple[Level, Ints]:
        """The level inside a frame, with its ports as boxes, and the nets by their number in it."""
        local = {box: i for i, box in enumerate(frame.boxes)}
        entry = {net: len(local) + i for i, net in enumerate(frame.entries)}
        leave = {net: len(local) + len(entry) + i for i, net in enumerate(frame.exits)}
        number: dict[int, int] = {}
        labelled: list[bool] = []
        rows, ports = [], []
        for source, target, net in frame.edges:
            out, into = self.port(source, net, "exits"), self.port(target, net, "entries")
            if net not in number:
                number[net] = len(number)
                labelled.append(source is not None and np.isnan(out))  # else the label stands where the line begins
            start = entry[net] if source is None else local[source]
            end = leave[net] if target is None else local[target]
            rows.append((start, end, number[net]))
            ports.append((out, into))
        edges = np.array(rows, np.int64).reshape(-1, 3)
        at = np.array(ports, np.float64).reshape(-1, 2)
        boxes, ends = np.array(frame.boxes, np.int64), len(entry) + len(leave)
        nets = np.fromiter(number, np.int64, len(number))
        level = Level(
            width=np.concatenate([self.width[boxes], np.full(ends, PORT_WIDTH)]),
            height=np.concatenate([self.height[boxes], np.zeros(ends)]),
            source=edges[:, 0].copy(),
            target=edges[:, 1].copy(),
            net=edges[:, 2].copy(),
            anchor=np.concatenate([self.anchor[boxes], np.full(ends, PORT_WIDTH / 2)]),
            source_port=at[:, 0].copy(),
            target_port=at[:, 1].copy(),
            slot=np.unique(np.array(list(frame.edges.values()), np.int64), return_inverse=True)[1],  # alike in twins
            pin=np.repeat([0, -1, 1], [len(boxes), len(entry), len(leave)]),
            label_across=self.across[nets] * labelled,
            label_along=self.along[nets] * labelled,
        )
        return level, nets

    def port(self, box: int | None, net: int, side: str) -> float:
        """Where a net crosses the border of a box that is a frame, from its anchor; NaN for any other box."""
        if box is None or box not in self.placed:
            return np.nan
        at: float | None = getattr(self.placed[box], side).get(net)
        return np.nan if at is None else at - float(self.anchor[box])

    # Everything in its place

    def assemble(self, frames: list[int]) -> Layout:
        """Put the drawings of all frames together, outer ones first."""
        count, nets = len(self.width), len(self.across)
        x, y, rank = np.zeros(count), np.zeros(count), np.zeros(count, np.int64)
        bus = np.full(nets, -1)
        pieces: dict[str, list[Any]] = {name: [] for name in _MERGED}
        stats: dict[str, float] = {}
        buses = nets
        for frame in frames:
            placed = self.placed[frame]
            drawing, inside = placed.drawing, len(placed.boxes)
            left, top = (x[frame] + self.inset[0], y[frame] + self.inset[1]) if frame != ROOT else (0.0, 0.0)
            x[placed.boxes] = drawing.x[:inside] + left
            y[placed.boxes] = drawing.y[:inside] + top
            rank[placed.boxes] = drawing.rank[:inside]
            taken = max(int(drawing.bus.max(initial=-1)) + 1 - len(placed.nets), 0)
            names = np.concatenate([placed.nets, buses + np.arange(taken)])
            joins = drawing.bus >= 0
            bus[placed.nets[joins]] = names[drawing.bus[joins]]
            buses += taken
            for name, value in self.lines(frame, placed, names, left, top).items():
                pieces[name].append(value)
            for key, number in drawing.stats.items():
                stats[key] = stats.get(key, 0.0) + number
        merged: dict[str, Any] = {name: np.concatenate(values) for name, values in pieces.items()}
        size = self.placed[ROOT].drawing.size
        return Layout(
            x=x, y=y, width=self.width, height=self.height, rank=rank, bus=bus, size=size, stats=stats, **merged
        )  # fmt: skip

    def lines(self, frame: int, placed: _Placed, names: Ints, left: float, top: float) -> dict[str, Any]:
        """The lines of one frame in their final place; those to its border go on through the empty strip there."""
        drawing = placed.drawing
        boxes, entries = len(placed.boxes), len(placed.entries)
        segments = drawing.segments + np.array([left, top, left, top])
        net = names[drawing.segment_net]
        back = drawing.segment_back
        if len(drawing.x) > boxes:
            at = drawing.x[boxes:] + PORT_WIDTH / 2 + left
            port = drawing.y[boxes:] + top
            into = np.arange(len(at)) < entries
            begin, end = top - self.inset[1], top - self.inset[1] + self.height[frame]
            strips = np.stack([at, np.where(into, begin, port), at, np.where(into, port, end)], 1)
            segments = np.concatenate([segments, strips])
            net = np.concatenate([net, np.array([*placed.entries, *placed.exits], np.int64)])
            back = np.concatenate([back, np.zeros(len(strips), bool)])
        tips = self.ending(placed)
        return {
            "segments": segments,
            "segment_net": net,
            "segment_back": back,
            "arrows": drawing.arrows[tips] + np.array([left, top]),
            "arrow_net": names[drawing.arrow_net[tips]],
            "arrow_back": drawing.arrow_back[tips],
            "labels": drawing.labels + np.array([left, top]),
            "label_net": names[drawing.label_net],
        }

    def ending(self, placed: _Placed) -> Bools:
        """Arrows whose line ends there, not at a port."""
        drawing = placed.drawing
        keep: Bools = drawing.arrow_target < len(placed.boxes)
        for i in np.flatnonzero(keep).tolist():
            inner = self.placed.get(placed.boxes[int(drawing.arrow_target[i])])
            if inner is not None and int(placed.nets[drawing.arrow_net[i]]) in inner.entries:
                keep[i] = False
        return keep


_MERGED = ("segments", "segment_net", "segment_back", "arrows", "arrow_net", "arrow_back", "labels", "label_net")
