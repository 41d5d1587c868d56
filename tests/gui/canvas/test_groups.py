"""Modules from names and metadata: the tree, twins, split modules, and what of them is drawn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from engine.graph.ir import Model, Node
from engine.graph.modules import told_by_metadata
from gui.canvas.geometry import Geometry
from gui.canvas.groups import Group, GroupTree, group_tree
from gui.canvas.layout import layout
from gui.canvas.links import Links
from gui.canvas.scene import BoxKind, Scene, SceneOptions
from gui.canvas.scene_builder import build_scene
from tests.gui.canvas.models import control_flow, load, width


def chain(names: list[str], ops: list[str] | None = None) -> Model:
    """Nodes of these names, one after the other."""
    tensors = ["x", *(f"t{i}" for i in range(1, len(names))), "y"]
    ops = ops or ["Relu"] * len(names)
    nodes = [helper.make_node(ops[i], [tensors[i]], [tensors[i + 1]], name=name) for i, name in enumerate(names)]
    return load(nodes, {"x": [4]}, ["y"])


def tree_of(model: Model) -> GroupTree:
    tree = group_tree(model.graph)
    assert tree is not None
    return tree


def outline(group: Group) -> list[object]:
    return [
        (member.name, outline(member)) if isinstance(member, Group) else member.name for member in group.members
    ]  # fmt: skip


def test_names_make_a_tree() -> None:
    tree = tree_of(chain(["/a/b/Relu", "/a/b/Relu_1", "/a/Relu_2", "/Relu_3", "/c/Relu_4", "/c/Relu_5"]))
    assert outline(tree.root) == [
        ("a", [("b", ["/a/b/Relu", "/a/b/Relu_1"]), "/a/Relu_2"]), "/Relu_3", ("c", ["/c/Relu_4", "/c/Relu_5"]),
    ]  # fmt: skip
    a = tree.root.members[0]
    assert isinstance(a, Group)
    assert (a.nodes, a.depth, [g.depth for g in a.groups()]) == (3, 0, [1])


def test_plain_names_make_no_tree() -> None:
    assert group_tree(chain(["Relu_0", "Relu_1", "Relu_2"]).graph) is None


def test_a_module_of_one_node_gives_way_and_a_lone_inner_module_joins_its_outer_one() -> None:
    tree = tree_of(chain(["/a/only/Relu", "/m/inner/Relu", "/m/inner/Relu_1"]))
    assert outline(tree.root) == ["/a/only/Relu", ("m/inner", ["/m/inner/Relu", "/m/inner/Relu_1"])]


def test_metadata_goes_before_names_and_knows_classes() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="node_relu")
    for key, value in (
        ("pkg.torch.onnx.name_scopes", "['', 'layers.0', 'layers.0.attn', 'relu']"),
        ("pkg.torch.onnx.class_hierarchy", "['M', 'pkg.Block', 'pkg.Attention', 'aten.relu']"),
    ):
        node.metadata_props.append(onnx.StringStringEntryProto(key=key, value=value))
    read = load([node], {"x": [4]}, ["y"]).graph.nodes[0]
    assert told_by_metadata(read.metadata) == (("layers.0", "layers.0.attn"), ("Block", "Attention"))
    del read.metadata["pkg.torch.onnx.name_scopes"]
    read.metadata["namespace"] = ": M/enc: pkg.Encoder/relu: aten.relu"
    assert told_by_metadata(read.metadata) == (("enc",), ("Encoder",))


def test_a_node_of_which_nothing_is_said_belongs_where_its_readers_do() -> None:
    tree = tree_of(chain(["/a/Relu", "put_in", "/a/Relu_1", "/b/Relu_2", "/b/Relu_3"]))
    group = tree.group_of[next(n for n in tree.group_of if n.name == "put_in")]
    assert group.name == "a"


def test_equal_modules_are_twins_and_others_are_not() -> None:
    names = [f"/layers.{i}/op{k}" for i in range(3) for k in range(2)] + ["/odd/op0", "/odd/op1"]
    tree = tree_of(chain(names, ["Relu", "Abs"] * 3 + ["Abs", "Relu"]))
    assert [(g.name, g.twins) for g in tree.root.groups()] == [
        ("layers.0", 3), ("layers.1", 3), ("layers.2", 3), ("odd", 1),
    ]  # fmt: skip


def test_a_module_left_and_entered_again_is_split() -> None:
    tree = tree_of(chain(["/a/r0", "/a/r1", "/b/r2", "/b/r3", "/a/r4", "/a/r5"]))
    assert [(g.name, g.part, g.parts) for g in tree.root.groups()] == [("a", 1, 2), ("b", 1, 1), ("a", 2, 2)]


def test_modules_that_feed_each_other_crosswise_are_split() -> None:
    """a0 -> b0 and b1 -> a1 share no way, so neither module alone is left and entered again."""
    nodes = [
        helper.make_node("Relu", ["x"], ["p"], name="/a/0"),
        helper.make_node("Relu", ["p"], ["q"], name="/b/0"),
        helper.make_node("Relu", ["x"], ["r"], name="/b/1"),
        helper.make_node("Relu", ["r"], ["s"], name="/a/1"),
        helper.make_node("Add", ["q", "s"], ["y"], name="/end"),
    ]
    assert_acyclic(load(nodes, {"x": [4]}, ["y"]))


def assert_acyclic(model: Model) -> None:
    tree = group_tree(model.graph)
    scene = build_scene(model.graph, width, tree=tree)
    result = layout(scene.layout_input)
    assert not result.segment_back.any()
    assert (result.rank[scene.layout_input.source] < result.rank[scene.layout_input.target]).all()


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["/a", "/b", "/a/c", "/b/c", "/d", ""]), st.integers(0, 30)), max_size=18))
def test_no_grouping_makes_a_cycle(steps: list[tuple[str, int]]) -> None:
    """Each node reads the one before and some earlier one."""
    tensors, nodes = ["x", "x"], []
    for i, (module, back) in enumerate(steps):
        read = [tensors[-1], tensors[back % len(tensors)]]
        tensors.append(f"t{i}")
        nodes.append(helper.make_node("Add", read, [tensors[-1]], name=f"{module}/n{i}"))
    assert_acyclic(load(nodes, {"x": [4]}, [tensors[-1]] if steps else []))


# What is drawn


def two_layers() -> Model:
    return chain([f"/layers.{i}/op{k}" for i in range(2) for k in range(3)])


def scene(model: Model, *opened: str) -> Scene:
    tree = tree_of(model)
    return build_scene(
        model.graph, width, tree=tree, opened=frozenset(g for g in tree.root.groups() if g.name in opened)
    )  # fmt: skip


def kinds(scene: Scene) -> list[BoxKind]:
    return [box.kind for box in scene.boxes]


def test_closed_modules_are_boxes_that_tell_how_many_they_are() -> None:
    drawn = scene(two_layers())
    assert kinds(drawn) == [BoxKind.INPUT, BoxKind.GROUP, BoxKind.GROUP, BoxKind.OUTPUT]
    box = drawn.boxes[1]
    assert (box.title, box.note, [(r.name, r.value) for r in box.rows]) == ("layers.0", "+", [("×2", "3 nodes")])
    assert len(drawn.layout_input.source) == 3
    assert drawn.layout_input.parent is None


def test_an_opened_module_is_a_frame_around_its_nodes() -> None:
    model = two_layers()
    drawn = scene(model, "layers.0")
    assert kinds(drawn) == [BoxKind.INPUT, BoxKind.FRAME, *[BoxKind.NODE] * 3, BoxKind.GROUP, BoxKind.OUTPUT]
    assert [box.parent for box in drawn.boxes] == [-1, -1, 1, 1, 1, -1, -1]
    result = layout(drawn.layout_input)
    for i in (2, 3, 4):
        assert result.x[1] <= result.x[i]
        assert result.x[i] + result.width[i] <= result.x[1] + result.width[1]
    last = model.graph.nodes[4]
    assert drawn.locate(last) == [5]
    assert drawn.locate(last.outputs[0]) == [5]
    assert drawn.locate_all([*model.graph.nodes, last.outputs[0], object()]).tolist() == [2, 3, 4, 5]


def test_many_cached_states_stand_in_their_modules() -> None:
    nodes = [
        helper.make_node(
            "Add", [f"t{i}" if i else "x", f"past.{i}"], [f"t{i + 1}" if i < 9 else "y"], name=f"/l.{i}/add"
        )
        for i in range(10)
    ]
    nodes += [helper.make_node("Relu", [f"past.{i}"], [f"present.{i}"], name=f"/l.{i}/relu") for i in range(10)]
    inputs: dict[str, list[int | str | None]] = {"x": [4]} | {f"past.{i}": [4] for i in range(10)}
    model = load(nodes, inputs, ["y", *(f"present.{i}" for i in range(10))])
    drawn = scene(model)
    assert [b.item.name for b in drawn.boxes if b.kind in (BoxKind.INPUT, BoxKind.OUTPUT)] == ["x", "y"]  # type: ignore[union-attr]
    opened = scene(model, "l.3")
    inside = [b.item.name for b in opened.boxes if b.parent >= 0]  # type: ignore[union-attr]
    assert inside == ["past.3", "/l.3/add", "/l.3/relu", "present.3"]


def test_subgraphs_open_in_place_with_captured_values_led_in() -> None:
    model = control_flow()
    node = model.graph.nodes[-1]
    drawn = build_scene(model.graph, width, opened=frozenset({node}))
    frames = [box.title for box in drawn.boxes if box.kind is BoxKind.FRAME]
    assert frames[0] == "If  if"
    assert set(frames[1:]) == {"then_branch  then", "else_branch  else"}
    inner = drawn.box_of[id(node.subgraphs["then_branch"].nodes[0])]
    x = drawn.box_of[id(model.graph.inputs[0])]
    data = drawn.layout_input
    edge = int(np.flatnonzero((data.source == x) & (data.target == inner))[0])
    assert drawn.nets[int(data.net[edge])].captured
    assert not layout(data).segment_back.any()
    closed = build_scene(model.graph, width)
    assert any(net.captured for net in closed.nets)


# Chips, cones and paths


def far_scale(readers: int = 40) -> Model:
    """A scalar that every second step of a chain reads."""
    nodes = [helper.make_node("Relu", ["s0"], ["scale"], name="make")]
    last = "x"
    for i in range(readers):
        nodes.append(helper.make_node("Mul", [last, "scale"], [f"m{i}"], name=f"mul{i}"))
        nodes.append(helper.make_node("Relu", [f"m{i}"], [f"r{i}"], name=f"relu{i}"))
        last = f"r{i}"
    return load(nodes, {"x": [4], "s0": [1]}, [last])


@pytest.mark.parametrize("chips", [True, False])
def test_far_readers_of_a_much_read_tensor_get_its_name(chips: bool) -> None:
    model = far_scale()
    drawn = build_scene(model.graph, width, SceneOptions(chips=chips))
    named = [box for box in drawn.boxes if box.kind is BoxKind.CHIP]
    assert bool(named) == chips
    if not chips:
        return
    tensor = model.graph.tensors["scale"]
    assert {box.title for box in named} == {"scale"}
    assert len(drawn.nets_of[id(tensor)]) == 1 + len(named)
    last = next(n for n in model.graph.nodes if n.name == "mul39")
    assert named[-1].item is tensor
    assert drawn.box_of[id(last)] in drawn.layout_input.target


def lit_names(drawn: Scene, boxes: np.ndarray) -> set[str]:
    return {box.item.name for box, on in zip(drawn.boxes, boxes, strict=True) if on and isinstance(box.item, Node)}


def test_cones_and_paths_cross_chips_and_frames() -> None:
    model = far_scale()
    drawn = build_scene(model.graph, width)
    links = Links(drawn, Geometry.of(drawn, layout(drawn.layout_input)))
    box = {n.name: drawn.box_of[id(n)] for n in model.graph.nodes}
    before = links.cone([box["mul39"]], upstream=True, downstream=False)
    assert {"make", "mul0", "relu38"} <= lit_names(drawn, before.boxes)
    assert "relu39" not in lit_names(drawn, before.boxes)
    after = links.cone([box["relu38"]], upstream=False, downstream=True)
    assert lit_names(drawn, after.boxes) == {"relu38", "mul39", "relu39"}
    path = links.paths(box["make"], box["mul39"])
    assert path is not None
    assert {"make", "mul39"} <= lit_names(drawn, path.boxes)
    assert links.paths(drawn.box_of[id(model.graph.inputs[0])], box["make"]) is None


def test_a_cone_goes_into_a_subgraph_shown_in_place() -> None:
    model = control_flow()
    drawn = build_scene(model.graph, width, opened=frozenset({model.graph.nodes[-1]}))
    links = Links(drawn, Geometry.of(drawn, layout(drawn.layout_input)))
    lit = links.cone([drawn.box_of[id(model.graph.inputs[0])]], upstream=False, downstream=True)
    assert {"top", "inner", "if"} <= lit_names(drawn, lit.boxes)
    assert "only" not in lit_names(drawn, lit.boxes)
    frames = [i for i, b in enumerate(drawn.boxes) if b.kind is BoxKind.FRAME]
    assert lit.boxes[frames[0]]


def test_opening_opens_what_would_hide_everything() -> None:
    tree = tree_of(chain([f"/model/layers.{i}/op{k}" for i in range(4) for k in range(3)]))
    assert [g.name for g in tree.opening()] == ["model"]
    assert tree.levels == 2
    assert [g.name for g in tree.at_level(1)] == ["model"]
    groups = [g for g in tree.root.groups() if g.depth == 1]
    assert all(a.twins == b.twins == 4 for a, b in pairwise(groups))
