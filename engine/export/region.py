"""Regions: nodes of one graph, and the tensors that cross their border."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.errors import ExportError
from engine.graph.ir import Graph, Node, Tensor


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes of one graph in run order, what they read from outside (`inputs` and `constants`), and what leaves them."""

    graph: Graph
    nodes: tuple[Node, ...]
    inputs: tuple[Tensor, ...]
    constants: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def region_of(nodes: Iterable[Node]) -> Region:
    """The region that `nodes` make up.

    Outputs are what a node outside or the graph's outputs read; what nobody reads is one too if its type is known.

    Raises
    ------
    ExportError: there are none, they are of several graphs, or they stand in a cycle.
    """
    chosen = set(nodes)
    graphs = {node.graph for node in chosen}
    if len(graphs) != 1:
        reason = "are of several graphs" if graphs else "are none"
        raise ExportError(f"the nodes to export {reason}: name nodes of one graph")
    (graph,) = graphs
    ordered = tuple(node for node in graph.order if node in chosen)
    if len(ordered) != len(chosen):
        raise ExportError("some of the nodes to export stand in a cycle, and have no run order")
    made = {tensor for node in ordered for tensor in node.outputs if tensor}
    read = dict.fromkeys(t for node in ordered for t in node.read_tensors() if t not in made)
    inside = chosen | {inner for node in chosen for inner in _nodes_below(node)}
    leaving = set(graph.outputs)
    outputs = [
        tensor for node in ordered for tensor in node.outputs
        if tensor and (tensor in leaving or _leaves(tensor, inside))
    ]  # fmt: skip
    return Region(
        graph, ordered, tuple(t for t in read if t.data is None), tuple(t for t in read if t.data is not None),
        tuple(dict.fromkeys(outputs)),
    )  # fmt: skip


def nodes_between(graph: Graph, sources: Iterable[Tensor], targets: Iterable[Tensor]) -> list[Node]:
    """The nodes of `graph` that compute `targets` when `sources` are given; without targets, all that need `sources`.

    Raises
    ------
    ExportError: no node does.
    """
    given, targets = set(sources), list(targets)
    found: set[Node] = set()
    if targets:
        pending = [t for t in targets if t not in given]
        while pending:
            node = pending.pop().producer
            if node is not None and node.graph is graph and node not in found:
                found.add(node)
                pending += (t for t in node.read_tensors() if t not in given)
    else:
        reached = set(given)
        for node in graph.order:
            if not reached.isdisjoint(node.read_tensors()):
                found.add(node)
                reached.update(t for t in node.outputs if t)
    if not found:
        raise ExportError("no node lies between these tensors")
    return [node for node in graph.nodes if node in found]


def _leaves(tensor: Tensor, inside: set[Node]) -> bool:
    if not tensor.consumers:
        return tensor.dtype is not None
    return any(node not in inside for node, _ in tensor.consumers)


def _nodes_below(node: Node) -> Iterator[Node]:
    for key, graph in node.subgraphs.items():
        if key != "function":  # a function's body reads nothing around it
            for sub in graph.walk():
                yield from sub.nodes
