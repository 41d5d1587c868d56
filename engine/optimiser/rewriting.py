"""A model's copy under rewriting: the few edits that passes are made of, with links and origins kept right."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.dtypes import from_numpy
from engine.graph.data import TensorData
from engine.graph.ir import AttributeValue, Graph, Node, Tensor, ValueSource
from engine.graph.types import TensorType


@dataclass(frozen=True, slots=True)
class Change:
    """What one pass did: the qualified names of the user's nodes that it concerned, and a word on it."""

    pass_name: str
    nodes: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        return f"{self.pass_name}: {', '.join(self.nodes)} {self.what}"

    def to_json(self) -> dict[str, object]:
        """Its fields as JSON has them."""
        return {"pass": self.pass_name, "nodes": list(self.nodes), "what": self.what}


class Rewriting:
    """The copy of a graph, and what has been done to it.

    Attributes
    ----------
    origins: for each node of the copy the user's nodes that it stands for.
    changes: what the passes did, in order.
    removed: the nodes that the present pass took out, which stand in their graphs' lists until `sweep`.
    """

    def __init__(self, graph: Graph, origins: dict[Node, tuple[Node, ...]]) -> None:
        self.graph = graph
        self.origins = origins
        self.changes: list[Change] = []
        self.pass_name = ""
        self.removed: set[Node] = set()

    def nodes(self) -> Iterator[Node]:
        """Every node, subgraphs included, in run order; those removed meanwhile are left out."""
        for scope in list(self.graph.walk()):
            for node in scope.order:
                if node not in self.removed:
                    yield node

    def sweep(self) -> None:
        """Take the removed nodes out of their graphs' lists: once a pass, since each time walks the whole lists."""
        if self.removed:
            for scope in self.graph.walk():
                scope.nodes = [node for node in scope.nodes if node not in self.removed]
                scope.order = [node for node in scope.order if node not in self.removed]
        self.removed = set()

    def note(self, what: str, *nodes: Node) -> None:
        """Record that the present pass did something to nodes of the copy."""
        names = dict.fromkeys(origin.qualified_name for node in nodes for origin in self.origins.get(node, ()))
        self.changes.append(Change(self.pass_name, tuple(names), what))

    def remove(self, node: Node) -> None:
        """Take out a node whose outputs nobody reads, and its subgraphs with it."""
        for slot, tensor in enumerate(node.inputs):
            if tensor is not None:
                tensor.consumers.remove((node, slot))
        for scope in node.subgraphs.values():
            for inner in list(scope.nodes):
                self.remove(inner)
        self.removed.add(node)
        self.origins.pop(node, None)
        for tensor in node.outputs:
            if tensor is not None and tensor.producer is node:
                tensor.producer = None
                if not tensor.is_constant:
                    node.graph.tensors.pop(tensor.name, None)

    def replace(self, old: Tensor, new: Tensor) -> None:
        """Let everybody who reads `old` read `new`, which stands in the same scope or in one around it."""
        for node, slot in old.consumers:
            node.inputs[slot] = new
            new.consumers.append((node, slot))
            scope = node.graph
            while scope is not old.graph and scope.owner is not None:
                scope.owner.captures = list(dict.fromkeys(new if t is old else t for t in scope.owner.captures))
                scope = scope.owner.graph
        old.consumers = []

    def set_input(self, node: Node, slot: int, tensor: Tensor) -> None:
        """Let a node read another tensor at one slot; slots before it that are missing stay absent."""
        while len(node.inputs) <= slot:
            node.inputs.append(None)
        before = node.inputs[slot]
        if before is not None:
            before.consumers.remove((node, slot))
        node.inputs[slot] = tensor
        tensor.consumers.append((node, slot))

    def take_over(self, node: Node, other: Node, what: str) -> None:
        """Let `node` make what `other`, its only reader, makes of its first output, and remove `other`."""
        made, final = node.outputs[0], other.outputs[0]
        assert made is not None
        assert final is not None
        self.note(what, node, other)
        self.origins[node] = (*self.origins[node], *self.origins[other])
        other.outputs[0] = None
        self.remove(other)
        node.graph.tensors.pop(made.name, None)
        node.outputs[0] = final
        final.producer, final.producer_slot = node, 0

    def become(
        self, node: Node, operator: tuple[str, str, int], inputs: Sequence[Tensor], members: Sequence[Node], what: str,
        **attributes: AttributeValue,
    ) -> None:  # fmt: skip
        """Make a node another one, which gives what it and the `members` before it, last to first, gave together.

        `operator` is its operator, domain and version. Members that somebody else reads stay.
        """
        self.note(what, *reversed(members), node)
        self.origins[node] = (*(o for member in reversed(members) for o in self.origins[member]), *self.origins[node])
        for slot, tensor in enumerate(node.inputs):
            if tensor is not None:
                tensor.consumers.remove((node, slot))
        node.op_type, node.domain, node.since_version = operator
        node.attributes = dict(attributes)
        node.inputs = []
        for slot, tensor in enumerate(inputs):
            self.set_input(node, slot, tensor)
        for member in members:
            if not any(t is not None and (t.consumers or t in t.graph.outputs) for t in member.outputs):
                self.remove(member)

    def constant(self, graph: Graph, name: str, value: np.ndarray) -> Tensor:
        """A new constant of the graph, under this name or one like it."""
        tensor = _new_tensor(graph, name)
        make_constant(tensor, value)
        return tensor

    def renew(self, node: Node) -> Tensor:
        """Let a node, which is to compute something else, make a tensor that is none of the user's; that tensor."""
        old = node.outputs[0]
        assert old is not None
        new = _new_tensor(node.graph, old.name)
        new.inferred_type, new.producer = old.inferred_type, node
        node.outputs[0] = new
        self.replace(old, new)
        old.producer = None
        node.graph.tensors.pop(old.name, None)
        return new


