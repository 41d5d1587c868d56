"""Walking the graph by keyboard: from a box to its producer, consumer, or neighbour in the same layer. No Qt."""

from __future__ import annotations

import numpy as np

from engine.graph.ir import Node, Tensor
from gui.canvas.geometry import FRAME, Geometry
from gui.canvas.scene import BoxKind, Scene


def producer(scene: Scene, box: int) -> int:
    """Box that makes the first input of a box, in input order; -1 without one."""
    edges = np.flatnonzero(scene.layout_input.target == box)
    return _shown(scene, int(scene.layout_input.source[edges[0]])) if len(edges) else -1


def consumer(scene: Scene, box: int) -> int:
    """First box that reads an output of a box; -1 without one."""
    edges = np.flatnonzero(scene.layout_input.source == box)
    return int(scene.layout_input.target[edges[0]]) if len(edges) else -1


def _shown(scene: Scene, box: int) -> int:
    """The box itself, or for a chip the one whose tensor it names."""
    if scene.boxes[box].kind is not BoxKind.CHIP:
        return box
    return next(iter(scene.locate(scene.boxes[box].item)), box)


def readers(scene: Scene, tensor: Tensor) -> list[int]:
    """The boxes that read a tensor, in the order they are drawn."""
    nets = scene.nets_of.get(id(tensor), [])
    edges = np.isin(scene.layout_input.net, nets)
    found = scene.layout_input.target[edges]
    boxes = [int(box) for box in np.unique(found) if scene.boxes[int(box)].kind is not BoxKind.CHIP]
    return boxes or scene.readers.get(id(tensor), [])


def end_of_line(scene: Scene, tensor: Tensor, downstream: bool) -> int:
    """Box that makes a tensor without a box of its own, or the first one that reads it; of a row, the row's own box."""
    found = readers(scene, tensor) if downstream or tensor.producer is None else scene.locate(tensor)
    return next(iter(found), -1)


def sibling(geometry: Geometry, box: int, direction: int) -> int:
    """Next box in the same layer, to the right or below (1) or to the left or above (-1); -1 without one."""
    if geometry.horizontal:
        middle = (geometry.y0 + geometry.y1) / 2
        level = (geometry.x0 < geometry.x1[box]) & (geometry.x1 > geometry.x0[box])
    else:
        middle = (geometry.x0 + geometry.x1) / 2
        level = (geometry.y0 < geometry.y1[box]) & (geometry.y1 > geometry.y0[box])
    level &= (geometry.kind != FRAME) & (geometry.parent == geometry.parent[box])
    ahead = np.flatnonzero(level & ((middle - middle[box]) * direction > 0))
    return int(ahead[np.argmin(np.abs(middle[ahead] - middle[box]))]) if len(ahead) else -1


def first_and_last(scene: Scene) -> tuple[int, int]:
    """Boxes of the first and last node in run order; (-1, -1) without nodes. Groups count by their first node."""
    nodes: list[tuple[int, int]] = []
    for i, box in enumerate(scene.boxes):
        if isinstance(box.item, Node):
            nodes.append((box.item.index, i))
        elif box.kind is BoxKind.GROUP:
            nodes.append((box.item.all_nodes()[0].index, i))  # type: ignore[union-attr]
    ordered = [pair for pair in nodes if pair[0] >= 0] or nodes
    return (min(ordered)[1], max(ordered)[1]) if ordered else (-1, -1)
