"""The layout of a whole graph: clean the edges, lay out each connected part, put the parts beside each other."""

from __future__ import annotations

import time
from dataclasses import fields

import numpy as np

from gui.canvas.layout.back import add_back_edges
from gui.canvas.layout.coordinates import align, place_x
from gui.canvas.layout.cycles import back_edges, connected_parts
from gui.canvas.layout.ordering import layered_graph, order_layers
from gui.canvas.layout.ranking import ranks
from gui.canvas.layout.routing import LABEL_OFFSET, PORT_MARGIN, PORT_STEP, Lines, bands, route
from gui.canvas.layout.types import Bools, Floats, Ints, LayeredGraph, Layout, LayoutInput

DUMMY_REACH = 1.0
PART_GAP = 48.0
SHELF_WIDTH = 1600.0
LINE_FIELDS = tuple(field.name for field in fields(Lines))


def layout(data: LayoutInput) -> Layout:
    """Lay out a graph of any kind: with cycles, self loops, doubled edges, several parts, or empty.

    Raises
    ------
    ValueError
        If the arrays contradict each other: lengths, indices, or a net with two sources.
    """
    started = time.perf_counter()
    _check(data)
    data = _distinct(data)
    count = len(data.width)
    if not count:
        return _empty()
    part = connected_parts(count, data.source, data.target)
    laid = [_layout_part(_extract(data, part == p)) for p in range(int(part.max()) + 1)] if part.any() else []
    result = _pack(laid, part, data) if laid else _layout_part(data)
    result.stats["seconds"] = time.perf_counter() - started
    return result


def _check(data: LayoutInput) -> None:
    count, edges, nets = len(data.width), len(data.source), len(data.label_width)
    if len(data.height) != count or not len(data.target) == len(data.net) == edges:
        raise ValueError("the arrays of a layout differ in length")
    for ends, limit in ((data.source, count), (data.target, count), (data.net, nets)):
        if edges and not (ends.min() >= 0 and ends.max() < limit):
            raise ValueError("an edge of a layout refers to a box or net that does not exist")
    source = np.zeros(nets, np.int64)
    source[data.net] = data.source
    if not np.array_equal(source[data.net], data.source):
        raise ValueError("a net of a layout has two sources")


def _distinct(data: LayoutInput) -> LayoutInput:
    """One edge for each net and target."""
    _, first = np.unique(data.net * len(data.width) + data.target, return_index=True)
    return LayoutInput(
        data.width, data.height, data.source[first], data.target[first], data.net[first], data.label_width
    )


def _extract(data: LayoutInput, boxes: Bools) -> LayoutInput:
    """The part of the input that touches the chosen boxes, boxes renumbered, nets as they were."""
    number = np.cumsum(boxes) - 1
    edges = boxes[data.source]
    return LayoutInput(
        data.width[boxes],
        data.height[boxes],
        number[data.source[edges]],
        number[data.target[edges]],
        data.net[edges],
        data.label_width,
    )


def _layout_part(data: LayoutInput) -> Layout:
    """Lay out one connected part with distinct edges."""
    count = len(data.width)
    back = back_edges(count, data.source, data.target)
    forward = ~back
    source, target, net = data.source[forward], data.target[forward], data.net[forward]
    order_of_boxes = ranks(count, source, target, net)
    graph = layered_graph(order_of_boxes.rank, source, target, net)
    place = order_layers(graph)
    for near in (*graph.up, *graph.down):
        if len(near) > 1:
            near.sort(key=place.__getitem__)
    net_source = np.zeros(len(data.label_width), np.int64)
    net_source[data.net] = data.source
    left, right = _extents(graph, data, source, net)
    alignment = align(graph, order_of_boxes, net_source.tolist(), place)
    x = np.rint(place_x(graph, alignment, left, right))
    layers = bands(graph, data, x)
    lines = route(graph, data, x, layers)
    lines = add_back_edges(lines, graph, data, x, layers, np.flatnonzero(back), right)
    return _moved_to_origin(graph, data, x, layers.top[graph.layer[:count]], order_of_boxes.rank, lines)


