"""Weights are lifted out of the file, and what is left parses as before."""
from __future__ import annotations

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from engine.graph.faults import find_fault
from engine.graph.packing import decode_words
from engine.graph.storage import MemoryStorage
from engine.graph.wire import RAW_DATA, LiftedModel, WireError, encode_varint


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


def lifted(data: bytes) -> LiftedModel:
    return LiftedModel(MemoryStorage(data))


def slim_proto(model: LiftedModel) -> onnx.ModelProto:
    proto = onnx.ModelProto()
    proto.ParseFromString(model.slim)
    return proto


def test_every_large_payload_is_lifted_and_found_again() -> None:
    original = model_with_weights_everywhere()
    data = original.SerializeToString()
    model = lifted(data)
    assert len(model.slim) < len(data) / 10
    pairs = list(zip(tensors_of(original.graph), tensors_of(slim_proto(model).graph), strict=True))
    assert len(pairs) == 5
    for before, after in pairs:
        payload = model.payloads.find(after.raw_data)
        assert payload is not None
        assert payload.field == RAW_DATA
        assert payload.place.read() == before.raw_data
        assert (before.name, before.dims) == (after.name, after.dims)


TYPED = {
    "float_data": (TensorProto.FLOAT, np.float32([1.5, -2, 0] * 500)),
    "int32_data": (TensorProto.INT32, np.int32([1, -1, 2**31 - 1, -(2**31), 300] * 300)),
    "int64_data": (TensorProto.INT64, np.int64([0, -1, 2**63 - 1, -(2**63), 127, 128] * 300)),
    "double_data": (TensorProto.DOUBLE, np.float64([0.1, -3] * 500)),
    "uint64_data": (TensorProto.UINT64, np.uint64([0, 2**64 - 1, 128] * 500)),
}


@pytest.mark.parametrize("field", TYPED)
def test_large_typed_fields_are_lifted_too(field: str) -> None:
    kind, values = TYPED[field]
    tensor = helper.make_tensor("t", kind, [len(values)], values)
    assert len(getattr(tensor, field)) == len(values)
    model = lifted(helper.make_model(helper.make_graph([], "g", [], [], [tensor])).SerializeToString())
    slim = slim_proto(model).graph.initializer[0]
    assert not getattr(slim, field)
    payload = model.payloads.find(slim.raw_data)
    assert payload is not None
    assert TensorProto.DESCRIPTOR.fields_by_number[payload.field].name == field
    np.testing.assert_array_equal(decode_words(payload.place.read(), payload.field), values)


def test_a_tensor_with_two_payloads_is_left_to_the_parser() -> None:
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [1000], np.zeros(1000, np.float32))
    tensor.raw_data = b"x" * 4000
    data = helper.make_model(helper.make_graph([], "g", [], [], [tensor])).SerializeToString()
    assert lifted(data).slim == data


def test_without_large_payloads_nothing_changes() -> None:
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    data = helper.make_model(graph).SerializeToString()
    assert lifted(data).slim == data


@pytest.mark.parametrize("size", [1, 100, 4096, 5000, 1 << 20])
def test_a_storage_read_in_pieces_gives_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = model_with_weights_everywhere().SerializeToString()
    whole = lifted(data)
    monkeypatch.setattr("engine.graph.wire._FIRST_WINDOW", max(size, 20))
    pieces = lifted(data)
    assert [p.place.offset for p in pieces.payloads] == [p.place.offset for p in whole.payloads]
    assert len(pieces.slim) == len(whole.slim)


def test_names_byte_and_field_of_a_cut() -> None:
    model = model_with_weights_everywhere()
    data = model.SerializeToString()
    weight = model.graph.node[1].attribute[0].g.node[0].attribute[0].t.raw_data
    cut = data[: data.index(weight) + 1000]
    with pytest.raises(WireError):
        lifted(cut)
    fault = find_fault(MemoryStorage(cut))
    assert fault is not None
    assert fault.path == "graph.node[1].attribute[0].g.node[0].attribute[0].t.raw_data"
    assert data[fault.offset : fault.offset + 3] == b"\x4a\x80\x20"  # field 9, 4096 bytes
    assert "4096 bytes are announced and 1000 are left" in fault.reason


def test_names_damage_that_the_scan_jumps_over() -> None:
    data = bytearray(model_with_weights_everywhere().SerializeToString())
    place = data.index(b"\x12\x01c")  # the output of the first node: its length now reaches beyond the node
    data[place + 1] = 200
    assert find_fault(MemoryStorage(bytes(data))) is not None
    fault = find_fault(MemoryStorage(bytes(data)))
    assert fault is not None
    assert fault.path.startswith("graph.node[0]")


def test_finds_no_fault_in_a_sound_model() -> None:
    assert find_fault(MemoryStorage(model_with_weights_everywhere().SerializeToString())) is None


def test_a_number_of_more_than_ten_bytes_is_a_fault() -> None:
    fault = find_fault(MemoryStorage(b"\x08" + b"\xff" * 11))
    assert fault is not None
    assert "ten bytes" in fault.reason


def test_nesting_is_bounded() -> None:
    data = helper.make_graph([], "g", [], [], doc_string="x" * 2000).SerializeToString()
    for _ in range(40):
        for key in (b"\x32", b"\x2a", b"\x0a"):  # attribute.g, node.attribute, graph.node
            data = key + encode_varint(len(data)) + data
    data = b"\x3a" + encode_varint(len(data)) + data
    with pytest.raises(WireError):
        lifted(data)
    fault = find_fault(MemoryStorage(data))
    assert fault is not None
    assert "nested deeper" in fault.reason


@settings(max_examples=200)
@given(position=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_scan_and_search_for_faults_agree_with_the_parser(position: int, byte: int) -> None:
    data = bytearray(model_with_weights_everywhere().SerializeToString())
    data[position % len(data)] = byte
    try:
        slim = lifted(bytes(data)).slim
        onnx.ModelProto().ParseFromString(slim)
        whole = True
    except (WireError, DecodeError):
        whole = False
    assert (find_fault(MemoryStorage(bytes(data))) is None) == whole
    if whole:
        onnx.ModelProto().ParseFromString(bytes(data))
