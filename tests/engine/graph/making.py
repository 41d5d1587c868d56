"""Small models for the loader, and how they are looked into."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from engine.graph.ir import Model, Tensor


def value(name: str, dtype: int = TensorProto.FLOAT, shape: object = ()) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def add_model(ir_version: int, listed: bool, opset: int = 8) -> onnx.ModelProto:
    """y = x + w, with w an initializer that may be listed as an input too."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g",
        [value("x", shape=[2])] + ([value("w", shape=[2])] if listed else []), [value("y", shape=[2])],
        [numpy_helper.from_array(np.array([10, 20], np.float32), "w")],
    )  # fmt: skip
    return helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)])


def codes(model: Model) -> list[str]:
    return [d.code for d in model.diagnostics]


def tensor(model: Model, name: str) -> Tensor:
    found = model.graph.find(name)
    assert found is not None
    return found
