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
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto
from onnx.defs import OpSchema

from engine.graph.builder import ModelBuilder, unique_name
from engine.graph.ir import Graph, Node
from engine.graph.reader import ModelFile
from engine.graph.schemas import NEWEST_OPSETS, canonical_domain, schema_of
from engine.graph.text import entries
from gui.canvas.groups import Group, GroupTree, Wiring, tree_of
from gui.canvas.layout.types import Ints
from gui.canvas.module_paths import settled_paths, told_path
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
    reads = _reads(nodes, file.proto.graph) if nodes is not None else None
    if nodes is None or reads is None:
        return None
    drawn = np.flatnonzero(~nodes.folded)
    tree = tree_of(range(len(drawn)), _wiring(nodes, reads, drawn))
    if tree is None:
        return None
    return _Reduction(file, nodes, reads, drawn, tree, tree.opening()).outline()


@dataclass(slots=True)
class _Nodes:
    """The nodes in file order: entries of lists and arrays. `folded` are constants that stand in their readers."""

    protos: list[NodeProto]
    names: list[str]
    kinds: list[tuple[str, str]]  # domain and operator
    inputs: list[list[str]]
    outputs: list[list[str]]
    folded: np.ndarray

    @classmethod
    def of(cls, graph: GraphProto) -> _Nodes | None:
        """None where a node has a subgraph, or a name is not text. What runs once a node here is C where it can be."""
        protos = list(graph.node)
        domains, ops, names = ([getattr(node, of) for node in protos] for of in ("domain", "op_type", "name"))
        inputs, outputs = [node.input[:] for node in protos], [node.output[:] for node in protos]
        values = chain(chain.from_iterable(inputs), chain.from_iterable(outputs))
        if bytes in set(map(type, chain(domains, ops, names, values))):
            return None
        domain = {one: canonical_domain(one) for one in set(domains)}
        kinds = [(domain[one], op) for one, op in zip(domains, ops, strict=True)]
        asked = {kind for kind in set(kinds) if _may_hold_graphs(*kind)}
        if any(a.type in _SUBGRAPHS for i, kind in enumerate(kinds) if kind in asked for a in protos[i].attribute):
            return None
        if "" in names or len(set(names)) < len(names):
            used: set[str] = set()
            names = [unique_name(name, op, i, used) for i, (name, op) in enumerate(zip(names, ops, strict=True))]
        folded = np.zeros(len(protos), bool)
        constants = [i for i, kind in enumerate(kinds) if kind == ("", "Constant")]
        if constants:
            read = set(chain.from_iterable(inputs)).difference(value.name for value in graph.output)
            folded[[i for i in constants if outputs[i] and outputs[i][0] in read]] = True
        return cls(protos, names, kinds, inputs, outputs, folded)


@cache
def _may_hold_graphs(domain: str, op_type: str) -> bool:
    """Whether an operator has attributes that are graphs, as far as the standard knows it."""
    schema = schema_of(op_type, NEWEST_OPSETS.get(domain, 1), domain)
    kinds = (OpSchema.AttrType.GRAPH, OpSchema.AttrType.GRAPHS)
    return schema is None or any(attribute.type in kinds for attribute in schema.attributes.values())


@dataclass(slots=True)
class _Reads:
    """Every reading of a value that is drawn as a line, by readers and their inputs, shape (r,).

    `names` are the values, `source` the nodes that make them, -1 where none does, and `target` those that read them.
    """

    names: list[str]
    source: Ints
    target: Ints


def _reads(nodes: _Nodes, graph: GraphProto) -> _Reads | None:
    """None where a name is defined twice, or a node stands before what it reads."""
    stored = {value.name for value in graph.initializer} | {value.values.name for value in graph.sparse_initializer}
    names, target = _flat(nodes.inputs)
    outputs, maker = _flat(nodes.outputs)
    made = dict(zip(outputs, maker.tolist(), strict=True))
    made.pop("", None)
    given = stored.union(value.name for value in graph.input)
    if len(made) + outputs.count("") != len(outputs) or not given.isdisjoint(made):
        return None
    absent = -2
    made.update(dict.fromkeys((*stored, ""), absent))
    source = np.array(list(map(made.get, names, repeat(-1))), np.int64)
    if (source >= target).any():
        return None
    drawn = (source != absent) & ((source < 0) | ~nodes.folded[np.maximum(source, 0)])
    return _Reads(list(compress(names, drawn.tolist())), source[drawn], target[drawn])


