"""Small models for the canvas tests, and their scenes."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from engine.graph.ir import Model
from engine.graph.loader import load_model_proto
from gui.canvas.scene import Scene, SceneOptions, TextStyle
from gui.canvas.scene_builder import build_scene

FLOAT = TensorProto.FLOAT


def width(text: str, style: TextStyle) -> float:
    """Seven px a letter: widths that don't depend on the fonts of the machine."""
    return 7.0 * len(text)


def scene_of(model: Model, options: SceneOptions | None = None) -> Scene:
    return build_scene(model.graph, width, options)


def load(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[int | str | None]],
    outputs: list[str],
    initializers: dict[str, np.ndarray] | None = None,
    **kwargs: object,
) -> Model:
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in (initializers or {}).items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    return load_model_proto(helper.make_model(graph, opset_imports=opsets, ir_version=8, **kwargs))


def conv_net() -> Model:
    """x -> Conv -> Relu -> Add(shortcut) -> y, with a Constant shared by two nodes and an unread input."""
    return load(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", strides=[2, 2], pads=[0, 0, 0, 0]),
            helper.make_node("Constant", [], ["two"], name="const", value_float=2.0),
            helper.make_node("Relu", ["c"], ["r"], name="relu"),
            helper.make_node("Mul", ["r", "two"], ["m"], name="mul"),
            helper.make_node("Add", ["m", "two"], ["a"], name="add"),
            helper.make_node("Add", ["a", "c"], ["y"], name="sum"),
        ],
        {"x": ["N", 3, 8, 8], "unread": [1]},
        ["y"],
        {"w": np.ones((4, 3, 3, 3), np.float32), "b": np.ones(4, np.float32)},
    )


def control_flow() -> Model:
    """x -> If(cond): a branch that captures x, a branch that is one Constant."""
    shape = helper.make_tensor_value_info("o", FLOAT, None)
    then = helper.make_graph([helper.make_node("Relu", ["x"], ["o"], name="inner")], "then", [], [shape])
    constant = helper.make_node("Constant", [], ["o"], name="only", value_float=1.0)
    other = helper.make_graph([constant], "else", [], [shape])
    return load(
        [
            helper.make_node("ReduceMax", ["x"], ["top"], name="top", keepdims=0),
            helper.make_node("Cast", ["top"], ["cond"], name="cast", to=TensorProto.BOOL),
            helper.make_node("If", ["cond"], ["y"], name="if", then_branch=then, else_branch=other),
        ],
        {"x": [4]},
        ["y"],
    )


def cyclic() -> Model:
    """x -> a <-> b -> y."""
    return load(
        [
            helper.make_node("Add", ["x", "q"], ["p"], name="a"),
            helper.make_node("Relu", ["p"], ["q"], name="b"),
            helper.make_node("Relu", ["q"], ["y"], name="c"),
        ],
        {"x": [4]},
        ["y"],
    )
