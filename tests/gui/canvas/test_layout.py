"""The layered layout: what must hold on any graph, and figures of particular ones."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.canvas.layout import Layout, LayoutInput, layout
from gui.canvas.layout.ordering import count_crossings, layered_graph, order_layers
from gui.canvas.layout.ranking import longest_paths


def graph(boxes: int, nets: list[tuple[int, list[int]]], width: float = 80.0, height: float = 24.0) -> LayoutInput:
    """A layout input from nets given as (source, targets)."""
    edges = [(source, target, net) for net, (source, targets) in enumerate(nets) for target in targets]
    columns = np.array(edges, np.int64).reshape(-1, 3)
    return LayoutInput(
        width=np.full(boxes, width),
        height=height + 15.0 * (np.arange(boxes) % 3),
        source=columns[:, 0],
        target=columns[:, 1],
        net=columns[:, 2],
        label_width=np.full(len(nets), 50.0),
    )


@st.composite
def graphs(draw: st.DrawFn, acyclic: bool) -> LayoutInput:
    boxes = draw(st.integers(1, 14))
    nets = []
    for _ in range(draw(st.integers(0, 16))):
        source = draw(st.integers(0, boxes - 1))
        low = source + 1 if acyclic else 0
        if low < boxes:
            nets.append((source, draw(st.lists(st.integers(low, boxes - 1), min_size=1, max_size=5))))
    return graph(boxes, nets)


def overlapping_boxes(data: LayoutInput, result: Layout) -> int:
    x0, y0, x1, y1 = result.x, result.y, result.x + data.width, result.y + data.height
    meet = (x0[:, None] < x1) & (x0 < x1[:, None]) & (y0[:, None] < y1) & (y0 < y1[:, None])
    return int(meet.sum() - len(x0)) // 2


def segments_through_boxes(data: LayoutInput, result: Layout) -> int:
    """How often the inside of a box, shrunk by a pixel, meets the middle samples of a line."""
    t = np.linspace(0.0, 1.0, 17)[:, None]
    a, b = result.segments[:, :2], result.segments[:, 2:]
    px, py = a[:, 0] + (b - a)[:, 0] * t, a[:, 1] + (b - a)[:, 1] * t
    hits = 0
    for x, y, w, h in zip(result.x, result.y, data.width, data.height, strict=True):
        hits += int(((px > x + 1) & (px < x + w - 1) & (py > y + 1) & (py < y + h - 1)).any(0).sum())
    return hits


def reached(data: LayoutInput, result: Layout, net: int) -> set[int]:
    """Boxes whose top edge is joined to the bottom edge of the net's source by the net's own segments."""
    lines = result.segments[result.segment_net == net]
    source = int(data.source[data.net == net][0])
    bottom = result.y[source] + data.height[source]
    joined = [
        abs(line[1] - bottom) < 1 and result.x[source] - 1 <= line[0] <= result.x[source] + data.width[source] + 1
        for line in lines
    ]
    changed = True
    while changed:
        changed = False
        for i, line in enumerate(lines):
            if not joined[i] and any(joined[j] and touch(line, other) for j, other in enumerate(lines)):
                joined[i] = changed = True
    ends = [(x, y) for line, on in zip(lines, joined, strict=True) if on for x, y in (line[:2], line[2:])]
    return {
        i
        for i in range(len(data.width))
        if any(abs(y - result.y[i]) < 1 and result.x[i] - 1 <= x <= result.x[i] + data.width[i] + 1 for x, y in ends)
    }


def touch(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether an end of one segment lies on the other."""
    return any(on(p, b) for p in (a[:2], a[2:])) or any(on(p, a) for p in (b[:2], b[2:]))


def on(p: np.ndarray, s: np.ndarray) -> bool:
    d, q = s[2:] - s[:2], p - s[:2]
    length = float(d @ d)
    t = min(1.0, max(0.0, float(q @ d) / length)) if length else 0.0
    return bool(np.hypot(*(q - t * d)) < 1.0)


