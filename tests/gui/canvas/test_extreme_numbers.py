"""Colours of numbers at the ends of what a float holds, as a file beside the model may have them."""

from __future__ import annotations

import math

import pytest
from onnx import helper

from engine.graph.ir import Model
from gui.canvas.colouring import by_number
from tests.gui.canvas.models import load, scene_of

LARGE, SMALL = 1.7e308, 5e-324


@pytest.fixture(scope="module")
def chain() -> Model:
    """Four nodes, one after another."""
    nodes = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"]) for i in range(4)]
    return load(nodes, {"t0": [2]}, ["t4"])


def colours_of(model: Model, numbers: tuple[float, ...], logarithmic: bool) -> list[str]:
    """The colours of the nodes, in run order."""
    scene = scene_of(model)
    colouring = by_number(scene, "", dict(zip(model.graph.order, numbers)), logarithmic=logarithmic)
    colour = {box.item: colouring.colours[i] for box, i in zip(scene.boxes, colouring.index)}
    return [colour[node] for node in model.graph.order]


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize(
    "numbers",
    [
        (-LARGE, LARGE / 2, LARGE, 0.0),
        (SMALL, 1.0, 10.0, LARGE),
        (0.0, 0.0, 0.0, 0.0),
        (math.nan, -math.inf, math.inf, 1.0),
        (SMALL, 2 * SMALL, 3 * SMALL, 0.0),
    ],
)
def test_every_number_has_a_colour(chain: Model, numbers: tuple[float, ...], logarithmic: bool) -> None:
    assert all(colours_of(chain, numbers, logarithmic))


def test_what_lies_between_the_ends_of_the_largest_span_is_told_from_them(chain: Model) -> None:
    assert len(set(colours_of(chain, (-LARGE, 0.0, LARGE / 2, LARGE), logarithmic=False))) == 4
    assert len(set(colours_of(chain, (SMALL, 1e-100, 1.0, LARGE), logarithmic=True))) == 4


@pytest.mark.parametrize("logarithmic", [False, True])
def test_zero_everywhere_is_the_cold_end_and_said_so(chain: Model, logarithmic: bool) -> None:
    zeros = (0.0, 0.0, 0.0, 0.0)
    cold = colours_of(chain, (0.0, 0.0, 0.0, 1.0), logarithmic)[0]
    assert set(colours_of(chain, zeros, logarithmic)) == {cold}
    legend = by_number(scene_of(chain), "difference", dict(zip(chain.graph.order, zeros))).legend
    assert legend is not None
    assert legend.entries == [(cold, "0 everywhere")]


def test_the_only_difference_is_the_hot_end(chain: Model) -> None:
    found = colours_of(chain, (0.0, 0.0, 0.5, 0.0), logarithmic=True)
    assert found[2] == colours_of(chain, (1.0, 2.0, 3.0, 4.0), logarithmic=True)[3]
    assert found[2] not in (found[0], found[1], found[3])
