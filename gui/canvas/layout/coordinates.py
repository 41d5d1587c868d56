"""Horizontal positions: a straight spine, straight trunks, and as little sideways drift as possible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gui.canvas.layout.ranking import Ranks
from gui.canvas.layout.types import Bools, Floats, LayeredGraph

BOX_GAP = 20.0
DUMMY_GAP = 10.0
ROUNDS = 3
SPINE_WEIGHT = 1e7
DUMMY_WEIGHT = 6.0
WRAPPED_WEIGHT = 1e-3
COLUMN_GAP = 72.0  # from the middle of the last column to the spine, where no spine is in the row
FURTHEST = 60.0  # px a box is moved aside for a straight chain; more would lengthen its other lines too much
MAX_ALIGNED = 400  # longest layer whose straight pairs are chosen by weight
ON_SPINE = 10**7  # added to a vertex's key so that the spine wins every comparison
ON_BUS = 10**6  # and of a bus, below which its hub shall stand


@dataclass(slots=True)
class Alignment:
    """Which vertices should stand straight above each other.

    Attributes
    ----------
    above, below
        The partner of every vertex in the neighbouring layer, or -1.
    spine
        Whether the vertex is on the spine: one longest path, kept straight at x = 0.
    """

    above: list[int]
    below: list[int]
    spine: list[bool]


def align(graph: LayeredGraph, ranks: Ranks, place: list[int]) -> Alignment:
    """Choose straight pairs that don't cross; the longest path wins every conflict, then trunks.

    A vertex pairs with its principal neighbour when both prefer each other: upwards the deepest source,
    downwards the one with the longest way to a sink.
    """
    boxes, up, down = graph.boxes, graph.up, graph.down
    up_key = np.concatenate([ranks.depth, ranks.depth[graph.dummy_source]])
    down_key = np.concatenate([ranks.height, ranks.height[graph.dummy_source] - 1])
    up_key[boxes:][graph.dummy_net >= len(graph.bus)] += ON_BUS
    spine = _spine(graph, ranks)
    on_spine = np.array(spine)
    up_key[on_spine] += ON_SPINE
    down_key[on_spine] += ON_SPINE
    up_keys, down_keys = up_key.tolist(), down_key.tolist()

    above = [-1] * len(graph.layer)
    for layer in graph.layers[1:]:
        pairs: list[tuple[int, int, int]] = []
        for v in layer:
            if not up[v]:
                continue
            u = up[v][0] if len(up[v]) == 1 else max(up[v], key=up_keys.__getitem__)
            if len(down[u]) == 1 or max(down[u], key=down_keys.__getitem__) == v:
                pairs.append((place[u], u, v))
        for u, v in _uncrossed(pairs, spine, boxes):
            above[v] = u
    below = [-1] * len(above)
    for v, u in enumerate(above):
        if u >= 0:
            below[u] = v
    return Alignment(above, below, spine)


def _spine(graph: LayeredGraph, ranks: Ranks) -> list[bool]:
    """Of wrapped rows the longest trunk, since they hang on it; else one longest path, traced from its end upwards."""
    spine = [False] * len(graph.layer)
    if (graph.bus >= 0).any():
        longest = np.bincount(graph.dummy_net).argmax()
        for vertex in np.flatnonzero(graph.dummy_net == longest).tolist():
            spine[graph.boxes + vertex] = True
        return spine
    depth = ranks.depth.tolist()
    vertex = int(np.argmax(ranks.depth))
    while vertex >= 0:
        spine[vertex] = True
        higher = [u for u in graph.up[vertex] if u < graph.boxes and depth[u] == depth[vertex] - 1]
        vertex = higher[0] if higher else -1
    return spine


def _uncrossed(pairs: list[tuple[int, int, int]], spine: list[bool], boxes: int) -> list[tuple[int, int]]:
    """Heaviest set of pairs (place of u, u, v), given left to right by v, in which no two cross."""
    count = len(pairs)
    if all(pairs[i][0] < pairs[i + 1][0] for i in range(count - 1)):
        return [(u, v) for _, u, v in pairs]
    if count > MAX_ALIGNED:
        kept, last = [], -1
        for at, u, v in pairs:
            if at > last:
                kept.append((u, v))
                last = at
        return kept
    best = [0.0] * count
    previous = [-1] * count
    for i, (at, u, v) in enumerate(pairs):
        heaviest = 0.0
        for j in range(i):
            if best[j] > heaviest and pairs[j][0] < at:
                heaviest, previous[i] = best[j], j
        best[i] = heaviest + _pair_weight(u, v, spine, boxes)
    i = max(range(count), key=best.__getitem__)
    kept = []
    while i >= 0:
        kept.append((pairs[i][1], pairs[i][2]))
        i = previous[i]
    return kept


def _pair_weight(u: int, v: int, spine: list[bool], boxes: int) -> float:
    if spine[u] and spine[v]:
        return 1e6
    if u >= boxes and v >= boxes:
        return 3.0
    return 2.0 if u < boxes and v < boxes else 1.0


def place_x(graph: LayeredGraph, alignment: Alignment, left: Floats, right: Floats, wrapped: Bools) -> Floats:
    """Position of every vertex, shape (N,); `left` and `right` are the extents beside it.

    Boxes of `wrapped` rows want to stand in columns beside the spine, and give way to the trunks there.

    Each layer in turn is the least-squares fit of its desired positions under the separations, solved by
    isotonic regression (pool adjacent violators). Pinning the spine keeps deep graphs from drifting sideways.
    """
    boxes, layers, spine = graph.boxes, graph.layers, alignment.spine
    x = [0.0] * len(left)
    box_weight = np.where(wrapped, WRAPPED_WEIGHT, 1.0).tolist()
    weight = [SPINE_WEIGHT if on else (DUMMY_WEIGHT if v >= boxes else box_weight[v]) for v, on in enumerate(spine)]
    offsets = _separations(graph, spine, left.tolist(), right.tolist(), x)
    fixed = _fixed(graph, spine, offsets, wrapped.tolist())

    def wanted(v: int, partner: list[int], near: list[list[int]], other: list[list[int]]) -> float:
        if v in fixed:
            return fixed[v]
        if partner[v] >= 0:
            return x[partner[v]]
        return _mean(near[v] or other[v], x, x[v])

    def sweep(which: Iterable[int], partner: list[int], near: list[list[int]], other: list[list[int]]) -> None:
        for i in which:
            layer = layers[i]
            _fit(layer, offsets[i], [wanted(v, partner, near, other) for v in layer], weight, x)

    for _ in range(ROUNDS):
        sweep(range(len(layers)), alignment.above, graph.up, graph.down)
        sweep(range(len(layers) - 1, -1, -1), alignment.below, graph.down, graph.up)
    for layer, offset in zip(layers, offsets, strict=True):
        _fit(layer, offset, [fixed.get(v) or _settled(v, graph, alignment, x) for v in layer], weight, x)
    _straighten(graph, alignment, offsets, x)
    return np.array(x)


def _fixed(
    graph: LayeredGraph, spine: list[bool], offsets: list[list[float]], wrapped: list[bool]
) -> dict[int, float]:  # fmt: skip
    """Wishes that never change: the spine at 0, wrapped rows packed against it on the side where most rows are."""
    fixed = {v: 0.0 for v, on in enumerate(spine) if on}
    rows = [
        (layer, offset)
        for layer, offset in zip(graph.layers, offsets, strict=True)
        if any(v < graph.boxes and wrapped[v] for v in layer)
    ]
    before = sum(spine[layer[-1]] for layer, _ in rows) >= sum(spine[layer[0]] for layer, _ in rows)
    for layer, offset in rows:
        end = offset[-1] if before else offset[0]
        gap = 0.0 if any(spine[v] for v in layer) else (-COLUMN_GAP if before else COLUMN_GAP)
        fixed.update({v: o - end + gap for v, o in zip(layer, offset, strict=True) if v < graph.boxes and wrapped[v]})
    return fixed


def _straighten(graph: LayeredGraph, alignment: Alignment, offsets: list[list[float]], x: list[float]) -> None:
    """Put each chain of straight partners on one x as far down as its neighbours leave room, then begin anew."""
    left_of, right_of = [-1] * len(x), [-1] * len(x)
    reach_left, reach_right = [0.0] * len(x), [0.0] * len(x)
    for layer, offset in zip(graph.layers, offsets, strict=True):
        for i in range(1, len(layer)):
            u, v = layer[i - 1], layer[i]
            right_of[u], left_of[v] = v, u
            reach_right[u] = reach_left[v] = offset[i] - offset[i - 1]

    def settle(run: list[int], low: float, high: float) -> None:
        at = min(high, max(low, sorted(x[v] for v in run)[len(run) // 2]))
        if all(abs(x[v] - at) <= FURTHEST for v in run):
            for v in run:
                x[v] = at

    heads = [v for v in range(len(x)) if alignment.above[v] < 0 <= alignment.below[v] and not alignment.spine[v]]
    for head in heads + heads[::-1]:  # once more, since chains give way to each other
        run: list[int] = []
        lowest, highest = -np.inf, np.inf
        v = head
        while v >= 0 and not alignment.spine[v]:
            low = x[left_of[v]] + reach_left[v] if left_of[v] >= 0 else -np.inf
            high = x[right_of[v]] - reach_right[v] if right_of[v] >= 0 else np.inf
            if run and max(low, lowest) > min(high, highest):
                settle(run, lowest, highest)
                run, lowest, highest = [], -np.inf, np.inf
            run.append(v)
            lowest, highest = max(low, lowest), min(high, highest)
            v = alignment.below[v]
        settle(run, lowest, highest)


def _settled(v: int, graph: LayeredGraph, alignment: Alignment, x: list[float]) -> float:
    """Last wish of a vertex: trunks stay, boxes stand between their straight partners."""
    if v >= graph.boxes:
        return x[v]
    partners = [u for u in (alignment.above[v], alignment.below[v]) if u >= 0]
    return _mean(partners or graph.up[v] + graph.down[v], x, x[v])


def _mean(vertices: list[int], x: list[float], otherwise: float) -> float:
    if len(vertices) == 1:
        return x[vertices[0]]
    return sum([x[u] for u in vertices]) / len(vertices) if vertices else otherwise


def _separations(
    graph: LayeredGraph, spine: list[bool], left: list[float], right: list[float], x: list[float]
) -> list[list[float]]:
    """Least distance of every vertex from the first of its layer; sets `x` to the tightest packing."""
    boxes = graph.boxes
    offsets = []
    for layer in graph.layers:
        at = 0.0
        offset = [0.0]
        middle = -1.0
        for u, v in pairwise(layer):
            gap = (BOX_GAP if u < boxes else DUMMY_GAP) + (BOX_GAP if v < boxes else DUMMY_GAP)
            at += right[u] + left[v] + gap / 2
            offset.append(at)
        for v, o in zip(layer, offset, strict=True):
            if spine[v]:
                middle = o
        shift = middle if middle >= 0 else at / 2
        for v, o in zip(layer, offset, strict=True):
            x[v] = o - shift
        offsets.append(offset)
    return offsets


def _fit(layer: list[int], offset: list[float], wanted: list[float], weight: list[float], x: list[float]) -> None:
    """Move a layer as close to the wanted positions as its separations allow."""
    if len(layer) == 1:
        x[layer[0]] = wanted[0]
        return
    means: list[float] = []
    weights: list[float] = []
    counts: list[int] = []
    for v, want, o in zip(layer, wanted, offset, strict=True):
        mean, total, count = want - o, weight[v], 1
        while means and means[-1] >= mean:
            w = weights.pop()
            mean = (mean * total + means.pop() * w) / (total + w)
            total += w
            count += counts.pop()
        means.append(mean)
        weights.append(total)
        counts.append(count)
    i = 0
    for mean, count in zip(means, counts, strict=True):
        for _ in range(count):
            x[layer[i]] = mean + offset[i]
            i += 1
