"""What a comparison says of each node: kinds, the places to go through, where removed nodes stood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.diff import diff
from engine.graph.ir import Model, Node
from engine.shapes.infer import infer_shapes
from gui.canvas.colouring import make_colouring
from gui.canvas.palette import CHANGE_COLOURS, ColourBy, canvas_colours
from gui.canvas.scene import SceneOptions
from gui.canvas.scene_builder import build_scene
from gui.comparing.changes import ADDED, CHANGED, GAP, INSIDE, WEIGHTS, Changes
from gui.look.theme import DARK


def node(op: str, inputs: str, outputs: str, name: str, **attributes: object) -> NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def model(nodes: Sequence[NodeProto], weight: float = 1.0) -> Model:
    graph = helper.make_graph(
        list(nodes), "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4]),
         helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.full((4, 4), weight, np.float32), "w")],
    )  # fmt: skip
    made = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
    infer_shapes(made)
    return made


def branch(op: str, name: str) -> object:
    inner = node(op, "s", f"{name}_out", f"net/{name}_{op}")
    return helper.make_graph([inner], name, [], [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, None)])


def net(*, middle: bool, alpha: float, last: str, inner: str) -> list[NodeProto]:
    """MatMul, perhaps Relu and Tanh, LeakyRelu, perhaps another, Sigmoid, If."""
    nodes = [node("MatMul", "x w", "a", "net/matmul")]
    if middle:
        nodes += [node("Relu", "a", "b", "net/relu"), node("Tanh", "b", "t", "net/tanh")]
    nodes.append(node("LeakyRelu", "t" if middle else "a", "l", "net/leaky", alpha=alpha))
    if last:
        nodes.append(node(last, "l", "m", "net/last"))
    nodes.append(node("Sigmoid", "m" if last else "l", "s", "net/sigmoid"))
    branches = {"then_branch": branch(inner, "then"), "else_branch": branch("Neg", "else")}
    nodes.append(node("If", "c", "y", "net/if", **branches))
    return nodes


def found(changes: Changes) -> dict[str, str]:
    return {n.name: kind for n, kind in changes.kind.items()}


@pytest.fixture
def changes() -> Changes:
    before = model(net(middle=True, alpha=0.1, last="", inner="Abs"))
    after = model(net(middle=False, alpha=0.2, last="Elu", inner="Exp"), weight=2.0)
    return Changes.of(diff(before, after))


def test_every_node_has_the_strongest_of_its_changes(changes: Changes) -> None:
    assert found(changes) == {
        "net/matmul": WEIGHTS, "net/leaky": CHANGED, "net/last": ADDED, "net/if": GAP, "net/then_Exp": ADDED,
    }  # fmt: skip


def test_removed_nodes_are_told_where_they_stood() -> None:
    """Both of a removed pair stand between the same two nodes, though only one is a neighbour of each."""
    before = model(net(middle=True, alpha=0.1, last="", inner="Abs"))
    after = model(net(middle=False, alpha=0.1, last="", inner="Abs"))
    changes = Changes.of(diff(before, after))
    relu, tanh = changes.found.removed
    assert [n and n.name for n in changes.stood(relu)] == ["net/matmul", "net/leaky"]
    assert [n and n.name for n in changes.stood(tanh)] == ["net/matmul", "net/leaky"]
    assert found(changes) == {"net/matmul": GAP}
    (place,) = changes.places
    assert changes.words(place) == "Change 1 of 1: removed here: Relu net/relu, Tanh net/tanh"


def test_changes_inside_show_on_the_node_around_them() -> None:
    before = model(net(middle=True, alpha=0.1, last="", inner="Abs"))
    after = model(net(middle=True, alpha=0.1, last="", inner="Abs"))
    leaf = next(n for n in after.nodes() if n.name == "net/then_Abs")
    leaf.outputs[0].inferred_type = None
    changes = Changes.of(diff(before, after))
    assert found(changes) == {"net/then_Abs": CHANGED, "net/if": INSIDE}
    assert changes.places == [leaf]


def test_places_are_walked_in_run_order_and_round(changes: Changes) -> None:
    names = ["net/matmul", "net/leaky", "net/last", "net/if", "net/then_Exp"]
    assert [n.name for n in changes.places] == names
    walked: list[str] = []
    here: Node | None = None
    for _ in range(6):
        here = changes.step(here, 1)
        assert here is not None
        walked.append(here.name)
    assert walked == [*names, names[0]]
    by_name = {n.name: n for n in changes.found.after.nodes()}
    for start, direction, expected in (
        ("net/sigmoid", 1, "net/if"), ("net/sigmoid", -1, "net/last"), ("net/matmul", -1, "net/then_Exp"),
    ):  # fmt: skip
        assert getattr(changes.step(by_name[start], direction), "name", "") == expected
    assert changes.step(by_name["net/last"].outputs[0], -1) is by_name["net/leaky"]


def test_an_added_node_stands_for_what_is_in_it() -> None:
    nodes = net(middle=True, alpha=0.1, last="", inner="Abs")
    before = model([*nodes[:-2], node("Sigmoid", "l", "y", "net/sigmoid")])
    changes = Changes.of(diff(before, model(nodes)))
    assert found(changes) == {"net/if": ADDED, "net/then_Abs": ADDED, "net/else_Neg": ADDED}
    assert [n.name for n in changes.places] == ["net/if"]


def test_nodes_are_coloured_by_their_kind(changes: Changes) -> None:
    graph = changes.found.after.graph
    scene = build_scene(graph, lambda text, _style: 6.0 * len(text), SceneOptions(), None, frozenset())
    colouring = make_colouring(scene, ColourBy.CHANGE, dict(changes.kind))
    place = {box.item.name: i for i, box in enumerate(scene.boxes) if isinstance(box.item, Node)}
    colours = {name: colouring.colours[colouring.index[i]] for name, i in place.items()}
    assert colours["net/last"] == CHANGE_COLOURS[ADDED]
    assert colours["net/leaky"] == CHANGE_COLOURS[CHANGED]
    assert colours["net/sigmoid"] not in CHANGE_COLOURS.values()
    assert colouring.legend is not None
    assert [text for _, text in colouring.legend.entries] == [
        "Only here  1", "Changed  1", "Other weights  1", "Removed here  1", "The same  1",
    ]  # fmt: skip
    dark = canvas_colours(DARK)
    suited = colouring.suited(dark)
    assert suited.colours[suited.index[place["net/sigmoid"]]] == dark.quiet
