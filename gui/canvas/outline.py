"""What a large graph looks like in closed modules, from the parsed file alone, while its model is still being linked.

A few hundred boxes stand for fifty thousand nodes, so what is inside them can wait. Names become numbers, the modules
are found from arrays by the rules for a linked graph, and a graph is built of what shows only: one stand-in for all
nodes of a closed module reads what they read from outside and makes what is wanted outside. Its scene is that of the
linked graph, box for box and line for line; only what shape inference finds out is missing. No Qt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, compress, repeat
from operator import attrgetter
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto
from onnx.defs import OpSchema

from engine.graph.builder import ModelBuilder, unique_name
from engine.graph.ir import Graph, Node
from engine.graph.modules import MAX_DEPTH, told_by_metadata
from engine.graph.reader import ModelFile
from engine.graph.schemas import NEWEST_OPSETS, canonical_domain, schema_of
from engine.graph.text import entries
from gui.canvas.groups import Group, GroupTree, Wiring, tree_of
from gui.canvas.layout.types import Ints
from gui.canvas.module_paths import numbered, settled_paths
from gui.canvas.scene import Opened

_SUBGRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


@dataclass(slots=True)
class Outline:
    """A graph of what shows, its modules, and those of them that are open."""

    graph: Graph
    tree: GroupTree
    opened: Opened


def outline_of(file: ModelFile) -> Outline | None:
    """The outline of a file's main graph.

    None where its nodes tell of no modules, and where a picture of its names alone might be wrong: with subgraphs or
    functions, names that are defined twice or are not text, or nodes out of order.
    """
    if file.proto.functions:
        return None
    nodes = _Nodes.of(file.proto.graph)
    values = _Values.of(nodes, file.proto.graph) if nodes is not None else None
    if nodes is None or values is None:
        return None
    drawn = np.flatnonzero(~nodes.folded)
    shown = _what_shows(_wiring(nodes, values, drawn))
    return _Reduction(file, nodes, values, drawn, *shown).outline() if shown is not None else None


@dataclass(slots=True)
class _Nodes:
    """The nodes in file order: entries of lists and arrays. `folded` are constants that stand in their readers."""

    protos: list[NodeProto]
    names: list[str]
    kind: Ints  # numbers for domain and operator
    inputs: list[list[str]]
    outputs: list[list[str]]
    folded: np.ndarray

    @classmethod
    def of(cls, graph: GraphProto) -> _Nodes | None:
        """None where a node has a subgraph, or a name is not text. What runs once a node here is C where it can be."""
        protos = list(graph.node)
        names = list(map(attrgetter("name"), protos))
        stored, kinds = numbered(map(attrgetter("domain", "op_type"), protos))
        inputs, outputs = [node.input[:] for node in protos], [node.output[:] for node in protos]
        if bytes in set(map(type, chain(chain.from_iterable(kinds), names))):
            return None
        merged, kinds = numbered((canonical_domain(domain), op_type) for domain, op_type in kinds)
        kind = np.array(merged, np.int64)[stored]
        asked = np.isin(kind, [number for number, of in enumerate(kinds) if _may_hold_graphs(*of)])
        if any(a.type in _SUBGRAPHS for i in np.flatnonzero(asked).tolist() for a in protos[i].attribute):
            return None
        folded = np.zeros(len(protos), bool)
        if ("", "Constant") in kinds:
            read = set(chain.from_iterable(inputs)).difference(value.name for value in graph.output)
            constants = np.flatnonzero(kind == kinds.index(("", "Constant"))).tolist()
            folded[[i for i in constants if outputs[i] and outputs[i][0] in read]] = True
        return cls(protos, names, kind, inputs, outputs, folded)

    def unique_names(self) -> list[str]:
        """The names that the nodes of the linked graph get."""
        if "" not in self.names and len(set(self.names)) == len(self.names):
            return self.names
        used: set[str] = set()
        return [unique_name(node.name, node.op_type, i, used) for i, node in enumerate(self.protos)]


@cache
def _may_hold_graphs(domain: str, op_type: str) -> bool:
    """Whether an operator has attributes that are graphs, as far as the standard knows it."""
    schema = schema_of(op_type, NEWEST_OPSETS.get(domain, 1), domain)
    kinds = (OpSchema.AttrType.GRAPH, OpSchema.AttrType.GRAPHS)
    return schema is None or any(attribute.type in kinds for attribute in schema.attributes.values())


@dataclass(slots=True)
class _Values:
    """The values that nodes make, numbered as they stand in the file, and how they and others are read.

    Attributes
    ----------
    names, maker
        Of each value that nodes make: its name, and the node.
    number
        The values by name; those that are not drawn as lines have negative numbers.
    read, value, source, target
        Every reading that is drawn as a line, by readers and their inputs: the name, the value and its maker, -1 where
        no node makes it, and the node that reads it.
    """

    names: list[str]
    number: dict[str, int]
    maker: Ints
    read: list[str]
    value: Ints
    source: Ints
    target: Ints

    @classmethod
    def of(cls, nodes: _Nodes, graph: GraphProto) -> _Values | None:
        """None where a name is defined twice or is not text, or a node stands before what it reads."""
        stored = {value.name for value in graph.initializer} | {v.values.name for v in graph.sparse_initializer}
        read, target = _flat(nodes.inputs)
        names, maker = _flat(nodes.outputs)
        if bytes in set(map(type, chain(read, names))):
            return None
        number = dict(zip(names, range(len(names)), strict=True))
        number.pop("", None)
        given = stored.union(value.name for value in graph.input)
        if len(number) + names.count("") != len(names) or not given.isdisjoint(number):
            return None
        outside, undrawn = -1, -2
        number.update(dict.fromkeys((*stored, ""), undrawn))
        value = np.array(list(map(number.get, read, repeat(outside))), np.int64)
        source = np.append(maker, (undrawn, outside))[value]
        if (source >= target).any():
            return None
        drawn = (source != undrawn) & ~np.isin(source, np.flatnonzero(nodes.folded))
        return cls(
            names, number, maker, list(compress(read, drawn.tolist())), value[drawn], source[drawn], target[drawn]
        )  # fmt: skip


def _flat(names: list[list[str]]) -> tuple[list[str], Ints]:
    """All names of all nodes, and whose they are."""
    return list(chain.from_iterable(names)), np.repeat(np.arange(len(names)), list(map(len, names)))


def _wiring(nodes: _Nodes, values: _Values, drawn: Ints) -> Wiring:
    """What the modules follow from, over the nodes that are drawn."""
    number = np.cumsum(~nodes.folded) - 1
    inside = values.source >= 0
    source, target = number[values.source[inside]], number[values.target[inside]]
    following: dict[int, set[int]] = {}

    def readers(i: int) -> set[int]:
        if not following:
            for u, v in zip(source.tolist(), target.tolist(), strict=True):
                following.setdefault(u, set()).add(v)
        return following.get(i, set())

    shown = (~nodes.folded).tolist()
    metadata = enumerate(map(attrgetter("metadata_props"), compress(nodes.protos, shown)))
    by_metadata = {i: told for i, props in metadata if props and (told := told_by_metadata(entries(props)))}
    time = np.arange(len(drawn))
    modules = settled_paths(list(compress(nodes.names, shown)), by_metadata, readers, time.tolist())
    return Wiring(modules, nodes.kind[drawn], time, source, target)


def _what_shows(wiring: Wiring) -> tuple[GroupTree, frozenset[Group]] | None:
    """The modules that show at first and the open ones among them, over the numbers of the nodes.

    Most of the others are deeper inside, so only the outer ends of paths are looked at, longer ones where those do not
    say it: a module that shows may have joined one inside it.
    """
    whole = wiring.modules
    for depth in (2, 4, 8, MAX_DEPTH + 1):
        cut = replace(whole, paths=[path[:depth] for path in whole.paths])
        tree = tree_of(range(len(whole.number)), replace(wiring, modules=cut))
        if tree is None:
            return None
        opened = tree.opening()
        shown = [member for place in (tree.root, *opened) for member in place.members if isinstance(member, Group)]
        if all(len(group.path) < depth for group in shown):
            return tree, opened
    raise AssertionError("no path is longer than MAX_DEPTH")


class _Reduction:
    """Builds the graph of what shows; in the tree, whose members are numbers until then, its nodes take their place."""

    def __init__(
        self, file: ModelFile, nodes: _Nodes, values: _Values, drawn: Ints, tree: GroupTree, opened: frozenset[Group]
    ) -> None:  # fmt: skip
        self._file, self._proto, self._nodes, self._values = file, file.proto.graph, nodes, values
        self._drawn, self._tree, self._opened = drawn, tree, opened
        self._reduced = GraphProto(name=self._proto.name, input=self._proto.input, output=self._proto.output)
        self._names = nodes.unique_names()
        self._numbers: list[int] = []  # where the nodes of the reduced graph, or the first they stand for, are in it

    def outline(self) -> Outline:
        places = [self._tree.root, *(group for group in self._tree.root.groups() if group in self._opened)]
        members: list[Any] = [member for place in places for member in place.members]
        alone = self._drawn[[member for member in members if not isinstance(member, Group)]].tolist()
        closed = [m for m in members if isinstance(m, Group) and m not in self._opened]
        inside: list[Any] = [group.all_nodes() for group in closed]
        self._add_alone(alone)
        shown = self._add_stand_ins([self._drawn[numbers] for numbers in inside])
        shown |= self._add_stored({name for i in alone for name in self._nodes.inputs[i]})
        told = self._proto.value_info
        names = map(attrgetter("name"), told)
        self._reduced.value_info.extend([told[i] for i, name in enumerate(names) if name in shown])
        graph = ModelBuilder(replace(self._file, proto=self._message(), findings=[])).build().graph
        for node, number in zip(graph.nodes, self._numbers):
            node.index = node.file_index = number
        graph.order = graph.nodes
        self._settle(graph, places, dict(zip(closed, inside, strict=True)))
        return Outline(graph, self._tree, self._opened)

    def _add_alone(self, alone: list[int]) -> None:
        for i in alone:
            node = self._reduced.node.add()
            node.CopyFrom(self._nodes.protos[i])
            node.name = self._names[i]
        self._numbers += alone

    def _add_stand_ins(self, groups: list[Ints]) -> set[str]:
        """A node for each closed group, with what its nodes read from outside and make for others.

        Returns the names of all values that are drawn as lines.
        """
        values = self._values
        box = np.arange(len(self._nodes.protos))
        for number, inside in enumerate(groups):
            box[inside] = -2 - number
        source = np.where(values.source >= 0, box[values.source], -1)
        target = box[values.target]
        wanted = {value.name for value in self._proto.output}
        read: list[dict[str, None]] = [{} for _ in groups]
        for i in np.flatnonzero(source != target).tolist():
            name = values.read[i]
            wanted.add(name)
            if target[i] < -1:
                read[-2 - target[i]][name] = None
        made_here = np.array(sorted({values.number.get(name, -1) for name in wanted}), np.int64)
        made_here = made_here[made_here >= 0]
        made: list[list[str]] = [[] for _ in groups]
        for number, where in zip(made_here.tolist(), box[values.maker[made_here]].tolist(), strict=True):
            if where < -1:
                made[-2 - where].append(values.names[number])
        own = (source == target) & (target < -1)
        for i in np.flatnonzero(own & np.isin(values.value, made_here)).tolist():
            read[-2 - target[i]].setdefault(values.read[i])  # which says that somebody does
        for number, inside in enumerate(groups):
            first = int(inside.min())
            self._reduced.node.add(name=self._names[first], input=read[number], output=made[number])
            self._numbers.append(first)
        return wanted

    def _add_stored(self, names: set[str]) -> set[str]:
        """The constants that show: those of the names that nodes read which show themselves, inputs and outputs.

        Returns all these names.
        """
        proto, reduced = self._proto, self._reduced
        names.update(value.name for value in chain(proto.input, proto.output))
        reduced.initializer.extend(value for value in proto.initializer if value.name in names)
        reduced.sparse_initializer.extend(value for value in proto.sparse_initializer if value.values.name in names)
        for i in np.flatnonzero(self._nodes.folded).tolist():
            if self._nodes.outputs[i][0] in names:
                reduced.node.add().CopyFrom(self._nodes.protos[i])
                self._numbers.append(i)
        return names

    def _message(self) -> ModelProto:
        """The model with the reduced graph."""
        whole = self._file.proto
        return ModelProto(ir_version=whole.ir_version, opset_import=whole.opset_import, graph=self._reduced)

    def _settle(self, graph: Graph, places: list[Group], closed: dict[Group, list[int]]) -> None:
        """Put the nodes in the place of their numbers."""
        node_at = {node.file_index: node for node in graph.nodes}
        group_of = self._tree.group_of
        group_of.clear()
        for place in places:
            members: list[Any] = place.members  # numbers or groups, until this line
            place.members = [m if isinstance(m, Group) else node_at[int(self._drawn[m])] for m in members]
            group_of.update((node, place) for node in place.members if isinstance(node, Node))
        for group, numbers in closed.items():
            stand_in = node_at[int(self._drawn[min(numbers)])]
            group.members = [stand_in]
            group_of[stand_in] = group