def _flat(names: list[list[str]]) -> tuple[list[str], Ints]:
    """All names of all nodes, and whose they are."""
    return list(chain.from_iterable(names)), np.repeat(np.arange(len(names)), list(map(len, names)))


def _wiring(nodes: _Nodes, reads: _Reads, drawn: Ints) -> Wiring:
    """What the modules follow from, over the nodes that are drawn."""
    number = np.cumsum(~nodes.folded) - 1
    inside = reads.source >= 0
    source, target = number[reads.source[inside]], number[reads.target[inside]]
    following: dict[int, set[int]] = {}

    def readers(i: int) -> set[int]:
        if not following:
            for u, v in zip(source.tolist(), target.tolist(), strict=True):
                following.setdefault(u, set()).add(v)
        return following.get(i, set())

    where, none = drawn.tolist(), dict[str, str]()
    metadata = [entries(told) if (told := nodes.protos[i].metadata_props) else none for i in where]
    told = list(map(told_path, [nodes.names[i] for i in where], metadata))
    time = np.arange(len(drawn))
    paths, classes = settled_paths(told, readers, time.tolist())
    return Wiring(paths, classes, [nodes.kinds[i] for i in where], time, source, target)


class _Reduction:
    """Builds the graph of what shows; in the tree, whose members are numbers until then, its nodes take their place."""

    def __init__(
        self, file: ModelFile, nodes: _Nodes, reads: _Reads, drawn: Ints, tree: GroupTree, opened: Opened
    ) -> None:  # fmt: skip
        self._file, self._proto, self._nodes, self._reads = file, file.proto.graph, nodes, reads
        self._drawn, self._tree, self._opened = drawn, tree, opened
        self._reduced = GraphProto(name=self._proto.name, input=self._proto.input, output=self._proto.output)
        self._numbers: list[int] = []  # where the nodes of the reduced graph, or the first they stand for, are in it

    def outline(self) -> Outline:
        places = [self._tree.root, *(group for group in self._tree.root.groups() if group in self._opened)]
        members: list[Any] = [member for place in places for member in place.members]
        alone = self._drawn[[member for member in members if not isinstance(member, Group)]].tolist()
        closed = [m for m in members if isinstance(m, Group) and m not in self._opened]
        inside: list[Any] = [group.all_nodes() for group in closed]
        self._add_alone(alone)
        drawn = self._add_stand_ins([np.sort(self._drawn[numbers]) for numbers in inside])
        rows = self._add_stored({name for i in alone for name in self._nodes.inputs[i]})
        self._reduced.value_info.extend(v for v in self._proto.value_info if v.name in drawn or v.name in rows)
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
            node.name = self._nodes.names[i]
        self._numbers += alone

    def _add_stand_ins(self, groups: list[Ints]) -> set[str]:
        """A node for each closed group, with what its nodes read from outside and make for others.

        Returns the names of all values that are drawn as lines.
        """
        box = np.arange(len(self._nodes.protos))
        for number, inside in enumerate(groups):
            box[inside] = -2 - number
        source = np.where(self._reads.source >= 0, box[self._reads.source], -1)
        target = box[self._reads.target]
        wanted = {value.name for value in self._proto.output}
        read: list[dict[str, None]] = [{} for _ in groups]
        for i in np.flatnonzero(source != target).tolist():
            name = self._reads.names[i]
            wanted.add(name)
            if target[i] < -1:
                read[-2 - target[i]][name] = None
        for i in np.flatnonzero((source == target) & (target < -1)).tolist():
            if self._reads.names[i] in wanted:  # a stand-in that reads its own value says that somebody does
                read[-2 - target[i]].setdefault(self._reads.names[i])
        for number, inside in enumerate(groups):
            first = int(inside[0])
            outputs = [name for i in inside.tolist() for name in self._nodes.outputs[i] if name in wanted]
            self._reduced.node.add(name=self._nodes.names[first], input=read[number], output=outputs)
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
