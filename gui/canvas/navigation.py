"""Walking the graph by keyboard: from a box to its producer, consumer, or neighbour in the same layer. No Qt."""

from __future__ import annotations

import numpy as np

from engine.graph.ir import Node
from gui.canvas.geometry import Geometry
from gui.canvas.scene import Scene


def producer(scene: Scene, box: int) -> int:
    """Box that makes the first input of a box, in input order; -1 without one."""
    edges = np.flatnonzero(scene.layout_input.target == box)
    return int(scene.layout_input.source[edges[0]]) if len(edges) else -1


def consumer(scene: Scene, box: int) -> int:
    """First box that reads an output of a box; -1 without one."""
    edges = np.flatnonzero(scene.layout_input.source == box)
    return int(scene.layout_input.target[edges[0]]) if len(edges) else -1


def sibling(geometry: Geometry, box: int, direction: int) -> int:
    """Next box to the right (1) or left (-1) at about the same height; -1 without one."""
    middle = (geometry.x0 + geometry.x1) / 2
    level = (geometry.y0 < geometry.y1[box]) & (geometry.y1 > geometry.y0[box])
    ahead = np.flatnonzero(level & ((middle - middle[box]) * direction > 0))
    return int(ahead[np.argmin(np.abs(middle[ahead] - middle[box]))]) if len(ahead) else -1


def first_and_last(scene: Scene) -> tuple[int, int]:
    """Boxes of the first and last node in run order; (-1, -1) without nodes."""
    nodes = [(box.item.index, i) for i, box in enumerate(scene.boxes) if isinstance(box.item, Node)]
    ordered = [pair for pair in nodes if pair[0] >= 0] or nodes
    return (min(ordered)[1], max(ordered)[1]) if ordered else (-1, -1)