@settings(max_examples=120)
@given(graphs(acyclic=True))
def test_acyclic_graphs_are_drawn_right(data: LayoutInput) -> None:
    result = layout(data)
    assert overlapping_boxes(data, result) == 0
    assert segments_through_boxes(data, result) == 0
    assert (result.rank[data.source] < result.rank[data.target]).all()
    assert not result.segment_back.any()
    for net in np.unique(data.net).tolist():
        assert set(data.target[data.net == net].tolist()) <= reached(data, result, net)


@settings(max_examples=120)
@given(graphs(acyclic=False))
def test_graphs_with_cycles_are_drawn_too(data: LayoutInput) -> None:
    result = layout(data)
    assert overlapping_boxes(data, result) == 0
    assert segments_through_boxes(data, result) == 0
    assert (result.segments[:, 1] <= result.segments[:, 3]).all()
    for net in np.unique(data.net).tolist():
        assert set(data.target[data.net == net].tolist()) <= reached(data, result, net)
    everything = np.concatenate([result.segments[:, :2], result.segments[:, 2:]])
    assert (everything >= -0.01).all()
    assert (everything <= np.array(result.size) + 0.01).all()


def test_empty_graph() -> None:
    result = layout(graph(0, []))
    assert result.size == (0.0, 0.0)
    assert len(result.segments) == 0


def test_one_box_sits_at_the_origin() -> None:
    result = layout(graph(1, []))
    assert (result.x[0], result.y[0], result.size) == (0.0, 0.0, (80.0, 24.0))


def test_a_chain_is_one_straight_line() -> None:
    data = graph(5, [(i, [i + 1]) for i in range(4)])
    result = layout(data)
    assert result.rank.tolist() == [0, 1, 2, 3, 4]
    assert len(set(result.x.tolist())) == 1
    assert np.array_equal(result.segments[:, 0], result.segments[:, 2])
    assert len(result.labels) == 4


def test_self_loop_is_marked_and_the_rest_stays() -> None:
    result = layout(graph(2, [(0, [0, 1])]))
    assert result.segment_back.sum() == 5
    assert result.arrow_back.sum() == 1
    assert result.rank.tolist() == [0, 1]


def test_two_cycles_give_two_back_edges() -> None:
    result = layout(graph(5, [(0, [1]), (1, [2, 0]), (2, [3]), (3, [4]), (4, [2])]))
    assert result.arrow_back.sum() == 2
    assert result.rank.tolist() == [0, 1, 2, 3, 4]


def test_doubled_edges_are_drawn_once() -> None:
    result = layout(graph(2, [(0, [1, 1, 1])]))
    assert len(result.segments) == 1
    assert len(result.arrows) == 1


def test_a_tensor_read_everywhere_is_one_trunk() -> None:
    """A scalar feeding 200 steps of a chain takes one lane, not one line per reader."""
    steps = 200
    nets = [(i, [i + 1]) for i in range(steps)] + [(steps + 1, list(range(1, steps + 1)))]
    result = layout(graph(steps + 2, nets))
    assert result.stats["dummies"] == steps - 1
    assert result.size[0] < 400


def test_a_late_constant_moves_down_to_its_reader() -> None:
    nets = [(i, [i + 1]) for i in range(10)] + [(11, [10])]
    assert layout(graph(12, nets)).rank[11] == 9


def test_skip_connection_runs_beside_the_trunk() -> None:
    data = graph(5, [(0, [1, 4]), (1, [2]), (2, [3]), (3, [4])])
    result = layout(data)
    assert len(set(result.x.tolist())) == 1
    assert segments_through_boxes(data, result) == 0


def test_parts_stand_beside_each_other() -> None:
    data = graph(7, [(0, [1]), (1, [2]), (4, [5])])
    result = layout(data)
    assert overlapping_boxes(data, result) == 0
    assert result.y[[0, 3, 4, 6]].tolist() == [0.0] * 4


