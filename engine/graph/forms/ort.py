"""Models in ONNX Runtime's own format (.ort): a FlatBuffer of the graph as the runtime has it.

Source: `ort.fbs` of ONNX Runtime 1.32 (version 6 of the format) for the slots of each table; element types and kinds of
attributes are numbered as in onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    StringStringEntryProto,
    TensorProto,
    TensorShapeProto,
    TypeProto,
)
from onnx import ValueInfoProto as ValueInfo

from engine.diagnostics import Diagnostic, Severity
from engine.errors import ModelFormatError
from engine.graph.forms.flatbuffers import Flatbuffer, FlatbufferError, Table
from engine.graph.marks import Marks
from engine.graph.storage import Storage
from engine.graph.wire import MAX_DEPTH, RAW_DATA, SMALLEST_LIFTED, Payload

MAGIC = b"ORTM"  # at byte 4

_INT64, _INT32, _FLOAT = struct.Struct("<q"), struct.Struct("<i"), struct.Struct("<f")
_INT8, _UINT8 = struct.Struct("<b"), struct.Struct("<B")

_NARROW: dict[int, np.dtype[Any]] = {
    TensorProto.INT8: np.dtype("<i1"), TensorProto.INT16: np.dtype("<i2"), TensorProto.INT32: np.dtype("<i4"),
}  # fmt: skip

_TENSOR_TYPE, _SEQUENCE_TYPE, _MAP_TYPE = 1, 2, 3
_DIM_VALUE, _DIM_PARAM = 1, 2
_FUSED = 1  # the kind of a node that a provider has compiled


def parse_ort(storage: Storage, name: str) -> tuple[ModelProto, Marks[Payload], Diagnostic, str]:
    """The model in a .ort file, with marks for what its weights are, the finding that it is one, and its version in
    words.

    Raises
    ------
    ModelFormatError: the file is damaged.
    """
    try:
        return _Reading(storage).model()
    except FlatbufferError as error:
        raise ModelFormatError(f"{name} is an ONNX Runtime .ort file, but damaged: {error}") from error


class _Reading:
    """Turns the tables of one file into messages."""

    def __init__(self, storage: Storage) -> None:
        self._session = Flatbuffer(storage).root()
        self._payloads: Marks[Payload] = Marks()
        self._depth = 0

    def model(self) -> tuple[ModelProto, Marks[Payload], Diagnostic, str]:
        table = self._session.table(1)
        graph = table.table(7) if table is not None else None
        if table is None or graph is None:
            raise FlatbufferError("it holds no graph")
        model = ModelProto(
            ir_version=table.number(0, _INT64), model_version=_known(table.number(5, _INT64)),
            producer_name=_utf8(table.text(2)), producer_version=_utf8(table.text(3)), domain=_utf8(table.text(4)),
            doc_string=_utf8(table.text(6)), metadata_props=map(_entry, table.tables(9)),
        )  # fmt: skip
        for opset in table.tables(1):
            model.opset_import.add(domain=_utf8(opset.text(0)), version=opset.number(1, _INT64))
        self._fill_graph(model.graph, graph)
        model.graph.name = "main_graph"
        model.graph.doc_string = _utf8(table.text(8))
        version = _utf8(self._session.text(0))
        message = f"an .ort file, version {version}: it holds the graph as ONNX Runtime ran it"
        return model, self._payloads, Diagnostic("ort-format", Severity.INFO, message), f"ORT format {version}"

    def _fill_graph(self, graph: GraphProto, table: Table) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise FlatbufferError(f"its graphs are nested more than {MAX_DEPTH} deep")
        for stored in table.tables(0):
            self._fill_tensor(graph.initializer.add(), stored)
        for sparse in table.tables(7):
            message = graph.sparse_initializer.add(dims=sparse.numbers(2, _INT64))
            self._fill_parts(sparse, {0: message.values})
            if (indices := sparse.table(1)) is not None:
                self._fill_indices(message.indices, indices)
        for node in _sorted(table.tables(2)):
            self._fill_node(graph.node.add(), node)
        values = {value.name: value for value in map(_value, table.tables(1))}
        inputs, outputs = _names(table.texts(5)), _names(table.texts(6))
        graph.input.extend(values.get(name, ValueInfo(name=name)) for name in inputs)
        graph.output.extend(values.get(name, ValueInfo(name=name)) for name in outputs)
        # The file has the types of all names in one list, of constants and of what comes from outside too.
        between = {name for node in graph.node for name in node.output}.difference(inputs, outputs)
        graph.value_info.extend(v for name, v in values.items() if name in between and v.HasField("type"))
        self._depth -= 1

    def _fill_node(self, node: NodeProto, table: Table) -> None:
        if table.number(6, _INT32) == _FUSED:
            raise FlatbufferError(f"its node {_utf8(table.text(0))!r} was compiled, and what it does is lost")
        node.name, node.doc_string = _utf8(table.text(0)), _utf8(table.text(1))
        node.domain, node.op_type = _utf8(table.text(2)), _utf8(table.text(5))
        node.input.extend(_names(table.texts(8)))
        node.output.extend(_names(table.texts(9)))
        for attribute in table.tables(10):
            self._fill_attribute(node.attribute.add(), attribute)

    def _fill_attribute(self, attribute: AttributeProto, table: Table) -> None:
        kind = table.number(2, _INT32)
        attribute.name, attribute.doc_string = _utf8(table.text(0)), _utf8(table.text(1))
        fill = _PLAIN.get(kind)
        if fill is not None:
            fill(attribute, table)
        elif kind == AttributeProto.TENSOR:
            self._fill_parts(table, {6: attribute.t})
        elif kind == AttributeProto.GRAPH and (graph := table.table(7)) is not None:
            attribute.g.name = attribute.name  # the format has no names of graphs
            self._fill_graph(attribute.g, graph)
        elif kind == AttributeProto.TENSORS:
            for tensor in table.tables(11):
                self._fill_tensor(attribute.tensors.add(), tensor)
        elif kind == AttributeProto.GRAPHS:
            for graph in table.tables(12):
                self._fill_graph(attribute.graphs.add(name=attribute.name), graph)
        if kind in AttributeProto.AttributeType.values():
            attribute.type = kind

    def _fill_parts(self, table: Table, parts: dict[int, TensorProto]) -> None:
        for slot, tensor in parts.items():
            tensor.SetInParent()
            if (stored := table.table(slot)) is not None:
                self._fill_tensor(tensor, stored)

    def _fill_indices(self, tensor: TensorProto, table: Table) -> None:
        """Those of a sparse tensor: the format has them in the smallest type that holds them, ONNX in int64."""
        dtype, place = _NARROW.get(table.number(3, _INT32)), table.vector(4)
        if dtype is None or place is None:
            self._fill_tensor(tensor, table)
            return
        tensor.dims.extend(table.numbers(2, _INT64))
        tensor.data_type = TensorProto.INT64
        stored = place.read()
        tensor.raw_data = np.frombuffer(stored, dtype, len(stored) // dtype.itemsize).astype("<i8").tobytes()

    def _fill_tensor(self, tensor: TensorProto, table: Table) -> None:
        tensor.name, tensor.doc_string = _utf8(table.text(0)), _utf8(table.text(1))
        tensor.dims.extend(table.numbers(2, _INT64))
        tensor.data_type = table.number(3, _INT32)
        tensor.string_data.extend(table.texts(5))
        place = table.vector(4)
        if place is not None:
            large = place.length >= SMALLEST_LIFTED
            tensor.raw_data = self._payloads.add(Payload(place, RAW_DATA)) if large else place.read()


def _known(version: int) -> int:
    """The version of a model; the format has the largest number where there is none."""
    return 0 if version == 2**63 - 1 else version


def _sorted(nodes: list[Table]) -> list[Table]:
    """The nodes, each after those it reads from: the file has them by number, and what optimising adds comes last."""
    makers = {name: number for number, node in enumerate(nodes) for name in node.texts(9) if name}
    readers: list[set[int]] = [set() for _ in nodes]
    waiting = [0] * len(nodes)
    for number, node in enumerate(nodes):
        read = {makers[name] for name in (*node.texts(8), *node.texts(12)) if name in makers}
        waiting[number] = len(read)
        for maker in read:
            readers[maker].add(number)
    ready = [number for number, count in enumerate(waiting) if not count]  # sorted, which is a heap
    order = []
    while ready:
        order.append(heappop(ready))
        for reader in readers[order[-1]]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heappush(ready, reader)
    in_cycles = sorted(set(range(len(nodes))).difference(order))
    return [nodes[number] for number in order + in_cycles]


def _fill_float(attribute: AttributeProto, table: Table) -> None:
    attribute.f = table.number(3, _FLOAT, 0.0)


def _fill_int(attribute: AttributeProto, table: Table) -> None:
    attribute.i = table.number(4, _INT64)


def _fill_string(attribute: AttributeProto, table: Table) -> None:
    attribute.s = table.text(5)


_PLAIN: dict[int, Callable[[AttributeProto, Table], None]] = {
    AttributeProto.FLOAT: _fill_float,
    AttributeProto.INT: _fill_int,
    AttributeProto.STRING: _fill_string,
    AttributeProto.FLOATS: lambda attribute, table: attribute.floats.extend(table.numbers(8, _FLOAT)),
    AttributeProto.INTS: lambda attribute, table: attribute.ints.extend(table.numbers(9, _INT64)),
    AttributeProto.STRINGS: lambda attribute, table: attribute.strings.extend(table.texts(10)),
}


def _value(table: Table) -> ValueInfo:
    value = ValueInfo(name=_utf8(table.text(0)), doc_string=_utf8(table.text(1)))
    stored = table.table(2)
    if stored is not None:
        _fill_type(value.type, stored, 0)
    return value


def _fill_type(message: TypeProto, table: Table, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise FlatbufferError(f"a type is nested more than {MAX_DEPTH} deep")
    kind, value = table.number(1, _UINT8), table.table(2)
    message.denotation = _utf8(table.text(0))
    if value is None:
        return
    if kind == _TENSOR_TYPE:
        message.tensor_type.elem_type = value.number(0, _INT32)
        shape = value.table(1)
        if shape is not None:
            message.tensor_type.shape.SetInParent()
            for dim in shape.tables(0):
                _fill_dim(message.tensor_type.shape.dim.add(denotation=_utf8(dim.text(1))), dim.table(0))
    elif kind == _SEQUENCE_TYPE and (element := value.table(0)) is not None:
        _fill_type(message.sequence_type.elem_type, element, depth + 1)
    elif kind == _MAP_TYPE and (element := value.table(1)) is not None:
        message.map_type.key_type = value.number(0, _INT32)
        _fill_type(message.map_type.value_type, element, depth + 1)


def _fill_dim(dim: TensorShapeProto.Dimension, value: Table | None) -> None:
    kind = value.number(0, _INT8) if value is not None else 0
    if value is not None and kind == _DIM_VALUE:
        dim.dim_value = value.number(1, _INT64)
    elif value is not None and kind == _DIM_PARAM:
        dim.dim_param = _utf8(value.text(2))


def _entry(table: Table) -> StringStringEntryProto:
    return StringStringEntryProto(key=_utf8(table.text(0)), value=_utf8(table.text(1)))


def _names(texts: Iterable[bytes]) -> list[str]:
    return [_utf8(text) for text in texts]


def _utf8(text: bytes) -> str:
    return text.decode(errors="replace")
