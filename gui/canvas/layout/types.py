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
    """

    width: Floats
    height: Floats
    source: Ints
    target: Ints
    net: Ints
    label_width: Floats


@dataclass(slots=True)
class Layout:
    """Where everything is drawn, in px; y grows downwards, the bounding box starts at (0, 0).

    Attributes
    ----------
    x, y
        Top left corner of every box, shape (n,).
    rank
        Layer of every box within its connected part, shape (n,).
    segments, segment_net, segment_back
        Lines as (x0, y0, x1, y1) with y0 <= y1, the net each belongs to, and whether it closes a cycle.
    arrows, arrow_net, arrow_back
        Where edges end on top of their target: the tip (x, y), the net, whether the edge closes a cycle.
    labels, label_net
        Left end (x) and middle (y) of each label that has room, and its net.
    size
        Width and height of the whole drawing.
    """

    x: Floats
    y: Floats
    rank: Ints
    segments: Floats
    segment_net: Ints
    segment_back: Bools
    arrows: Floats
    arrow_net: Ints
    arrow_back: Bools
    labels: Floats
    label_net: Ints
    size: tuple[float, float]
    stats: dict[str, float] = field(default_factory=dict)


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
    edge_top, edge_bottom, edge_net
        The edges, shape (E,).
    dummy_net
        Net of every dummy, shape (N - n,).
    """

    boxes: int
    layer: Ints
    layers: list[list[int]]
    up: list[list[int]]
    down: list[list[int]]
    edge_top: Ints
    edge_bottom: Ints
    edge_net: Ints
    dummy_net: Ints
