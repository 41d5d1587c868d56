"""Numbers that are equal where the structure around nodes is: hashes in the manner of Weisfeiler and Lehman.

Source: Weisfeiler and Lehman (1968), refinement of colours by those of the neighbours; here with the slots as labels of
the edges, and once along the run order, which takes in all that lies upstream, once against it.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Node, Tensor
from engine.graph.schemas import default_attributes

Hashes = dict[Node, int]


class StructureHashes:
    """Hashes of a graph's nodes. Strong ones take in attributes and the shapes of constants, weak ones operators alone.

    Constants count as part of the nodes that read them, wherever the file stores them; neither names nor weights nor
    element types count.
    """

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        self._graph = graph
        self._nodes = nodes
        self._inputs = {tensor: place for place, tensor in enumerate(graph.inputs)}
        self._outputs = {tensor: place for place, tensor in enumerate(graph.outputs)}
        self._labels: dict[bool, Hashes] = {}

    def label(self, strong: bool) -> Hashes:
        """Of each node alone."""
        if strong not in self._labels:
            self._labels[strong] = {node: _label(node, strong) for node in self._nodes}
        return self._labels[strong]

    def upstream(self, strong: bool) -> Hashes:
        """Of each node with all that it depends on."""
        label, found = self.label(strong), Hashes()
        for node in self._nodes:
            around = [self._source(tensor, found) for tensor in node.read_tensors()]
            found[node] = hash((label[node], *around))
        return found

    def downstream(self, strong: bool) -> Hashes:
        """Of each node with all that depends on it."""
        label, found = self.label(strong), Hashes()
        for node in reversed(self._nodes):
            around = [self._target(tensor, found) for tensor in node.outputs]
            found[node] = hash((label[node], *around))
        return found

    def near(self, strong: bool, steps: int) -> Hashes:
        """Of each node with what lies within so many steps of it, either way."""
        current = dict(self.label(strong))
        for _ in range(steps):
            current = {
                node: hash((
                    current[node],
                    *(self._source(tensor, current) for tensor in node.read_tensors()),
                    *(self._target(tensor, current) for tensor in node.outputs),
                ))
                for node in self._nodes
            }  # fmt: skip
        return current

    def _source(self, tensor: Tensor, known: Hashes) -> int:
        if tensor.data is not None:
            return 1
        if tensor.producer is not None and tensor.graph is self._graph:
            return hash((known.get(tensor.producer, 2), tensor.producer_slot))
        return hash(("input", self._inputs.get(tensor, -1)))

    def _target(self, tensor: Tensor | None, known: Hashes) -> int:
        if tensor is None:
            return 0
        readers = sorted(hash((known.get(node, 2), slot)) for node, slot in tensor.consumers)
        return hash((self._outputs.get(tensor, -1), *readers))


def _label(node: Node, strong: bool) -> int:
    parts: list[object] = [node.op_type, node.domain, tuple(t is None for t in node.inputs), len(node.outputs)]
    parts += [tuple((key, _shape_of(graph)) for key, graph in sorted(node.subgraphs.items()))]
    if strong:
        defaults = default_attributes(node.op_type, node.since_version, node.domain)
        parts += [
            (name, attribute_key(value)) for name, value in sorted(node.attributes.items())
            if name not in defaults or value != defaults[name]
        ]  # fmt: skip
        parts += [t.data.dims for t in node.inputs if t is not None and t.data is not None]
    return hash(tuple(parts))


def _shape_of(graph: Graph) -> int:
    """A subgraph by its operators in order, those of its own subgraphs included."""
    return hash(tuple(node.op_type for inner in graph.walk() for node in inner.nodes))


def attribute_key(value: object) -> object:
    """Something hashable that is equal for equal attributes; tensors count by their shapes."""
    if isinstance(value, list):
        return tuple(map(attribute_key, value))
    if isinstance(value, TensorData | SparseData):
        return ("tensor", value.dims)
    if isinstance(value, Graph):
        return _shape_of(value)
    return value if isinstance(value, int | float | str) else str(value)
