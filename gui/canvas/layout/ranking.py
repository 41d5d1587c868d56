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


def ranks(count: int, source: Ints, target: Ints, net: Ints, pin: Ints, least: Ints | None = None) -> Ranks:
    """Longest path, then one reverse sweep that shortens trunks.

    Boxes with a `pin` get a layer of their own above (-1) or below (1) all others. A box with a `least` rank, which is
    not -1, is not moved above it and stays there.

    A tensor is drawn as one trunk down to its last consumer. Moving a box down to its first consumer shrinks
    the trunks of its outputs and may grow those of its inputs; it moves when that does not lengthen the sum,
    so constants, cached states and shape arithmetic end up beside whoever needs them.
    """
    heads = grouped(count, source, target)
    lowest_allowed = np.where(pin < 0, 0, int((pin < 0).any()))
    if least is not None:
        lowest_allowed = np.maximum(lowest_allowed, least)
    order, rank = _longest_paths(count, heads, target, lowest_allowed.tolist())
    depth = np.array(rank, np.int64)
    stays = ((pin != 0) | (least >= 0 if least is not None else False)).tolist()

    nets = int(net.max()) + 1 if len(net) else 0
    last = np.zeros(nets, np.int64)
    np.maximum.at(last, net, depth[target])
    trunk_end = last.tolist()
    outputs = [len(set(nets_out)) for nets_out in grouped(count, source, net)]
    inputs = grouped(count, target, net)
    for v in reversed(order):
        if not heads[v] or stays[v]:
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
    final = np.array(rank, np.int64)
    if (pin > 0).any():
        final[pin > 0] = final[pin <= 0].max(initial=-1) + 1
    return Ranks(final, depth, _heights(count, heads, order))


def _longest_paths(count: int, heads: list[list[int]], target: Ints, least: list[int]) -> tuple[list[int], list[int]]:
    """Topological order and longest path from a root of an acyclic graph, no rank below the one given."""
    waiting = np.bincount(target, minlength=count).tolist()
    rank = least[:]
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


def longest_paths(count: int, source: Ints, target: Ints) -> Ints:
    """Longest path from a root to every vertex, shape (count,); a rough one where there are cycles."""
    _, rank = _longest_paths(count, grouped(count, source, target), target, [0] * count)
    return np.array(rank, np.int64)
