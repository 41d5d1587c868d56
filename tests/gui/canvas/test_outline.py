"""The outline of a file shows what its linked model shows in closed modules, or there is none."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from engine.errors import ModelFormatError
from engine.graph.ir import Model
from engine.graph.loader import load, load_model_proto
from engine.graph.reader import ModelFile, read_bytes, read_file
from gui.canvas.groups import GroupTree, group_tree
from gui.canvas.outline import outline_of
from gui.canvas.scene import Opened, Scene
from gui.canvas.scene_builder import build_scene
from tests.fuzz.mutate import mutant
from tests.gui.canvas.models import width

FLOAT = TensorProto.FLOAT


def picture(scene: Scene) -> list[object]:
    """All that is drawn of a scene, in order."""
    boxes = [
        (b.kind, b.title, b.note, [(r.name, r.value) for r in b.rows], b.width, b.height, b.parent) for b in scene.boxes
    ]
    data = scene.layout_input
    nets = [(net.tensor.name, net.label, net.inferred, net.captured) for net in scene.nets]
    arrays = (data.width, data.height, data.source, data.target, data.net, data.label_width)
    return [boxes, nets, [array.tolist() for array in arrays]]


def modules(tree: GroupTree, opened: Opened) -> list[object]:
    """The modules that show, with what is said of them."""
    shown = [place for place in (tree.root, *tree.root.groups()) if place is tree.root or place in opened]
    closed = [m for place in shown for m in place.members if hasattr(m, "path") and m not in opened]
    return [(g.path, g.kind, g.depth, g.part, g.parts, g.nodes, g.twins) for g in (*shown, *closed)]


def outlined(file: ModelFile) -> tuple[list[object], list[object]] | None:
    found = outline_of(file)
    if found is None:
        return None
    scene = build_scene(found.graph, width, None, found.tree, found.opened)
    return picture(scene), modules(found.tree, found.opened)


def linked(model: Model) -> tuple[list[object], list[object]]:
    tree = group_tree(model.graph)
    assert tree is not None
    opened = tree.opening()
    return picture(build_scene(model.graph, width, None, tree, opened)), modules(tree, opened)


def proto(nodes: list[onnx.NodeProto], outputs: list[str], inputs: tuple[str, ...] = ("x",)) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, FLOAT, [4]) for name in inputs]
    made = [name for node in nodes for name in node.output if name]
    graph = helper.make_graph(
        nodes, "g", values, [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.ones(4, np.float32), name) for name in ("w", "v")],
        value_info=[helper.make_tensor_value_info(name, FLOAT, [len(name), 4]) for name in made[::2]],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def file_of(message: onnx.ModelProto) -> ModelFile:
    return read_bytes(message.SerializeToString())


def small() -> onnx.ModelProto:
    """x -> [a: Add w, Relu, Constant] -> Mul -> [b: Neg, Neg], the middle value of a an output too."""
    return proto(
        [
            helper.make_node("Add", ["x", "w"], ["p"], name="/a/Add"),
            helper.make_node("Relu", ["p"], ["q"], name="/a/Relu"),
            helper.make_node("Constant", [], ["c"], name="/Constant", value_float=2.0),
            helper.make_node("Mul", ["q", "c"], ["m"], name="/Mul"),
            helper.make_node("Neg", ["m"], ["n"], name="/b/Neg"),
            helper.make_node("Neg", ["n"], ["y"], name="/b/Neg_1"),
        ],
        ["p", "y"],
    )


def test_a_stand_in_reads_and_makes_what_its_module_does() -> None:
    found = outline_of(file_of(small()))
    assert found is not None
    wires = {node.name: ([t.name for t in node.inputs if t], [t.name for t in node.outputs if t])
             for node in found.graph.nodes}  # fmt: skip
    assert wires == {
        "/Mul": (["q", "c"], ["m"]),
        "/a/Add": (["x", "p"], ["p", "q"]),
        "/b/Neg": (["m"], ["y"]),
        "/Constant": ([], ["c"]),
    }
    assert outlined(file_of(small())) == linked(load_model_proto(small()))


def test_a_constant_before_any_number_of_nodes_keeps_the_numbers_of_the_file() -> None:
    found = outline_of(file_of(small()))
    assert found is not None
    assert {node.name: node.index for node in found.graph.nodes}["/Mul"] == 3


def test_there_is_none_where_names_alone_would_mislead() -> None:
    twice, unsorted, nested, plain = small(), small(), small(), small()
    twice.graph.node[3].output[0] = "q"
    unsorted.graph.node.insert(0, unsorted.graph.node.pop())
    body = helper.make_graph([], "body", [], [helper.make_tensor_value_info("q", FLOAT, None)])
    nested.graph.node.append(helper.make_node("If", ["q"], ["z"], then_branch=body, else_branch=body))
    for node in plain.graph.node:
        node.name = node.op_type
    function = small()
    function.functions.append(helper.make_function("f", "F", [], [], [], [helper.make_opsetid("", 17)]))
    for message in (twice, unsorted, nested, plain, function):
        assert outline_of(file_of(message)) is None


@pytest.mark.parametrize("around", ["", "/m", "/m/m", "/m/m/m/m", "/m/m/m/m/m/m/m/m/m", "/m" * 14])
def test_modules_deep_inside_show_as_they_do_of_the_linked_model(around: str) -> None:
    """A, B and a lone C in another, each of several nodes, which stand around the modules that show at first."""
    names = [f"{around}/{module}/n{i}" for module in ("a", "a/x", "b", "c/d/e/f") for i in range(3)]
    nodes = [helper.make_node("Relu", [f"t{i}" if i else "x"], [f"t{i + 1}"], name=n) for i, n in enumerate(names)]
    message = proto(nodes, [f"t{len(nodes)}"])
    assert outlined(file_of(message)) == linked(load_model_proto(message))


def test_the_metadata_of_some_nodes_goes_before_their_names() -> None:
    message = small()
    for node, scopes in zip(message.graph.node, ("['', 'b', 'n']", "['', 'b', 'n']"), strict=False):
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=scopes)
    found = outlined(file_of(message))
    assert found == linked(load_model_proto(message))
    assert found is not None
    assert [module[0] for module in found[1]] == [(), ("b",), ("b",)]  # split, since Mul stands between its parts


NAMES = ("", "/a/n", "/a/b/n", "/a/b/c/n", "/d/n", "/d/e/n", "m/", "plain", "/n")


@st.composite
def models(draw: st.DrawFn) -> onnx.ModelProto:
    """Nodes of a few modules that read anything before them, constants, inputs, and sometimes nothing that is there."""
    known, nodes = ["x", "k.0", "k.1", "k.2", "k.3", "w", "v", ""], []
    for i in range(draw(st.integers(2, 24))):
        op = draw(st.sampled_from(("Add", "Relu", "Constant", "Split")))
        inputs = [] if op == "Constant" else draw(st.lists(st.sampled_from([*known, "absent"]), min_size=1, max_size=3))
        outputs = [f"t{i}", f"u{i}"] if op == "Split" else [f"t{i}"]
        node = helper.make_node(op, inputs, outputs, name=draw(st.sampled_from(NAMES)))
        if draw(st.booleans()):
            node.metadata_props.add(key="namespace", value=f": T/{draw(st.sampled_from('ab'))}: Block/{op}")
        nodes.append(node)
        known += outputs
    made = [name for node in nodes for name in node.output]
    outputs = draw(st.lists(st.sampled_from([*made, "w", "x"]), min_size=1, max_size=6, unique=True))
    return proto(nodes, outputs, ("x", "k.0", "k.1", "k.2", "k.3", *draw(st.sampled_from(((), ("w",))))))


@settings(max_examples=100, deadline=None)
@given(models())
def test_it_shows_what_the_linked_graph_shows(message: onnx.ModelProto) -> None:
    found = outlined(file_of(message))
    model = load_model_proto(message)
    assert (found is None) == (group_tree(model.graph) is None)
    if found is not None:
        assert found == linked(model)


def test_it_shows_what_the_shared_models_show(shared: Path) -> None:
    compared = 0
    for path in sorted(shared.rglob("*.onnx")):
        if path.stat().st_size > 50e6:
            continue
        try:
            found = outlined(read_file(path))
        except ModelFormatError:
            continue
        if found is not None:
            compared += 1
            assert found == linked(load(path)), path
    assert compared >= 20


@pytest.mark.parametrize("seed", range(4))
def test_mutants_show_what_they_are(shared: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    corpus = [path for path in sorted(shared.rglob("*.onnx")) if path.stat().st_size < 200_000]
    for _ in range(40):
        data, how = mutant(rng, corpus)
        path = tmp_path / "mutant.onnx"
        path.write_bytes(data)
        try:
            found = outlined(read_file(path))
        except ModelFormatError:
            continue
        if found is not None:
            assert found == linked(load(path)), how
