"""Groups: the nodes of a graph by the module they belong to, in a tree. No Qt.

Two modules that feed each other both ways cannot be drawn as two boxes in layers, so such groups are split into parts,
each of which lies wholly before or after what it exchanges values with. Groups of the same structure know how many
they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from engine.graph.ir import Graph, Node
from gui.canvas.folding import is_folded
from gui.canvas.layout.cycles import cyclic_core
from gui.canvas.layout.types import Ints
from gui.canvas.module_paths import Path, module_paths

MAX_WORK = 4_000_000  # nodes times groups that are split one by one
DOMINANT = 0.6  # a group with more of the nodes than this is opened at first

Member: TypeAlias = "Node | Group"


@dataclass(slots=True, eq=False)
class Group:
    """Nodes and groups of one module, in file order.

    Attributes
    ----------
    name, path, kind
        The module's own name, its full path, and its class where the exporter wrote it down.
    part, parts
        Which part of a split module this is, from 1, and of how many.
    nodes
        How many nodes are in it, inner groups included.
    twins
        How many groups of this depth have the same operators, wired alike; itself included.
    """

    name: str
    path: Path
    depth: int
    parent: Group | None = None
    kind: str = ""
    part: int = 1
    parts: int = 1
    nodes: int = 0
    twins: int = 1
    members: list[Member] = field(default_factory=list)

    def groups(self) -> Iterator[Group]:
        """The groups below this one, outer before inner."""
        for member in self.members:
            if isinstance(member, Group):
                yield member
                yield from member.groups()

    def all_nodes(self) -> list[Node]:
        """Every node in it."""
        nodes: list[Node] = []
        for member in self.members:
            if isinstance(member, Group):
                nodes += member.all_nodes()
            else:
                nodes.append(member)
        return nodes

    def ancestors(self) -> Iterator[Group]:
        """The groups around it, inner before outer; not the root."""
        group = self.parent
        while group is not None and group.parent is not None:
            yield group
            group = group.parent


@dataclass(slots=True)
class GroupTree:
    """All groups of a graph: the root, whose members are what stands outermost, and the group around each node."""

    root: Group
    group_of: dict[Node, Group]

    def at_level(self, level: int) -> frozenset[Group]:
        """The groups to open so that groups of depth `level` (from 0) are what is seen."""
        return frozenset(group for group in self.root.groups() if group.depth < level)

    def opening(self) -> frozenset[Group]:
        """The groups to open at first: those that would hide nearly everything in one box."""
        opened: set[Group] = set()
        place = self.root
        while True:
            inner = [m for m in place.members if isinstance(m, Group)]
            largest = max(inner, key=lambda g: g.nodes, default=None)
            if largest is None or largest.nodes <= DOMINANT * self.root.nodes or len(list(largest.members)) < 2:
                return frozenset(opened)
            opened.add(largest)
            place = largest

    @property
    def levels(self) -> int:
        """How many levels of groups there are."""
        return 1 + max((group.depth for group in self.root.groups()), default=-1)


@dataclass(slots=True)
class Wiring:
    """What the groups of some nodes follow from: lists with an entry for each node, and the edges among them.

    Attributes
    ----------
    paths, classes
        The module of each node, and the classes of modules.
    kinds
        Domain and operator of each node.
    time
        Where each node stands in the run order, -1 for those in cycles.
    source, target
        The numbers of producer and reader of each value, in the order of the readers and their inputs.
    """

    paths: list[Path]
    classes: Mapping[Path, str]
    kinds: list[tuple[str, str]]
    time: Ints
    source: Ints
    target: Ints


def group_tree(graph: Graph) -> GroupTree | None:
    """The groups of a graph; None where its nodes tell of no modules."""
    nodes = [node for node in graph.nodes if not is_folded(node)]
    paths, classes = module_paths(nodes)
    time = np.array([node.index for node in nodes], np.int64)
    return tree_of(nodes, Wiring(paths, classes, [(n.domain, n.op_type) for n in nodes], time, *_edges(nodes)))


def tree_of(nodes: Sequence[Any], wiring: Wiring) -> GroupTree | None:
    """The groups of nodes, or of whatever stands for them; None where they tell of no modules."""
    if not any(wiring.paths):
        return None
    levels = _levels(wiring.paths, wiring.source, wiring.target, wiring.time)
    root, made = _build(nodes, wiring.paths, wiring.classes, levels)
    _count_twins(wiring.kinds, levels, wiring.source, wiring.target, made)
    tree = _tidied(root)
    return tree if any(isinstance(member, Group) for member in tree.root.members) else None


def _edges(nodes: list[Node]) -> tuple[Ints, Ints]:
    """Producer and reader of every value that one node makes and another reads, by their number."""
    number = {id(node): i for i, node in enumerate(nodes)}
    source, target = [], []
    for reader, node in enumerate(nodes):
        for tensor in node.read_tensors():
            made_by = number.get(id(tensor.producer), -1)
            if made_by >= 0:
                source.append(made_by)
                target.append(reader)
    return np.array(source, np.int64), np.array(target, np.int64)


def _levels(paths: list[Path], source: Ints, target: Ints, time: Ints) -> list[Ints]:
    """For each depth the number of the group that each node is in, -1 where its path is shorter."""
    levels: list[Ints] = []
    outer = np.zeros(len(paths), np.int64)
    number: dict[Path, int] = {}  # far fewer than nodes
    which = np.array([number.setdefault(path, len(number)) for path in paths], np.int64)
    for depth in range(max(map(len, number))):
        names: dict[str, int] = {}
        name = [names.setdefault(path[depth], len(names)) if len(path) > depth else -1 for path in number]
        group = _numbered(outer, np.array(name, np.int64)[which])
        group = _numbered(group, _parts(outer, group, source, target, time))
        levels.append(group)
        outer = group
    return levels


def _numbered(outer: Ints, inner: Ints) -> Ints:
    """One number for each pair, -1 where either is -1; numbered as first met."""
    inside = (outer >= 0) & (inner >= 0)
    pair = outer * (int(inner.max(initial=0)) + 1) + inner
    _, first, which = np.unique(pair[inside], return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    result = np.full(len(outer), -1)
    result[inside] = place[which]
    return result


# Splitting


def _parts(outer: Ints, group: Ints, source: Ints, target: Ints, time: Ints) -> Ints:
    """The part of its group that each node goes into, so that the groups inside each outer one form no cycle."""
    part = np.zeros(len(group), np.int64)
    together = outer[source] == outer[target]
    source, target = source[together], target[together]
    for split in (_part_one_by_one, _part_strictly):
        label = _labels(group, part)
        ties = label[source] != label[target]
        core = cyclic_core(int(label.max(initial=0)) + 1, label[source[ties]], label[target[ties]])
        inside = core[label] & (time >= 0)
        if not (inside & (group >= 0)).any():
            break
        edges = inside[source] & inside[target]
        split(part, group, np.flatnonzero(inside), source[edges], target[edges], time)
    return part


def _labels(group: Ints, part: Ints) -> Ints:
    """A number for each part of a group, and one for each node outside all groups, as first met."""
    label = _numbered(group, part)
    loose = np.flatnonzero(label < 0)
    label[loose] = int(label.max(initial=-1)) + 1 + np.arange(len(loose))
    return _numbered(np.zeros(len(label), np.int64), label)


def _part_one_by_one(part: Ints, group: Ints, nodes: Ints, source: Ints, target: Ints, time: Ints) -> None:
    """Begin a new part of a group wherever a value that left the group comes back."""
    groups = np.unique(group[nodes])
    groups = groups[groups >= 0]
    if len(groups) * len(nodes) > MAX_WORK:
        return
    order, before = _in_time(nodes, source, target, time)
    for mine in groups.tolist():
        inside = {v: bool(group[v] == mine) for v in order}
        reached: dict[int, int] = {}
        for v in order:
            reached[v] = max(
                [reached[u] + (inside[u] and not inside[v]) for u in before.get(v, ())], default=0
            )  # fmt: skip
            if inside[v]:
                part[v] = reached[v]


def _part_strictly(part: Ints, group: Ints, nodes: Ints, source: Ints, target: Ints, time: Ints) -> None:
    """Begin a new part at every step from one group to another, which leaves no cycle whatever the graph."""
    order, before = _in_time(nodes, source, target, time)
    belongs = {v: int(group[v]) if group[v] >= 0 else -1 - v for v in order}
    reached: dict[int, int] = {}
    for v in order:
        reached[v] = max([reached[u] + (belongs[u] != belongs[v]) for u in before.get(v, ())], default=0)
        if group[v] >= 0:
            part[v] = reached[v]


def _in_time(nodes: Ints, source: Ints, target: Ints, time: Ints) -> tuple[list[int], dict[int, list[int]]]:
    """The nodes in run order, and what each of them reads."""
    before: dict[int, list[int]] = {}
    for u, v in zip(source.tolist(), target.tolist(), strict=True):
        if time[u] < time[v]:
            before.setdefault(v, []).append(u)
    return nodes[np.argsort(time[nodes], kind="stable")].tolist(), before


# Building


def _build(
    nodes: Sequence[Any], paths: list[Path], classes: Mapping[Path, str], levels: list[Ints]
) -> tuple[Group, list[list[Group]]]:  # fmt: skip
    """The root, and the groups of each level by their number."""
    root = Group("", (), -1, nodes=len(nodes))
    made: list[list[Group]] = [[] for _ in levels]  # groups are numbered as first met
    numbers = np.stack(levels, 1)
    begins = np.flatnonzero((numbers[1:] != numbers[:-1]).any(1)) + 1
    starts = [0, *begins.tolist()]
    for first, end, row in zip(starts, [*starts[1:], len(nodes)], numbers[starts].tolist(), strict=True):
        place = root  # of the nodes up to `end`, which are all in the same groups
        for depth, number in enumerate(row):
            if number < 0:
                break
            if number == len(made[depth]):
                path = paths[first][: depth + 1]
                made[depth].append(Group(path[-1], path, depth, place, classes.get(path, "")))
                place.members.append(made[depth][-1])
            place = made[depth][number]
            place.nodes += end - first
        place.members += nodes[first:end]
    for groups in made:
        by_place: dict[tuple[int, Path], list[Group]] = {}
        for group in groups:
            by_place.setdefault((id(group.parent), group.path), []).append(group)
        for parts in by_place.values():
            for number, group in enumerate(parts):
                group.part, group.parts = number + 1, len(parts)
    return root, made


def _count_twins(
    kinds: list[tuple[str, str]], levels: list[Ints], source: Ints, target: Ints, made: list[list[Group]]
) -> None:  # fmt: skip
    """Find the groups of each level whose operators and inner wiring are the same."""
    number: dict[tuple[str, str], int] = {}
    kind = np.array([number.setdefault(one, len(number)) for one in kinds], np.int64)
    for level, groups in zip(levels, made, strict=True):
        order = np.argsort(level, kind="stable")
        order = order[int(np.searchsorted(level[order], 0)) :]
        start = np.searchsorted(level[order], np.arange(len(groups) + 1))
        place = np.zeros(len(kinds), np.int64)
        place[order] = np.arange(len(order)) - start[level[order]]
        inner = (level[source] == level[target]) & (level[source] >= 0)
        wires = np.stack([place[target[inner]], place[source[inner]]], 1)
        owner = level[source[inner]]
        by_owner = np.argsort(owner, kind="stable")
        wires, first = wires[by_owner], np.searchsorted(owner[by_owner], np.arange(len(groups) + 1))
        keys = [
            (kind[order[start[g] : start[g + 1]]].tobytes(), wires[first[g] : first[g + 1]].tobytes())
            for g in range(len(groups))
        ]
        count = Counter(keys)
        for group, key in zip(groups, keys, strict=True):
            group.twins = count[key] if group.nodes > 1 else 1


def _tidied(root: Group) -> GroupTree:
    """Groups of one node give way to it, and a group that holds nothing but one group becomes one with it."""
    group_of: dict[Node, Group] = {}

    def tidy(group: Group, parent: Group | None, depth: int) -> None:
        group.parent, group.depth = parent, depth
        while len(group.members) == 1 and parent is not None and isinstance(group.members[0], Group):
            only = group.members[0]
            nested = only.path[-1]
            group.name = nested if nested.startswith(group.path[-1]) else f"{group.name}/{nested}"
            group.path, group.kind, group.members = only.path, only.kind or group.kind, only.members
        members: list[Member] = []
        for member in group.members:
            if isinstance(member, Group) and member.nodes > 1:
                tidy(member, group, depth + 1)
                members.append(member)
            else:
                node = member.all_nodes()[0] if isinstance(member, Group) else member
                members.append(node)
                group_of[node] = group
        group.members = members

    tidy(root, None, -1)
    return GroupTree(root, group_of)
