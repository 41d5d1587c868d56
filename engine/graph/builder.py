"""Builds the graphs of a model from its protobuf messages and links every name to its tensor."""
from __future__ import annotations

from collections.abc import Iterable

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

from engine.diagnostics import Diagnostic, Severity, counted
from engine.errors import DataError
from engine.graph.attributes import constant_value, read_attribute
from engine.graph.data import SparseData, TensorData
from engine.graph.decode import TensorDecoder
from engine.graph.function_calls import FunctionExpander
from engine.graph.fusion import data_type, fuse_initializer
from engine.graph.ir import AttributeValue, Function, Graph, Model, Node, RefAttribute, Tensor, ValueSource
from engine.graph.reader import ModelFile
from engine.graph.schemas import canonical_domain, since_version
from engine.graph.type_protos import read_type


class ModelBuilder:
    """Builds one `Model`. Findings gather in the model's diagnostics as names are linked."""

    def __init__(self, file: ModelFile) -> None:
        self._file = file
        self._proto: ModelProto = file.proto
        self._decoder = TensorDecoder(file)
        self._findings: list[Diagnostic] = []
        self._missing_files: dict[str, list[TensorData]] = {}
        self._expander = FunctionExpander(self._proto.functions)

    def build(self) -> Model:
        """The linked model, nodes in file order."""
        proto = self._proto
        imports = _opset_imports(proto.opset_import)
        graph = Graph(proto.graph.name)
        graph.opset_imports = imports
        self._findings += self._expander.findings(proto)
        self._fill(graph, proto.graph)
        model = Model(
            ir_version=proto.ir_version,
            graph=graph,
            path=self._file.path,
            opset_imports=imports,
            producer_name=proto.producer_name,
            producer_version=proto.producer_version,
            domain=proto.domain,
            model_version=proto.model_version,
            doc_string=proto.doc_string,
            metadata={entry.key: entry.value for entry in proto.metadata_props},
        )
        for function in map(self._function, proto.functions):
            model.functions[function.domain, function.name, function.overload] = function
        model.diagnostics = self._findings + self._missing_file_findings()
        return model

    # --- graphs

    def _fill(self, graph: Graph, proto: GraphProto) -> None:
        """Fill a graph in two passes: first every name it defines, then what its nodes read, subgraphs included."""
        graph.doc_string = proto.doc_string
        graph.metadata = {entry.key: entry.value for entry in proto.metadata_props}
        for value in proto.input:
            graph.inputs.append(self._input(graph, value))
        self._initializers(graph, proto)
        declared = {value.name: value for value in proto.value_info}
        declared.update((value.name, value) for value in proto.output)
        nodes = self._define_nodes(graph, proto.node, {})
        for node, node_proto in nodes:
            self._link_node(node, node_proto, {})
        for value in proto.output:
            graph.outputs.append(self._output(graph, value.name))
        self._declare_types(graph, declared.values())

    def _input(self, graph: Graph, value: ValueInfoProto) -> Tensor:
        tensor = Tensor(value.name, graph, ValueSource.INPUT)
        if value.name in graph.tensors:
            self._report("duplicate-input", f"two inputs are named {value.name!r}", tensor=tensor)
        else:
            graph.tensors[value.name] = tensor
        self._declare(tensor, value)
        return graph.tensors[value.name]

    def _initializers(self, graph: Graph, proto: GraphProto) -> None:
        ir_version = self._proto.ir_version
        values: list[TensorData | SparseData] = [self._decoder.dense(t) for t in proto.initializer]
        values += [self._decoder.sparse(t) for t in proto.sparse_initializer]
        for data in values:
            if data.problem_code == "external-missing":
                self._missing_files.setdefault(data.location, []).append(_dense(data))
            _, findings = fuse_initializer(graph, data.name, data, ir_version)
            self._findings += [f for f in findings if f.code != "external-missing"]

    def _declare_types(self, graph: Graph, values: Iterable[ValueInfoProto]) -> None:
        for value in values:
            tensor = graph.tensors.get(value.name)
            if tensor is not None and tensor.source not in (ValueSource.INPUT, ValueSource.OVERRIDABLE):
                self._declare(tensor, value)

    def _declare(self, tensor: Tensor, value: ValueInfoProto) -> None:
        declared = read_type(value.type)
        if declared is not None:
            tensor.stored_type = declared
        tensor.doc_string = value.doc_string
        tensor.metadata = {entry.key: entry.value for entry in value.metadata_props}

    # --- nodes

    def _define_nodes(
        self, graph: Graph, protos: Iterable[NodeProto], bound: dict[str, AttributeValue]
    ) -> list[tuple[Node, NodeProto]]:
        """Create the nodes and the tensors they write; `bound` holds the attributes of a function's caller."""
        pairs, used = [], set()
        for index, proto in enumerate(protos):
            domain = canonical_domain(proto.domain)
            name = proto.name or f"{proto.op_type}_{index}"
            while name in used:
                name = f"{name}#{index}"
            used.add(name)
            node = Node(graph, proto.op_type, domain, name, index)
            node.stored_name, node.overload, node.doc_string = proto.name, proto.overload, proto.doc_string
            node.metadata = {entry.key: entry.value for entry in proto.metadata_props}
            node.since_version = since_version(proto.op_type, node.opset, domain)
            graph.nodes.append(node)
            for slot, output in enumerate(proto.output):
                node.outputs.append(self._define_output(node, slot, output) if output else None)
            pairs.append((node, proto))
        return pairs

    def _define_output(self, node: Node, slot: int, name: str) -> Tensor:
        tensor, known = Tensor(name, node.graph), node.graph.tensors.get(name)
        if known is None:
            node.graph.tensors[name] = tensor
        else:
            who = f"the node {known.producer.name!r}" if known.producer else f"an {known.source.value}"
            message = f"{name!r} is written by the node {node.name!r} and given by {who}; the first counts"
            self._report("duplicate-output", message, node, known)
        tensor.producer, tensor.producer_slot = node, slot
        return tensor

    def _link_node(self, node: Node, proto: NodeProto, bound: dict[str, AttributeValue]) -> None:
        for slot, name in enumerate(proto.input):
            node.inputs.append(self._read(node, slot, name) if name else None)
        for attribute in proto.attribute:
            value = self._attribute(node, attribute)
            if isinstance(value, RefAttribute):
                if value.name not in bound:
                    continue
                value = bound[value.name]
            if value is not None:
                node.attributes[attribute.name] = value
        self._check_known(node)
        if node.op_type == "Constant" and node.domain == "" and node.outputs and node.outputs[0] is not None:
            self._set_constant(node, node.outputs[0])
        body = self._expander.body(node)
        if body is not None:
            self._expand(node, body)

    def _read(self, node: Node, slot: int, name: str) -> Tensor:
        tensor = node.graph.find(name)
        if tensor is None:
            tensor = node.graph.tensors[name] = Tensor(name, node.graph, ValueSource.ABSENT)
            message = f"the node {node.name!r} reads {name!r}, which nothing in the file defines"
            self._report("missing-tensor", message, node, tensor)
        tensor.consumers.append((node, slot))
        _capture(tensor, node.graph)
        return tensor

    def _output(self, graph: Graph, name: str) -> Tensor:
        tensor = graph.find(name)
        if tensor is None:
            tensor = graph.tensors[name] = Tensor(name, graph, ValueSource.ABSENT)
        if tensor.source is ValueSource.ABSENT:
            self._report("output-not-produced", f"nothing in the file computes the output {name!r}", tensor=tensor)
        _capture(tensor, graph)
        return tensor

    def _attribute(self, node: Node, proto: AttributeProto) -> AttributeValue | None:
        if proto.ref_attr_name:
            return RefAttribute(proto.ref_attr_name)
        if proto.type == AttributeProto.GRAPH:
            return self._subgraph(node, proto.name, proto.g)
        if proto.type == AttributeProto.GRAPHS:
            return [self._subgraph(node, f"{proto.name}[{i}]", g) for i, g in enumerate(proto.graphs)]
        value = read_attribute(proto, self._decoder)
        for data in value if isinstance(value, list) else [value]:
            if isinstance(data, (TensorData, SparseData)) and data.problem:
                self._report(data.problem_code, f"attribute {proto.name!r}: {data.problem}", node)
        return value

    def _subgraph(self, node: Node, key: str, proto: GraphProto) -> Graph:
        graph = Graph(proto.name, node, key)
        self._fill(graph, proto)
        node.subgraphs[key] = graph
        return graph

    def _set_constant(self, node: Node, output: Tensor) -> None:
        try:
            output.data = constant_value(node)
        except DataError as error:
            self._report(error.code, f"the Constant {node.name!r}: {error}", node, output)
            return
        output.source = ValueSource.CONSTANT
        output.stored_type = data_type(output)

    def _check_known(self, node: Node) -> None:
        declared = node.graph.opset_imports
        if node.domain not in declared and node.op_type:
            message = f"the domain {node.domain or 'ai.onnx'!r} of the node {node.name!r} has no opset import"
            if not any(f.code == "undeclared-opset" and node.domain in f.message for f in self._findings):
                self._report("undeclared-opset", message, node, severity=Severity.WARNING)
        if node.since_version == 0 and not self._expander.defines(node):
            message = f"opset {node.opset} of {node.domain or 'ai.onnx'} has no operator {node.op_type!r}"
            self._report("unknown-op", message, node)

    # --- functions

    def _function(self, proto: FunctionProto) -> Function:
        """The template of a function, for looking at: attributes of its caller stay `RefAttribute`s."""
        body = self._function_graph(Graph(proto.name), proto, None)
        return Function(
            domain=canonical_domain(proto.domain),
            name=proto.name,
            overload=proto.overload,
            body=body,
            attributes=tuple(proto.attribute),
            attribute_defaults=self._defaults(proto),
            opset_imports=body.opset_imports,
            doc_string=proto.doc_string,
        )

    def _expand(self, node: Node, proto: FunctionProto) -> None:
        """Give a call its own copy of the function's body, as the subgraph "function" with inputs by position."""
        bound = {**self._defaults(proto), **node.attributes}
        node.subgraphs["function"] = self._function_graph(Graph(proto.name, node, "function"), proto, bound)

    def _function_graph(self, graph: Graph, proto: FunctionProto, bound: dict[str, AttributeValue] | None) -> Graph:
        graph.parent = None  # a function sees nothing of its caller but its inputs
        graph.opset_imports = _opset_imports(proto.opset_import)
        graph.doc_string = proto.doc_string
        for name in proto.input:
            tensor = graph.tensors[name] = Tensor(name, graph, ValueSource.INPUT)
            graph.inputs.append(tensor)
        pairs = self._define_nodes(graph, proto.node, {})
        for node, node_proto in pairs:
            if bound is None:
                self._link_template_node(node, node_proto)
            else:
                self._link_node(node, node_proto, bound)
        for name in proto.output:
            graph.outputs.append(self._output(graph, name))
        return graph

    def _link_template_node(self, node: Node, proto: NodeProto) -> None:
        for slot, name in enumerate(proto.input):
            node.inputs.append(self._read(node, slot, name) if name else None)
        for attribute in proto.attribute:
            value = self._attribute(node, attribute)
            if value is not None:
                node.attributes[attribute.name] = value

    def _defaults(self, proto: FunctionProto) -> dict[str, AttributeValue]:
        pairs = ((a.name, read_attribute(a, self._decoder)) for a in proto.attribute_proto)
        return {name: value for name, value in pairs if value is not None}

    # --- findings

    def _report(
        self, code: str, message: str, node: Node | None = None, tensor: Tensor | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:  # fmt: skip
        self._findings.append(
            Diagnostic(code, severity, message, node.qualified_name if node else "",
                       tensor.qualified_name if tensor else "")
        )  # fmt: skip

    def _missing_file_findings(self) -> list[Diagnostic]:
        findings = []
        for location, data in self._missing_files.items():
            size = sum(d.nbytes for d in data)
            message = (
                f"{counted(len(data), 'tensor')} ({size:,} bytes; first: {data[0].name!r}) should be {location}, which "
                "is not in the model's folder: put the file beside the model; until then the model cannot run"
            )
            findings.append(Diagnostic("external-missing", Severity.ERROR, message, tensor=data[0].name))
        return findings


def _capture(tensor: Tensor, graph: Graph) -> None:
    """Record an outer tensor with every node that owns a subgraph between `graph` and the tensor's own."""
    while graph is not tensor.graph and graph.owner is not None:
        if tensor not in graph.owner.captures:
            graph.owner.captures.append(tensor)
        graph = graph.owner.graph


def _dense(data: TensorData | SparseData) -> TensorData:
    return data.values if isinstance(data, SparseData) else data


def _opset_imports(protos: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {canonical_domain(entry.domain): entry.version for entry in protos}
