"""What a comparison with another model says of each node of the model shown. No Qt.

The nodes of the other model that are gone are told of where they stood: at the nodes that now stand there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.diff import ModelDiff
from engine.graph.ir import Graph, Model, Node, Tensor
from gui.facts.index import ModelIndex

ADDED, CHANGED, WEIGHTS, GAP, INSIDE = "Only here", "Changed", "Other weights", "Removed here", "Changes inside"
RANK = (ADDED, CHANGED, WEIGHTS, GAP, INSIDE)
"""Kinds of change, the one that is told first where a node has several."""


@dataclass(slots=True)
class Changes:
    """A comparison by the nodes of the model shown.

    Attributes
    ----------
    kind
        The kind of change of every node that has one; of a node with subgraphs also that there are some inside.
    places
        The nodes to go through, in run order; those of subgraphs after those of the graph around them.
    twin
        The counterpart in the model shown of each node of the other.
    gaps
        Nodes of the other model that are gone, by the node beside which they stood.
    index
        The names of the other model.
    same
        How many nodes are as in the other model, their weights included.
    """

    found: ModelDiff
    index: ModelIndex
    kind: dict[Node, str] = field(default_factory=dict)
    places: list[Node] = field(default_factory=list)
    twin: dict[Node, Node] = field(default_factory=dict)
    gaps: dict[Node, list[Node]] = field(default_factory=dict)
    same: int = 0
    _origin: dict[Node, Node] = field(default_factory=dict)
    _before: dict[Node, Node] = field(default_factory=dict)
    _behind: dict[Node, Node] = field(default_factory=dict)
    _number: dict[Node, int] = field(default_factory=dict)
    _numbers: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, found: ModelDiff) -> Changes:
        """Gather what a comparison found."""
        changes = cls(found, ModelIndex.of(found.before), twin={pair.before: pair.after for pair in found.pairs})
        changes._origin = {pair.after: pair.before for pair in found.pairs}
        changes._find_gaps()
        for kind, nodes in (
            (GAP, changes.gaps), (WEIGHTS, _readers(found)), (CHANGED, [pair.after for pair in found.changed]),
            (ADDED, found.added),
        ):  # fmt: skip
            changes.kind.update(dict.fromkeys(nodes, kind))
        changes.same = sum(changes.kind.get(pair.after, GAP) == GAP for pair in found.pairs)
        changes._number = {node: i for i, node in enumerate(_in_run_order(found.after))}
        changes.places = [node for node in changes._number if node in changes.kind]
        changes._numbers = [changes._number[node] for node in changes.places]
        for node in changes.places:
            for owner in _owners(node.graph):
                changes.kind.setdefault(owner, INSIDE)
        for node in found.added:  # stands for all in its subgraphs
            changes.kind.update((inner, ADDED) for graph in _inside(node) for inner in graph.nodes)
        return changes

    def _find_gaps(self) -> None:
        """Find for every node that is gone which ones stood before and behind it, in its own graph."""
        gone = [node for node in _in_run_order(self.found.before) if node not in self.twin]
        for node in gone:
            self._stand(node, self._before, (t.producer for t in node.inputs if t is not None))
        for node in reversed(gone):
            self._stand(node, self._behind, (n for t in node.outputs if t is not None for n, _ in t.consumers))
        for node in self.found.removed:
            place = self.nearest(node)
            if place is not None:
                self.gaps.setdefault(place, []).append(node)

    def _stand(self, node: Node, known: dict[Node, Node], beside: Iterable[Node | None]) -> None:
        near = (other for other in beside if other is not None and other.graph is node.graph)
        places = (self.twin.get(other) or known.get(other) for other in near)
        place = next((place for place in places if place is not None), None)
        if place is not None:
            known[node] = place

    def stood(self, node: Node) -> tuple[Node | None, Node | None]:
        """The nodes of the model shown that stand before and behind where a node of the other model stood."""
        return self._before.get(node), self._behind.get(node)

    def nearest(self, node: Node) -> Node | None:
        """The counterpart of a node of the other model, else what stands where it stood, or around it."""
        place = self.twin.get(node) or self._before.get(node) or self._behind.get(node)
        return place or (self.nearest(node.graph.owner) if node.graph.owner is not None else None)

    def counterpart(self, item: Node | Tensor) -> Node | Tensor | None:
        """What an item of either model is in the other one; None where that has none."""
        if isinstance(item, Node):
            return self.twin.get(item) or self._origin.get(item)
        if item.producer is not None:
            node = self.counterpart(item.producer)
            outputs = node.outputs if isinstance(node, Node) else []
            return outputs[item.producer_slot] if item.producer_slot < len(outputs) else None
        for node, slot in item.consumers:  # an input or a constant, at the same slot of the same reader
            other = self.counterpart(node)
            if isinstance(other, Node) and slot < len(other.inputs) and other.inputs[slot] is not None:
                return other.inputs[slot]
        return None

    def step(self, item: Node | Tensor | None, direction: int) -> Node | None:
        """The next (1) or previous (-1) place from an item on, beginning again at the end; None where there is none."""
        if not self.places:
            return None
        node = item.producer if isinstance(item, Tensor) else item
        here = self._number.get(node) if node is not None else None
        if here is None:
            return self.places[0 if direction > 0 else -1]
        if direction > 0:
            return self.places[bisect_right(self._numbers, here) % len(self.places)]
        return self.places[bisect_left(self._numbers, here) - 1]

    def words(self, place: Node) -> str:
        """A place in words, with its number among all."""
        gone = self.gaps.get(place, [])
        names = ", ".join(f"{node.op_type} {node.name}" for node in gone[:3]) + (" …" if len(gone) > 3 else "")
        kind = self.kind[place]
        what = f"removed here: {names}" if kind == GAP else kind.lower()
        number = bisect_left(self._numbers, self._number[place]) + 1
        return f"Change {number:,} of {len(self.places):,}: {what}"


def strongest(kinds: Iterable[str]) -> str:
    """The one of several kinds that is told first."""
    return min(kinds, key=RANK.index)


def _readers(found: ModelDiff) -> list[Node]:
    """Nodes that read constants which differ or which the other model has not."""
    tensors = [pair.after for pair in found.weights] + found.added_weights
    return [node for tensor in tensors for node, _ in tensor.consumers]


def _in_run_order(model: Model) -> Iterator[Node]:
    """All nodes, graph by graph; those without a place in the run order last."""
    for graph in model.graph.walk():
        yield from graph.order
        yield from (node for node in graph.nodes if node.index < 0)


def _owners(graph: Graph) -> Iterator[Node]:
    """The nodes around a graph, inner ones first."""
    while graph.owner is not None:
        yield graph.owner
        graph = graph.owner.graph


def _inside(node: Node) -> Iterator[Graph]:
    """Every graph below a node."""
    for graph in node.subgraphs.values():
        yield from graph.walk()
