"""What a failing node says: itself, its version, what it got and what would have been right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from engine.errors import NodeError
from engine.graph.loader import load_model_proto
from engine.session import Session
from engine.shapes.infer import infer_shapes
from tests.engine.kernels.oracle import model_of


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize(("op", "inputs", "attributes", "says"), [
    ("MatMul", [zeros(2, 3), zeros(4, 5)], {},
     "[2, 3] times [4, 5]: the first has rows of 3 elements, the second columns of 4"),
    ("Add", [zeros(2, 3), zeros(4, 5)], {}, "shapes [2, 3] and [4, 5] do not broadcast: from the last axis on, "),
    ("Expand", [zeros(3), ints(4)], {}, "shapes [3] and [4] do not broadcast"),
    ("Conv", [zeros(1, 3, 5, 5), zeros(2, 3, 3, 3), zeros(7)], {}, "one number for each of the 2 filters"),
    ("BatchNormalization", [zeros(2, 3), *[zeros(4)] * 4], {}, "scale [4] should hold one number a channel: 3"),
    ("LSTM", [zeros(3, 2, 4), zeros(1, 16, 5), zeros(1, 16, 4)], {"hidden_size": 4}, "should be [1, 16, 4]"),
    ("Resize", [zeros(1, 1, 2, 2), None, np.array([2.0], np.float32)], {}, "scales [2.0] should have one number"),
    ("Tile", [zeros(2, 2), ints(2)], {}, "repeats [2] should have one number for each of the 2 axes"),
    ("Pad", [zeros(2), ints(1)], {}, "pads [1] should have two numbers for each of the 1 axes padded"),
    ("TopK", [zeros(3), ints(5)], {"outputs": 2}, "k is 5, but axis 0 has 3 elements"),
    ("Gather", [zeros(3), ints(5)], {}, "index 5 is out of bounds for axis 0 with size 3"),
    ("Softmax", [zeros(2)], {"axis": 5}, "axis 5 is outside [-1, 0]"),
    ("DepthToSpace", [zeros(1, 3, 2, 2)], {"blocksize": 2}, "3 channels do not part into blocks of 2 x 2 pixels"),
    ("Range", [np.array(0), np.array(1), np.array(0)], {}, "delta is 0"),
    ("ConstantOfShape", [ints(2, -1)], {}, "the result would have the shape [2, -1]"),
])  # fmt: skip
def test_says_what_would_have_been_right(op: str, inputs: list[Any], attributes: dict[str, Any], says: str) -> None:
    model = load_model_proto(model_of(op, inputs, **attributes))
    with pytest.raises(NodeError) as caught:
        Session(model).run({f"i{k}": x for k, x in enumerate(inputs) if x is not None})
    message = str(caught.value)
    assert says in message
    assert message.startswith(f"{op} ")
    assert "(opset 25) failed: " in message
    first = inputs[0]
    assert f"'i0' {first.dtype}{list(first.shape)}" in message


def test_a_node_that_the_sizes_of_dims_do_not_suit_says_what_it_asks_of_them() -> None:
    """A dim that nobody gave took its default, which does not go with the one that was given."""
    node = helper.make_node("Add", ["a", "b"], ["y"])
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in
              (("a", ["seq", 2]), ("b", ["total", 2]))]  # fmt: skip
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    infer_shapes(model)
    with pytest.raises(NodeError, match=r"it asks: seq and total must be equal, or one of them 1$"):
        Session(model).run({"a": zeros(4, 2), "b": zeros(16, 2)})
