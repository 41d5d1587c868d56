"""Weights are lifted out of the file, and what is left parses as before."""
from __future__ import annotations

from contextlib import suppress

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from engine.errors import ModelFormatError
from engine.graph.wire import LiftedModel


def model_with_weights_everywhere() -> onnx.ModelProto:
    """Big tensors as an initializer, in a Constant, in a subgraph's Constant and in a sparse initializer."""
    rng = np.random.default_rng(0)

    def weight(name: str) -> TensorProto:
        return numpy_helper.from_array(rng.standard_normal((32, 32)).astype(np.float32), name)

    def branch(name: str) -> onnx.GraphProto:
        constant = helper.make_node("Constant", [], [name], value=weight(name))
        return helper.make_graph([constant], name, [], [helper.make_tensor_value_info(name, 1, [32, 32])])

    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(rng.standard_normal(500).astype(np.float32), "s"),
        numpy_helper.from_array(np.arange(500, dtype=np.int64), "s_indices"), [1000],
    )  # fmt: skip
    nodes = [
        helper.make_node("Constant", [], ["c"], value=weight("c")),
        helper.make_node("If", ["cond"], ["y"], then_branch=branch("t"), else_branch=branch("e")),
    ]
    inputs = [helper.make_tensor_value_info("cond", TensorProto.BOOL, [])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [32, 32])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [weight("w")], sparse_initializer=[sparse])
    return helper.make_model(graph)


def tensors_of(proto: onnx.GraphProto) -> list[TensorProto]:
    found = [*proto.initializer, *(s.values for s in proto.sparse_initializer)]
    for node in proto.node:
        for attribute in node.attribute:
            found += [attribute.t] if attribute.HasField("t") else []
            found += tensors_of(attribute.g) if attribute.HasField("g") else []
    return found


def test_every_large_payload_is_lifted_and_found_again() -> None:
    original = model_with_weights_everywhere()
    data = original.SerializeToString()
    lifted = LiftedModel(data)
    assert len(lifted.slim) < len(data) / 10
    slim = onnx.ModelProto()
    slim.ParseFromString(lifted.slim)
    pairs = list(zip(tensors_of(original.graph), tensors_of(slim.graph), strict=True))
    assert len(pairs) == 5
    for before, after in pairs:
        span = lifted.span(after.raw_data)
        assert span is not None
        assert data[span.offset : span.offset + span.length] == before.raw_data
        assert (before.name, before.dims) == (after.name, after.dims)


def test_without_large_payloads_nothing_changes() -> None:
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    data = helper.make_model(graph).SerializeToString()
    assert LiftedModel(data).slim == data


@pytest.mark.parametrize("cut", [1, 100, 5000])
def test_a_cut_file_says_at_which_byte(cut: int) -> None:
    data = model_with_weights_everywhere().SerializeToString()
    with pytest.raises(ModelFormatError) as caught:
        LiftedModel(data[:-cut])
    assert caught.value.offset is not None
    assert 0 <= caught.value.offset < len(data)


def test_nesting_is_bounded() -> None:
    graph = helper.make_graph([], "g", [], [])
    graph.doc_string = "x" * 2000
    for _ in range(30):
        node = helper.make_node("If", ["c"], ["y"], then_branch=graph)
        graph = helper.make_graph([node], "g", [], [])
    with pytest.raises(ModelFormatError, match="nested deeper"):
        LiftedModel(helper.make_model(graph).SerializeToString())


@settings(max_examples=200, deadline=None)
@given(position=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_changed_byte_never_crashes_the_scan(position: int, byte: int) -> None:
    data = bytearray(model_with_weights_everywhere().SerializeToString())
    data[position % len(data)] = byte
    with suppress(ModelFormatError):
        LiftedModel(bytes(data))
