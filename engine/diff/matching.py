"""Which node of one graph is which of another: by structure and by name, the surest evidence first."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from engine.diff.hashes import Hashes, StructureHashes
from engine.graph.ir import Graph, Node, Tensor

K = TypeVar("K")

STEPS = (3, 2, 1, 0)  # around a node, of what decides where nothing surer does
_COUNTED = re.compile(r"(?:node_|n)?(?P<word>[A-Za-z]*)[_:./-]?\d*(?:_token_\d+)?")


def matched_nodes(graph: Graph) -> list[Node]:
    """What is matched at all: nodes in run order, without those that only hold a constant."""
    behind = [node for node in graph.nodes if node.index < 0]
    return [node for node in (*graph.order, *behind) if not _is_constant(node)]


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and all(t is not None and t.data is not None for t in node.outputs)


class Matcher:
    """Pairs the nodes of two graphs; `pairs` maps those of the first, `how` says for each what decided.

    Evidence, in this order: equal in all that lies around; the same telling name; equal in all that lies before, or
    behind; neighbours of what is paired; equal nearby; lastly the same name with an operator that was made of the other
    one (FusedConv of Conv), or the same telling name or place with another operator.
    """

    def __init__(self, before: Graph, after: Graph) -> None:
        self._before, self._after = matched_nodes(before), matched_nodes(after)
        self._hashes = StructureHashes(before, self._before), StructureHashes(after, self._after)
        self.pairs: dict[Node, Node] = {}
        self.how: dict[Node, str] = {}
        self._taken: set[Node] = set()
        self._fresh: deque[Node] = deque()

    def run(self) -> None:
        """Match as many nodes as the evidence allows."""
        self._by_structure(lambda hashes, strong: _both(hashes.upstream(strong), hashes.downstream(strong)), True)
        trusted = self._names_agree()
        self._by_name(trusted, telling=True)
        for strong in (True, False):
            self._by_structure(StructureHashes.upstream, strong)
            self._by_structure(StructureHashes.downstream, strong)
        self._spread()
        self._by_name(trusted, telling=False)
        for strong in (True, False):
            for steps in STEPS:
                self._by_structure(lambda hashes, strong, steps=steps: hashes.near(strong, steps), strong)  # type: ignore[misc]
                self._spread()
        self._by_name(trusted, telling=False, alike=_are_kin)
        self._by_name(trusted, telling=True, alike=lambda _node, _twin: True)
        self._fresh.extend(self.pairs)
        self._spread(same_operator=False)

    @property
    def removed(self) -> list[Node]:
        """Nodes of the first graph without a counterpart."""
        return [node for node in self._before if node not in self.pairs]

    @property
    def added(self) -> list[Node]:
        """Nodes of the second graph without a counterpart."""
        return [node for node in self._after if node not in self._taken]

    def _pair(self, first: Node, second: Node, how: str) -> None:
        self.pairs[first] = second
        self.how[first] = how
        self._taken.add(second)
        self._fresh.append(first)

    # By structure

    def _by_structure(self, hashes: Callable[[StructureHashes, bool], Mapping[Node, int]], strong: bool) -> None:
        """Pair nodes of equal hashes: those of one name first, the others in run order if there are as many of each."""
        if not self.removed or not self.added:
            return
        before, after = (hashes(h, strong) for h in self._hashes)
        groups = _grouped(self.removed, before), _grouped(self.added, after)
        for key, first in groups[0].items():
            second = groups[1].get(key, [])
            by_name = {node.name: node for node in second}
            for node in first:
                twin = by_name.get(node.name)
                if twin is not None:
                    self._pair(node, twin, "structure and name")
            first = [node for node in first if node not in self.pairs]
            second = [node for node in second if node not in self._taken]
            if len(first) == len(second):
                for node, twin in zip(first, second):
                    self._pair(node, twin, "structure")

    # By name

    def _names_agree(self) -> bool:
        """Whether names mean anything: most of the nodes that are surely the same have the same one."""
        named = [(a, b) for a, b in self.pairs.items() if a.stored_name and b.stored_name]
        return 2 * sum(a.stored_name == b.stored_name for a, b in named) >= len(named)

    def _by_name(self, trusted: bool, telling: bool, alike: Callable[[Node, Node], bool] | None = None) -> None:
        """Pair nodes of one name whose operators are `alike`; by default, the same."""
        if not trusted:
            return
        by_name = {node.name: node for node in self.added if node.stored_name == node.name}
        for node in self.removed:
            twin = by_name.get(node.name) if node.stored_name == node.name else None
            if twin is None or (telling and not _is_telling(node)):
                continue
            if (alike or _same_operator)(node, twin):
                self._pair(node, twin, "name")

    # From neighbour to neighbour

    def _spread(self, same_operator: bool = True) -> None:
        """Pair what stands at the same slot of nodes that are paired, as far as that leads."""
        while self._fresh:
            node = self._fresh.popleft()
            for first, second in _neighbours(node, self.pairs[node]):
                free_first = [n for n in first if n not in self.pairs and not _is_constant(n)]
                free_second = [n for n in second if n not in self._taken and not _is_constant(n)]
                self._pair_neighbours(free_first, free_second, same_operator)

    def _pair_neighbours(self, first: list[Node], second: list[Node], same_operator: bool) -> None:
        for op, nodes in _grouped(first, _operators(first)).items():
            twins = _grouped(second, _operators(second)).get(op, [])
            if len(nodes) == len(twins):
                for node, twin in zip(nodes, twins):
                    self._pair(node, twin, "neighbours")
        if not same_operator:
            first = [n for n in first if n not in self.pairs]
            second = [n for n in second if n not in self._taken]
            if len(first) == len(second) == 1 and self._stand_alike(first[0], second[0]):
                self._pair(first[0], second[0], "place")

    def _stand_alike(self, first: Node, second: Node) -> bool:
        """Whether two nodes of different operators have the same neighbours before and behind them."""
        sources = [t.producer for t in first.inputs if t is not None and t.producer in self.pairs]
        readers = [n for t in first.outputs if t is not None for n, _ in t.consumers if n in self.pairs]
        before = {t.producer for t in second.inputs if t is not None}
        behind = {n for t in second.outputs if t is not None for n, _ in t.consumers}
        has_ends = bool(sources) or bool(readers)
        return has_ends and all(self.pairs[n] in before for n in sources if n) and all(
            self.pairs[n] in behind for n in readers
        )  # fmt: skip


def _both(first: Hashes, second: Hashes) -> dict[Node, int]:
    return {node: hash((value, second[node])) for node, value in first.items()}


def _operators(nodes: Iterable[Node]) -> dict[Node, str]:
    return {node: node.qualified_op for node in nodes}


def _grouped(nodes: Iterable[Node], key: Mapping[Node, K]) -> dict[K, list[Node]]:
    groups: dict[K, list[Node]] = defaultdict(list)
    for node in nodes:
        groups[key[node]].append(node)
    return groups


def _neighbours(first: Node, second: Node) -> Iterator[tuple[list[Node], list[Node]]]:
    """Producers and consumers of two nodes, slot by slot."""
    for a, b in zip(first.inputs, second.inputs):
        if a is not None and b is not None and a.graph is first.graph and b.graph is second.graph:
            yield [a.producer] if a.producer else [], [b.producer] if b.producer else []
    for a, b in zip(first.outputs, second.outputs):
        if a is None or b is None:
            continue
        slots = {slot for _, slot in a.consumers}
        for slot in sorted(slots):
            yield _readers(a, slot, first.graph), _readers(b, slot, second.graph)


def _readers(tensor: Tensor, slot: int, graph: Graph) -> list[Node]:
    return [node for node, at in tensor.consumers if at == slot and node.graph is graph]


def _same_operator(first: Node, second: Node) -> bool:
    return (first.op_type, first.domain) == (second.op_type, second.domain)


def _are_kin(first: Node, second: Node) -> bool:
    """Whether the name of one operator holds that of the other, as names of fused operators do."""
    return first.op_type in second.op_type or second.op_type in first.op_type


def _is_telling(node: Node) -> bool:
    """Whether a name says more than an operator and a number that counts nodes, which an insertion shifts."""
    counted = _COUNTED.fullmatch(node.name)
    return counted is None or counted["word"].casefold() not in ("", node.op_type.casefold(), "node", "op")
