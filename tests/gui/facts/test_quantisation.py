"""What the window says of quantised tensors, against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import load_model_proto, open_model
from engine.graph.ir import Model
from engine.shapes.infer import infer_shapes
from gui.facts.quantisation import describe, quantisations


def model(scale: np.ndarray, zero: np.ndarray, axis: int = 1) -> Model:
    graph = helper.make_graph(
        [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=axis),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(scale, "s"), numpy_helper.from_array(zero, "z")],
    )  # fmt: skip
    made = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    infer_shapes(made)
    return made


def test_one_scale_for_all() -> None:
    tensors = model(np.array(0.5, np.float32), np.array(100, np.uint8)).graph.tensors
    for name in ("x", "q", "y"):
        (one,) = quantisations(tensors[name])
        assert one.tensor is tensors["q"]
        assert describe(one) == "scale 0.5, zero point 100, holds -50 … 77.5"


def test_a_scale_for_each_channel() -> None:
    tensors = model(np.array([1, 2], np.float32), np.array([0, 0], np.int8)).graph.tensors
    (one,) = quantisations(tensors["q"])
    assert (one.axis, one.block) == (1, 0)
    assert describe(one) == "a scale for each channel of axis 1, scale 1 … 2, zero point 0, holds -256 … 254"


def test_an_annotation_of_the_file() -> None:
    made = model(np.array(0.25, np.float32), np.array(0, np.int8))
    made.graph.quantization = {"x": {"SCALE_TENSOR": "s", "ZERO_POINT_TENSOR": "z"}}
    del made.graph.tensors["x"].consumers[:]
    (one,) = quantisations(made.graph.tensors["x"])
    assert one.node is None
    assert describe(one) == "scale 0.25, zero point 0"


def test_a_tensor_that_nobody_quantises() -> None:
    assert quantisations(model(np.ones((), np.float32), np.zeros((), np.int8)).graph.tensors["s"]) == []


@pytest.mark.parametrize("name", ["mobilenetv2_qdq_int8", "mobilenetv2_qop_int8"])
def test_every_convolution_of_a_quantised_model(shared: Path, name: str) -> None:
    graph = open_model(shared / f"models/gen/{name}.onnx").graph
    convs = [n for n in graph.order if n.op_type in ("Conv", "QLinearConv")]
    assert len(convs) == 52
    for conv in convs:
        weight = conv.inputs[1 if conv.op_type == "Conv" else 3]
        assert weight is not None
        assert [describe(one)[:5] for one in quantisations(weight)] != []
