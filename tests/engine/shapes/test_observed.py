"""What a run made against what was inferred."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.graph.ir import Model
from engine.graph.types import SequenceType, TensorType
from engine.session import Session
from engine.shapes.infer import infer_shapes
from engine.shapes.observed import check_observed


def model_of(nodes: list[Any], dims: list[Any], **constants: Any) -> Model:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    outputs = [helper.make_empty_tensor_value_info(n) for n in nodes[-1].output]
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], outputs, stored)
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    infer_shapes(model)
    return model


def run(model: Model, x: Any) -> dict[Any, Any]:
    return Session(model).run({"x": np.asarray(x, np.float32)}).values


def test_nothing_to_say_where_all_is_as_inferred() -> None:
    nodes = [helper.make_node("NonZero", ["x"], ["where"], name="NonZero_0"),
             helper.make_node("Concat", ["where", "where"], ["both"], axis=1),
             helper.make_node("Transpose", ["both"], ["y"])]  # fmt: skip
    model = model_of(nodes, ["N"])
    assert str(model.graph.tensors["y"].inferred_type) == "int64[2*NonZero_0_count, 1]"
    assert check_observed(model, run(model, [0, 1, 2]), {"N": 3}) == []


def test_shapes_that_differ_are_told_with_node_and_both() -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"], name="R")], ["N", 3])
    y = model.graph.tensors["y"]
    values = run(model, np.ones((2, 3)))
    y.inferred_type = TensorType(y.dtype, (*y.inferred_shape[:1], 4))
    (finding,) = check_observed(model, values, {"N": 2})
    assert (finding.code, finding.node, finding.tensor) == ("observed-mismatch", "R", "y")
    assert "float32[2, 3]" in finding.message
    assert "float32[2, 4]" in finding.message
    y.inferred_type = TensorType(y.dtype, (3,))
    assert len(check_observed(model, values, {"N": 2})) == 1


def test_lengths_learnt_from_the_run_hold_afterwards() -> None:
    """Both shapes name the same length; the second is made to be another one."""
    nodes = [helper.make_node("NonZero", ["x"], ["where"], name="NonZero_0"),
             helper.make_node("Neg", ["where"], ["y"], name="Neg")]  # fmt: skip
    model = model_of(nodes, ["N"])
    values = run(model, [0, 1, 2])
    values[model.graph.tensors["y"]] = np.zeros((1, 3), np.int64)
    (finding,) = check_observed(model, values, {"N": 3})
    assert finding.node == "Neg"


def test_dtypes_and_sequences() -> None:
    nodes = [helper.make_node("SplitToSequence", ["x", "one"], ["s"], axis=0)]
    model = model_of(nodes, ["N", 3], one=np.array(1))
    s = model.graph.tensors["s"]
    values = run(model, np.ones((2, 3)))
    assert check_observed(model, values, {"N": 2}) == []
    s.inferred_type = SequenceType(TensorType(model.graph.tensors["one"].dtype, None))
    assert "a sequence of 2" in check_observed(model, values, {"N": 2})[0].message
    s.inferred_type = TensorType(None, None)
    assert len(check_observed(model, values, {})) == 1
