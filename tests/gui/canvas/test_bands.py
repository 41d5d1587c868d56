"""Bands: what they find in a part of a drawing, against looking at everything."""

from __future__ import annotations

import numpy as np
import pytest

from gui.canvas.bands import Bands
from gui.canvas.geometry import Geometry, chosen
from gui.canvas.layout import layout
from tests.gui.canvas.models import conv_net, scene_of


@pytest.mark.parametrize("size", [(300.0, 9000.0), (9000.0, 300.0), (10.0, 10.0)])
def test_all_that_meets_a_part_is_found_and_little_else(size: tuple[float, float]) -> None:
    random = np.random.default_rng(5)
    low = random.uniform(0, 1, (2, 2000)) * np.array(size)[:, None]
    high = low + random.uniform(0, 0.001, (2, 2000)) * max(size)
    high[:, :5] = np.array(size)[:, None]  # a few reach through much of the drawing
    bands = Bands.of(size, *low, *high)
    for _ in range(200):
        x0, y0 = random.uniform(-0.2, 1.2, 2) * size
        for much in (0.03, 0.3):
            x1, y1 = (x0, y0) + random.uniform(0, much, 2) * size
            near = bands.near(x0, y0, x1, y1)
            meets = (low[0] <= x1) & (high[0] >= x0) & (low[1] <= y1) & (high[1] >= y0)
            assert chosen(near, meets[near]).tolist() == np.flatnonzero(meets).tolist()
            if much == 0.03:
                assert not isinstance(near, slice)
                assert len(near) < 2000 / 8


def test_the_edges_of_a_part_belong_to_it() -> None:
    at = np.arange(0.0, 1000.0, 1.0)
    bands = Bands.of((1.0, 1000.0), at * 0, at, at * 0, at)
    near = bands.near(0.0, 500.0, 0.0, 520.0)
    assert {500, 520} <= set(np.arange(1000)[near].tolist())


def test_nothing_and_a_single_thing() -> None:
    none = np.zeros(0)
    assert len(none[Bands.of((1.0, 1.0), none, none, none, none).near(0, 0, 1, 1)]) == 0
    one = np.array([3.0])
    assert one[Bands.of((0.0, 0.0), one, one, one, one).near(0, 0, 9, 9)].tolist() == [3.0]


def test_the_rows_of_boxes() -> None:
    scene = scene_of(conv_net())
    geometry = Geometry.of(scene, layout(scene.layout_input))
    boxes = np.arange(0, len(scene.boxes), 2)
    expected = [row for row, box in enumerate(geometry.rows.box.tolist()) if box % 2 == 0]
    assert expected
    assert geometry.rows_of(boxes).tolist() == expected
    assert geometry.rows_of(boxes[:0]).tolist() == []
