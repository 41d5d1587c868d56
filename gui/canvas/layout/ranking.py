"""Which layer each box goes into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gui.canvas.layout.cycles import grouped
from gui.canvas.layout.types import Ints


@dataclass(slots=True)
class Ranks:
    """Layers of an acyclic graph.

    Attributes
    ----------
    rank
        Chosen layer of every box, shape (n,).
    depth, height
        Longest path from a root and to a sink, shape (n,).
    """

    rank: Ints
    depth: Ints
    height: Ints


def ranks(count: int, source: Ints, target: Ints, net: Ints) -> Ranks:
    """Longest path, then one reverse sweep that shortens trunks.

    A tensor is drawn as one trunk down to its last consumer. Moving a box down to its first consumer shrinks
    the trunks of its outputs and may grow those of its inputs; it moves when that does not lengthen the sum,
    so constants, cached states and shape arithmetic end up beside whoever needs them.
    """
    heads = grouped(count, source, target)
    order, rank = _longest_paths(count, heads, target)
    depth = np.array(rank, np.int64)

    nets = int(net.max()) + 1 if len(net) else 0
    last = np.zeros(nets, np.int64)
    np.maximum.at(last, net, depth[target])
    trunk_end = last.tolist()
    outputs = [len(set(nets_out)) for nets_out in grouped(count, source, net)]
    inputs = grouped(count, target, net)
    for v in reversed(order):
        if not heads[v]:
            continue
        lowest = min([rank[head] for head in heads[v]]) - 1
        moved = lowest - rank[v]
        if moved <= 0:
            continue
        nets_in = set(inputs[v])
        growth = sum([lowest - trunk_end[t] for t in nets_in if trunk_end[t] < lowest])
        if growth <= moved * outputs[v]:
            rank[v] = lowest
            for t in nets_in:
                if trunk_end[t] < lowest:
                    trunk_end[t] = lowest
    return Ranks(np.array(rank, np.int64), depth, _heights(count, heads, order))


def _longest_paths(count: int, heads: list[list[int]], target: Ints) -> tuple[list[int], list[int]]:
    """Topological order and longest path from a root of an acyclic graph."""
    waiting = np.bincount(target, minlength=count).tolist()
    rank = [0] * count
    order = [v for v in range(count) if not waiting[v]]
    for v in order:
        below = rank[v] + 1
        for head in heads[v]:
            if rank[head] < below:
                rank[head] = below
            waiting[head] -= 1
            if not waiting[head]:
                order.append(head)
    return order, rank


def _heights(count: int, heads: list[list[int]], order: list[int]) -> Ints:
    height = [0] * count
    for v in reversed(order):
        if heads[v]:
            height[v] = 1 + max([height[head] for head in heads[v]])
    return np.array(height, np.int64)
