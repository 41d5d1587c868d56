"""Every stored tensor of every model at hand, read lazily, equals what onnx.numpy_helper makes of it, byte for byte."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, numpy_helper

from engine import load
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Node

MODELS = Path(__file__).resolve().parents[3].parent / "shared" / "models"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
FILES = [*(p for f in ("real", "gen", "ml", "ops") for p in sorted((MODELS / f).glob("*.onnx"))),
         *sorted(LIGHT.glob("*.onnx"))]  # fmt: skip

Pair = tuple[TensorProto, TensorData]


def dense(proto: TensorProto, data: object) -> Pair:
    assert isinstance(data, TensorData)
    return proto, data


def sparse(proto: onnx.SparseTensorProto, data: object) -> Iterator[Pair]:
    assert isinstance(data, SparseData)
    assert data.dims == tuple(proto.dims)
    yield proto.values, data.values
    yield proto.indices, data.indices


def of_graph(proto: GraphProto, graph: Graph) -> Iterator[Pair]:
    for initializer in proto.initializer:
        yield dense(initializer, graph.tensors[initializer.name].data)
    for stored in proto.sparse_initializer:
        yield from sparse(stored, graph.tensors[stored.values.name].data)
    yield from of_nodes(proto.node, graph.nodes)


def of_nodes(protos: Iterable[NodeProto], nodes: Iterable[Node]) -> Iterator[Pair]:
    for proto, node in zip(protos, nodes, strict=True):
        for attribute in proto.attribute:
            if not attribute.ref_attr_name:
                yield from of_attribute(attribute, node)


def of_attribute(proto: AttributeProto, node: Node) -> Iterator[Pair]:
    value = node.attributes.get(proto.name)
    if proto.type == AttributeProto.TENSOR:
        yield dense(proto.t, value)
    elif proto.type == AttributeProto.SPARSE_TENSOR:
        yield from sparse(proto.sparse_tensor, value)
    elif proto.type == AttributeProto.TENSORS:
        assert isinstance(value, list)
        yield from map(dense, proto.tensors, value)
    elif proto.type == AttributeProto.GRAPH:
        yield from of_graph(proto.g, node.subgraphs[proto.name])


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_every_tensor_is_what_onnx_reads(path: Path) -> None:
    proto, model = onnx.load(path), load(path)
    pairs = list(of_graph(proto.graph, model.graph))
    for function in proto.functions:
        body = next(f.body for f in model.functions.values() if f.name == function.name)
        pairs += of_nodes(function.node, body.nodes)
    for stored, data in pairs:
        expected, array = numpy_helper.to_array(stored), data.read()
        assert (data.name, array.dtype, array.shape) == (stored.name, expected.dtype, expected.shape)
        if array.dtype == object:
            assert array.tolist() == [s.decode() if isinstance(s, bytes) else s for s in expected.reshape(-1)]
        else:
            assert array.tobytes() == expected.tobytes(), stored.name


def test_there_are_models_to_read() -> None:
    assert len(FILES) > 5


@pytest.mark.parametrize("code", [c for c in TensorProto.DataType.values() if c not in (0, TensorProto.STRING)])
@pytest.mark.parametrize("count", [0, 1, 7, 5000])
def test_every_element_type_and_length(code: int, count: int, tmp_path: Path) -> None:
    """Random bit patterns, raw; odd counts leave 4- and 2-bit types with bits over."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(code)
    bits = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2, 27: 6, 28: 6}.get(code, dtype.itemsize * 8)
    raw = np.random.default_rng(code).bytes((count * bits + 7) // 8)
    stored = TensorProto(name="t", data_type=code, dims=[count], raw_data=raw)
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [stored])).SerializeToString())
    data = load(path).graph.tensors["t"].data
    assert data is not None
    assert data.nbytes == len(raw)
    assert data.array().tobytes() == numpy_helper.to_array(stored).tobytes()
