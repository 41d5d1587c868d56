"""The layout of a whole graph: check and clean the arrays, lay out frame by frame, turn it to the right if asked."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from gui.canvas.layout.frames import lay_out_frames
from gui.canvas.layout.types import Floats, Layout, LayoutInput


def layout(data: LayoutInput) -> Layout:
    """Lay out a graph of any kind: with cycles, self loops, doubled edges, several parts, frames, or empty.

    Raises
    ------
    ValueError
        If the arrays contradict each other: lengths, indices, a net with two sources, a frame after what is in it.
    """
    started = time.perf_counter()
    _check(data)
    result = lay_out_frames(_distinct(data))
    if data.horizontal:
        _turn(result, data.label_width)
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
    if data.parent is not None and not (len(data.parent) == count and (data.parent < np.arange(count)).all()):
        raise ValueError("a frame of a layout stands after what is in it")


def _distinct(data: LayoutInput) -> LayoutInput:
    """One edge for each net and target."""
    _, first = np.unique(data.net * len(data.width) + data.target, return_index=True)
    slot = None if data.slot is None else data.slot[first]
    return replace(data, source=data.source[first], target=data.target[first], net=data.net[first], slot=slot)


def _turn(result: Layout, label_width: Floats) -> None:
    """Turn a drawing that flows down into one that flows to the right, in place."""
    result.x, result.y = result.y, result.x
    result.width, result.height = result.height, result.width
    result.size = (result.size[1], result.size[0])
    turned = result.segments[:, [1, 0, 3, 2]]
    upwards = turned[:, 1] > turned[:, 3]
    turned[upwards] = turned[upwards][:, [2, 3, 0, 1]]
    result.segments = np.ascontiguousarray(turned)
    result.arrows = np.ascontiguousarray(result.arrows[:, ::-1])
    along = label_width[result.label_net]
    result.labels = np.stack([result.labels[:, 1] - along / 2, result.labels[:, 0] + LABEL_DROP], 1)


LABEL_DROP = 3.0  # of a label's middle below its line
