"""Vertical positions, ports, lines, arrowheads and label places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gui.canvas.layout.types import Floats, Ints, LayeredGraph, Level, RoutedLines

CHANNEL = 26.0  # least height between two layers in which lines may slant
LABEL_OFFSET = 6.0
LABEL_GAP = 6.0  # between a label and the next line of the box
FAN = 24  # lines of one net from one place that are drawn as a comb
BAR_OFFSET = 12.0  # of a comb's bar from the boxes at its teeth
BAR_CHANNEL = 44.0  # least height between layers with a comb
PORT_STEP = 14.0
PORT_MARGIN = 8.0
LANE_GAP = 18.0


@dataclass(slots=True)
class Bands:
    """Vertical structure: layer i holds boxes from `top` to `bottom`, slants from `slant` to the next top."""

    top: Floats
    bottom: Floats
    slant: Floats


def bands(graph: LayeredGraph, level: Level, x: Floats) -> Bands:
    """Heights of layers and of the channels between them, which grow with the number and span of bends."""
    count = len(graph.layers)
    height = np.zeros(count)
    np.maximum.at(height, graph.layer[: graph.boxes], level.height)
    upper = graph.layer[graph.edge_top]
    span = np.abs(x[graph.edge_top] - x[graph.edge_bottom])
    barred = bars(graph) >= 0
    span[barred] = 0.0
    bends = np.bincount(upper[span > 1.0], minlength=count)
    widest = np.zeros(count)
    np.maximum.at(widest, upper, span)
    from_box = (graph.edge_top < graph.boxes) & (graph.edge_net < len(level.label_along))
    band = np.zeros(count)
    np.maximum.at(band, upper[from_box], level.label_along[graph.edge_net[from_box]])
    slants = CHANNEL + np.minimum(54.0, 3.0 * bends) + np.clip((widest - 400.0) * 0.04, 0.0, 900.0)
    slants = np.maximum(slants, np.where(np.bincount(upper[barred], minlength=count) > 0, BAR_CHANNEL, 0.0))
    top = np.concatenate([[0.0], np.cumsum(height + band + np.rint(slants))])[:count]
    return Bands(top, top + height, top + height + band)


def route(graph: LayeredGraph, level: Level, edges: Ints, x: Floats, layers: Bands) -> RoutedLines:
    """Lines of all edges of the layered graph.

    Parameters
    ----------
    edges
        The level's edge behind each `edge_number` of the graph.
    x
        Anchors of the boxes and places of the dummies.
    """
    boxes, upper, lower = graph.boxes, graph.edge_top, graph.edge_bottom
    top_x, bottom_x = x[upper].copy(), x[lower].copy()
    _spread_outputs(graph, level, x, top_x)
    _spread_inputs(graph, level, x, top_x, bottom_x)
    _keep_ports(graph, level, edges, x, top_x, bottom_x)
    slant_top = layers.slant[graph.layer[upper]]
    slant_bottom = layers.top[graph.layer[lower]]

    slants, slant_net = _slants(graph, top_x, slant_top, bottom_x, slant_bottom)
    from_box = np.flatnonzero(upper < boxes)
    source = upper[from_box]
    box_bottom = layers.top[graph.layer[source]] + level.height[source]
    stubs = np.stack([top_x[from_box], box_bottom, top_x[from_box], slant_top[from_box]], 1)
    dummies = np.arange(boxes, len(x))
    layer = graph.layer[dummies]
    passes = np.stack([x[dummies], layers.top[layer], x[dummies], layers.slant[layer]], 1)

    segments, segment_net = merge_vertical(
        np.concatenate([slants, stubs, passes]),
        np.concatenate([slant_net, graph.edge_net[from_box], graph.dummy_net]),
    )
    into_box = lower < boxes
    labels, label_net = _labels(graph, level, top_x, layers)
    return RoutedLines(
        segments=segments,
        segment_net=segment_net,
        segment_back=np.zeros(len(segments), bool),
        arrows=np.stack([bottom_x[into_box], slant_bottom[into_box]], 1),
        arrow_net=graph.edge_net[into_box],
        arrow_target=lower[into_box],
        arrow_back=np.zeros(int(into_box.sum()), bool),
        labels=labels,
        label_net=label_net,
    )


def bars(graph: LayeredGraph) -> Ints:
    """For each edge the bar it takes part in, or -1: where many lines of one net fan out of a vertex, or into a bus."""
    fan = np.where(graph.edge_gathers, graph.edge_bottom, graph.edge_top)
    key = (fan * (int(graph.edge_net.max(initial=0)) + 2) + graph.edge_net + 1) * 2
    key = np.where(graph.edge_gathers, graph.edge_bottom * 2 * (int(graph.edge_net.max(initial=0)) + 2) + 1, key)
    _, which, count = np.unique(key, return_inverse=True, return_counts=True)
    found: Ints = np.where(count[which] >= FAN, which, -1)
    return found


def _slants(
    graph: LayeredGraph, top_x: Floats, top: Floats, bottom_x: Floats, bottom: Floats
) -> tuple[Floats, Ints]:  # fmt: skip
    """The lines between the layers: slanted ones, and combs whose bar many share."""
    bar = bars(graph)
    plain = bar < 0
    parts = [np.stack([top_x, top, bottom_x, bottom], 1)[plain]]
    nets = [graph.edge_net[plain]]
    for number in np.unique(bar[~plain]).tolist():
        teeth = np.flatnonzero(bar == number)
        gathers = bool(graph.edge_gathers[teeth[0]])
        handle, ends = (bottom_x, top_x) if gathers else (top_x, bottom_x)
        at = float(top[teeth[0]] + BAR_OFFSET if gathers else bottom[teeth[0]] - BAR_OFFSET - 2)
        left, right = min(ends[teeth].min(), handle[teeth[0]]), max(ends[teeth].max(), handle[teeth[0]])
        net = int(graph.edge_net[teeth[0]])
        own = int(graph.bus[net]) if gathers else net
        y0, y1 = (top[teeth], at) if gathers else (at, bottom[teeth])
        up, down = (at, bottom[teeth[0]]) if gathers else (top[teeth[0]], at)
        parts.append(np.stack(np.broadcast_arrays(ends[teeth], y0, ends[teeth], y1), 1))
        parts.append(np.array([[left, at, right, at], [handle[teeth[0]], up, handle[teeth[0]], down]]))
        nets += [graph.edge_net[teeth], np.array([own, own])]
    return np.concatenate(parts), np.concatenate(nets)


def merge_vertical(segments: Floats, net: Ints) -> tuple[Floats, Ints]:
    """Join vertical pieces of one net that continue or overlap each other."""
    vertical = np.abs(segments[:, 0] - segments[:, 2]) < 0.5
    lines, owner = segments[vertical], net[vertical]
    if not len(lines):
        return segments, net
    order = np.lexsort((lines[:, 1], np.rint(lines[:, 0]), owner))
    lines, owner = lines[order], owner[order]
    starts = np.ones(len(lines), bool)
    starts[1:] = (
        (owner[1:] != owner[:-1]) | (np.abs(lines[1:, 0] - lines[:-1, 0]) > 0.6) | (lines[1:, 1] > lines[:-1, 3] + 0.5)
    )
    first = np.flatnonzero(starts)
    joined = np.stack([lines[first, 0], lines[first, 1], lines[first, 0], np.maximum.reduceat(lines[:, 3], first)], 1)
    return np.concatenate([joined, segments[~vertical]]), np.concatenate([owner[first], net[~vertical]])


def _spread_inputs(graph: LayeredGraph, level: Level, x: Floats, top_x: Floats, bottom_x: Floats) -> None:
    """Give each edge into a box its own place on the top side, left to right as the edges come."""
    edges = np.flatnonzero(graph.edge_bottom < graph.boxes)
    box = graph.edge_bottom[edges]
    order = np.lexsort((top_x[edges], box))
    edges, box = edges[order], box[order]
    steps = np.full(len(edges), PORT_STEP)
    bottom_x[edges] = x[box] + _port_offsets(box, steps, np.abs(top_x[edges] - x[box]), level.width)


def _spread_outputs(graph: LayeredGraph, level: Level, x: Floats, top_x: Floats) -> None:
    """Give each net of a box its own place on the bottom side, left to right as the nets go, with room for labels."""
    edges = np.flatnonzero(graph.edge_top < graph.boxes)
    if not len(edges):
        return
    nets, which = np.unique(graph.edge_net[edges], return_inverse=True)
    box = np.zeros(len(nets), np.int64)
    box[which] = graph.edge_top[edges]
    mean = np.bincount(which, x[graph.edge_bottom[edges]]) / np.bincount(which)
    bend = np.full(len(nets), np.inf)
    np.minimum.at(bend, which, np.abs(x[graph.edge_bottom[edges]] - x[graph.edge_top[edges]]))
    order = np.lexsort((mean, box))
    label = np.append(level.label_across, 0.0)[np.minimum(nets, len(level.label_across))]  # a bus has none
    steps = np.maximum(PORT_STEP, np.where(label > 0, label + LABEL_OFFSET + LABEL_GAP, 0.0))
    offset = np.zeros(len(nets))
    offset[order] = _port_offsets(box[order], steps[order], bend[order], level.width)
    top_x[edges] = x[graph.edge_top[edges]] + offset[which]


def _port_offsets(box: Ints, step: Floats, bend: Floats, width: Floats) -> Floats:
    """Offsets from the middle of each box for its ports; `box` is grouped, `bend` says how far each line leads aside.

    A port is `step` away from the next one, or less where the box is too narrow. The straightest line of a box, if it
    is nearly straight, keeps the middle, so that chains have no kinks.
    """
    if not len(box):
        return np.zeros(0)
    starts = np.flatnonzero(np.r_[True, box[1:] != box[:-1]])
    sizes = np.diff(np.r_[starts, len(box)])
    group = np.repeat(np.arange(len(starts)), sizes)
    place = np.cumsum(step) - step
    place -= place[starts][group]
    half = width[box[starts]] / 2 - PORT_MARGIN
    extent = place[starts + sizes - 1]
    tight = extent > 2 * half  # labels find no room: evenly then
    place = np.where(tight[group], (np.arange(len(box)) - starts[group]) * PORT_STEP, place)
    extent = np.where(tight, (sizes - 1) * PORT_STEP, extent)
    straightest = np.minimum.reduceat(bend, starts)
    index = np.arange(len(box))
    pivot = np.minimum.reduceat(np.where(bend == straightest[group], index, len(box)), starts)
    centre = np.where(straightest < PORT_STEP, place[pivot], extent / 2)
    reach = np.maximum(np.maximum(centre, extent - centre), 1.0)
    shrink = np.clip(half / reach, 0.0, 1.0)
    offsets: Floats = (place - centre[group]) * shrink[group]
    return offsets


def _keep_ports(
    graph: LayeredGraph, level: Level, edges: Ints, x: Floats, top_x: Floats, bottom_x: Floats
) -> None:  # fmt: skip
    """Ends whose place on a frame is given by what goes on inside."""
    numbered = np.flatnonzero(graph.edge_number >= 0)
    number = edges[graph.edge_number[numbered]]
    port = level.target_port[number]
    ends = ~np.isnan(port) & (graph.edge_bottom[numbered] < graph.boxes)
    bottom_x[numbered[ends]] = x[graph.edge_bottom[numbered[ends]]] + port[ends]
    if np.isnan(level.source_port).all():
        return
    given = np.flatnonzero(~np.isnan(level.source_port))
    port_of = dict(zip(level.net[given].tolist(), level.source_port[given].tolist(), strict=True))
    for edge in np.flatnonzero(graph.edge_top < graph.boxes).tolist():
        port_at = port_of.get(int(graph.edge_net[edge]))
        if port_at is not None:
            top_x[edge] = x[graph.edge_top[edge]] + port_at


def _labels(graph: LayeredGraph, level: Level, top_x: Floats, layers: Bands) -> tuple[Floats, Ints]:
    """A label right below its box, beside its line, as far as there is room before the box's next line."""
    edges = np.flatnonzero(graph.edge_top < graph.boxes)
    edges = edges[graph.edge_net[edges] < len(level.label_across)]
    nets, first = np.unique(graph.edge_net[edges], return_index=True)
    edges = edges[first]
    edges = edges[np.lexsort((top_x[edges], graph.edge_top[edges]))]
    nets, source = graph.edge_net[edges], graph.edge_top[edges]
    following = np.full(len(edges), np.inf)
    same = source[1:] == source[:-1]
    following[:-1][same] = top_x[edges[1:]][same]
    across = level.label_across[nets]
    kept = (across > 0) & (top_x[edges] + LABEL_OFFSET + across < following)
    edges, nets, source = edges[kept], nets[kept], source[kept]
    bottom = layers.top[graph.layer[source]] + level.height[source]
    places = np.stack([top_x[edges] + LABEL_OFFSET, (bottom + layers.slant[graph.layer[source]]) / 2 + 1.0], 1)
    return places, nets
