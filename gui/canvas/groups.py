"""Groups: the nodes of a graph by the module they belong to, in a tree. No Qt.

Two modules that feed each other both ways cannot be drawn as two boxes in layers, so such groups are split into parts,
each of which lies wholly before or after what it exchanges values with. Groups of the same structure know how many
they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from engine.graph.ir import Graph, Node
from engine.graph.modules import Path
from gui.canvas.folding import is_folded
from gui.canvas.layout.cycles import cyclic_core
from gui.canvas.layout.types import Ints
from gui.canvas.module_paths import ModulePaths, module_paths, numbered

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
    """What the groups of some nodes follow from: arrays with an entry for each node, and the edges among them.

    Attributes
    ----------
    kind
        A number for domain and operator of each node.
    time
        Where each node stands in the run order, -1 for those in cycles.
    source, target
        The numbers of producer and reader of each value, in the order of the readers and their inputs.
    """

    modules: ModulePaths
    kind: Ints
    time: Ints
    source: Ints
    target: Ints


def group_tree(graph: Graph) -> GroupTree | None:
    """The groups of a graph; None where its nodes tell of no modules."""
    nodes = [node for node in graph.nodes if not is_folded(node)]
    kind, _ = numbered((node.domain, node.op_type) for node in nodes)
    time = np.array([node.index for node in nodes], np.int64)
    return tree_of(nodes, Wiring(module_paths(nodes), np.array(kind, np.int64), time, *_edges(nodes)))


def tree_of(nodes: Sequence[Any], wiring: Wiring) -> GroupTree | None:
    """The groups of nodes, or of whatever stands for them; None where they tell of no modules."""
    if not any(wiring.modules.paths):
        return None
    levels = _levels(wiring)
    root, made = _build(nodes, wiring.modules, levels)
    _count_twins(wiring, levels, made)
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


def _levels(wiring: Wiring) -> list[Ints]:
    """For each depth the number of the group that each node is in, -1 where its path is shorter."""
    levels: list[Ints] = []
    modules = wiring.modules
    outer = np.zeros(len(modules.number), np.int64)
    for depth in range(max(map(len, modules.paths))):
        names: dict[str, int] = {}
        name = [names.setdefault(path[depth], len(names)) if len(path) > depth else -1 for path in modules.paths]
        group = _numbered(outer, np.array(name, np.int64)[modules.number])
        group = _numbered(group, _parts(outer, group, wiring.source, wiring.target, wiring.time))
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
        core = cyclic_core(len(label), label[source[ties]], label[target[ties]])
        inside = core[label] & (time >= 0)
        if not (inside & (group >= 0)).any():
            break
        edges = inside[source] & inside[target]
        split(part, group, np.flatnonzero(inside), source[edges], target[edges], time)
    return part


def _labels(group: Ints, part: Ints) -> Ints:
    """A number for each part of a group, that of its first node; nodes outside all groups have their own."""
    label, own = _numbered(group, part), np.arange(len(group))
    inside = np.flatnonzero(label >= 0)
    _, first = np.unique(label[inside], return_index=True)
    return np.where(label >= 0, inside[first][label], own) if len(inside) else own


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


def _build(nodes: Sequence[Any], modules: ModulePaths, levels: list[Ints]) -> tuple[Group, list[list[Group]]]:
    """The root, and the groups of each level by their number."""
    root = Group("", (), -1, nodes=len(nodes))
    made: list[list[Group]] = [[] for _ in levels]  # groups are numbered as first met
    numbers = np.stack(levels, 1)
    begins = np.flatnonzero((numbers[1:] != numbers[:-1]).any(1)) + 1
    starts = [0, *begins.tolist()]
    ends = [*starts[1:], len(nodes)]
    for first, end, number, row in zip(
        starts, ends, modules.number[starts].tolist(), numbers[starts].tolist(), strict=True
    ):
        place = root  # of the nodes up to `end`, which are all in the same groups
        for depth, group in enumerate(row):
            if group < 0:
                break
            if group == len(made[depth]):
                path = modules.paths[number][: depth + 1]
                made[depth].append(Group(path[-1], path, depth, place, modules.classes.get(path, "")))
                place.members.append(made[depth][-1])
            place = made[depth][group]
            place.nodes += end - first
        place.members += nodes[first:end]
    for groups in made:
        by_place: dict[tuple[Group | None, str], list[Group]] = {}
        for group in groups:
            by_place.setdefault((group.parent, group.name), []).append(group)
        for parts in by_place.values():
            for number, group in enumerate(parts):
                group.part, group.parts = number + 1, len(parts)
    return root, made


def _count_twins(wiring: Wiring, levels: list[Ints], made: list[list[Group]]) -> None:
    """Find the groups of each level whose operators and inner wiring are the same."""
    source, target = wiring.source, wiring.target
    place = np.zeros(len(wiring.kind), np.int64)
    for level, groups in zip(levels, made, strict=True):
        order, start = _by_group(level, len(groups))
        place[order] = np.arange(len(order)) - start[level[order]]
        inner = np.flatnonzero((level[source] == level[target]) & (level[source] >= 0))
        by_owner, first = _by_group(level[source[inner]], len(groups))
        inner = inner[by_owner]
        wires = np.stack([place[target[inner]], place[source[inner]]], 1)
        keys = list(zip(_pieces(wiring.kind[order], start), _pieces(wires, first), strict=True))
        count = Counter(keys)
        for group, key in zip(groups, keys, strict=True):
            group.twins = count[key] if group.nodes > 1 else 1


def _by_group(group: Ints, count: int) -> tuple[Ints, Ints]:
    """What is in a group, by group and in its order, and where each of `count` groups starts in that, and the end."""
    order = np.argsort(group, kind="stable")
    order = order[int(np.searchsorted(group[order], 0)) :]
    return order, np.searchsorted(group[order], np.arange(count + 1))


def _pieces(rows: Ints, start: Ints) -> list[bytes]:
    """The bytes of the rows from each start to the next; cut from bytes, which takes a third of cutting arrays."""
    data, at = rows.tobytes(), (start * (rows.itemsize * (rows.size // max(len(rows), 1)))).tolist()
    return [data[low:high] for low, high in pairwise(at)]


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
