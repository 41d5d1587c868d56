"""Models that are large in one thing alone: initializers, findings, inputs of a node, words, elements of a value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MILLION = 1_000_000


def _value(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def _model(graph: onnx.GraphProto, **more: str) -> onnx.ModelProto:
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)], **more)


def many_initializers(count: int = 50_000) -> onnx.ModelProto:
    """`count` weights, each added in turn by one of 500 nodes with 100 inputs each."""
    weights = [numpy_helper.from_array(np.full(2, i, np.float32), f"w{i}") for i in range(count)]
    nodes = []
    for start in range(0, count, 100):
        names = [weight.name for weight in weights[start : start + 100]]
        nodes.append(helper.make_node("Sum", ["x", *names], [f"y{start}"], name=f"sum{start}"))
    graph = helper.make_graph(nodes, "initializers", [_value("x", 2)], [_value("y0", 2)], weights)
    return _model(graph)


def many_problems(count: int = 10_000) -> onnx.ModelProto:
    """`count` nodes of operators that nobody knows."""
    nodes = [helper.make_node("Relu" if i % 2 else "Nonsense", ["x" if i < 2 else f"t{i - 2}"], [f"t{i}"])
             for i in range(2 * count)]  # fmt: skip
    return _model(helper.make_graph(nodes, "problems", [_value("x", "N", 3)], [_value("t1", "N", 3)]))


def wide_node(count: int = 10_000) -> onnx.ModelProto:
    """One node with `count` inputs, each of them an input of the graph."""
    names = [f"input_{i}" for i in range(count)]
    node = helper.make_node("Concat", names, ["y"], name="wide", axis=0)
    return _model(helper.make_graph([node], "wide", [_value(n, 1, 3) for n in names], [_value("y", count, 3)]))


def long_words(megabytes: int = 10) -> onnx.ModelProto:
    """Documentation of `megabytes` MB of the model and of a node, and metadata as long."""
    text = "All work and no play makes a long documentation string. " * (megabytes * 1_000_000 // 56)
    node = helper.make_node("Relu", ["x"], ["y"], name="relu", doc_string=text)
    model = _model(helper.make_graph([node], "words", [_value("x", 3)], [_value("y", 3)]), doc_string=text)
    model.metadata_props.add(key="notes", value=text)
    return model


def large_values() -> onnx.ModelProto:
    """A weight of a million elements, one of a million rows, an attribute of a million, strings of a million."""
    weight = numpy_helper.from_array(np.linspace(-1, 1, MILLION, dtype=np.float32).reshape(1000, 1000), "weight")
    column = numpy_helper.from_array(np.arange(MILLION, dtype=np.float32), "column")
    words = numpy_helper.from_array(np.array([f"word {i % 977}" for i in range(MILLION)], dtype=object), "words")
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["y"], name="matmul"),
        helper.make_node("Constant", [], ["c"], name="constant", value_floats=[float(i) for i in range(MILLION)]),
        helper.make_node("Add", ["c", "column"], ["z"], name="add"),
        helper.make_node("Identity", ["words"], ["w"], name="identity"),
    ]
    outputs = [_value("y", 1, 1000), _value("z", MILLION),
               helper.make_tensor_value_info("w", TensorProto.STRING, [MILLION])]  # fmt: skip
    graph = helper.make_graph(nodes, "values", [_value("x", 1, 1000)], outputs, [weight, column, words])
    return _model(graph)


ODD: dict[str, Callable[[], onnx.ModelProto]] = {
    "many_initializers": many_initializers, "many_problems": many_problems, "wide_node": wide_node,
    "long_words": long_words, "large_values": large_values,
}  # fmt: skip
