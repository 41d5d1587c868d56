"""Builds the graphs of a model from its protobuf messages and links every name to its tensor."""
from __future__ import annotations

from collections.abc import Callable, Iterable

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from engine.diagnostics import Diagnostic, Severity, in_function
from engine.errors import DataError
from engine.graph.attributes import constant_value, read_attribute
from engine.graph.data import SparseData, TensorData
from engine.graph.decode import TensorDecoder
from engine.graph.function_calls import FunctionExpander
from engine.graph.fusion import data_type, fuse_initializer
from engine.graph.ir import AttributeValue, Function, Graph, Model, Node, RefAttribute, Tensor, ValueSource
from engine.graph.reader import ModelFile
from engine.graph.schemas import canonical_domain, since_version, why_unknown
from engine.graph.text import entries, text
from engine.graph.type_protos import Declaration
from engine.words import counted

Bound = dict[str, AttributeValue] | None
"""The attributes of the call that a function's body is built for; None in its template, empty outside functions."""


class ModelBuilder:
    """Builds one `Model`. Findings gather in the model's diagnostics as names are linked."""

    def __init__(self, file: ModelFile, go_on: Callable[[], object] = lambda: None) -> None:
        """`go_on` is called before each node is linked and may raise to stop."""
        self._file = file
        self._go_on = go_on
        self._proto: ModelProto = file.proto
        self._decoder = TensorDecoder(file)
        self._findings: list[Diagnostic] = list(file.findings)
        self._missing_files: dict[str, list[TensorData]] = {}
        self._declared: dict[bytes, Declaration] = {}  # by message: most tensors of a model share a few types
        self._undeclared: set[str] = set()  # domains that have been reported
        self._called: set[tuple[str, str, str]] = set()  # functions that have been expanded
        self._captured: set[tuple[Node, Tensor]] = set()
        self._repaired: list[str] = []  # names that were not UTF-8
        self._expander = FunctionExpander(self._proto.functions)

    def build(self) -> Model:
        """The linked model, nodes in file order."""
        proto = self._proto
        imports = _opset_imports(proto.opset_import)
        graph = Graph(text(proto.graph.name))
        graph.opset_imports = imports
        self._findings += self._expander.findings(proto)
        self._fill(graph, proto.graph, {})
        model = Model(
            ir_version=proto.ir_version,
            graph=graph,
            path=self._file.path,
            form=self._file.form,
            opset_imports=imports,
            producer_name=text(proto.producer_name),
            producer_version=text(proto.producer_version),
            domain=text(proto.domain),
            model_version=proto.model_version,
            doc_string=text(proto.doc_string),
            metadata=entries(proto.metadata_props),
        )
        for function in map(self._function, proto.functions):
            model.functions[function.domain, function.name, function.overload] = function
        model.data_paths = self._decoder.data_paths
        model.diagnostics = self._findings + self._missing_file_findings() + self._closing_findings()
        return model

    # --- graphs

    def _fill(self, graph: Graph, proto: GraphProto, bound: Bound) -> None:
        """Fill a graph in two passes: first every name it defines, then what its nodes read, subgraphs included."""
        graph.doc_string = text(proto.doc_string)
        graph.metadata = entries(proto.metadata_props)
        for value in proto.input:
            graph.inputs.append(self._input(graph, value))
        self._initializers(graph, proto)
        for node, node_proto in self._define_nodes(graph, proto.node):
            self._go_on()
            self._link_node(node, node_proto, bound)
        for value in proto.output:
            graph.outputs.append(self._output(graph, self._name(value.name)))
        self._declare_types(graph, proto.value_info)
        self._declare_types(graph, proto.output)
        for annotation in proto.quantization_annotation:
            graph.quantization[text(annotation.tensor_name)] = entries(annotation.quant_parameter_tensor_names)

    def _input(self, graph: Graph, value: ValueInfoProto) -> Tensor:
        name = self._name(value.name)
        tensor = Tensor(name, graph, ValueSource.INPUT)
        if name in graph.tensors:
            self._report("duplicate-input", f"two inputs are named {name!r}", tensor=tensor)
        else:
            graph.tensors[name] = tensor
        self._declare(tensor, value)
        return graph.tensors[name]

    def _initializers(self, graph: Graph, proto: GraphProto) -> None:
        ir_version = self._proto.ir_version
        stored: list[tuple[TensorProto, TensorData | SparseData]] = [
            *((dense, self._decoder.dense(dense)) for dense in proto.initializer),
            *((sparse.values, self._decoder.sparse(sparse)) for sparse in proto.sparse_initializer),
        ]
        for message, data in stored:
            if data.problem_code == "external-missing":
                self._missing_files.setdefault(data.location, []).append(_dense(data))
            tensor, findings = fuse_initializer(graph, data.name, data, ir_version)
            if findings:
                self._findings += [f for f in findings if f.code != "external-missing"]
            if message.doc_string:
                tensor.doc_string = tensor.doc_string or text(message.doc_string)
            if message.metadata_props:
                tensor.metadata |= entries(message.metadata_props)

    def _declare_types(self, graph: Graph, values: Iterable[ValueInfoProto]) -> None:
        for value in values:
            tensor = graph.tensors.get(text(value.name))
            if tensor is not None and tensor.source not in (ValueSource.INPUT, ValueSource.OVERRIDABLE):
                self._declare(tensor, value)

    def _declare(self, tensor: Tensor, value: ValueInfoProto) -> None:
        key = value.type.SerializeToString()
        declared = self._declared.get(key)
        if declared is None:
            declared = self._declared[key] = Declaration.of(value.type)
        if declared.type is not None:
            tensor.stored_type = declared.type
        tensor.denotation, tensor.dim_denotations = declared.denotation, declared.dim_denotations
        if value.doc_string:
            tensor.doc_string = text(value.doc_string)
        if value.metadata_props:
            tensor.metadata |= entries(value.metadata_props)

    # --- nodes

    def _define_nodes(self, graph: Graph, protos: Iterable[NodeProto]) -> list[tuple[Node, NodeProto]]:
        """Create the nodes and the tensors they write."""
        pairs: list[tuple[Node, NodeProto]] = []
        used: set[str] = set()
        for index, proto in enumerate(protos):
            op_type, domain, stored_name = text(proto.op_type), canonical_domain(text(proto.domain)), text(proto.name)
            name = unique_name(stored_name, op_type, index, used)
            node = Node(graph, op_type, domain, name, index)
            node.stored_name, node.overload, node.doc_string = stored_name, text(proto.overload), text(proto.doc_string)
            if proto.metadata_props:
                node.metadata = entries(proto.metadata_props)
            node.since_version = since_version(op_type, node.opset, domain)
            graph.nodes.append(node)
            for slot, output in enumerate(proto.output):
                node.outputs.append(self._define_output(node, slot, self._name(output)) if output else None)
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

    def _link_node(self, node: Node, proto: NodeProto, bound: Bound) -> None:
        for slot, name in enumerate(proto.input):
            node.inputs.append(self._read(node, slot, text(name)) if name else None)
        for attribute in proto.attribute:
            value = self._attribute(node, attribute, bound)
            if isinstance(value, RefAttribute) and bound is not None:
                value = bound.get(value.name)
            if value is not None:
                node.attributes[text(attribute.name)] = value
        if bound is None:
            return
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
        if tensor.graph is not node.graph:
            self._capture(tensor, node.graph)
        return tensor

    def _output(self, graph: Graph, name: str) -> Tensor:
        tensor = graph.find(name)
        if tensor is None:
            tensor = graph.tensors[name] = Tensor(name, graph, ValueSource.ABSENT)
        if tensor.source is ValueSource.ABSENT:
            self._report("output-not-produced", f"nothing in the file computes the output {name!r}", tensor=tensor)
        self._capture(tensor, graph)
        return tensor

    def _capture(self, tensor: Tensor, graph: Graph) -> None:
        """Record an outer tensor with every node that owns a subgraph between `graph` and the tensor's own."""
        while graph is not tensor.graph and graph.owner is not None:
            if (graph.owner, tensor) not in self._captured:
                self._captured.add((graph.owner, tensor))
                graph.owner.captures.append(tensor)
            graph = graph.owner.graph

    def _attribute(self, node: Node, proto: AttributeProto, bound: Bound) -> AttributeValue | None:
        if proto.ref_attr_name:
            return RefAttribute(text(proto.ref_attr_name), proto.type)
        name = text(proto.name)
        if proto.type == AttributeProto.GRAPH:
            return self._subgraph(node, name, proto.g, bound)
        if proto.type == AttributeProto.GRAPHS:
            return [self._subgraph(node, f"{name}[{i}]", g, bound) for i, g in enumerate(proto.graphs)]
        value = read_attribute(proto, self._decoder)
        for data in value if isinstance(value, list) else [value]:
            if isinstance(data, (TensorData, SparseData)) and data.problem:
                self._report(data.problem_code, f"attribute {name!r}: {data.problem}", node)
        return value

    def _subgraph(self, node: Node, key: str, proto: GraphProto, bound: Bound) -> Graph:
        graph = Graph(text(proto.name), node, key)
        self._fill(graph, proto, bound)
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
        domain = node.domain
        if domain not in node.graph.opset_imports and node.op_type and domain not in self._undeclared:
            self._undeclared.add(domain)
            message = f"the domain {domain or 'ai.onnx'!r} of the node {node.name!r} has no opset import"
            self._report("undeclared-opset", message, node, severity=Severity.WARNING)
        if node.since_version == 0 and not self._expander.defines(node):
            self._report("unknown-op", why_unknown(node.op_type, node.opset, node.domain), node)

    # --- functions

    def _function(self, proto: FunctionProto) -> Function:
        """The template of a function, for looking at: attributes of its caller stay `RefAttribute`s."""
        known = len(self._findings)
        body = self._function_graph(Graph(text(proto.name)), proto, None)
        found = self._findings[known:]
        del self._findings[known:]
        domain, name, overload = canonical_domain(text(proto.domain)), text(proto.name), text(proto.overload)
        if (domain, name, overload) not in self._called:
            self._findings += in_function(found, name)
        return Function(
            domain=domain,
            name=name,
            overload=overload,
            body=body,
            attributes=tuple(map(text, proto.attribute)),
            attribute_defaults=self._defaults(proto),
            opset_imports=body.opset_imports,
            doc_string=text(proto.doc_string),
            metadata=entries(proto.metadata_props),
        )

    def _expand(self, node: Node, proto: FunctionProto) -> None:
        """Give a call its own copy of the function's body, as the subgraph "function" with inputs by position."""
        bound = {**self._defaults(proto), **node.attributes}
        graph = Graph(text(proto.name), node, "function")
        known = len(self._findings)
        node.subgraphs["function"] = self._function_graph(graph, proto, bound)
        key = node.domain, node.op_type, node.overload
        if key in self._called:  # the first call has told what is wrong with the body
            del self._findings[known:]
        self._called.add(key)

    def _function_graph(self, graph: Graph, proto: FunctionProto, bound: Bound) -> Graph:
        graph.parent = None  # a function sees nothing of its caller but its inputs
        graph.opset_imports = _opset_imports(proto.opset_import)
        graph.doc_string = text(proto.doc_string)
        for name in map(text, proto.input):
            tensor = graph.tensors[name] = Tensor(name, graph, ValueSource.INPUT)
            graph.inputs.append(tensor)
        for node, node_proto in self._define_nodes(graph, proto.node):
            self._link_node(node, node_proto, bound)
        for name in map(text, proto.output):
            graph.outputs.append(self._output(graph, name))
        self._declare_types(graph, proto.value_info)
        return graph

    def _defaults(self, proto: FunctionProto) -> dict[str, AttributeValue]:
        pairs = ((text(a.name), read_attribute(a, self._decoder)) for a in proto.attribute_proto)
        return {name: value for name, value in pairs if value is not None}

    def _name(self, value: str | bytes) -> str:
        """The name of a tensor; one that is not UTF-8 is noted."""
        if isinstance(value, str):
            return value
        self._repaired.append(text(value))
        return self._repaired[-1]

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

    def _closing_findings(self) -> list[Diagnostic]:
        findings = []
        if self._repaired:
            message = (
                f"{counted(len(self._repaired), 'name')} of tensors are not UTF-8 and shown with escapes (first: "
                f"{self._repaired[0]!r})"
            )
            findings.append(Diagnostic("name-not-utf8", Severity.WARNING, message))
        if self._proto.training_info:
            steps = counted(len(self._proto.training_info), "training step")
            message = f"the file describes {steps} too, which inference does not need: left alone"
            findings.append(Diagnostic("training-info", Severity.INFO, message))
        return findings


def unique_name(stored: str, op_type: str, index: int, used: set[str]) -> str:
    """The name of the node at `index` of its graph: the file's, made up or lengthened where it is none of its own."""
    name = stored or f"{op_type}_{index}"
    while name in used:
        name = f"{name}#{index}"
    used.add(name)
    return name


def _dense(data: TensorData | SparseData) -> TensorData:
    return data.values if isinstance(data, SparseData) else data


def _opset_imports(protos: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {canonical_domain(text(entry.domain)): entry.version for entry in protos}
