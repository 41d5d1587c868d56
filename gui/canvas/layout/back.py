"""Lines of edges that close a cycle: out below the source, up a lane at the side, in above the target."""

from __future__ import annotations

import numpy as np

from gui.canvas.layout.routing import LANE_GAP, Bands
from gui.canvas.layout.types import Floats, Ints, LayeredGraph, Level, RoutedLines

INSET = 10.0  # where the line leaves and enters, from the right end of the box
DETOUR = 9.0  # distance of the horizontal parts from the boxes
STAGGER = 4.0  # between horizontal parts below one layer, a few at most


def add_back_edges(
    lines: RoutedLines, graph: LayeredGraph, level: Level, x: Floats, layers: Bands, edges: Ints, reach: Floats
) -> RoutedLines:
    """Add the edges with the given indices of `level` to the lines, each in a lane right of all boxes it passes.

    Parameters
    ----------
    reach
        Extent to the right of the middle of every vertex, shape (N,).
    """
    right = np.full(len(graph.layers), -np.inf)
    np.maximum.at(right, graph.layer, x + reach)
    segments: list[tuple[float, float, float, float]] = []
    arrows: list[tuple[float, float]] = []
    owners: list[int] = []
    leaving = [0] * len(graph.layers)
    for edge in edges.tolist():
        source, target, net = int(level.source[edge]), int(level.target[edge]), int(level.net[edge])
        upper, lower = sorted((int(graph.layer[source]), int(graph.layer[target])))
        lane = float(right[upper : lower + 1].max()) + LANE_GAP
        right[upper : lower + 1] = lane
        out_x = _end(x, level, source, float(level.source_port[edge]))
        in_x = _end(x, level, target, float(level.target_port[edge]))
        bottom = float(layers.top[graph.layer[source]] + level.height[source])
        top = float(layers.top[graph.layer[target]])
        layer = int(graph.layer[source])
        below = float(layers.bottom[layer]) + DETOUR + STAGGER * (leaving[layer] % 3)
        above = top - DETOUR
        leaving[layer] += 1
        segments += [
            (out_x, bottom, out_x, below),
            (out_x, below, lane, below),
            (lane, above, lane, below),
            (in_x, above, lane, above),
            (in_x, above, in_x, top),
        ]
        arrows.append((in_x, top))
        owners.append(net)
    if owners:
        lines.segments = np.concatenate([lines.segments, np.array(segments)])
        lines.segment_net = np.concatenate([lines.segment_net, np.repeat(np.array(owners, np.int64), 5)])
        lines.segment_back = np.concatenate([lines.segment_back, np.ones(len(segments), bool)])
        lines.arrows = np.concatenate([lines.arrows, np.array(arrows)])
        lines.arrow_net = np.concatenate([lines.arrow_net, np.array(owners, np.int64)])
        lines.arrow_target = np.concatenate([lines.arrow_target, level.target[edges]])
        lines.arrow_back = np.concatenate([lines.arrow_back, np.ones(len(owners), bool)])
    return lines


def _end(x: Floats, level: Level, box: int, port: float) -> float:
    """Where a line meets a box: at its port, else near its right end."""
    if not np.isnan(port):
        return float(x[box]) + port
    return float(x[box] + level.width[box] - level.anchor[box]) - INSET
