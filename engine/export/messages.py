"""From the graph to protobuf messages (onnx.proto, IR version 14), large payloads as marks."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from engine import dtypes
from engine.errors import DataError, ExportError
from engine.export.payloads import Payloads
from engine.export.region import Region
from engine.graph.data import SparseData, TensorData
from engine.graph.fusion import FIRST_OVERRIDABLE_IR, data_type
from engine.graph.ir import AttributeValue, Function, Graph, Model, Node, RefAttribute, Tensor
from engine.graph.schemas import schema_of
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type

_FUNCTIONS_IR = 8  # the first IR version with model-local functions


class MessageMaker:
    """Makes the messages of one export; `go_on` is called before each node's and may raise to stop."""

    def __init__(self, model: Model, payloads: Payloads, go_on: Callable[[], object] = lambda: None) -> None:
        self._model = model
        self._payloads = payloads
        self._go_on = go_on

    def whole(self) -> ModelProto:
        """The model as it is."""
        model = self._model
        proto = self._model_proto(model.ir_version, model.opset_imports)
        proto.model_version, proto.domain, proto.doc_string = model.model_version, model.domain, model.doc_string
        _set_entries(proto.metadata_props, model.metadata)
        self._fill_graph(proto.graph, model.graph)
        proto.functions.extend(self._function(f) for f in model.functions.values())
        return proto

    def region(self, region: Region) -> ModelProto:
        """A region as a model of its own.

        Raises
        ------
        ExportError: an input's type is not known.
        """
        functions = self._functions_called(region)
        oldest = _FUNCTIONS_IR if functions else FIRST_OVERRIDABLE_IR
        version = min(max(self._model.ir_version, oldest), onnx.IR_VERSION)
        proto = self._model_proto(version, region.graph.opset_imports)
        proto.graph.name = region.graph.name or "region"
        proto.graph.node.extend(map(self._node, region.nodes))
        for tensor in region.inputs:
            if tensor.inferred_type is None and tensor.stored_type is None:
                raise ExportError(f"the type of {tensor.name!r}, which the region reads, is not known")
            proto.graph.input.append(_value_info(tensor, tensor.inferred_type or tensor.stored_type))
        for tensor in region.outputs:
            proto.graph.output.append(_value_info(tensor, tensor.inferred_type or tensor.stored_type))
        for tensor in region.constants:
            self._add_initializer(proto.graph, tensor)
        proto.functions.extend(map(self._function, functions))
        return proto

    def _model_proto(self, ir_version: int, opsets: Mapping[str, int]) -> ModelProto:
        proto = ModelProto(ir_version=ir_version)
        proto.producer_name, proto.producer_version = self._model.producer_name, self._model.producer_version
        proto.opset_import.extend(onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items())
        return proto

    def _functions_called(self, region: Region) -> list[Function]:
        """The functions that the region needs, those that they call among them."""
        graphs = [sub for node in region.nodes for key, g in node.subgraphs.items() if key != "function"
                  for sub in g.walk()]  # fmt: skip
        pending = [*region.nodes, *(node for graph in graphs for node in graph.nodes)]
        needed: dict[tuple[str, str, str], Function] = {}
        while pending:
            node = pending.pop()
            key = node.domain, node.op_type, node.overload
            function = self._model.functions.get(key)
            if function is not None and key not in needed:
                needed[key] = function
                pending += (inner for graph in function.body.walk() for inner in graph.nodes)
        return [function for key, function in self._model.functions.items() if key in needed]

    # --- graphs

    def _fill_graph(self, proto: GraphProto, graph: Graph) -> None:
        proto.name, proto.doc_string = graph.name, graph.doc_string
        _set_entries(proto.metadata_props, graph.metadata)
        ordered = graph.order if len(graph.order) == len(graph.nodes) else graph.nodes
        proto.node.extend(map(self._node, ordered))
        proto.input.extend(_value_info(t, t.stored_type) for t in graph.inputs)
        proto.output.extend(_value_info(t, t.stored_type or t.inferred_type) for t in graph.outputs)
        ends = {*graph.inputs, *graph.outputs}
        for tensor in graph.tensors.values():
            if tensor.data is not None and tensor.producer is None:
                self._add_initializer(proto, tensor)
            if tensor not in ends and _says_more_than_its_data(tensor):
                proto.value_info.append(_value_info(tensor, tensor.stored_type))
        for name, parameters in graph.quantization.items():
            annotation = proto.quantization_annotation.add(tensor_name=name)
            _set_entries(annotation.quant_parameter_tensor_names, parameters)

    def _add_initializer(self, proto: GraphProto, tensor: Tensor) -> None:
        if isinstance(tensor.data, SparseData):
            sparse = proto.sparse_initializer.add()
            self._fill_sparse(sparse, tensor.data)
            sparse.values.name = tensor.name
        elif tensor.data is not None:
            dense = proto.initializer.add()
            self._fill_tensor(dense, tensor.data)
            dense.name = tensor.name

    def _function(self, function: Function) -> FunctionProto:
        body = function.body
        proto = FunctionProto(name=function.name, domain=function.domain, doc_string=function.doc_string)
        if function.overload:
            proto.overload = function.overload
        proto.input.extend(t.name for t in body.inputs)
        proto.output.extend(t.name for t in body.outputs)
        proto.attribute.extend(function.attributes)
        proto.attribute_proto.extend(self._attribute(n, v, 0) for n, v in function.attribute_defaults.items())
        proto.node.extend(map(self._node, body.order if len(body.order) == len(body.nodes) else body.nodes))
        proto.opset_import.extend(onnx.helper.make_opsetid(d, v) for d, v in function.opset_imports.items())
        proto.value_info.extend(_value_info(t, t.stored_type) for t in body.tensors.values() if t.stored_type)
        _set_entries(proto.metadata_props, function.metadata)
        return proto

    # --- nodes

    def _node(self, node: Node) -> NodeProto:
        self._go_on()
        proto = NodeProto(op_type=node.op_type, domain=node.domain, name=node.stored_name)
        proto.input.extend(t.name if t else "" for t in node.inputs)
        proto.output.extend(t.name if t else "" for t in node.outputs)
        if node.overload:
            proto.overload = node.overload
        if node.doc_string:
            proto.doc_string = node.doc_string
        _set_entries(proto.metadata_props, node.metadata)
        kinds = _attribute_kinds(node)
        proto.attribute.extend(self._attribute(n, v, kinds.get(n, 0)) for n, v in node.attributes.items())
        return proto

    def _attribute(self, name: str, value: AttributeValue, kind: int) -> AttributeProto:
        """An attribute; `kind` is its `AttributeType` by the operator's schema, 0 where there is none."""
        proto = AttributeProto(name=name)
        if isinstance(value, RefAttribute):
            proto.ref_attr_name, proto.type = value.name, _kind(value.kind or kind)
        elif isinstance(value, list):
            self._fill_list(proto, value, kind)
        elif isinstance(value, int):
            proto.type, proto.i = AttributeProto.INT, value
        elif isinstance(value, float):
            proto.type, proto.f = AttributeProto.FLOAT, value
        elif isinstance(value, str):
            proto.type, proto.s = AttributeProto.STRING, _bytes(value)
        elif isinstance(value, TensorData):
            proto.type = AttributeProto.TENSOR
            self._fill_tensor(proto.t, value)
        elif isinstance(value, SparseData):
            proto.type = AttributeProto.SPARSE_TENSOR
            self._fill_sparse(proto.sparse_tensor, value)
        elif isinstance(value, Graph):
            proto.type = AttributeProto.GRAPH
            self._fill_graph(proto.g, value)
        else:
            proto.type = AttributeProto.TYPE_PROTO
            _fill_type(proto.tp, value)
        return proto

    def _fill_list(self, proto: AttributeProto, values: list[Any], kind: int) -> None:
        first = values[0] if values else None
        if isinstance(first, int):
            proto.type = AttributeProto.INTS
            proto.ints.extend(values)
        elif isinstance(first, float):
            proto.type = AttributeProto.FLOATS
            proto.floats.extend(values)
        elif isinstance(first, str):
            proto.type = AttributeProto.STRINGS
            proto.strings.extend(map(_bytes, values))
        elif isinstance(first, TensorData):
            proto.type = AttributeProto.TENSORS
            for data in values:
                self._fill_tensor(proto.tensors.add(), data)
        elif isinstance(first, SparseData):
            proto.type = AttributeProto.SPARSE_TENSORS
            for data in values:
                self._fill_sparse(proto.sparse_tensors.add(), data)
        elif isinstance(first, Graph):
            proto.type = AttributeProto.GRAPHS
            for graph in values:
                self._fill_graph(proto.graphs.add(), graph)
        elif first is None:  # an empty list does not tell what it is a list of
            proto.type = _kind(kind or AttributeProto.INTS)
        else:
            proto.type = AttributeProto.TYPE_PROTOS
            for type_ in values:
                _fill_type(proto.type_protos.add(), type_)

    # --- tensors

    def _fill_tensor(self, proto: TensorProto, data: TensorData) -> None:
        if data.problem:
            raise DataError(data.problem, data.problem_code)
        proto.name, proto.data_type = data.name, data.dtype.code
        proto.dims.extend(data.dims)
        if data.dtype is dtypes.STRING:
            proto.string_data.extend(map(_bytes, data.array().reshape(-1)))
        else:
            proto.raw_data = self._payloads.raw_data(data)

    def _fill_sparse(self, proto: onnx.SparseTensorProto, data: SparseData) -> None:
        self._fill_tensor(proto.values, data.values)
        self._fill_tensor(proto.indices, data.indices)
        proto.dims.extend(data.dims)


