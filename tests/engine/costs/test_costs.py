"""Operation counts worked out by hand, and sums over models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.costs import NodeCosts, cost_table, node_cost, tensor_bytes
from engine.costs.formulas import formula_operators
from engine.graph.ir import Model
from engine.graph.modules import module_path
from engine.kernels import library
from engine.shapes.bind import Binder
from engine.shapes.infer import infer_shapes

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name: str, dims: Any, dtype: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, dims)


def model_of(nodes: list[Any], inputs: list[Any], opset: int = 18, **constants: Any) -> Model:
    outputs = [helper.make_empty_tensor_value_info(n) for n in nodes[-1].output if n]
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = load_model_proto(helper.make_model(graph, opset_imports=imports, ir_version=8))
    infer_shapes(model)
    return model


def one(op: str, *dims: Any, outputs: int = 1, domain: str = "", **attributes: Any) -> tuple[str, str]:
    """MACs and operations of one node as text, its inputs of those dims."""
    names = [f"x{i}" if d is not None else "" for i, d in enumerate(dims)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain=domain, **attributes)
    model = model_of([node], [value(n, d) for n, d in zip(names, dims, strict=True) if n])
    cost = node_cost(model.graph.nodes[0])
    assert cost.unknown_because == ""
    return str(cost.macs), str(cost.flops)


@pytest.mark.parametrize(
    ("found", "macs", "flops"),
    [
        # 3 x 3 weights of 3 channels for each of 8 x 10 x 10 outputs; with the bias one more operation each.
        (lambda: one("Conv", [1, 3, 12, 12], [8, 3, 3, 3]), 27 * 800, 2 * 27 * 800),
        (lambda: one("Conv", [1, 3, 12, 12], [8, 3, 3, 3], [8]), 27 * 800, 2 * 27 * 800 + 800),
        (lambda: one("Conv", [2, 8, 12, 12], [8, 1, 3, 3], group=8), 9 * 1600, 2 * 9 * 1600),
        (lambda: one("Conv", ["N", 3, "H", "W"], [8, 3, 1, 1]), "24*H*N*W", "48*H*N*W"),
        # Each of 2 x 5 x 5 inputs meets 4 channels of 3 x 3 weights.
        (lambda: one("ConvTranspose", [1, 2, 5, 5], [2, 4, 3, 3]), 50 * 36, 2 * 50 * 36),
        (lambda: one("MatMul", ["B", 7, 5], [5, 3]), "105*B", "210*B"),
        (lambda: one("MatMul", [5], [5]), 5, 10),
        (lambda: one("Gemm", [4, 6], [3, 6], [3], transB=1, alpha=0.5), 72, 144 + 2 * 12),
        (lambda: one("Gemm", [6, 4], [6, 3], transA=1), 72, 144),
        (lambda: one("Einsum", ["b", 2, 3], ["b", 3, 4], equation="bij,bjk->bik"), "24*b", "48*b"),
        (lambda: one("Add", ["N", 1], [1, 5]), 0, "5*N"),
        (lambda: one("Sum", [4], [4], [4]), 0, 8),
        (lambda: one("Relu", [2, 3]), 0, 6),
        (lambda: one("Softmax", [2, 3]), 0, 30),
        (lambda: one("Transpose", [2, 3]), 0, 0),
        (lambda: one("MaxPool", [1, 1, 4, 4], kernel_shape=[2, 2], strides=[2, 2]), 0, 16),
        (lambda: one("ReduceMean", ["N", 9]), 0, "9*N"),
        # 4 gates of 3 hidden elements on 5 inputs and 3 states, 7 steps of 2 sequences; 22 more per hidden element.
        (lambda: one("LSTM", [7, 2, 5], [1, 12, 5], [1, 12, 3], hidden_size=3), 14 * 12 * 8, 2 * 14 * 12 * 8 + 42 * 22),
        # 6 queries on 6 keys in 2 heads of 4: 8 MACs and 6 operations for each score.
        (lambda: one("MultiHeadAttention", [1, 6, 8], [1, 6, 8], [1, 6, 8], domain="com.microsoft", num_heads=2),
         72 * 8, 2 * 72 * 8 + 72 * 6),
    ],
)  # fmt: skip
def test_one_node(found: Any, macs: Any, flops: Any) -> None:
    assert found() == (str(macs), str(flops))


def test_bytes() -> None:
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [value("x", ["N", 5])], w=np.ones(5, np.float32))
    cost = node_cost(model.graph.nodes[0])
    assert (str(cost.bytes_read), str(cost.bytes_written)) == ("20*N + 20", "20*N")
    bound = node_cost(model.graph.nodes[0], Binder({"N": 3}))
    assert (bound.bytes_read, bound.bytes_written, bound.flops) == (80, 60, 15)


def test_narrow_elements_are_packed() -> None:
    model = model_of([helper.make_node("Identity", ["x"], ["y"])], [value("x", [5], TensorProto.INT4)], opset=21)
    assert tensor_bytes(model.graph.tensors["y"]) == 3


def test_strings_have_no_size() -> None:
    model = model_of([helper.make_node("Identity", ["x"], ["y"])], [value("x", [5], TensorProto.STRING)])
    assert tensor_bytes(model.graph.tensors["y"]) is None


def test_what_is_not_known_says_why() -> None:
    model = model_of([helper.make_node("Nope", ["x"], ["y"], domain="com.acme")], [value("x", [5])])
    cost = node_cost(model.graph.nodes[0])
    assert cost.macs is None
    assert cost.unknown_because == "no formula counts the operations of com.acme::Nope"
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x", None)])
    assert node_cost(model.graph.nodes[0]).unknown_because == "the shape of 'y' is not known"


def branch(name: str, nodes: list[Any]) -> Any:
    return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(nodes[-1].output[0])])


def test_if_costs_its_dearer_branch() -> None:
    then = branch("then", [helper.make_node("Relu", ["x"], ["a"])])
    other = branch("else", [helper.make_node("Softmax", ["x"], ["b"])])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    model = model_of([node], [value("c", [], BOOL), value("x", ["N"])])
    assert str(node_cost(model.graph.nodes[0]).flops) == "5*N"
    table = cost_table(model, {"N": 4})
    assert (table.total.flops, table.total.nodes, list(table.by_op)) == (20, 1, ["Softmax"])


@pytest.mark.parametrize(("scans", "flops", "incomplete"), [(True, 3 * 5 * 4, 0), (False, 5 * 4, 1)])
def test_loop_costs_its_body_as_often_as_it_runs(scans: bool, flops: int, incomplete: int) -> None:
    nodes = [helper.make_node("Identity", ["go"], ["again"]), helper.make_node("Softmax", ["h"], ["h2"]),
             helper.make_node("Identity", ["h"], ["s"])]  # fmt: skip
    outputs = ["again", "h2", "s"][: 3 if scans else 2]
    inputs = [value("i", [], INT64), value("go", [], BOOL), value("h", [4])]
    body = helper.make_graph(nodes[: len(outputs)], "body", inputs,
                             [helper.make_empty_tensor_value_info(o) for o in outputs])  # fmt: skip
    made = ["end", "scan"][: len(outputs) - 1]
    node = helper.make_node("Loop", ["trips", "", "h0"], made, body=body)
    model = model_of([node], [value("h0", [4])], trips=np.array(3))
    total = cost_table(model).total
    assert total.flops == flops
    assert (total.incomplete > 0) == bool(incomplete)


def test_scan_costs_its_body_for_each_slice() -> None:
    body = helper.make_graph([helper.make_node("Softmax", ["e"], ["o"])], "body", [value("e", ["W"])],
                             [helper.make_empty_tensor_value_info("o")])  # fmt: skip
    node = helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)
    model = model_of([node], [value("x", ["T", "W"])])
    assert str(node_cost(model.graph.nodes[0]).flops) == "5*T*W"


def test_sums_by_operator_and_module() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="/enc/enc.0/MatMul"),
             helper.make_node("Relu", ["a"], ["b"], name="/enc/enc.0/Relu"),
             helper.make_node("MatMul", ["b", "w"], ["c"], name="/enc/enc.1/MatMul"),
             helper.make_node("Softmax", ["c"], ["y"], name="Softmax")]  # fmt: skip
    model = model_of(nodes, [value("x", ["N", 4])], w=np.ones((4, 4), np.float32))
    table = cost_table(model, {"N": 2})
    assert table.total.macs == 64
    assert table.total.flops == 128 + 8 + 40
    assert table.total.parameters == 16
    assert {op: t.flops for op, t in table.by_op.items()} == {"MatMul": 128, "Softmax": 40, "Relu": 8}
    assert {path: t.flops for path, t in table.by_module.items()} == {
        (): 176, ("enc",): 136, ("enc", "enc.0"): 72, ("enc", "enc.1"): 64,
    }  # fmt: skip
    assert str(cost_table(model).total.flops) == "88*N"


@pytest.mark.parametrize(
    ("name", "metadata", "path"),
    [
        ("/layers/layers.0/attn/MatMul", {}, ("layers", "layers.0", "attn")),
        ("MatMul_3", {}, ()),
        ("a/b;c/d", {}, ("a",)),
        ("a;b/c", {}, ()),
        ("/Relu", {}, ()),
        ("/".join(map(str, range(40))), {}, tuple(map(str, range(16)))),
        ("n", {"pkg.torch.onnx.name_scopes": "['', 'f', 'f.1', 'conv2d']"}, ("f", "f.1")),
        ("n/m", {"namespace": ": __main__.Net/c1: torch.nn.Conv2d/conv2d: aten.conv2d.default"}, ("c1",)),
        ("n", {"pkg.torch.onnx.name_scopes": "[" * 3000}, ()),
        ("n", {"pkg.torch.onnx.name_scopes": "__import__('os')"}, ()),
    ],
)  # fmt: skip
def test_module_path(name: str, metadata: dict[str, str], path: tuple[str, ...]) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"], name=name)], [value("x", [1])])
    node = model.graph.nodes[0]
    node.metadata.update(metadata)
    assert module_path(node) == path


UNCOUNTED = {
    ("", "If"), ("", "Loop"), ("", "Scan"), ("", "SequenceMap"),  # cost what their subgraphs do
    ("", "AffineGrid"), ("", "NegativeLogLikelihoodLoss"), ("", "SoftmaxCrossEntropyLoss"),
    ("ai.onnx.preview.training", "Adagrad"), ("ai.onnx.preview.training", "Adam"),
    ("ai.onnx.preview.training", "Momentum"), ("ai.onnx.preview.training", "Gradient"),
}  # fmt: skip
"""Operators with a kernel of whose operations nothing is said, besides those of ONNX Runtime's inner layouts."""


