"""Dummy trunks, and the order of the vertices within each layer."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable

import numpy as np

from gui.canvas.layout.cycles import grouped
from gui.canvas.layout.types import Ints, LayeredGraph

MAX_SWEEPS = 8
STALLED = 2  # the sweeps fall into a cycle of two after a few rounds
TRANSPOSE_ROUNDS = 3
TRANSPOSE_WIDTH = 200  # wider layers keep their barycentre order
TRANSPOSE_PAIRS = 400
MOST_SLOTS = 32  # of a box; nobody counts more lines than that
LONGER = 1.05  # how much more lines may lead aside for the sake of the slots
PORT_WEIGHT = 1e-3  # of a place in a layer: means of places differ by more


def layered_graph(
    rank: Ints, source: Ints, target: Ints, net: Ints, bus: Ints, net_count: int, slot: Ints
) -> LayeredGraph:  # fmt: skip
    """Put one trunk of dummies under every net, down to the layer above its last target.

    Edges must point to a lower layer and be distinct by (net, target). Those with a `bus` share a trunk that begins
    below the highest of their sources and ends in their target; it is a net of its own, numbered from `net_count` on.
    """
    count = len(rank)
    trunk = np.where(bus >= 0, net_count + bus, net)
    trunks, first, which = np.unique(trunk, return_index=True, return_inverse=True)
    gathers = trunks >= net_count
    trunk_source, trunk_target = source[first], target[first]
    top = np.full(len(trunks), np.iinfo(np.int64).max)
    np.minimum.at(top, which, rank[source])
    bottom = np.zeros(len(trunks), np.int64)
    np.maximum.at(bottom, which, rank[target])

    length = np.maximum(bottom - top - 1, 0)
    offset = count + np.concatenate([[0], np.cumsum(length)])
    owner = np.repeat(np.arange(len(trunks)), length)
    dummies = count + np.arange(len(owner))
    dummy_layer = dummies - offset[owner] + top[owner] + 1

    begins = dummy_layer == top[owner] + 1
    continued = ~(begins & gathers[owner])
    above = np.where(begins, trunk_source[owner], dummies - 1)[continued]
    ends = np.flatnonzero(gathers & (length > 0))
    first_of = offset[which] - top[which]
    leaves = np.where((bus >= 0) | (rank[target] == top[which] + 1), source, first_of + rank[target] - 2)
    enters = np.where((bus < 0) | (rank[source] + 1 == bottom[which]), target, first_of + rank[source])

    layer = np.concatenate([rank, dummy_layer])
    edge_top = np.concatenate([above, offset[ends + 1] - 1, leaves])
    edge_bottom = np.concatenate([dummies[continued], trunk_target[ends], enters])
    gathered = np.full(net_count, -1)
    gathered[net[bus >= 0]] = trunk[bus >= 0]
    return LayeredGraph(
        boxes=count,
        layer=layer,
        layers=grouped(int(layer.max()) + 1, layer, np.arange(len(layer))),
        up=grouped(len(layer), edge_bottom, edge_top),
        down=grouped(len(layer), edge_top, edge_bottom),
        edge_top=edge_top,
        edge_bottom=edge_bottom,
        edge_net=np.concatenate([trunks[owner[continued]], trunks[ends], net]),
        edge_number=np.concatenate([np.full(len(edge_top) - len(net), -1), np.arange(len(net))]),
        edge_gathers=np.concatenate([np.zeros(len(edge_top) - len(net), bool), bus >= 0]),
        dummy_net=trunks[owner],
        dummy_source=trunk_source[owner],
        bus=gathered,
        port=_ports(len(layer), count, leaves, enters, slot),
    )


def _ports(vertices: int, boxes: int, leaves: Ints, enters: Ints, slot: Ints) -> list[float]:
    """Where the line of each vertex enters the box below; in the middle for those that enter none."""
    if not slot.any():
        return []
    into = np.flatnonzero(enters < boxes)
    into = into[np.lexsort((slot[into], enters[into]))]
    box = enters[into]
    first = np.searchsorted(box, box)
    count = np.searchsorted(box, box, "right") - first
    share = np.where(count <= MOST_SLOTS, (np.arange(len(box)) - first + 0.5) / count, 0.5)
    port = np.full(vertices, 0.5)
    port[leaves[into[::-1]]] = share[::-1]
    return port.tolist()


def order_layers(graph: LayeredGraph) -> list[int]:
    """Reorder `graph.layers` in place for few crossings and return every vertex's place in its layer.

    Lines stand in the order of the slots that they enter as far as that costs neither crossings nor length: the search
    is made without an eye on the slots, then with it, and ends with a sweep for them alone.
    """
    layers = graph.layers
    place = [0] * len(graph.layer)
    at_first = _copied(layers)
    fewest = _search(graph, place, None)
    if not graph.port:
        return place
    if fewest:
        best, span = _copied(layers), _span(graph, place)
        layers[:] = at_first
        if _search(graph, place, graph.port) > fewest or _span(graph, place) > LONGER * span:
            _restore(layers, best, place)
    best, fewest, span = _copied(layers), count_crossings(layers, graph.down, place), _span(graph, place)
    _barycentre_sweep(layers, range(len(layers) - 2, -1, -1), graph.down, place, graph.port)
    if count_crossings(layers, graph.down, place) > fewest or _span(graph, place) > LONGER * span:
        _restore(layers, best, place)
    return place


def _search(graph: LayeredGraph, place: list[int], port: list[float] | None) -> int:
    """Sweep down and up, then swap neighbours; how many crossings are left."""
    layers = graph.layers
    for layer in layers:
        _number(layer, place)
    best = _copied(layers)
    fewest = count_crossings(layers, graph.down, place)
    stalled = 0
    for sweep in range(MAX_SWEEPS):
        if fewest == 0 or stalled == STALLED:
            break
        if sweep % 2 == 0:
            _barycentre_sweep(layers, range(1, len(layers)), graph.up, place)
        else:
            _barycentre_sweep(layers, range(len(layers) - 2, -1, -1), graph.down, place, port)
        crossings = count_crossings(layers, graph.down, place)
        if crossings < fewest:
            fewest, best, stalled = crossings, _copied(layers), 0
        else:
            stalled += 1
    _restore(layers, best, place)
    return fewest - _transpose(graph, place) if fewest else 0


def _span(graph: LayeredGraph, place: list[int]) -> int:
    """How many places all edges lead aside, which tells how long the lines will be."""
    return sum([abs(place[lower] - place[upper]) for upper, ends in enumerate(graph.down) for lower in ends])


def _copied(layers: list[list[int]]) -> list[list[int]]:
    return [layer[:] for layer in layers]


def _restore(layers: list[list[int]], before: list[list[int]], place: list[int]) -> None:
    layers[:] = before
    for layer in layers:
        _number(layer, place)


def count_crossings(layers: list[list[int]], down: list[list[int]], place: list[int]) -> int:
    """Number of pairs of edges that cross between neighbouring layers."""
    crossings = 0
    for layer in layers:
        ends: list[int] = []  # sorted places of the lower ends seen so far, left to right
        for vertex in layer:
            heads = down[vertex]
            if not heads:
                continue
            new = [place[heads[0]]] if len(heads) == 1 else sorted([place[head] for head in heads])
            if ends and new[0] < ends[-1]:
                for end in new:
                    crossings += len(ends) - bisect_right(ends, end)
                for end in new:
                    insort(ends, end)
            else:
                ends += new
    return crossings


def _number(layer: list[int], place: list[int]) -> None:
    for i, vertex in enumerate(layer):
        place[vertex] = i


def _barycentre_sweep(
    layers: list[list[int]], which: Iterable[int], near: list[list[int]], place: list[int],
    port: list[float] | None = None,
) -> None:  # fmt: skip
    """Sort each layer by the mean place of its neighbours in the layer done before, and by `port` where that is equal.

    Plain lists on purpose: layers are narrow, and an array per layer costs more than it saves.
    """
    for index in which:
        layer = layers[index]
        if len(layer) < 2:
            continue
        keys: list[float] = []
        last = -1.0
        is_sorted = True
        for vertex in layer:
            neighbours = near[vertex]
            count = len(neighbours)
            if count == 1:
                key: float = place[neighbours[0]]
            elif count == 0:
                key = last
            else:
                key = sum([place[u] for u in neighbours]) / count
            if port is not None:
                key += PORT_WEIGHT * port[vertex]
            if key < last:
                is_sorted = False
            last = key
            keys.append(key)
        if not is_sorted:
            layer[:] = [layer[i] for i in sorted(range(len(layer)), key=keys.__getitem__)]
            _number(layer, place)


def _transpose(graph: LayeredGraph, place: list[int]) -> int:
    """Swap neighbours in a layer wherever that saves crossings, a few rounds; how many it saved."""
    total = 0
    for _ in range(TRANSPOSE_ROUNDS):
        saved = 0
        for layer in graph.layers:
            if len(layer) > TRANSPOSE_WIDTH:
                continue
            for i in range(len(layer) - 1):
                left, right = layer[i], layer[i + 1]
                gain = _swap_gain(graph.up[left], graph.up[right], place)
                gain += _swap_gain(graph.down[left], graph.down[right], place)
                if gain > 0:
                    layer[i], layer[i + 1] = right, left
                    place[right], place[left] = i, i + 1
                    saved += gain
        total += saved
        if not saved:
            break
    return total


def _swap_gain(left: list[int], right: list[int], place: list[int]) -> int:
    """Crossings saved on one side when two neighbours with these ends change places."""
    if not left or not right or len(left) * len(right) > TRANSPOSE_PAIRS:
        return 0
    gain = 0
    for a in left:
        at = place[a]
        for b in right:
            gain += (at > place[b]) - (at < place[b])
    return gain
