"""Attributes of nodes: from AttributeProto to plain values (onnx.proto, `AttributeProto`)."""
from __future__ import annotations

import numpy as np
from onnx import AttributeProto

from engine.errors import DataError
from engine.graph.data import SparseData, TensorData
from engine.graph.decode import TensorDecoder, constant_data
from engine.graph.ir import AttributeValue, Node
from engine.graph.type_protos import read_type


def read_attribute(proto: AttributeProto, decoder: TensorDecoder) -> AttributeValue | None:
    """The plain value of an attribute; None for an empty one and for graphs, which the builder links itself.

    Files before IR version 3 may leave the type out; then the field that is set tells it.
    """
    kind = proto.type or _guess_type(proto)
    if kind == AttributeProto.INT:
        return int(proto.i)
    if kind == AttributeProto.FLOAT:
        return float(proto.f)
    if kind == AttributeProto.STRING:
        return _text(proto.s)
    if kind == AttributeProto.TENSOR:
        return decoder.dense(proto.t)
    if kind == AttributeProto.INTS:
        return list(proto.ints)
    if kind == AttributeProto.FLOATS:
        return list(proto.floats)
    if kind == AttributeProto.STRINGS:
        return [_text(s) for s in proto.strings]
    if kind == AttributeProto.TENSORS:
        return [decoder.dense(t) for t in proto.tensors]
    if kind == AttributeProto.SPARSE_TENSOR:
        return decoder.sparse(proto.sparse_tensor)
    if kind == AttributeProto.SPARSE_TENSORS:
        return [decoder.sparse(t) for t in proto.sparse_tensors]
    if kind == AttributeProto.TYPE_PROTO:
        return read_type(proto.tp)
    if kind == AttributeProto.TYPE_PROTOS:
        types = [read_type(t) for t in proto.type_protos]
        return [t for t in types if t is not None]
    return None


def _text(raw: bytes) -> str:
    # Attributes are bytes and need not be UTF-8; surrogates keep them whole.
    return raw.decode("utf-8", "surrogateescape")


def _guess_type(proto: AttributeProto) -> int:
    for field, kind in (("f", AttributeProto.FLOAT), ("i", AttributeProto.INT), ("s", AttributeProto.STRING),
                        ("t", AttributeProto.TENSOR)):  # fmt: skip
        if proto.HasField(field):
            return kind
    for repeated, kind in ((proto.ints, AttributeProto.INTS), (proto.floats, AttributeProto.FLOATS),
                           (proto.strings, AttributeProto.STRINGS)):  # fmt: skip
        if len(repeated):
            return kind
    return AttributeProto.UNDEFINED


def constant_value(node: Node) -> TensorData | SparseData:
    """The value of a Constant node (ai.onnx, all versions), in whichever attribute it stands.

    Raises
    ------
    DataError: it has no value, or one that cannot be read.
    """
    name = node.outputs[0].name if node.outputs and node.outputs[0] else node.name
    for key, value in node.attributes.items():
        if key in ("value", "sparse_value") and isinstance(value, (TensorData, SparseData)):
            return value
        if key in ("value_float", "value_floats") and isinstance(value, (float, list)):
            return constant_data(name, np.array(value, np.float32))
        if key in ("value_int", "value_ints") and isinstance(value, (int, list)):
            return constant_data(name, np.array(value, np.int64))
        if key in ("value_string", "value_strings") and isinstance(value, (str, list)):
            return constant_data(name, np.array(value, object))
    raise DataError("it has no value", "constant-without-value")
