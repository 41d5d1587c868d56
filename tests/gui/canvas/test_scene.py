"""What is drawn of a graph: boxes, rows, nets and labels."""

from __future__ import annotations

import numpy as np
import onnx.defs
import pytest
from onnx import helper

from engine.dims import Shape
from engine.graph.types import TensorType
from gui.canvas.labels import clean, edge_label, format_dims
from gui.canvas.palette import Category, category_of
from gui.canvas.scene import Box, BoxKind, Scene, SceneOptions
from gui.canvas.scene_builder import build_scene
from tests.gui.canvas.models import control_flow, conv_net, cyclic, load, scene_of, width


def box(scene: Scene, name: str) -> Box:
    return next(b for b in scene.boxes if b.item.name == name and b.kind is not BoxKind.OUTPUT)


def edges(scene: Scene) -> set[tuple[str, str]]:
    """Edges as pairs of names of nodes or pills."""
    data = scene.layout_input
    return {
        (scene.boxes[s].item.name, scene.boxes[t].item.name)
        for s, t in zip(data.source.tolist(), data.target.tolist(), strict=True)
    }


def test_inputs_outputs_and_nodes_are_boxes_but_constants_are_rows() -> None:
    scene = scene_of(conv_net())
    assert [(b.kind, b.item.name) for b in scene.boxes] == [
        (BoxKind.INPUT, "x"),
        (BoxKind.INPUT, "unread"),
        (BoxKind.NODE, "conv"),
        (BoxKind.NODE, "relu"),
        (BoxKind.NODE, "mul"),
        (BoxKind.NODE, "add"),
        (BoxKind.NODE, "sum"),
        (BoxKind.OUTPUT, "y"),
    ]
    assert [(r.name, r.value) for r in box(scene, "mul").rows] == [("B", "= 2")]
    assert edges(scene) == {
        ("x", "conv"), ("conv", "relu"), ("relu", "mul"), ("mul", "add"), ("add", "sum"), ("conv", "sum"), ("sum", "y"),
    }  # fmt: skip


def test_rows_carry_formal_names_shapes_and_telling_attributes() -> None:
    """Zero pads and the kernel shape that W implies are not worth a row."""
    rows = [(r.name, r.value) for r in box(scene_of(conv_net()), "conv").rows]
    assert rows == [("W", "4×3×3×3"), ("B", "4"), ("strides", "2×2")]


def test_rows_can_be_switched_off() -> None:
    scene = scene_of(conv_net(), SceneOptions(weights=False, attributes="none"))
    assert box(scene, "conv").rows == []
    assert box(scene, "conv").height < box(scene_of(conv_net()), "conv").height


def test_a_shared_constant_is_found_in_all_its_readers() -> None:
    model = conv_net()
    scene = scene_of(model)
    constant = next(n for n in model.graph.nodes if n.op_type == "Constant")
    names = [scene.boxes[i].item.name for i in scene.locate(constant)]
    assert names == ["mul", "add"]
    assert scene.locate(constant.outputs[0]) == scene.locate(constant)
    assert scene.locate_all([constant, *constant.outputs]).tolist() == scene.locate(constant)


def test_a_constant_that_is_an_output_stays_a_box() -> None:
    branch = control_flow().graph.nodes[-1].subgraphs["else_branch"]
    scene = build_scene(branch, width)
    assert [(b.kind, b.title) for b in scene.boxes] == [(BoxKind.NODE, "Constant"), (BoxKind.OUTPUT, "o")]


def test_captured_values_are_pills_of_the_subgraph_and_edges_of_its_owner() -> None:
    model = control_flow()
    assert ("x", "if") in edges(scene_of(model))
    inner = build_scene(model.graph.nodes[-1].subgraphs["then_branch"], width)
    assert [(b.kind, b.item.name) for b in inner.boxes if b.kind is BoxKind.CAPTURED] == [(BoxKind.CAPTURED, "x")]
    assert ("x", "inner") in edges(inner)


