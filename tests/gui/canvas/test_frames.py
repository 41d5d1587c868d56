"""Frames: boxes inside boxes, ports at borders, equal frames laid out alike; rows that wrap; flow to the right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.canvas.layout import Layout, LayoutInput, layout
from tests.gui.canvas.test_layout import graph, graphs, on, overlapping_boxes, segments_through_boxes, touch


@st.composite
def framed(draw: st.DrawFn) -> LayoutInput:
    """A graph whose boxes are spread over a few nested frames, numbered before what is in them."""
    inner = draw(graphs(acyclic=draw(st.booleans())))
    frames = draw(st.integers(1, 4))
    boxes = len(inner.width)
    parent = [draw(st.integers(-1, f - 1)) for f in range(frames)]
    parent += [draw(st.integers(-1, frames - 1)) for _ in range(boxes)]
    return LayoutInput(
        width=np.concatenate([np.full(frames, 60.0), inner.width]),
        height=np.concatenate([np.full(frames, 40.0), inner.height]),
        source=inner.source + frames,
        target=inner.target + frames,
        net=inner.net,
        label_width=inner.label_width,
        parent=np.array(parent, np.int64),
        horizontal=draw(st.booleans()),
    )


def leaves(data: LayoutInput) -> np.ndarray:
    assert data.parent is not None
    return np.setdiff1d(np.arange(len(data.width)), data.parent)


def joined(data: LayoutInput, result: Layout, net: int) -> set[int]:
    """Boxes at which the net's lines, as far as they hang together from its source on, end."""
    lines = result.segments[result.segment_net == net]
    source = int(data.source[data.net == net][0])

    def meets(line: np.ndarray, box: int) -> bool:
        x, y, w, h = result.x[box], result.y[box], result.width[box], result.height[box]
        return any(x - 1 <= px <= x + w + 1 and y - 1 <= py <= y + h + 1 for px, py in (line[:2], line[2:]))

    on_net = [meets(line, source) for line in lines]
    changed = True
    while changed:
        changed = False
        for i, line in enumerate(lines):
            if not on_net[i] and any(on_net[j] and touch(line, other) for j, other in enumerate(lines)):
                on_net[i] = changed = True
    kept = [line for line, yes in zip(lines, on_net, strict=True) if yes]
    return {box for box in leaves(data).tolist() if any(meets(line, box) for line in kept)}


@settings(max_examples=150)
@given(framed())
def test_boxes_stay_in_their_frames_and_lines_cross_borders(data: LayoutInput) -> None:
    result = layout(data)
    assert data.parent is not None
    for box, frame in enumerate(data.parent.tolist()):
        if frame >= 0:
            assert result.x[box] >= result.x[frame]
            assert result.y[box] >= result.y[frame]
            assert result.x[box] + result.width[box] <= result.x[frame] + result.width[frame] + 0.01
            assert result.y[box] + result.height[box] <= result.y[frame] + result.height[frame] + 0.01
    for frame in {-1, *data.parent.tolist()}:
        inside = np.flatnonzero(data.parent == frame)
        assert overlaps(result, inside) == 0
    assert lines_through(data, result) == 0
    for net in np.unique(data.net).tolist():
        assert set(data.target[data.net == net].tolist()) <= joined(data, result, net)
    assert (result.segments[:, 1] <= result.segments[:, 3]).all()


def overlaps(result: Layout, boxes: np.ndarray) -> int:
    part = LayoutInput(result.width[boxes], result.height[boxes], *(np.zeros(0, np.int64),) * 3, np.zeros(0))
    shown = Layout(**{name: getattr(result, name) for name in Layout.__dataclass_fields__})
    shown.x, shown.y = result.x[boxes], result.y[boxes]
    return overlapping_boxes(part, shown)


def lines_through(data: LayoutInput, result: Layout) -> int:
    boxes = leaves(data)
    part = LayoutInput(result.width[boxes], result.height[boxes], *(np.zeros(0, np.int64),) * 3, np.zeros(0))
    shown = Layout(**{name: getattr(result, name) for name in Layout.__dataclass_fields__})
    shown.x, shown.y = result.x[boxes], result.y[boxes]
    return segments_through_boxes(part, shown)


def test_equal_frames_look_alike() -> None:
    """Three frames in a chain, each with a fork and a join, differ by their place only."""
    parent, nets = [-1, -1, -1], []
    for frame in range(3):
        first = 3 + 4 * frame
        parent += [frame] * 4
        nets += [(first, [first + 1, first + 2]), (first + 1, [first + 3]), (first + 2, [first + 3])]
        if frame < 2:
            nets.append((first + 3, [first + 4]))
    data = graph(15, nets)
    data.height[:] = 24.0
    data.parent = np.array(parent)
    result = layout(data)
    inside = [result.x[3 + 4 * f : 7 + 4 * f] - result.x[f] for f in range(3)]
    assert np.array_equal(inside[1], inside[2]) or np.array_equal(inside[0], inside[1])
    assert len(set(result.width[:3].tolist())) == 1
    assert result.rank[:3].tolist() == [0, 1, 2]


def test_a_frame_inside_itself_is_refused() -> None:
    data = graph(2, [(0, [1])])
    data.parent = np.array([1, -1])
    with pytest.raises(ValueError, match="frame"):
        layout(data)


def test_many_parallel_branches_stand_in_rows_and_share_a_bus() -> None:
    """500 branches of two boxes between a source and a join: rows, one line into the join, nothing overlaps."""
    branches = 500
    nets = [(0, list(range(1, branches + 1)))]
    nets += [(i, [i + branches]) for i in range(1, branches + 1)]
    nets += [(i + branches, [2 * branches + 1]) for i in range(1, branches + 1)]
    data = graph(2 * branches + 2, nets)
    result = layout(data)
    assert result.size[0] < 9000
    assert overlapping_boxes(data, result) == 0
    assert segments_through_boxes(data, result) == 0
    buses = set(result.bus[branches + 1 :].tolist())
    assert len(buses) == 1
    assert min(buses) >= len(nets)
    bus = result.segments[result.segment_net == buses.pop()]
    last = 2 * branches + 1
    assert any(on(np.array([s[2], result.y[last]]), s) for s in bus)
    direct = int((result.rank[branches + 1 : last] == result.rank[last] - 1).sum())
    assert len(result.arrows) == 2 * branches + direct + 1


def test_flow_to_the_right_is_the_same_drawing_turned() -> None:
    data = graph(5, [(0, [1, 2]), (1, [3]), (2, [3]), (3, [4])])
    data.horizontal = True
    result = layout(data)
    assert (result.x[data.source] + data.width[data.source] <= result.x[data.target]).all()
    assert np.array_equal(result.width, data.width)
    assert overlapping_boxes(data, result) == 0
    assert segments_through_boxes(data, result) == 0
    assert (result.labels[:, 0] > 0).all()
