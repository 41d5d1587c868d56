"""Shapes that a file can claim and no tensor can have, and attributes that make no sense."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper

from engine import load_model_proto
from engine.cli.inspect import as_json
from engine.graph.types import TensorType
from engine.shapes.infer import infer_shapes
from tests.engine.shapes.making import BOOL, INT64, INT_MAX, INT_MIN, codes, infer, value


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
    infer_shapes(model)
    for name in "yz":
        assert "too long to write" in model.graph.tensors[name].unknown_because
    assert json.dumps(as_json(model))


HOSTILE: list[dict[str, Any]] = [
    {}, {"axis": 1 << 40}, {"axis": "x"}, {"axes": [1 << 62, -5]}, {"kernel_shape": [0, -1], "strides": [0, 0]},
    {"kernel_shape": [3.5]}, {"to": -1}, {"perm": [0, 0]}, {"shape": [1 << 62] * 20}, {"pads": [-(1 << 62)] * 4},
    {"equation": "....,->"}, {"blocksize": 0}, {"num_heads": 0}, {"split": [-1]}, {"hidden_size": -4},
    {"scales": [float("nan"), float("inf")]}, {"dilations": [0, 0], "group": -1}, {"num_scan_inputs": 99},
    {"ngram_indexes": [-9]}, {"starts": [0], "ends": [1, 2]}, {"N": "many"}, {"k": -1}, {"keepdims": 7},
]  # fmt: skip


@pytest.mark.parametrize("attributes", HOSTILE, ids=str)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_no_node_raises(attributes: dict[str, Any], count: int) -> None:
    """Every operator with a rule, with inputs and attributes that make no sense, gives findings and no exception."""
    from engine.shapes.registry import ruled_operators

    inputs = [value("x0", ["N", 0, 1 << 60]), value("x1", [2], INT64), value("x2", None, BOOL)]
    nodes = []
    for n, (domain, op) in enumerate(sorted(ruled_operators())):
        names = [f"x{i}" for i in range(count)]
        node = helper.make_node(op, names, [f"a{n}", f"b{n}"], domain=domain, **attributes)
        nodes.append(node)
        late = helper.make_node(op, ["huge", "nan", "big"][:count], [f"c{n}"], domain=domain, **attributes)
        nodes.append(late)
    huge = np.array([INT_MAX, INT_MIN, -1, 0], np.int64)
    model = infer(nodes, inputs, huge=huge, nan=np.array([np.nan, np.inf], np.float32), big=huge[:1])
    for made in model.graph.tensors.values():
        shape = made.inferred_shape or ()
        assert all(not isinstance(d, int) or d >= 0 for d in shape)
        if isinstance(made.inferred_type, TensorType) and (made.inferred_shape is None or None in shape):
            assert made.unknown_because


def test_attributes_of_graph_kind_do_not_confuse() -> None:
    node = helper.make_node("Flatten", ["x"], ["y"])
    attribute = AttributeProto(name="axis", type=AttributeProto.GRAPH)
    node.attribute.append(attribute)
    model = infer([node], [value("x", [2, 3])])
    assert codes(model) == ["shape-clash"]
