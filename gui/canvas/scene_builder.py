"""Makes the scene of a graph: which boxes there are, what stands in them, what is joined to what. No Qt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from engine.graph.ir import Graph, Node, Tensor, ValueSource
from gui.canvas.box_content import BoxMaker, even
from gui.canvas.chips import with_chips
from gui.canvas.folding import is_constant_row, is_folded
from gui.canvas.groups import Group, GroupTree, Member
from gui.canvas.labels import net_label, room_for_sizes, shortened
from gui.canvas.layout import LayoutInput
from gui.canvas.leaving_out import LeftOut
from gui.canvas.palette import CATEGORIES
from gui.canvas.scene import Box, BoxKind, Measure, Net, Opened, Scene, SceneOptions, TextStyle

MAX_LABEL_WIDTH = 170.0
SERIES = 4  # inputs or outputs numbered alike, from that many on, stand in the groups that alone read or make them
MANY_LABELS = 4  # outputs up to which a box widens so that each has room for its label
WIDEST_FOR_LABELS = 420.0
LABEL_ROOM = 12.0  # around a label between two lines
PORT_ROOM = 16.0  # at the sides of a box, free of lines


def build_scene(
    graph: Graph,
    measure: Measure,
    options: SceneOptions | None = None,
    tree: GroupTree | None = None,
    opened: Opened = frozenset(),
) -> Scene:
    """The scene of one graph.

    Parameters
    ----------
    measure
        Width in px of a text in a style.
    tree
        The groups of the graph, to be shown; every node by itself without it.
    opened
        The groups that are open, and the nodes whose subgraphs are shown in place.
    """
    return _Builder(graph, measure, options or SceneOptions(), tree, opened).build()


class _Builder:
    """Collects boxes and edges: inputs, nodes and groups in file order, outputs; what is in a frame follows it."""

    def __init__(
        self, graph: Graph, measure: Measure, options: SceneOptions, tree: GroupTree | None, opened: Opened
    ) -> None:  # fmt: skip
        self.graph, self.measure, self.options = graph, measure, options
        self.tree, self.opened = tree, opened
        self.left_out = LeftOut(graph, options)
        self.make = BoxMaker(measure, options, self.left_out)
        self.boxes: list[Box] = []
        self.box_of: dict[int, int] = {}
        self.output_box: dict[int, int] = {}
        self.readers: dict[int, list[int]] = {}
        self.hidden: dict[int, int] = {}
        self.scopes: list[Graph] = []  # the graph and those shown in place
        self.edges: dict[tuple[int, int, bool], tuple[Tensor, int, bool]] = {}  # tensor, box that reads it, captured
        self.entering: dict[Group, list[Tensor]] = {}  # inputs and outputs that stand in a group
        self.leaving: dict[Group, list[Tensor]] = {}

    def build(self) -> Scene:
        if self.tree is not None:
            self.settle_pills(self.tree)
            self.add_graph(self.graph, -1, self.tree.root.members)
        else:
            self.add_graph(self.graph, -1, None)
        for scope in self.scopes:
            # By boxes, so that what a closed group reads stands together, whatever order its nodes have in the file.
            nodes = (node for node in scope.nodes if not is_folded(node) and node not in self.left_out)
            for node in sorted(nodes, key=self.box_with):
                self.read(node)
            self.read_outputs(scope)
        return self.finish()

    # Boxes

    def add(self, box: Box, parent: int) -> int:
        box.parent = parent
        self.boxes.append(box)
        return len(self.boxes) - 1

    def add_graph(self, graph: Graph, parent: int, members: Sequence[Member] | None) -> None:
        self.scopes.append(graph)
        settled = {id(t) for tensors in self.entering.values() for t in tensors}
        for tensor in graph.inputs:
            if tensor.source is ValueSource.INPUT and id(tensor) not in settled:
                self.add_pill(BoxKind.INPUT, tensor, parent)
        self.add_members(members or [node for node in graph.nodes if not is_folded(node)], parent)
        settled = {id(t) for tensors in self.leaving.values() for t in tensors}
        for tensor in graph.outputs:
            if id(tensor) not in settled:
                self.add_pill(BoxKind.OUTPUT, tensor, parent)

    def add_members(self, members: Iterable[Member], parent: int) -> None:
        for member in members:
            if isinstance(member, Group):
                self.add_group(member, parent)
            elif member in self.left_out:
                continue
            elif member in self.opened and member.subgraphs:
                frame = self.add(self.make.node_frame(member), parent)
                self.box_of[id(member)] = frame
                for name, graph in member.subgraphs.items():
                    self.box_of[id(graph)] = self.add(self.make.graph_frame(name, graph), frame)
                    self.add_graph(graph, self.box_of[id(graph)], None)
            else:
                self.box_of[id(member)] = self.add(self.make.node(member), parent)

    def add_group(self, group: Group, parent: int) -> None:
        if group not in self.opened:
            index = self.box_of[id(group)] = self.add(self.make.group(group), parent)
            for inside in (group, *group.groups()):
                self.hidden[id(inside)] = index
                for tensor in (*self.entering.get(inside, ()), *self.leaving.get(inside, ())):
                    self.hidden[id(tensor)] = index
            for node in group.all_nodes():
                self.hidden[id(node)] = index
            return
        frame = self.box_of[id(group)] = self.add(self.make.group_frame(group), parent)
        for tensor in self.entering.get(group, ()):
            self.add_pill(BoxKind.INPUT, tensor, frame)
        self.add_members(group.members, frame)
        for tensor in self.leaving.get(group, ()):
            self.add_pill(BoxKind.OUTPUT, tensor, frame)

    def add_pill(self, kind: BoxKind, tensor: Tensor, parent: int) -> int:
        index = self.add(self.make.pill(kind, tensor), parent)
        if kind is BoxKind.OUTPUT:
            self.output_box[id(tensor)] = index
        else:
            self.box_of[id(tensor)] = index
        return index

    def settle_pills(self, tree: GroupTree) -> None:
        """Put each of a series of inputs or outputs into the group that alone reads or makes it, as cached states."""
        for tensor in _series(self.graph.inputs):
            readers = [node for node, _ in tensor.consumers if node in tree.group_of]
            group = _around([tree.group_of[node] for node in readers])
            if group is not None and tensor.source is ValueSource.INPUT and len(readers) == len(tensor.consumers):
                self.entering.setdefault(group, []).append(tensor)
        for tensor in _series(self.graph.outputs):
            group = tree.group_of.get(tensor.producer) if tensor.producer is not None else None
            if group is not None and group is not tree.root and not tensor.consumers:
                self.leaving.setdefault(group, []).append(tensor)

    # Edges

    def box_with(self, item: object) -> int:
        """As `Scene.box_with`, of the boxes made so far."""
        return self.box_of.get(id(item), self.hidden.get(id(item), -1))

    def read(self, node: Node) -> None:
        """Add what a node reads: an edge, or itself as a reader of a folded constant."""
        box = self.box_with(node)
        is_frame = self.boxes[box].kind is BoxKind.FRAME  # what its subgraphs capture is read by the nodes in them
        inputs = [source for t in node.inputs if t is not None and (source := self.left_out.source(t)) is not None]
        outside = [source for t in node.captures if (source := self.left_out.source(t)) is not None]
        captures = [] if is_frame else [t for t in outside if not any(t is read for read in inputs)]
        for i, tensor in enumerate((*inputs, *captures)):
            if is_constant_row(tensor):
                self.readers.setdefault(id(tensor), []).append(box)
            else:
                self.add_edge(tensor, box, i >= len(inputs) or tensor.graph is not node.graph)

    def read_outputs(self, graph: Graph) -> None:
        for tensor in graph.outputs:
            source = self.left_out.source(tensor)
            if id(tensor) in self.output_box and source is not None:
                self.add_edge(source, self.output_box[id(tensor)], source.graph is not graph)

    def add_edge(self, tensor: Tensor, target: int, captured: bool) -> None:
        if self.source_box(tensor, target) != target:
            self.edges.setdefault((id(tensor), target, captured), (tensor, target, captured))

    def source_box(self, tensor: Tensor, target: int) -> int:
        """The box a tensor comes from; made now for captured and missing values, beside the first that reads it."""
        if tensor.producer is not None:
            made_by = self.box_with(tensor.producer)
            if made_by >= 0:
                return made_by
        found = self.box_with(tensor)
        if found >= 0:
            return found
        if tensor.source is ValueSource.ABSENT:
            kind = BoxKind.MISSING
        else:
            kind = BoxKind.CONSTANT if tensor.graph in self.scopes else BoxKind.CAPTURED
        return self.add_pill(kind, tensor, self.boxes[target].parent)

    # All together

    def finish(self) -> Scene:
        nets: list[Net] = []
        nets_of: dict[int, list[int]] = {}
        number: dict[tuple[int, bool], int] = {}
        rows = []
        for tensor, target, captured in self.edges.values():
            net = number.get((id(tensor), captured))
            if net is None:
                net = number[id(tensor), captured] = len(nets)
                nets_of.setdefault(id(tensor), []).append(net)
                label, inferred = net_label(tensor, self.options.label)
                nets.append(Net(tensor, label if not captured else "", inferred, captured))
            rows.append((self.source_box(tensor, target), target, net))
        left_out = self.place_left_out(nets_of)
        edges = np.array(rows, np.int64).reshape(-1, 3)
        if self.options.chips:
            edges = with_chips(edges, self.boxes, nets, nets_of, self.make)
        label_width = np.array([self.label_width(net) for net in nets])
        self.widen(edges, label_width)
        parent = np.array([box.parent for box in self.boxes], np.int64)
        return Scene(
            graph=self.graph,
            options=self.options,
            boxes=self.boxes,
            nets=nets,
            layout_input=LayoutInput(
                width=np.array([b.width for b in self.boxes]),
                height=np.array([b.height for b in self.boxes]),
                source=edges[:, 0].copy(),
                target=edges[:, 1].copy(),
                net=edges[:, 2].copy(),
                label_width=label_width,
                parent=parent if (parent >= 0).any() else None,
                horizontal=self.options.horizontal,
                slot=np.arange(1, len(edges) + 1),  # nodes are read slot by slot
            ),
            category=np.array([CATEGORIES.index(box.category) for box in self.boxes], np.int8),
            box_of=self.box_of,
            nets_of=nets_of,
            output_box=self.output_box,
            readers=self.readers,
            hidden=self.hidden,
            left_out=left_out,
        )

    def place_left_out(self, nets_of: dict[int, list[int]]) -> frozenset[int]:
        """Say where the nodes that are left out are to be looked for; which these are."""
        scopes = set(self.scopes)
        nodes = [node for node in self.left_out.nodes if node.graph in scopes]
        for node in nodes:
            for tensor in node.outputs:
                source = self.left_out.source(tensor) if tensor is not None else None
                if source is not None and id(source) in nets_of:
                    nets_of.setdefault(id(tensor), nets_of[id(source)])
            box = self.beside(node)
            if box >= 0:
                self.hidden.setdefault(id(node), box)
        return frozenset(map(id, nodes))

    def beside(self, node: Node) -> int:
        """The box from which a node that is left out gets its value, or the first that what it makes goes to."""
        first = next((t for t in node.inputs if t is not None), None)
        source = self.left_out.source(first) if first is not None else None
        if source is not None:
            return self.box_with(source.producer if source.producer is not None else source)
        waiting, seen = [node], {node}
        for one in waiting:
            if one not in self.left_out and id(one) in self.box_of:
                return self.box_of[id(one)]
            after = (reader for t in one.outputs if t is not None for reader, _ in t.consumers)
            waiting += [reader for reader in dict.fromkeys(after) if reader not in seen]
            seen.update(waiting)
        return -1

    def label_width(self, net: Net) -> float:
        """Width of a net's label, which is shortened here until it fits, and of the sizes that its dims may get."""
        if not net.label:
            return 0.0
        style = TextStyle.LABEL_INFERRED if net.inferred else TextStyle.LABEL
        net.label = shortened(net.label, MAX_LABEL_WIDTH, style, self.measure)
        room = room_for_sizes(net.tensor) if self.options.label != "name" else ""
        return min(self.measure(net.label + room, style), MAX_LABEL_WIDTH)

    def widen(self, edges: np.ndarray, label_width: np.ndarray) -> None:
        """Make boxes of a few outputs wide enough for a label beside every line."""
        if self.options.horizontal or not len(edges):
            return
        source, net = np.unique(edges[:, [0, 2]], axis=0).T
        count = np.bincount(source, minlength=len(self.boxes))
        needed = np.bincount(source, label_width[net] + LABEL_ROOM, minlength=len(self.boxes))
        for i in np.flatnonzero((count > 1) & (count <= MANY_LABELS)).tolist():
            box = self.boxes[i]
            width = even(float(needed[i]) + PORT_ROOM)
            if box.kind is BoxKind.NODE and box.width < width <= WIDEST_FOR_LABELS:
                box.note_x += width - box.width
                box.width = width


def _series(tensors: list[Tensor]) -> list[Tensor]:
    """Those of some tensors whose names differ by their numbers only from enough others."""
    pattern = [re.sub(r"[0-9]+", "#", tensor.name) for tensor in tensors]
    count = Counter(pattern)
    return [tensor for tensor, name in zip(tensors, pattern, strict=True) if count[name] >= SERIES]


def _around(groups: list[Group]) -> Group | None:
    """The innermost group around several; None where that is the whole graph."""
    if not groups:
        return None
    common = [groups[0], *groups[0].ancestors()]
    for group in groups[1:]:
        chain = {group, *group.ancestors()}
        common = [g for g in common if g in chain]
    return next((g for g in common if g.parent is not None), None)
