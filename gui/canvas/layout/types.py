"""What goes into a layout and what comes out: arrays only, so that both cross a process border."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(slots=True)
class LayoutInput:
    """A graph to lay out: n boxes, e edges, k nets (a net is a tensor: one source, many targets).

    Attributes
    ----------
    width, height
        Box sizes in px, shape (n,).
    source, target, net
        Box indices and net index of every edge, shape (e,). All edges of a net have the same source.
    label_width
        Width in px of the label beside each net, shape (k,); 0 where there is none.
    parent
        The frame each box stands in, an index into the boxes, or -1 for none, shape (n,); None where no box is a
        frame. A frame stands before what is in it, and its size is found by the layout.
    horizontal
        Whether the flow goes to the right instead of down.
    slot
        What the edges into one box are ordered by, left to right, where that costs no crossing, shape (e,); None where
        it does not matter.
    """

    width: Floats
    height: Floats
    source: Ints
    target: Ints
    net: Ints
    label_width: Floats
    parent: Ints | None = None
    horizontal: bool = False
    slot: Ints | None = None


@dataclass(slots=True, kw_only=True)
class Lines:
    """Lines, arrowheads and labels, in px.

    Attributes
    ----------
    segments, segment_net, segment_back
        Lines as (x0, y0, x1, y1) with y0 <= y1, the net each belongs to, and whether it closes a cycle.
    arrows, arrow_net, arrow_back
        Where edges end on top of their target: the tip (x, y), the net, whether the edge closes a cycle.
    labels, label_net
        Left end (x) and middle (y) of each label that has room, and its net.
    """

    segments: Floats
    segment_net: Ints
    segment_back: Bools
    arrows: Floats
    arrow_net: Ints
    arrow_back: Bools
    labels: Floats
    label_net: Ints


@dataclass(slots=True, kw_only=True)
class RoutedLines(Lines):
    """The lines of one level; `arrow_target` is the box that each arrow points at."""

    arrow_target: Ints


@dataclass(slots=True, kw_only=True)
class Layout(Lines):
    """Where everything is drawn, in px; y grows downwards, the bounding box starts at (0, 0).

    Attributes
    ----------
    x, y
        Top left corner of every box, shape (n,).
    rank
        Layer of every box within its connected part, shape (n,).
    size
        Width and height of the whole drawing.
    width, height
        Box sizes, shape (n,): those given, and those of the frames.
    bus
        The bus each net runs into, shape (k,): -1, or the number that the bus's segments have as their net. A bus is
        the one line in which many tensors reach one box.
    """

    x: Floats
    y: Floats
    width: Floats
    height: Floats
    rank: Ints
    bus: Ints
    size: tuple[float, float]
    stats: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Level:
    """What stands side by side in one frame: one layered drawing, its flow always downwards.

    Attributes
    ----------
    width, height, source, target, net
        As in `LayoutInput`; edges are distinct by (net, target).
    anchor
        Where the lines of each box meet it unless told otherwise, from its left side, shape (n,).
    source_port, target_port
        Place of each edge's ends from the anchor, shape (e,); NaN where it is free.
    slot
        As in `LayoutInput`; all 0 where it does not matter.
    pin
        -1 for boxes that stand above all others, 1 for those below, else 0, shape (n,).
    label_across, label_along
        Room that each net's label takes beside and along its line, shape (k,); 0 where there is none.
    """

    width: Floats
    height: Floats
    source: Ints
    target: Ints
    net: Ints
    anchor: Floats
    source_port: Floats
    target_port: Floats
    slot: Ints
    pin: Ints
    label_across: Floats
    label_along: Floats


@dataclass(slots=True, kw_only=True)
class Drawing(RoutedLines):
    """A level laid out: places of its boxes, its lines and labels, from (0, 0) on.

    `spine` is where the straight main path runs. `net` of a line that is a bus is `k` or more.
    """

    x: Floats
    y: Floats
    rank: Ints
    bus: Ints
    size: tuple[float, float]
    spine: float
    stats: dict[str, float]


@dataclass(slots=True)
class LayeredGraph:
    """The proper layered graph: boxes 0..n-1 followed by dummies, every edge spans one layer.

    Attributes
    ----------
    boxes
        Number n of real boxes.
    layer
        Layer of every vertex, shape (N,).
    layers
        Vertices of every layer, left to right.
    up, down
        Neighbours of every vertex in the layer above and below.
    edge_top, edge_bottom, edge_net, edge_number
        The edges, shape (E,); the number is that of the graph's edge whose end this is, -1 for the rest of a trunk.
    edge_gathers
        Whether an edge runs into a bus, shape (E,).
    dummy_net, dummy_source
        Net of every dummy and the box it comes from, shape (N - n,).
    bus
        The bus each net takes, shape (k,), as in `Layout`.
    port
        Where the line of each vertex enters the box below it, from 0 at the left to 1, by the order of its slots; empty
        where that does not matter.
    """

    boxes: int
    layer: Ints
    layers: list[list[int]]
    up: list[list[int]]
    down: list[list[int]]
    edge_top: Ints
    edge_bottom: Ints
    edge_net: Ints
    edge_number: Ints
    edge_gathers: Bools
    dummy_net: Ints
    dummy_source: Ints
    bus: Ints
    port: list[float]
