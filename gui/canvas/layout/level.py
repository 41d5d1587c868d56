"""The layout of one level: connected parts each laid out in layers and put beside each other."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from gui.canvas.layout.back import add_back_edges
from gui.canvas.layout.coordinates import align, place_x
from gui.canvas.layout.cycles import back_edges, connected_parts
from gui.canvas.layout.ordering import layered_graph, order_layers
from gui.canvas.layout.ranking import ranks
from gui.canvas.layout.routing import LABEL_OFFSET, PORT_MARGIN, bands, route
from gui.canvas.layout.types import Bools, Drawing, Floats, Ints, LayeredGraph, Level, RoutedLines
from gui.canvas.layout.wrapping import buses, rows

DUMMY_REACH = 1.0
PART_GAP = 48.0
SHELF_WIDTH = 1600.0
LINE_FIELDS = tuple(field.name for field in fields(RoutedLines))


def lay_out(level: Level) -> Drawing:
    """Lay out a level of any kind: with cycles, self loops, several parts, or empty."""
    count = len(level.width)
    if not count:
        return _empty(len(level.label_across))
    if level.pin.any():  # pins stand at the ends of the whole, so it stays one part
        return _layout_part(level)
    part = connected_parts(count, level.source, level.target)
    if not part.any():
        return _layout_part(level)
    return _pack([_layout_part(_extract(level, part == p)) for p in range(int(part.max()) + 1)], part, level)


def _extract(level: Level, boxes: Bools) -> Level:
    """The part of a level that touches the chosen boxes, boxes renumbered, nets as they were."""
    number = np.cumsum(boxes) - 1
    edges = boxes[level.source]
    return Level(
        width=level.width[boxes],
        height=level.height[boxes],
        source=number[level.source[edges]],
        target=number[level.target[edges]],
        net=level.net[edges],
        anchor=level.anchor[boxes],
        source_port=level.source_port[edges],
        target_port=level.target_port[edges],
        slot=level.slot[edges],
        pin=level.pin[boxes],
        label_across=level.label_across,
        label_along=level.label_along,
    )


def _layout_part(level: Level) -> Drawing:
    count = len(level.width)
    back = back_edges(count, level.source, level.target)
    forward = np.flatnonzero(~back)
    source, target, net = level.source[forward], level.target[forward], level.net[forward]
    ranked = ranks(count, source, target, net, level.pin)
    bus = np.full(len(source), -1)
    wrapping = rows(level, ranked, source, target)
    if wrapping is not None:
        ranked = ranks(count, source, target, net, level.pin, wrapping.least)
        bus = buses(wrapping.least, ranked.rank, source, target)
    graph = layered_graph(ranked.rank, source, target, net, bus, len(level.label_across), level.slot[forward])
    place = order_layers(graph)
    for near in (*graph.up, *graph.down):
        if len(near) > 1:
            near.sort(key=place.__getitem__)
    left, right = _extents(graph, level, source, net)
    alignment = align(graph, ranked, place)
    wrapped = np.zeros(count, bool)
    if wrapping is not None:
        wrapped = wrapping.least >= 0
        for side in (left, right):
            side[:count] = np.maximum(side[:count], wrapping.room / 2)
    x = np.rint(place_x(graph, alignment, left, right, wrapped))
    layers = bands(graph, level, x)
    lines = route(graph, level, forward, x, layers)
    lines = add_back_edges(lines, graph, level, x, layers, np.flatnonzero(back), right)
    return _moved_to_origin(graph, level, x, layers.top[graph.layer[:count]], ranked.rank, lines)


def _extents(graph: LayeredGraph, level: Level, source: Ints, net: Ints) -> tuple[Floats, Floats]:
    """Room each vertex needs left and right of its anchor; the labels below a box count."""
    dummies = np.full(len(graph.layer) - graph.boxes, DUMMY_REACH)
    right = level.width - level.anchor
    nets, first = np.unique(net, return_index=True)
    owner = source[first]
    outputs = np.bincount(owner, minlength=graph.boxes)
    label = np.zeros(graph.boxes)
    np.maximum.at(label, owner, level.label_across[nets])
    ports = np.where(outputs > 1, np.maximum(right - PORT_MARGIN, 0.0), 0.0)
    label += np.where(label > 0, LABEL_OFFSET + ports, 0.0)
    return np.concatenate([level.anchor, dummies]), np.concatenate([np.maximum(right, label), dummies])


def _moved_to_origin(
    graph: LayeredGraph, level: Level, x: Floats, y: Floats, rank: Ints, lines: RoutedLines
) -> Drawing:
    """Shift everything so that the bounding box of boxes, lines and labels starts at (0, 0)."""
    left = x[: graph.boxes] - level.anchor
    x0, x1 = left.min(), (left + level.width).max()
    y0, y1 = y.min(), (y + level.height).max()
    if len(lines.segments):
        x0 = min(x0, lines.segments[:, (0, 2)].min())
        x1 = max(x1, lines.segments[:, (0, 2)].max())
        y0, y1 = min(y0, lines.segments[:, 1].min()), max(y1, lines.segments[:, 3].max())
    if len(lines.labels):
        x1 = max(x1, (lines.labels[:, 0] + level.label_across[lines.label_net]).max())
    lines.segments -= np.array([x0, y0, x0, y0])
    lines.arrows -= np.array([x0, y0])
    lines.labels -= np.array([x0, y0])
    return Drawing(
        x=left - x0,
        y=y - y0,
        rank=rank,
        **{name: getattr(lines, name) for name in LINE_FIELDS},
        bus=graph.bus,
        size=(float(x1 - x0), float(y1 - y0)),
        spine=float(-x0),
        stats={
            "dummies": float(len(graph.layer) - graph.boxes),
            "layers": float(len(graph.layers)),
            "segments": float(len(lines.segments)),
        },
    )


def _pack(parts: list[Drawing], part: Ints, level: Level) -> Drawing:
    """Put the parts on shelves, largest first, so that leftovers stand beside the top of the main part."""
    result = _empty(len(level.label_across))
    result.x, result.y = np.zeros(len(part)), np.zeros(len(part))
    result.rank = np.zeros(len(part), np.int64)
    sizes = np.bincount(part)
    order = sorted(range(len(parts)), key=lambda p: (-int(sizes[p]), p))
    limit = max(SHELF_WIDTH, parts[order[0]].size[0] * 1.5)
    x = y = shelf = 0.0
    pieces: list[Drawing] = []
    result.spine = parts[order[0]].spine
    for p in order:
        piece = parts[p]
        if x and x + piece.size[0] > limit:
            x, y, shelf = 0.0, y + shelf + PART_GAP, 0.0
        mine = part == p
        piece.arrow_target = np.flatnonzero(mine)[piece.arrow_target]
        result.x[mine], result.y[mine], result.rank[mine] = piece.x + x, piece.y + y, piece.rank
        piece.segments += np.array([x, y, x, y])
        piece.arrows += np.array([x, y])
        piece.labels += np.array([x, y])
        _renumber_buses(piece, result)
        result.size = (max(result.size[0], x + piece.size[0]), max(result.size[1], y + piece.size[1]))
        x, shelf = x + piece.size[0] + PART_GAP, max(shelf, piece.size[1])
        for key, value in piece.stats.items():
            result.stats[key] = result.stats.get(key, 0.0) + value
        pieces.append(piece)
    for name in LINE_FIELDS:
        setattr(result, name, np.concatenate([getattr(piece, name) for piece in pieces]))
    return result


def _renumber_buses(piece: Drawing, result: Drawing) -> None:
    """Number a part's buses after those of the parts before it."""
    nets = len(result.bus)
    used = max(int(result.bus.max(initial=-1)) + 1, nets)
    piece.segment_net = np.where(piece.segment_net >= nets, piece.segment_net + used - nets, piece.segment_net)
    piece.arrow_net = np.where(piece.arrow_net >= nets, piece.arrow_net + used - nets, piece.arrow_net)
    result.bus = np.where(piece.bus >= 0, piece.bus + used - nets, result.bus)


def _empty(nets: int) -> Drawing:
    none, no_net, no_flag = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, bool)
    return Drawing(
        x=none,
        y=none,
        rank=no_net,
        segments=np.zeros((0, 4)),
        segment_net=no_net,
        segment_back=no_flag,
        arrows=np.zeros((0, 2)),
        arrow_net=no_net,
        arrow_target=no_net,
        arrow_back=no_flag,
        labels=np.zeros((0, 2)),
        label_net=no_net,
        bus=np.full(nets, -1),
        size=(0.0, 0.0),
        spine=0.0,
        stats={},
    )
