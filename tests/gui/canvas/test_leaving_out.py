"""Kinds of nodes that are not drawn: what hangs where instead, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.graph.ir import Model
from gui.canvas.scene import BoxKind, Scene, SceneOptions
from gui.window.main_window import MainWindow
from resources import SAMPLE_MODEL, path
from tests.gui.canvas.models import load, scene_of
from tests.gui.conftest import Opener

CASTS, QDQ, SHAPES = SceneOptions(hide_casts=True), SceneOptions(hide_qdq=True), SceneOptions(hide_shapes=True)


def lines(scene: Scene) -> set[tuple[str, str, str]]:
    """Where lines come from, go to, and what they carry."""
    data, boxes = scene.layout_input, scene.boxes
    return {
        (boxes[s].title, boxes[t].title, scene.nets[n].tensor.name)
        for s, t, n in zip(data.source.tolist(), data.target.tolist(), data.net.tolist(), strict=True)
    }


def casts() -> Model:
    """x → Cast → Identity → Relu → Cast → y, and the first Cast is read by Neg too."""
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], name="to", to=TensorProto.FLOAT16),
        helper.make_node("Identity", ["a"], ["b"], name="same"),
        helper.make_node("Relu", ["b"], ["c"], name="relu"),
        helper.make_node("Neg", ["a"], ["z"], name="neg"),
        helper.make_node("Cast", ["c"], ["y"], name="back", to=TensorProto.FLOAT),
    ]
    return load(nodes, {"x": [4]}, ["y", "z"])


def test_lines_lead_past_casts_to_what_reads_them() -> None:
    model = casts()
    scene = scene_of(model, CASTS)
    assert lines(scene) == {("x", "Relu", "x"), ("x", "Neg", "x"), ("Relu", "y", "c"), ("Neg", "z", "z")}
    assert len(scene.left_out) == 3


def test_what_is_left_out_is_found_beside_its_place() -> None:
    model = casts()
    scene = scene_of(model, CASTS)
    nodes = {node.name: node for node in model.graph.nodes}
    assert [scene.boxes[box].title for box in scene.locate(nodes["same"])] == ["x"]
    assert [scene.boxes[box].title for box in scene.locate(nodes["back"])] == ["Relu"]
    assert scene.leaves_out(nodes["same"])
    assert scene.leaves_out(model.graph.tensors["b"])
    assert not scene.leaves_out(nodes["relu"])
    assert scene.nets_of[id(model.graph.tensors["b"])] == scene.nets_of[id(model.graph.tensors["x"])]


def test_a_dequantised_weight_is_a_row_of_the_node_that_reads_it() -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], name="d"),
        helper.make_node("DequantizeLinear", ["w8", "s", "z"], ["w"], name="w"),
        helper.make_node("Conv", ["d", "w"], ["y"], name="conv"),
    ]
    constants = {"w8": np.ones((4, 3, 3, 3), np.int8), "s": np.float32(0.5), "z": np.int8(0)}
    model = load(nodes, {"x": ["N", 3, 8, 8]}, ["y"], constants)
    scene = scene_of(model, QDQ)
    assert lines(scene) == {("x", "Conv", "x"), ("Conv", "y", "y")}
    conv = next(box for box in scene.boxes if box.title == "Conv")
    assert [(row.name, row.value, row.item) for row in conv.rows] == [("W", "4×3×3×3", model.graph.tensors["w8"])]
    assert scene.readers[id(model.graph.tensors["w8"])] == [scene.boxes.index(conv)]


def shapes() -> Model:
    """Reshape by the batch of x; the shape of x is an output as well."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], name="shape"),
        helper.make_node("Gather", ["s", "zero"], ["n"], name="batch"),
        helper.make_node("Concat", ["n", "rest"], ["to"], name="to", axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"], name="reshape"),
        helper.make_node("Shape", ["y"], ["z"], name="told"),
    ]
    constants = {"zero": np.array([0], np.int64), "rest": np.array([-1], np.int64)}
    return load(nodes, {"x": ["N", 3, 8]}, ["y", "z"], constants)


def test_arithmetic_on_shapes_goes_with_its_lines_but_for_what_makes_an_output() -> None:
    model = shapes()
    scene = scene_of(model, SHAPES)
    assert lines(scene) == {
        ("x", "Reshape", "x"), ("Reshape", "y", "y"), ("Reshape", "Shape", "y"), ("Shape", "z", "z"),
    }  # fmt: skip
    nodes = {node.name: node for node in model.graph.nodes}
    assert [scene.boxes[box].title for box in scene.locate(nodes["shape"])] == ["x"]
    assert [scene.boxes[box].title for box in scene.locate(nodes["to"])] == ["Reshape"]


def test_a_ring_of_identities_is_drawn_without_end() -> None:
    nodes = [helper.make_node("Identity", ["b"], ["a"], name="p"), helper.make_node("Identity", ["a"], ["b"], name="q"),
             helper.make_node("Add", ["a", "x"], ["y"], name="add")]  # fmt: skip
    scene = scene_of(load(nodes, {"x": [4]}, ["y"]), CASTS)
    assert lines(scene) == {("x", "Add", "x"), ("Add", "y", "y")}


@pytest.mark.parametrize("options", [SceneOptions(), CASTS, QDQ, SHAPES])
def test_nothing_else_is_touched(options: SceneOptions) -> None:
    model = load([helper.make_node("Relu", ["x"], ["y"], name="r")], {"x": [4]}, ["y"])
    scene = scene_of(model, options)
    assert ([box.kind for box in scene.boxes], scene.left_out) == (
        [BoxKind.INPUT, BoxKind.NODE, BoxKind.OUTPUT], frozenset(),
    )  # fmt: skip


def test_the_button_above_the_canvas_brings_them_back(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(path(SAMPLE_MODEL))
    view, document = window.canvas, window.document
    flatten = next(node for node in document.graph.order if node.op_type == "Flatten")
    every = len(view.canvas.scene.boxes)
    assert not view.bar.left_out.isVisible()
    flatten.op_type = "Identity"  # the sample has no node of these kinds
    with qtbot.waitSignal(view.drawn):
        window.actions_by_name["show_hide_casts"].trigger()
    assert len(view.canvas.scene.boxes) == every - 1
    assert view.bar.left_out.text() == "1 node hidden ✕"
    document.select(flatten)
    assert "hidden" in view.notice
    with qtbot.waitSignal(view.drawn):
        qtbot.mouseClick(view.bar.left_out, Qt.MouseButton.LeftButton)
    assert len(view.canvas.scene.boxes) == every
    assert not view.bar.left_out.isVisible()
    assert not window.actions_by_name["show_hide_casts"].isChecked()


def test_all_but_what_was_found_steps_back_until_escape(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(path(SAMPLE_MODEL))
    canvas, document = window.canvas.canvas, window.document
    assert not window.actions_by_name["only_matches"].isEnabled()
    document.find_requested.emit("op:Conv")
    qtbot.waitUntil(lambda: len(document.finder.items) > 0)
    window.actions_by_name["only_matches"].trigger()
    lit = [box.title for box, is_lit in zip(canvas.scene.boxes, canvas.lit.boxes, strict=True) if is_lit]
    assert set(lit) == {"Conv"}
    assert len(lit) == len(document.finder.items)
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.lit is None


def test_full_screen_and_back(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert window.isFullScreen()
    assert window.actions_by_name["full_screen"].isChecked()
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert not window.isFullScreen()
    assert not window.actions_by_name["full_screen"].isChecked()
