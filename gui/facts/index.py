"""What the panes look up in a model: names, graphs, totals. Made once per model, away from the GUI thread."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from engine.graph.ir import Graph, Model, Node, Tensor
from gui.running.plan import Needs


@dataclass(slots=True)
class Stored:
    """How much is stored of one element type."""

    tensors: int = 0
    elements: int = 0
    nbytes: int = 0


@dataclass(slots=True)
class ModelIndex:
    """Qualified names of all nodes and tensors, graphs by their prefix, and the totals of the stored data.

    `parameters` counts the elements of floating-point constants and of those stored in 8 bits or less (quantised
    weights); wider integers are indices and shapes. `nbytes` is the stored size of all constants, `stored` the same by
    element type. `fingerprint` is the same for files with the same operators under the same names.
    `needs` is what a plan for a run asks for.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    graphs: dict[str, Graph] = field(default_factory=dict)
    histogram: Counter[str] = field(default_factory=Counter)
    parameters: int = 0
    nbytes: int = 0
    stored: dict[str, Stored] = field(default_factory=dict)
    fingerprint: str = ""
    needs: Needs = field(default_factory=Needs)

    @classmethod
    def of(cls, model: Model) -> ModelIndex:
        """The index of a model, subgraphs included."""
        index = cls(needs=Needs.of(model))
        for graph in model.graph.walk():
            index.graphs[graph.prefix] = graph
            index.nodes.update((node.qualified_name, node) for node in graph.nodes)
            index.histogram.update(node.qualified_op for node in graph.nodes)
            prefix = graph.prefix
            for name, tensor in graph.tensors.items():
                index.tensors[prefix + name] = tensor
        for graph in model.graph.walk_stored():
            for tensor in graph.tensors.values():
                index._count(tensor)
        names = "\n".join(f"{node.op_type} {name}" for name, node in index.nodes.items())
        index.fingerprint = hashlib.sha1(names.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        return index

    def _count(self, tensor: Tensor) -> None:
        data = tensor.data
        if data is None:
            return
        self.nbytes += data.nbytes
        stored = self.stored.setdefault(data.dtype.name, Stored())
        stored.tensors += 1
        stored.elements += data.size
        stored.nbytes += data.nbytes
        if data.dtype.kind == "float" or (data.dtype.kind in ("int", "uint") and data.dtype.bits <= 8):
            self.parameters += data.size

    def like(self, item: Node | Tensor) -> Node | Tensor | None:
        """The node or tensor of the same name as one of another model."""
        known: dict[str, Node] | dict[str, Tensor] = self.nodes if isinstance(item, Node) else self.tensors
        return known.get(item.qualified_name)

    @property
    def node_count(self) -> int:
        return len(self.nodes)
