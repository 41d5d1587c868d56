"""A copy of a graph, subgraphs included, that can be rewritten without touching the original; weights are shared."""
from __future__ import annotations

from dataclasses import dataclass, field

from engine.graph.ir import AttributeValue, Graph, Node, Tensor


@dataclass(slots=True)
class GraphCopy:
    """The copy, and what each original tensor and node became."""

    graph: Graph
    tensors: dict[Tensor, Tensor] = field(default_factory=dict)
    nodes: dict[Node, Node] = field(default_factory=dict)


def copy_graph(graph: Graph) -> GraphCopy:
    """Copy the graph with its tensors, nodes and subgraphs, links and run order included."""
    copied = GraphCopy(Graph(graph.name))
    _fill(graph, copied.graph, copied)
    for tensor, twin in copied.tensors.items():
        twin.producer = copied.nodes[tensor.producer] if tensor.producer is not None else None
        twin.consumers = [(copied.nodes[node], slot) for node, slot in tensor.consumers if node in copied.nodes]
    return copied


def _fill(graph: Graph, twin: Graph, copied: GraphCopy) -> None:
    twin.opset_imports = graph.opset_imports
    twin.quantization = graph.quantization
    twin.doc_string, twin.metadata = graph.doc_string, graph.metadata
    twin.tensors = {name: _tensor(tensor, twin, copied) for name, tensor in graph.tensors.items()}
    twin.nodes = [_node(node, twin, copied) for node in graph.nodes]
    twin.order = [copied.nodes[node] for node in graph.order]
    twin.inputs = [copied.tensors[tensor] for tensor in graph.inputs]
    twin.outputs = [copied.tensors[tensor] for tensor in graph.outputs]


def _tensor(tensor: Tensor, graph: Graph, copied: GraphCopy) -> Tensor:
    twin = Tensor(tensor.name, graph, tensor.source)
    twin.stored_type, twin.inferred_type = tensor.stored_type, tensor.inferred_type
    twin.unknown_because, twin.data, twin.producer_slot = tensor.unknown_because, tensor.data, tensor.producer_slot
    copied.tensors[tensor] = twin
    return twin


def _node(node: Node, graph: Graph, copied: GraphCopy) -> Node:
    twin = Node(graph, node.op_type, node.domain, node.name, node.file_index)
    twin.overload, twin.stored_name, twin.index = node.overload, node.stored_name, node.index
    twin.since_version, twin.metadata = node.since_version, node.metadata
    twin.inputs = [None if t is None else copied.tensors[t] for t in node.inputs]
    twin.outputs = [None if t is None else copied.tensors[t] for t in node.outputs]
    twin.captures = [copied.tensors[t] for t in node.captures]
    copied.nodes[node] = twin
    bodies: dict[Graph, Graph] = {}
    for key, body in node.subgraphs.items():
        bodies[body] = twin.subgraphs[key] = _body(body, twin, copied)
    twin.attributes = {name: _attribute(value, bodies) for name, value in node.attributes.items()}
    return twin


def _body(body: Graph, owner: Node, copied: GraphCopy) -> Graph:
    twin = Graph(body.name, owner, body.owner_attribute)
    if body.parent is None:  # the body of a function sees nothing of its caller
        twin.parent = None
    _fill(body, twin, copied)
    return twin


def _attribute(value: AttributeValue, bodies: dict[Graph, Graph]) -> AttributeValue:
    if isinstance(value, Graph):
        return bodies[value]
    if isinstance(value, list) and value and isinstance(value[0], Graph):
        return [bodies[v] for v in value if isinstance(v, Graph)]
    return value
