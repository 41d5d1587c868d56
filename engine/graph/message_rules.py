"""Rules about the protobuf messages of a model that its graph no longer shows: fields set twice, entries without use.

Source: onnx.proto (IR version 14), the comments on AttributeProto, TensorProto, SparseTensorProto and FunctionProto.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto

from engine.diagnostics import CATALOGUE, Diagnostic
from engine.graph.ir import Graph, Model, Node
from engine.graph.schemas import canonical_domain
from engine.graph.text import text
from engine.words import counted

_FIELD_OF_KIND = {
    AttributeProto.FLOAT: "f", AttributeProto.INT: "i", AttributeProto.STRING: "s", AttributeProto.TENSOR: "t",
    AttributeProto.GRAPH: "g", AttributeProto.SPARSE_TENSOR: "sparse_tensor", AttributeProto.TYPE_PROTO: "tp",
    AttributeProto.FLOATS: "floats", AttributeProto.INTS: "ints", AttributeProto.STRINGS: "strings",
    AttributeProto.TENSORS: "tensors", AttributeProto.GRAPHS: "graphs",
    AttributeProto.SPARSE_TENSORS: "sparse_tensors", AttributeProto.TYPE_PROTOS: "type_protos",
}  # fmt: skip
_VALUE_FIELDS = frozenset(_FIELD_OF_KIND.values())
_PAYLOAD_FIELDS = (
    "raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data",
)  # fmt: skip
_NEVER_EMPTY = frozenset({"t", "g", "tp", "sparse_tensor"})
"""Fields that must be there; numbers and strings may be left out where they are zero, lists where they are empty."""
_NESTED = frozenset({
    AttributeProto.TENSOR, AttributeProto.TENSORS, AttributeProto.SPARSE_TENSOR, AttributeProto.SPARSE_TENSORS,
    AttributeProto.GRAPH, AttributeProto.GRAPHS,
})  # fmt: skip
T = TypeVar("T", bound=Hashable)


def message_findings(proto: ModelProto, model: Model) -> list[Diagnostic]:
    """Compare a model's messages with what they may be; `model` is what was built from them.

    Codes: attribute-form, attribute-reference, ambiguous-data, sparse-form, function-form, duplicate-opset,
    duplicate-metadata, unused-value-info.
    """
    rules = _Rules()
    rules.check_imports(proto)
    rules.check_graph(proto.graph, model.graph)
    rules.check_functions(proto.functions)
    return rules.findings


class _Rules:
    """The rules, with what has been found. In functions, findings name the function and have no place."""

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []
        self._where = ""  # how messages begin
        self._declared: set[str] | None = None  # the attributes of the function, None outside functions

    def _add(self, code: str, message: str, node: Node | None = None, tensor: str = "") -> None:
        place = node.qualified_name if node else ""
        self.findings.append(Diagnostic(code, CATALOGUE[code].severity, self._where + message, place, tensor))

    # --- the model

    def check_imports(self, proto: ModelProto) -> None:
        """What stands in the model twice: opset imports in different versions, metadata keys."""
        versions: dict[str, list[int]] = {}
        for entry in proto.opset_import:
            versions.setdefault(canonical_domain(text(entry.domain)), []).append(entry.version)
        for domain, found in versions.items():
            if len(set(found)) > 1:  # exporters repeat imports word for word
                listed = ", ".join(map(str, found[:8]))
                message = f"{domain or 'ai.onnx'!r} is imported {len(found)} times, in versions {listed}"
                self._add("duplicate-opset", message)
        for key in _repeated(entry.key for entry in proto.metadata_props):
            self._add("duplicate-metadata", f"the metadata key {key!r} stands there more than once")

    def check_functions(self, functions: Sequence[FunctionProto]) -> None:
        """The functions by themselves: their names, parameters and nodes."""
        for key in _repeated((canonical_domain(text(f.domain)), text(f.name), text(f.overload)) for f in functions):
            self._add("function-form", f"the function {key[1]!r} of domain {key[0]!r} is defined more than once")
        for function in functions:
            self._check_function(function)

    def _check_function(self, function: FunctionProto) -> None:
        if not function.name:
            self._add("function-form", "a function has no name")
        attributes = [*function.attribute, *(a.name for a in function.attribute_proto)]
        self._where, self._declared = f"in the function {text(function.name)!r}, ", set(attributes)
        for kind, names in (("input", function.input), ("output", function.output), ("attribute", attributes)):
            for name in _repeated(names):
                self._add("function-form", f"the {kind} {name!r} stands there more than once")
        self._check_nodes(function.node, None)
        self._where, self._declared = "", None

    # --- graphs and nodes

    def check_graph(self, proto: GraphProto, graph: Graph | None) -> None:
        """Check a graph; `graph` is what was built from it, None in functions."""
        if graph is not None:
            stale = [v.name for v in proto.value_info if text(v.name) not in graph.tensors]
            if stale:
                verb = "describes a tensor" if len(stale) == 1 else "describe tensors"
                entries = counted(len(stale), "entry")
                message = f"{entries} of value_info {verb} that the graph does not have (first: {stale[0]!r})"
                self._add("unused-value-info", message, graph.owner)
        for tensor in proto.initializer:
            self._check_tensor(tensor, graph)
        for sparse in proto.sparse_initializer:
            self._check_sparse(sparse, graph)
        self._check_nodes(proto.node, graph)

    def _check_nodes(self, protos: Sequence[NodeProto], graph: Graph | None) -> None:
        for index, proto in enumerate(protos):
            attributes = proto.attribute
            if attributes:
                node = graph.nodes[index] if graph is not None else None
                if len(attributes) > 1:
                    self._check_once(attributes, node)
                for attribute in attributes:
                    self._check_attribute(attribute, node)

    def _check_once(self, attributes: Sequence[AttributeProto], node: Node | None) -> None:
        names = [a.name for a in attributes]
        if len(set(names)) != len(names):
            for name in _repeated(names):
                self._add("attribute-form", f"the attribute {name!r} stands there more than once", node)

    def _check_attribute(self, proto: AttributeProto, node: Node | None) -> None:
        kind = proto.type
        expected = _FIELD_OF_KIND.get(kind)
        filled = [field.name for field, _ in proto.ListFields() if field.name in _VALUE_FIELDS]
        if proto.ref_attr_name:
            self._check_reference(proto, filled, node)
        elif expected is None:
            self._form(proto, f"has no type, and holds {_listed(filled)}", node)
        elif filled != [expected] and (filled or expected in _NEVER_EMPTY):
            name = AttributeProto.AttributeType.Name(kind)
            self._form(proto, f"is of type {name}, and holds {_listed(filled)}", node)
        if not proto.name:
            self._add("attribute-form", "an attribute has no name", node)
        if kind in _NESTED:
            self._check_nested(proto, node)

    def _check_nested(self, proto: AttributeProto, node: Node | None) -> None:
        for tensor in (proto.t, *proto.tensors):
            self._check_tensor(tensor, None, node)
        for sparse in (*([proto.sparse_tensor] if proto.HasField("sparse_tensor") else []), *proto.sparse_tensors):
            self._check_sparse(sparse, None, node)
        bodies = node.subgraphs if node else {}
        if proto.HasField("g"):
            self.check_graph(proto.g, bodies.get(text(proto.name)))
        for i, graph in enumerate(proto.graphs):
            self.check_graph(graph, bodies.get(f"{text(proto.name)}[{i}]"))

    def _check_reference(self, proto: AttributeProto, filled: list[str], node: Node | None) -> None:
        target = proto.ref_attr_name
        if self._declared is None:
            message = f"the attribute {proto.name!r} refers to {target!r} of a call, and is in no function"
            self._add("attribute-reference", message, node)
        elif target not in self._declared:
            message = f"the attribute {proto.name!r} refers to {target!r}, which the function does not declare"
            self._add("attribute-reference", message, node)
        elif filled:
            self._form(proto, f"refers to {target!r} of the call, and holds {_listed(filled)} as well", node)

    def _form(self, proto: AttributeProto, fault: str, node: Node | None) -> None:
        self._add("attribute-form", f"the attribute {proto.name!r} {fault}", node)

    # --- tensors

    def _check_tensor(self, proto: TensorProto, graph: Graph | None, node: Node | None = None) -> None:
        filled = [name for name in _PAYLOAD_FIELDS if len(getattr(proto, name))]
        if proto.data_location == TensorProto.EXTERNAL:
            filled.append("another file")
        if len(filled) > 1:
            place = graph.prefix + text(proto.name) if graph else ""
            message = f"the values of the tensor {proto.name!r} are in {_listed(filled)}"
            self._add("ambiguous-data", message, node, place)

    def _check_sparse(self, proto: SparseTensorProto, graph: Graph | None, node: Node | None = None) -> None:
        fault = _sparse_fault(proto)
        if fault:
            name = text(proto.values.name)
            self._add("sparse-form", f"the sparse tensor {name!r} {fault}", node, graph.prefix + name if graph else "")


def _listed(names: list[str]) -> str:
    return " and ".join(names) or "nothing"


def _sparse_fault(proto: SparseTensorProto) -> str:
    """What is wrong with the shapes of a sparse tensor's parts, in words; empty where nothing is."""
    values, indices, rank = list(proto.values.dims), list(proto.indices.dims), len(proto.dims)
    if len(values) != 1:
        return f"has values of shape {values}: they must be a list"
    if rank == 0 or min(proto.dims) <= 0:
        return f"has the shape {list(proto.dims)}: every length must be positive, and there must be one"
    if proto.indices.data_type != TensorProto.INT64 and values[0]:
        return "has indices that are not int64"
    if values[0] and indices not in ([values[0]], [values[0], rank]):
        return f"has indices of shape {indices}, where [{values[0]}] or [{values[0]}, {rank}] is needed"
    return ""


def _repeated(items: Iterable[T]) -> list[T]:
    return [item for item, count in Counter(items).items() if count > 1]