def _says_more_than_its_data(tensor: Tensor) -> bool:
    """Whether a value_info is needed: the file declares something that does not follow from the stored value."""
    described = tensor.doc_string or tensor.metadata or tensor.denotation or tensor.dim_denotations
    return bool(described) or (tensor.stored_type is not None and tensor.stored_type != data_type(tensor))


def _attribute_kinds(node: Node) -> dict[str, int]:
    """The types of attributes by the operator's schema, looked up only where a value does not tell them."""
    if all(value != [] and not isinstance(value, RefAttribute) for value in node.attributes.values()):
        return {}
    schema = schema_of(node.op_type, node.since_version, node.domain)
    if schema is None:
        return {}
    kinds = AttributeProto.AttributeType
    return {name: kinds.Value(str(a.type).rpartition(".")[2]) for name, a in schema.attributes.items()}


def _kind(code: int) -> AttributeProto.AttributeType:
    return cast("AttributeProto.AttributeType", code)


def _value_info(tensor: Tensor, type_: Type | None) -> onnx.ValueInfoProto:
    proto = onnx.ValueInfoProto(name=tensor.name)
    if type_ is not None:
        _fill_type(proto.type, type_)
        for dim, denotation in zip(proto.type.tensor_type.shape.dim if tensor.dim_denotations else (),
                                   tensor.dim_denotations):  # fmt: skip
            dim.denotation = denotation
    if tensor.denotation:
        proto.type.denotation = tensor.denotation
    if tensor.doc_string:
        proto.doc_string = tensor.doc_string
    _set_entries(proto.metadata_props, tensor.metadata)
    return proto


def _fill_type(proto: TypeProto, type_: Type) -> None:
    if isinstance(type_, TensorType):
        tensor = proto.sparse_tensor_type if type_.sparse else proto.tensor_type
        tensor.elem_type = type_.dtype.code if type_.dtype else 0
        if type_.shape is None:
            return
        tensor.shape.SetInParent()
        for dim in type_.shape:
            message = tensor.shape.dim.add()
            if isinstance(dim, int):
                message.dim_value = dim
            elif dim is not None:
                message.dim_param = str(dim)
    elif isinstance(type_, MapType):
        proto.map_type.key_type = type_.key.code if type_.key else 0
        _fill_element(proto.map_type.value_type, type_.value)
    elif isinstance(type_, SequenceType):
        proto.sequence_type.SetInParent()
        _fill_element(proto.sequence_type.elem_type, type_.element)
    elif isinstance(type_, OptionalType):
        proto.optional_type.SetInParent()
        _fill_element(proto.optional_type.elem_type, type_.element)


def _fill_element(proto: TypeProto, type_: Type | None) -> None:
    if type_ is not None:
        _fill_type(proto, type_)


def _set_entries(entries: Any, values: Mapping[str, str]) -> None:
    for key, value in values.items():
        entries.add(key=key, value=value)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
