"""Groups of nodes that a provider computes in one call, and how to part a graph into them."""
from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.graph.ir import Graph, Node, Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Nodes that run as one.

    Attributes
    ----------
    nodes: of one graph, in run order.
    inputs: what they read that is neither made by them nor constant, in order of first use.
    outputs: what they make and others read, the graph's outputs included.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    @property
    def made(self) -> tuple[Tensor, ...]:
        """Every tensor that the nodes compute."""
        return tuple(t for node in self.nodes for t in node.outputs if t is not None and not t.is_constant)


def make_group(nodes: Sequence[Node]) -> Group:
    """The group of some nodes of one graph."""
    members = {id(node) for node in nodes}
    inner = {id(node) for member in nodes for node in with_subgraphs(member)}
    ends = set(nodes[0].graph.outputs)
    read = dict.fromkeys(t for node in nodes for t in node.read_tensors() if not t.is_constant)
    inputs = tuple(t for t in read if t.producer is None or id(t.producer) not in members)
    outputs = tuple(
        tensor for node in nodes for tensor in node.outputs
        if tensor is not None and not tensor.is_constant
        and (tensor in ends or any(id(c) not in inner for c, _ in tensor.consumers))
    )  # fmt: skip
    return Group(tuple(sorted(nodes, key=lambda node: node.index)), inputs, outputs)


def with_subgraphs(node: Node) -> Iterator[Node]:
    """The node and every node of its subgraphs."""
    yield node
    for graph in node.subgraphs.values():
        for scope in graph.walk():
            yield from scope.nodes


def is_constant_node(node: Node) -> bool:
    """Whether the node only states a value that the loader has read already."""
    output = node.outputs[0] if len(node.outputs) == 1 else None
    return not node.inputs and output is not None and output.is_constant and output.data is not None


def ordered_units(graph: Graph, groups: Mapping[Node, Group]) -> list[Node | Group]:
    """The graph's nodes in run order, with each group in one piece, after everything that it reads.

    Raises
    ------
    ValueError: a group is not convex, or two of them wait for each other.
    """
    unit_of: dict[Node, Node | Group] = {node: groups.get(node, node) for node in graph.order}
    place = {unit: index for index, unit in enumerate(dict.fromkeys(unit_of.values()))}
    waiting: dict[Node | Group, set[Node | Group]] = {unit: set() for unit in place}
    readers: dict[Node | Group, list[Node | Group]] = {unit: [] for unit in place}
    for node, unit in unit_of.items():
        makers = {unit_of[t.producer] for t in node.read_tensors() if t.producer in unit_of}
        for maker in makers - waiting[unit] - {unit}:
            waiting[unit].add(maker)
            readers[maker].append(unit)
    ready = [(place[unit], unit) for unit, makers in waiting.items() if not makers]
    ordered: list[Node | Group] = []
    heapq.heapify(ready)
    while ready:
        _, unit = heapq.heappop(ready)
        ordered.append(unit)
        for reader in readers[unit]:
            waiting[reader].discard(unit)
            if not waiting[reader]:
                heapq.heappush(ready, (place[reader], reader))
    if len(ordered) < len(place):
        raise ValueError("groups of nodes wait for each other: a provider claimed nodes with a path out and back in")
    return ordered


def maximal_groups(graph: Graph, wanted: Collection[Node]) -> list[list[Node]]:
    """The wanted nodes of the graph in few groups, so that between them no path leaves a group and comes back.

    A node's depth counts how often wanted and unwanted nodes take turns on the way to it; the wanted nodes of one
    depth form a group.
    """
    depths: dict[Node, int] = {}
    groups: dict[int, list[Node]] = {}
    for node in graph.order:
        before = (t.producer for t in node.read_tensors() if t.producer is not None and t.producer in depths)
        depths[node] = max((depths[p] + ((p in wanted) != (node in wanted)) for p in before), default=0)
        if node in wanted:
            groups.setdefault(depths[node], []).append(node)
    return list(groups.values())
