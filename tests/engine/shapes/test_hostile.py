"""Shapes that a file can claim and no tensor can have."""

from __future__ import annotations

import json

from onnx import TensorProto, helper

from engine import infer, load_model_proto
from engine.cli.inspect import as_json


def test_a_product_of_thousands_of_dims_is_unknown() -> None:
    """Found by fuzzing: a dim of 155,000 bits could not be written."""
    nodes = [
        helper.make_node("ArrayFeatureExtractor", ["x", "index"], ["y"], domain="ai.onnx.ml"),
        helper.make_node("Flatten", ["index"], ["z"]),
    ]
    value = helper.make_tensor_value_info
    inputs = [value("x", TensorProto.FLOAT, ["N", 2]), value("index", TensorProto.INT64, [2**31 - 1] * 5000)]
    outputs = [value("y", TensorProto.FLOAT, None), value("z", TensorProto.INT64, None)]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = load_model_proto(helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), opset_imports=imports))
    infer(model)
    for name in "yz":
        assert "too long to write" in model.graph.tensors[name].unknown_because
    assert json.dumps(as_json(model))