def test_every_operator_that_runs_is_counted() -> None:
    kernels = {(k.domain, k.op_type) for k in library() if k.domain != "com.microsoft.nchwc"}
    assert kernels - formula_operators() == UNCOUNTED


def test_light_resnet50_takes_what_the_paper_says() -> None:
    """3.8 * 10^9 MACs at 224 x 224 (He et al., Deep Residual Learning, table 1), in 25.5 million parameters."""
    import onnx.backend.test

    from engine import load

    path = Path(onnx.backend.test.__file__).parent / "data" / "light" / "light_resnet50.onnx"
    model = load(path)
    infer_shapes(model)
    table = cost_table(model)
    assert isinstance(table.total.macs, int)
    assert 3.8e9 < table.total.macs < 4.2e9
    assert table.total.incomplete == 0


def test_symbols_and_numbers_agree(shared: Path) -> None:
    """Costs as expressions, bound afterwards, are those of bound shapes."""
    from engine import load

    model = load(shared / "models" / "gen" / "gpt2_kv_dyn.onnx")
    infer_shapes(model)
    bindings = {"batch": 2, "seq": 5, "past": 3, "total": 8, "past + seq": 8}
    symbolic, bound, binder = NodeCosts(), NodeCosts(Binder(bindings)), Binder(bindings)
    for node in model.nodes():
        assert binder.dim(symbolic.of(node).flops) == bound.of(node).flops