def _extents(graph: LayeredGraph, data: LayoutInput, source: Ints, net: Ints) -> tuple[Floats, Floats]:
    """Room each vertex needs left and right of its middle; the label below a box counts."""
    dummies = np.full(len(graph.layer) - graph.boxes, DUMMY_REACH)
    half = data.width / 2
    nets, first = np.unique(net, return_index=True)
    owner = source[first]
    outputs = np.bincount(owner, minlength=graph.boxes)
    label = np.zeros(graph.boxes)
    np.maximum.at(label, owner, data.label_width[nets])
    ports = np.minimum(np.maximum(outputs - 1, 0) * PORT_STEP, np.maximum(half - PORT_MARGIN, 0.0))
    label += np.where(label > 0, LABEL_OFFSET + ports, 0.0)
    return np.concatenate([half, dummies]), np.concatenate([np.maximum(half, label), dummies])


def _moved_to_origin(graph: LayeredGraph, data: LayoutInput, x: Floats, y: Floats, rank: Ints, lines: Lines) -> Layout:
    """Shift everything so that the bounding box of boxes, lines and labels starts at (0, 0)."""
    left = x[: graph.boxes] - data.width / 2
    x0, x1 = left.min(), (left + data.width).max()
    y0, y1 = y.min(), (y + data.height).max()
    if len(lines.segments):
        x0 = min(x0, lines.segments[:, (0, 2)].min())
        x1 = max(x1, lines.segments[:, (0, 2)].max())
        y0, y1 = min(y0, lines.segments[:, 1].min()), max(y1, lines.segments[:, 3].max())
    if len(lines.labels):
        x1 = max(x1, (lines.labels[:, 0] + data.label_width[lines.label_net]).max())
    lines.segments -= np.array([x0, y0, x0, y0])
    lines.arrows -= np.array([x0, y0])
    lines.labels -= np.array([x0, y0])
    return Layout(
        x=left - x0,
        y=y - y0,
        rank=rank,
        **{name: getattr(lines, name) for name in LINE_FIELDS},
        size=(float(x1 - x0), float(y1 - y0)),
        stats={
            "dummies": float(len(graph.layer) - graph.boxes),
            "layers": float(len(graph.layers)),
            "segments": float(len(lines.segments)),
        },
    )


def _pack(parts: list[Layout], part: Ints, data: LayoutInput) -> Layout:
    """Put the parts on shelves, largest first, so that leftovers stand beside the top of the main part."""
    result = _empty()
    result.x, result.y = np.zeros(len(part)), np.zeros(len(part))
    result.rank = np.zeros(len(part), np.int64)
    sizes = np.bincount(part)
    order = sorted(range(len(parts)), key=lambda p: (-int(sizes[p]), p))
    limit = max(SHELF_WIDTH, parts[order[0]].size[0] * 1.5)
    x = y = shelf = 0.0
    pieces: list[Layout] = []
    for p in order:
        piece = parts[p]
        if x and x + piece.size[0] > limit:
            x, y, shelf = 0.0, y + shelf + PART_GAP, 0.0
        mine = part == p
        result.x[mine], result.y[mine], result.rank[mine] = piece.x + x, piece.y + y, piece.rank
        piece.segments += np.array([x, y, x, y])
        piece.arrows += np.array([x, y])
        piece.labels += np.array([x, y])
        result.size = (max(result.size[0], x + piece.size[0]), max(result.size[1], y + piece.size[1]))
        x, shelf = x + piece.size[0] + PART_GAP, max(shelf, piece.size[1])
        for key, value in piece.stats.items():
            result.stats[key] = result.stats.get(key, 0.0) + value
        pieces.append(piece)
    for name in LINE_FIELDS:
        setattr(result, name, np.concatenate([getattr(piece, name) for piece in pieces]))
    return result


def _empty() -> Layout:
    none, no_net, no_flag = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, bool)
    return Layout(
        x=none,
        y=none,
        rank=no_net,
        segments=np.zeros((0, 4)),
        segment_net=no_net,
        segment_back=no_flag,
        arrows=np.zeros((0, 2)),
        arrow_net=no_net,
        arrow_back=no_flag,
        labels=np.zeros((0, 2)),
        label_net=no_net,
        size=(0.0, 0.0),
    )