def test_subgraphs_are_rows() -> None:
    rows = {r.name: r.value for r in box(scene_of(control_flow()), "if").rows}
    assert rows == {"then_branch": "▸ 1 node", "else_branch": "▸ 1 node"}


def test_a_value_that_nobody_makes_is_a_missing_pill() -> None:
    model = load([helper.make_node("Relu", ["nowhere"], ["y"], name="r")], {}, ["y"])
    assert box(scene_of(model), "nowhere").kind is BoxKind.MISSING


def test_an_initializer_that_is_an_output_is_a_pill() -> None:
    model = load([], {}, ["w"], {"w": np.ones(3, np.float32)})
    assert [b.kind for b in scene_of(model).boxes] == [BoxKind.OUTPUT, BoxKind.CONSTANT]


def test_nodes_of_a_cycle_have_no_run_index() -> None:
    scene = scene_of(cyclic())
    assert box(scene, "a").note == "∞"
    assert ("b", "a") in edges(scene)


def test_run_index_counts_from_one() -> None:
    scene = scene_of(conv_net())
    notes = [b.note for b in scene.boxes if b.kind is BoxKind.NODE]
    assert notes == ["#1", "#3", "#4", "#5", "#6"]


def test_hostile_names_become_one_short_line() -> None:
    model = load([helper.make_node("Relu", ["a\n\t<b>" + "x" * 500], ["y"], name="r")], {}, ["y"])
    title = next(b.title for b in scene_of(model).boxes if b.kind is BoxKind.MISSING)
    assert "\n" not in title
    assert len(title) <= 40


def test_stored_labels_are_plain_and_inferred_ones_marked() -> None:
    model = conv_net()
    x, relu = model.graph.tensors["x"], model.graph.tensors["r"]
    assert edge_label(x) == ("N×3×8×8", False)
    assert edge_label(relu) == ("", False)
    relu.inferred_type = TensorType(x.dtype, (4, 2, 2))
    assert edge_label(relu) == ("4×2×2", True)


@pytest.mark.parametrize(
    ("shape", "text"), [((), "scalar"), ((1, None, 3), "1×?×3"), (None, "?")]
)  # fmt: skip
def test_shapes(shape: Shape | None, text: str) -> None:
    assert format_dims(shape) == text


def test_long_labels_are_cut_to_their_room() -> None:
    model = load([helper.make_node("Relu", ["x"], ["y"])], {"x": [10**9] * 12}, ["y"])
    scene = scene_of(model)
    net = scene.nets[scene.nets_of[id(model.graph.tensors["x"])][0]]
    assert net.label.endswith("…")
    assert scene.layout_input.label_width.max() <= 170


def test_clean_shortens_in_the_middle() -> None:
    assert clean("a" * 20 + "b" * 20, 11) == "aaaaa…bbbbb"


@pytest.mark.parametrize(
    ("op", "domain", "category"),
    [
        ("Conv", "", Category.LAYER),
        ("Relu", "ai.onnx", Category.ACTIVATION),
        ("ReduceMean", "", Category.NORMALISATION),
        ("Resize", "", Category.POOLING),
        ("Gather", "", Category.SHAPE),
        ("Where", "", Category.ARITHMETIC),
        ("Cast", "", Category.QUANTISATION),
        ("Loop", "", Category.CONTROL),
        ("TreeEnsemble", "ai.onnx.ml", Category.LAYER),
        ("Conv", "com.example", Category.OTHER),
        ("Nonsense", "", Category.OTHER),
    ],
)
def test_categories(op: str, domain: str, category: Category) -> None:
    assert category_of(op, domain) is category


def test_every_standard_operator_has_a_category() -> None:
    ops = {s.name for s in onnx.defs.get_all_schemas() if s.domain in ("", "ai.onnx.ml")}
    assert [op for op in sorted(ops) if category_of(op, "") is Category.OTHER] == []