def test_the_same_graph_gives_the_same_picture() -> None:
    rng = np.random.default_rng(3)
    nets = [(i, rng.integers(i + 1, min(i + 30, 199) + 1, 3).tolist()) for i in range(198)]
    first, second = layout(graph(200, nets)), layout(graph(200, nets))
    assert np.array_equal(first.x, second.x)
    assert np.array_equal(first.segments, second.segments)


def test_contradicting_arrays_are_refused() -> None:
    data = graph(2, [(0, [1])])
    data.net = np.array([5])
    with pytest.raises(ValueError, match="does not exist"):
        layout(data)
    data = graph(3, [(0, [1]), (1, [2])])
    data.net = np.array([0, 0])
    with pytest.raises(ValueError, match="two sources"):
        layout(data)


def slotted(boxes: int, nets: list[tuple[int, list[int]]], slot: list[int]) -> LayoutInput:
    data = graph(boxes, nets)
    data.slot = np.array(slot, np.int64)
    return data


def entering(data: LayoutInput, result: Layout, box: int) -> list[int]:
    """The nets that enter a box, left to right."""
    x0, x1, y0 = result.x[box], result.x[box] + data.width[box], result.y[box]
    at = (np.abs(result.arrows[:, 1] - y0) < 1) & (result.arrows[:, 0] > x0) & (result.arrows[:, 0] < x1)
    return [int(net) for _, net in sorted(zip(result.arrows[at, 0], result.arrow_net[at], strict=True))]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_lines_enter_in_the_order_of_the_slots(order: list[int]) -> None:
    """Three sources of one box, and one behind a chain: any order is free of crossings."""
    data = slotted(5, [(0, [4]), (1, [3]), (2, [4]), (3, [4])], [order[0], 9, order[1], order[2]])
    wanted = [net for _, net in sorted(zip(order, (0, 2, 3), strict=True))]
    assert entering(data, layout(data), 4) == wanted


@pytest.mark.parametrize("skip_first", [True, False])
def test_a_shortcut_stands_at_the_side_of_its_slot(skip_first: bool) -> None:
    """0 → 1 → 2 → 3 and 0 → 3, as in residual networks."""
    data = slotted(4, [(0, [1, 3]), (1, [2]), (2, [3])], [5, 1 if skip_first else 3, 6, 2])
    assert entering(data, layout(data), 3) == ([0, 2] if skip_first else [2, 0])


def crossings_of(data: LayoutInput, slot: np.ndarray) -> int:
    count, none = len(data.width), np.full(len(data.source), -1)
    rank = longest_paths(count, data.source, data.target)
    layered = layered_graph(rank, data.source, data.target, data.net, none, len(data.label_width), slot)
    return count_crossings(layered.layers, layered.down, order_layers(layered))


@given(graphs(acyclic=True), st.randoms(use_true_random=False))
def test_slots_cost_no_crossing(data: LayoutInput, random: Random) -> None:
    _, first = np.unique(data.net * len(data.width) + data.target, return_index=True)
    data = replace(data, source=data.source[first], target=data.target[first], net=data.net[first])
    slot = list(range(1, len(data.source) + 1))
    random.shuffle(slot)
    with_slots = crossings_of(data, np.array(slot, np.int64))
    assert with_slots <= crossings_of(data, np.zeros(len(slot), np.int64))


@settings(max_examples=60)
@given(graphs(acyclic=True), st.randoms(use_true_random=False))
def test_slots_break_nothing(data: LayoutInput, random: Random) -> None:
    slot = list(range(1, len(data.source) + 1))
    random.shuffle(slot)
    data.slot = np.array(slot, np.int64)
    result = layout(data)
    assert overlapping_boxes(data, result) == 0
    assert segments_through_boxes(data, result) == 0
