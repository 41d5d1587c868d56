"""Two models held against each other: small edits whose effect is known, renamed and shuffled models, the corpus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import NodeProto, TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.cli import main
from engine.diff import ModelDiff, diff
from engine.graph.ir import Model
from engine.opening import open_model
from engine.shapes.infer import infer_shapes

W = np.arange(16, dtype=np.float32).reshape(4, 4)


def node(op: str, inputs: str, outputs: str, name: str = "", **attributes: object) -> NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def model(nodes: Sequence[NodeProto], weights: dict[str, np.ndarray] | None = None, batch: str = "N") -> Model:
    values = {"w": W} if weights is None else weights
    graph = helper.make_graph(
        list(nodes), "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )  # fmt: skip
    made = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
    infer_shapes(made)
    return made


def chain(*operators: str, numbered: bool = False) -> list[NodeProto]:
    """Unary operators one after another, named after their place among all, or after themselves."""
    nodes, names = [], ["x", *(f"t{i}" for i in range(1, len(operators))), "y"]
    for place, op in enumerate(operators):
        name = f"{op}_{place}" if numbered else f"block/{op.lower()}"
        nodes.append(node(op, names[place], names[place + 1], name))
    return nodes


BASE = [
    node("MatMul", "x w", "a", "layer/matmul"),
    node("Relu", "a", "b", "layer/relu"),
    node("Softmax", "b", "y", "layer/softmax", axis=-1),
]


def names(found: ModelDiff) -> tuple[list[str], list[str], list[str]]:
    return [n.name for n in found.added], [n.name for n in found.removed], [p.after.name for p in found.changed]


def test_a_model_equals_itself() -> None:
    found = diff(model(BASE), model(BASE))
    assert found.same
    assert (len(found.pairs), found.weights_compared, found.facts) == (3, 1, [])


def test_new_names_everywhere_change_nothing() -> None:
    renamed = [
        node("MatMul", "x weight", "p", "n0"), node("Relu", "p", "q", "n1"), node("Softmax", "q", "y", "n2", axis=-1)
    ]  # fmt: skip
    found = diff(model(BASE), model(renamed, {"weight": W}, batch="batch"))
    assert found.same
    assert [(p.before.name, p.after.name) for p in found.renamed] == [
        ("layer/matmul", "n0"), ("layer/relu", "n1"), ("layer/softmax", "n2"),
    ]  # fmt: skip


def test_an_inserted_node_is_the_only_difference() -> None:
    longer = [BASE[0], node("Neg", "a", "a2", "layer/neg"), node("Relu", "a2", "b", "layer/relu"), BASE[2]]
    found = diff(model(BASE), model(longer))
    assert names(found) == (["layer/neg"], [], [])
    back = diff(model(longer), model(BASE))
    assert names(back) == ([], ["layer/neg"], [])


def test_names_that_count_nodes_may_shift() -> None:
    """After an insertion at the front, Relu_2 of the one is Relu_3 of the other."""
    before = chain("Abs", "Relu", "Relu", "Neg", "Relu", "Exp", numbered=True)
    after = chain("Sqrt", "Abs", "Relu", "Relu", "Neg", "Relu", "Exp", numbered=True)
    found = diff(model(before), model(after))
    assert names(found) == (["Sqrt_0"], [], [])
    assert [(p.before.name, p.after.name) for p in found.renamed][1] == ("Relu_1", "Relu_2")


def test_two_insertions_leave_the_middle_in_place() -> None:
    before = chain("Abs", "Relu", "Tanh", "Neg", "Sigmoid", "Exp")
    after = chain("Sqrt", "Abs", "Relu", "Tanh", "Neg", "Sigmoid", "Log", "Exp")
    found = diff(model(before), model(after))
    assert names(found) == (["block/sqrt", "block/log"], [], [])


def test_another_operator_at_the_same_place() -> None:
    other = [BASE[0], node("LeakyRelu", "a", "b", "layer/leaky", alpha=0.1), BASE[2]]
    found = diff(model(BASE), model(other))
    assert names(found) == ([], [], ["layer/leaky"])
    (pair,) = found.changed
    assert [(c.what, c.before, c.after) for c in pair.changes] == [("operator", "Relu", "LeakyRelu")]
    assert pair.how == "place"


def test_attributes() -> None:
    other = [BASE[0], BASE[1], node("Softmax", "b", "y", "layer/softmax", axis=0)]
    found = diff(model(BASE), model(other))
    (pair,) = found.changed
    assert [(c.what, c.before, c.after) for c in pair.changes] == [("attribute axis", "-1", "0")]


def test_an_attribute_at_its_default_is_an_absent_one() -> None:
    assert diff(model(BASE), model([BASE[0], BASE[1], node("Softmax", "b", "y", "layer/softmax")])).same


def test_shapes_follow_the_names_of_the_dims() -> None:
    assert diff(model(BASE), model(BASE, batch="batch")).same
    wide = {"w": np.zeros((4, 6), np.float32)}
    found = diff(model(BASE), model(BASE, wide))
    assert [c.what for p in found.changed for c in p.changes] == ["output 0 type"] * 3
    assert found.changed[0].changes[0].before == "float32[N, 4]"
    (weight,) = found.weights
    assert [(c.what, c.before, c.after) for c in weight.changes] == [("type", "float32[4, 4]", "float32[4, 6]")]
    assert weight.difference is None


def test_lengths_that_only_the_run_decides_follow_the_names_of_their_nodes() -> None:
    def found(name: str) -> Model:
        branch = helper.make_graph(
            [node("Unique", "x", "u", name), node("Abs", "u", "v", "abs")], "b", [],
            [helper.make_tensor_value_info("v", TensorProto.FLOAT, None)],
        )  # fmt: skip
        deep = node("If", "c", "z", "if", then_branch=branch, else_branch=branch)
        return model([node("NonZero", "x", "a", name + "2"), node("Abs", "a", "i", "abs2"), deep,
                      node("Neg", "z", "y", "neg")], {"c": np.array(True)})  # fmt: skip

    before, after = found("first"), found("second")
    assert "first2" in str(before.graph.tensors["i"].inferred_type)
    result = diff(before, after)
    assert result.same
    assert not result.facts


def test_outputs_in_another_order_are_told() -> None:
    def found(*order: str) -> Model:
        graph = helper.make_graph(
            [node("Neg", "x", "a"), node("Abs", "x", "b")], "g", [helper.make_tensor_value_info("x", 1, [2])],
            [helper.make_tensor_value_info(name, 1, [2]) for name in order],
        )  # fmt: skip
        return load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))

    (fact,) = diff(found("a", "b"), found("b", "a")).facts
    assert (fact.what, fact.before, fact.after) == ("order of the outputs", "a, b", "b, a")


def test_values_of_weights_by_hand() -> None:
    changed = W.copy()
    changed[0, 1] = 5  # was 1
    changed[3, 3] = 12  # was 15
    found = diff(model(BASE), model(BASE, {"w": changed}))
    (pair,) = found.weights
    apart = pair.difference
    assert apart is not None
    assert (apart.size, apart.changed, apart.max_abs, apart.mean_abs) == (16, 2, 4.0, 7 / 16)
    assert apart.relative == pytest.approx(np.sqrt(25 / 1240))  # sum of squares of 0 … 15
    assert apart.cosine == pytest.approx((1240 - 1 + 5 - 225 + 180) / np.sqrt(1240 * (1240 - 1 + 25 - 225 + 144)))
    assert not found.same
    assert diff(model(BASE), model(BASE, {"w": changed}), weights=False).same


def test_numbers_that_are_not_finite() -> None:
    first, second = W.copy(), W.copy()
    first[0, 0] = second[0, 0] = np.nan
    assert diff(model(BASE, {"w": first}), model(BASE, {"w": second})).same
    second[1, 1] = np.inf
    (pair,) = diff(model(BASE, {"w": first}), model(BASE, {"w": second})).weights
    assert pair.difference is not None
    assert (pair.difference.changed, pair.difference.nonfinite, pair.difference.max_abs) == (1, 1, 0.0)


def test_where_a_constant_is_stored_does_not_matter() -> None:
    inline = [helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(W)), *BASE]
    assert diff(model(BASE), model(inline, {})).same


def test_an_input_from_elsewhere() -> None:
    before = [node("Relu", "x", "a", "r"), node("Neg", "x", "b", "n"), node("Add", "a b", "y", "sum/add")]
    after = [*before[:2], node("Add", "a a", "y", "sum/add")]
    found = diff(model(before), model(after))
    (pair,) = found.changed
    assert [(c.what, c.before, c.after) for c in pair.changes] == [("input 1", "n output 0", "r output 0")]


def test_equal_branches_keep_their_names() -> None:
    def branches(first: str, second: str) -> list[NodeProto]:
        nodes = [node("Relu", "x", f"{n}_out", n) for n in (first, second)]
        return [*nodes, node("Add", "left_out right_out", "y", "add")]

    found = diff(model(branches("left", "right")), model(branches("right", "left")))
    assert found.same
    assert not found.renamed


def test_facts_of_the_files() -> None:
    other = model(BASE)
    other.producer_name, other.metadata = "else", {"licence": "MIT"}
    found = diff(model(BASE), other)
    assert [(c.what, c.before, c.after) for c in found.facts] == [
        ("producer", "", "else"), ("metadata licence", "", "MIT"),
    ]  # fmt: skip
    assert found.same


def test_subgraphs_are_compared_inside() -> None:
    def branch(op: str) -> Model:
        out = helper.make_tensor_value_info("o", TensorProto.FLOAT, None)
        then = helper.make_graph([node(op, "x", "o", "inner/op")], "then", [], [out])
        other = helper.make_graph([node("Neg", "x", "o", "inner/neg")], "else", [], [out])
        return model([
            node("ReduceSum", "x", "s", "sum", keepdims=0), helper.make_node("Cast", ["s"], ["c"], "cast", to=9),
            helper.make_node("If", ["c"], ["y"], "if", then_branch=then, else_branch=other),
        ], {})  # fmt: skip

    assert diff(branch("Relu"), branch("Relu")).same
    found = diff(branch("Relu"), branch("Abs"))
    (pair,) = found.changed
    assert pair.after.qualified_name == "if/then_branch/inner/op"
    assert [(c.what, c.after) for c in pair.changes] == [("operator", "Abs")]


def test_cycles_come_to_an_end() -> None:
    cycle = [node("Add", "x b", "a", "one"), node("Neg", "a", "b", "two"), node("Relu", "a", "y", "three")]
    assert diff(model(cycle), model(cycle)).same
    diff(model(cycle), model(BASE))


OPERATORS = st.sampled_from(["Relu", "Neg", "Exp", "Abs", "Add", "Mul"])


@st.composite
def dags(draw: st.DrawFn) -> list[NodeProto]:
    """Random graphs; every node is read or is the output."""
    values, nodes = ["x"], []
    for place in range(draw(st.integers(1, 24))):
        op = draw(OPERATORS)
        inputs = [draw(st.sampled_from(values)) for _ in range(2 if op in ("Add", "Mul") else 1)]
        nodes.append(helper.make_node(op, inputs, [f"v{place}"], f"n{place}"))
        values.append(f"v{place}")
    read = {name for n in nodes for name in n.input}
    last = [n.output[0] for n in nodes if n.output[0] not in read]
    nodes.append(helper.make_node("Sum", last, ["y"], "sum"))
    return nodes


@given(dags(), st.randoms())
@settings(max_examples=60)
def test_renamed_and_shuffled_graphs_are_the_same(nodes: list[NodeProto], random: object) -> None:
    order = list(range(len(nodes)))
    random.shuffle(order)  # type: ignore[attr-defined]
    fresh = {f"v{i}": f"other{order[i]}" for i in range(len(nodes))}
    again = [
        helper.make_node(n.op_type, [fresh.get(i, i) for i in n.input], [fresh.get(o, o) for o in n.output], f"m{k}")
        for k, n in enumerate(nodes)
    ]
    found = diff(model(nodes, {}), model(again, {}))
    assert found.same, found.to_json()
    assert len(found.pairs) == len(nodes)


@given(dags(), st.data())
@settings(max_examples=60)
def test_one_more_node_is_one_addition(nodes: list[NodeProto], data: st.DataObject) -> None:
    """A node put onto one input of another is found as the only difference, whatever the names."""
    at = data.draw(st.integers(0, len(nodes) - 1))
    edited = [NodeProto.FromString(n.SerializeToString()) for n in nodes]
    source = edited[at].input[0]
    edited[at].input[0] = "fresh"
    edited.insert(at, helper.make_node("Tanh", [source], ["fresh"], "fresh"))
    found = diff(model(nodes, {}), model(edited, {}))
    assert [n.op_type for n in found.added] == ["Tanh"]
    assert found.removed == []
    assert found.changed == []


def test_the_corpus_equals_itself(shared: Path) -> None:
    for path in sorted((shared / "models/gen").glob("*_dyn.onnx")):
        found = diff(open_model(path), open_model(path))
        assert found.same, path.name
        assert not found.renamed


def test_quantising_keeps_the_operators(shared: Path) -> None:
    models = [open_model(shared / f"models/gen/mobilenetv2_{kind}.onnx") for kind in ("ts", "qdq_int8")]
    found = diff(*models)
    assert {n.op_type for n in found.added} == {"QuantizeLinear", "DequantizeLinear"}
    assert {n.op_type for n in found.removed} == {"Clip"}
    assert sum(p.after.op_type == "Conv" for p in found.pairs) == 52
    assert found.changed == []


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def save(name: str, nodes: Sequence[NodeProto], weight: np.ndarray) -> str:
        graph = helper.make_graph(
            list(nodes), "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(weight, "w")],
        )  # fmt: skip
        onnx.save(helper.make_model(graph), tmp_path / name)
        return str(tmp_path / name)

    first = save("a.onnx", BASE, W)
    second = save("b.onnx", [BASE[0], node("Neg", "a", "b", "layer/neg"), BASE[2]], W + 1)
    assert main(["diff", first, first]) == 0
    assert "The models are the same." in capsys.readouterr().out
    assert main(["diff", first, second, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["same"] is False
    assert told["changed"][0]["changes"] == [{"what": "operator", "before": "Relu", "after": "Neg"}]
    assert told["weights"][0]["difference"]["max_abs"] == 1.0
    assert main(["diff", first, second]) == 1
    told = capsys.readouterr().out
    assert "16 of 16 elements differ, by 1 at most" in told
    assert main(["diff", first, str(tmp_path / "none.onnx")]) == 2