def _new_tensor(graph: Graph, name: str) -> Tensor:
    """A tensor of the graph, under this name or one like it."""
    unique, count = name, 1
    while unique in graph.tensors:
        count += 1
        unique = f"{name}_{count}"
    tensor = graph.tensors[unique] = Tensor(unique, graph)
    return tensor


def make_constant(tensor: Tensor, value: np.ndarray) -> None:
    """Give a tensor a fixed value."""
    dtype = from_numpy(value.dtype)
    assert dtype is not None
    tensor.source = ValueSource.IMPLICIT_CONSTANT
    tensor.inferred_type = TensorType(dtype, value.shape)
    tensor.data = TensorData(tensor.name, dtype, value.shape, "made by the optimiser", value.nbytes, lambda: value)


def only_reader(tensor: Tensor | None) -> Node | None:
    """The node that alone reads the tensor, once and in its own graph; None where there is none such."""
    if tensor is None or len(tensor.consumers) != 1 or tensor in tensor.graph.outputs:
        return None
    reader = tensor.consumers[0][0]
    return reader if reader.graph is tensor.graph else None


def constant_value(tensor: Tensor | None) -> np.ndarray | None:
    """The value of a constant tensor, or None."""
    if tensor is None or not tensor.is_constant or tensor.data is None or tensor.data.problem:
        return None
    return tensor.data.array()


def constant_number(tensor: Tensor | None) -> float | None:
    """The value of a constant that holds one number, or None."""
    value = constant_value(tensor)
    return float(value.reshape(())) if value is not None and value.size == 1 and value.dtype.kind in "fiu" else None


def other_operand(node: Node, tensor: Tensor | None) -> Tensor | None:
    """The other operand of a node with two inputs, one of which is the tensor."""
    if len(node.inputs) != 2 or tensor is None or tensor not in node.inputs:
        return None
    return node.inputs[1] if node.inputs[0] is tensor else node.inputs[0]


def constant_values(tensors: Sequence[Tensor | None]) -> list[np.ndarray] | None:
    """The values of tensors that are all present and constant, or None."""
    values = [constant_value(tensor) for tensor in tensors]
    return None if any(value is None for value in values) else [v for v in values if v is not None]
