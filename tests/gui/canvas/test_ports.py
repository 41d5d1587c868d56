"""Numbers at the ends of the lines to the selected node: which line goes to which of its inputs."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from pytestqt.qtbot import QtBot

from engine.graph.ir import Model
from gui.canvas.canvas import GraphCanvas
from gui.canvas.layout import layout
from gui.canvas.scene import SceneOptions
from gui.canvas.scene_builder import build_scene
from tests.gui.canvas.models import load, width


def joined() -> Model:
    """a and b, and b once more, into one Concat; its result through a Relu."""
    nodes = [
        helper.make_node("Concat", ["b", "a", "b"], ["c"], name="concat", axis=0),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    return load(nodes, {"a": [4], "b": [4]}, ["y"])


def shown(qtbot: QtBot, model: Model, horizontal: bool) -> GraphCanvas:
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(500, 500)
    scene = build_scene(model.graph, width, SceneOptions(horizontal=horizontal))
    canvas.set_scene(scene, layout(scene.layout_input))
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.zoom_to(1.0)
    canvas.settle()
    return canvas


@pytest.mark.parametrize("horizontal", [False, True])
def test_each_line_has_the_numbers_of_the_inputs_it_goes_to(qtbot: QtBot, horizontal: bool) -> None:
    model = joined()
    canvas = shown(qtbot, model, horizontal)
    concat, relu = model.graph.nodes
    canvas.select(concat)
    ports = canvas._emphasis.ports
    assert ports is not None
    assert sorted(ports.texts) == ["0,2", "1"]
    ends = canvas._geometry.arrows
    for middle, text in zip(ports.middles, ports.texts, strict=True):
        x, y = ends[np.abs(ends - middle)[:, int(horizontal)].argmin()].tolist()
        net = canvas._geometry.net_at(x - 2.0 * horizontal, y - 2.0 * (not horizontal), reach=2.0)
        assert canvas.scene.nets[net].tensor.name == {"1": "a", "0,2": "b"}[text]
    (first, second), sizes = ports.middles, (6.0 * 3 + 6.0, 12.0)
    assert any(abs(first - second) >= sizes - np.array([6.0, 0.0])), "one does not cover the other"
    canvas.select(relu)
    assert canvas._emphasis.ports is None, "one line needs no number"
    canvas.select(model.graph.tensors["c"])
    assert canvas._emphasis.ports is None


def test_they_are_painted_where_they_can_be_read(qtbot: QtBot) -> None:
    model = joined()
    canvas = shown(qtbot, model, horizontal=False)
    for scale, is_read in ((1.0, True), (0.3, False)):
        canvas.zoom_to(scale)
        canvas.select(model.graph.nodes[0])
        canvas.settle()
        ports = canvas._emphasis.ports
        with_numbers = canvas.grab().toImage()
        canvas._emphasis.ports = None
        canvas.update()
        assert (canvas.grab().toImage() != with_numbers) is is_read
        assert ports is not None
