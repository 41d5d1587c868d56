"""What is drawn of a graph: boxes with their rows, nets with their labels. No Qt; text widths come from a callable.

Graph inputs and outputs are pills. Constants are not boxes but rows of the nodes that read them. Values that a
subgraph takes from outside are dashed pills, and values that nobody makes are pills in the error colour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum

import numpy as np

from engine.graph.ir import Graph, Node, Tensor, ValueSource
from gui.canvas.labels import clean, constant_text, edge_label, important_attributes, subgraph_text
from gui.canvas.layout import LayoutInput
from gui.canvas.palette import Category, category_of
from gui.schemas import input_name

HEADER_HEIGHT = 22.0
ROW_HEIGHT = 15.0
ROWS_PADDING = 5.0  # in all, above and below the rows
PADDING = 8.0
GLYPH_WIDTH = 15.0
NOTE_GAP = 12.0
ROW_GAP = 6.0
MIN_WIDTH = 84.0
MAX_WIDTH = 280.0
PILL_WIDTH, PILL_HEIGHT = 64.0, 22.0
MAX_ROWS = 10
MAX_LABEL_WIDTH = 170.0


class TextStyle(StrEnum):  # of str, whose hash is C: a plain Enum's shows at 50,000 look-ups
    """The kinds of text on the canvas."""

    TITLE = "title"
    NOTE = "note"
    PILL = "pill"
    ROW_NAME = "row name"
    ROW_VALUE = "row value"
    LABEL = "label"
    LABEL_INFERRED = "inferred label"


Measure = Callable[[str, TextStyle], float]


class BoxKind(Enum):
    """What a box stands for."""

    NODE = "node"
    INPUT = "input"
    OUTPUT = "output"
    CONSTANT = "constant"
    CAPTURED = "captured"
    MISSING = "missing"


@dataclass(slots=True)
class Row:
    """A line in a box: a constant input, an attribute, or a subgraph; `item` is the tensor or graph it stands for."""

    name: str
    value: str
    item: Tensor | Graph | None = None


@dataclass(slots=True)
class Box:
    """A node or a pill. `item` is the engine's Node, or the Tensor of a pill; sizes in px."""

    kind: BoxKind
    item: Node | Tensor
    title: str
    category: Category
    note: str = ""
    rows: list[Row] = field(default_factory=list)
    width: float = MIN_WIDTH
    height: float = PILL_HEIGHT
    title_x: float = 0.0  # where title and note begin, from the left of the box
    note_x: float = 0.0
    name_widths: list[float] = field(default_factory=list)  # of the rows


@dataclass(slots=True)
class Net:
    """A tensor that is drawn as lines, its label, and whether the label is inferred."""

    tensor: Tensor
    label: str
    inferred: bool


@dataclass(slots=True)
class SceneOptions:
    """What the boxes show."""

    weights: bool = True
    attributes: bool = True


@dataclass(slots=True)
class Scene:
    """The boxes and nets of one graph, ready to be laid out.

    Attributes
    ----------
    box_of, net_of
        Index of the box of a node, input or captured tensor, and of the net of a tensor, by `id` of the item.
    output_box
        Index of the pill of a graph output, by `id` of its tensor.
    readers
        Boxes in which a folded constant is a row, by `id` of its tensor.
    """

    graph: Graph
    boxes: list[Box]
    nets: list[Net]
    layout_input: LayoutInput
    box_of: dict[int, int]
    net_of: dict[int, int]
    output_box: dict[int, int]
    readers: dict[int, list[int]]

    def locate(self, item: object) -> list[int]:
        """Boxes that show an engine object: its own, its producer's and consumers', or those it is folded into."""
        if id(item) in self.box_of:
            return [self.box_of[id(item)]]
        if isinstance(item, Node):
            return [box for tensor in item.outputs if tensor is not None for box in self.readers.get(id(tensor), [])]
        if isinstance(item, Tensor):
            if item.producer is not None and id(item.producer) in self.box_of:
                return [self.box_of[id(item.producer)]]
            return self.readers.get(id(item), []) or [b for b in [self.output_box.get(id(item))] if b is not None]
        return []


def build_scene(graph: Graph, measure: Measure, options: SceneOptions | None = None) -> Scene:
    """The scene of one graph.

    Parameters
    ----------
    measure
        Width in px of a text in a style.
    """
    return _Builder(graph, measure, options or SceneOptions()).build()


class _Builder:
    """Collects boxes and edges in file order: inputs, nodes, outputs."""

    def __init__(self, graph: Graph, measure: Measure, options: SceneOptions) -> None:
        self.graph = graph
        self.measure = measure
        self.options = options
        self.boxes: list[Box] = []
        self.box_of: dict[int, int] = {}
        self.output_box: dict[int, int] = {}
        self.readers: dict[int, list[int]] = {}
        self.edges: list[tuple[Tensor, int]] = []  # tensor and the box that reads it
        self.constant_texts: dict[int, str] = {}

    def build(self) -> Scene:
        for tensor in self.graph.inputs:
            if tensor.source is ValueSource.INPUT:
                self.add_pill(BoxKind.INPUT, tensor)
        drawn = [node for node in self.graph.nodes if not is_folded(node)]
        for node in drawn:
            self.box_of[id(node)] = len(self.boxes)
            self.boxes.append(self.node_box(node))
        for node in drawn:
            self.read(node)
        for tensor in self.graph.outputs:
            self.output_box[id(tensor)] = self.add_pill(BoxKind.OUTPUT, tensor)
            self.edges.append((tensor, self.output_box[id(tensor)]))
        return self.finish()

    def node_box(self, node: Node) -> Box:
        title = clean(node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}", 34)
        note = f"#{node.index + 1}" if node.index >= 0 else "∞"
        box = Box(BoxKind.NODE, node, title, category_of(node.op_type, node.domain), note)
        if self.options.weights:
            box.rows += self.constant_rows(node)
        if self.options.attributes:
            box.rows += [Row(name, text) for name, text in important_attributes(node)]
        for name, graph in node.subgraphs.items():
            box.rows.append(Row(name, subgraph_text(graph), graph))
        self.fit(box)
        return box

    def constant_rows(self, node: Node) -> list[Row]:
        rows = []
        for slot, tensor in enumerate(node.inputs):
            if tensor is None or not is_constant_row(tensor):
                continue
            if id(tensor) not in self.constant_texts:
                self.constant_texts[id(tensor)] = constant_text(tensor)
            rows.append(Row(clean(input_name(node, slot), 16), self.constant_texts[id(tensor)], tensor))
        if len(rows) > MAX_ROWS:
            rows[MAX_ROWS - 1 :] = [Row("…", f"{len(rows) - MAX_ROWS + 1} more")]
        return rows

    def read(self, node: Node) -> None:
        """Add what a node reads: an edge, or itself as a reader of a folded constant."""
        box = self.box_of[id(node)]
        for tensor in node.read_tensors():
            if is_constant_row(tensor):
                self.readers.setdefault(id(tensor), []).append(box)
            else:
                self.edges.append((tensor, box))

    def add_pill(self, kind: BoxKind, tensor: Tensor) -> int:
        name = tensor.name if len(tensor.name) <= 28 else tensor.name.rsplit("/", 1)[-1]
        note = tensor.dtype.short if tensor.dtype else ""
        box = Box(kind, tensor, clean(name, 30) or "(no name)", Category.IO, note)
        title = self.measure(box.title, TextStyle.PILL)
        text = title + (ROW_GAP + self.measure(note, TextStyle.NOTE) if note else 0.0)
        box.width = even(max(PILL_WIDTH, text + 3 * PADDING))
        box.title_x = (box.width - text) / 2
        box.note_x = box.title_x + title + ROW_GAP
        self.boxes.append(box)
        if kind is not BoxKind.OUTPUT:
            self.box_of[id(tensor)] = len(self.boxes) - 1
        return len(self.boxes) - 1

    def fit(self, box: Box) -> None:
        """Give a node's box the size its texts need."""
        measure = self.measure
        note = measure(box.note, TextStyle.NOTE)
        box.name_widths = [measure(row.name, TextStyle.ROW_NAME) for row in box.rows]
        rows = [
            name + ROW_GAP + measure(row.value, TextStyle.ROW_VALUE)
            for name, row in zip(box.name_widths, box.rows, strict=True)
        ]
        widest = max(GLYPH_WIDTH + measure(box.title, TextStyle.TITLE) + NOTE_GAP + note, *rows, 0.0)
        box.width = even(min(MAX_WIDTH, max(MIN_WIDTH, widest + 2 * PADDING)))
        box.title_x = PADDING + GLYPH_WIDTH
        box.note_x = box.width - PADDING - note
        box.height = HEADER_HEIGHT + (ROWS_PADDING + ROW_HEIGHT * len(box.rows) if box.rows else 0.0)

    def source_box(self, tensor: Tensor) -> int:
        """The box a tensor comes from; made now for captured and missing values."""
        if tensor.producer is not None and id(tensor.producer) in self.box_of:
            return self.box_of[id(tensor.producer)]
        if id(tensor) not in self.box_of:
            if tensor.source is ValueSource.ABSENT:
                kind = BoxKind.MISSING
            else:
                kind = BoxKind.CONSTANT if tensor.graph is self.graph else BoxKind.CAPTURED
            self.add_pill(kind, tensor)
        return self.box_of[id(tensor)]

    def finish(self) -> Scene:
        nets: list[Net] = []
        net_of: dict[int, int] = {}
        rows = []
        for tensor, target in self.edges:
            if id(tensor) not in net_of:
                net_of[id(tensor)] = len(nets)
                nets.append(Net(tensor, *edge_label(tensor)))
            rows.append((self.source_box(tensor), target, net_of[id(tensor)]))
        edges = np.array(rows, np.int64).reshape(-1, 3)
        return Scene(
            graph=self.graph,
            boxes=self.boxes,
            nets=nets,
            layout_input=LayoutInput(
                width=np.array([b.width for b in self.boxes]),
                height=np.array([b.height for b in self.boxes]),
                source=edges[:, 0].copy(),
                target=edges[:, 1].copy(),
                net=edges[:, 2].copy(),
                label_width=np.array([self.label_width(net) for net in nets]),
            ),
            box_of=self.box_of,
            net_of=net_of,
            output_box=self.output_box,
            readers=self.readers,
        )

    def label_width(self, net: Net) -> float:
        """Width of a net's label, which is shortened here until it fits."""
        style = TextStyle.LABEL_INFERRED if net.inferred else TextStyle.LABEL
        while net.label and self.measure(net.label, style) > MAX_LABEL_WIDTH:
            net.label = net.label.rstrip("…")[:-2] + "…"
        return self.measure(net.label, style) if net.label else 0.0


def is_constant_row(tensor: Tensor) -> bool:
    """Whether a tensor is drawn as a row of its readers instead of a line: constants, and inputs with a default."""
    if tensor.producer is not None:
        return is_folded(tensor.producer)
    return tensor.is_constant or tensor.source is ValueSource.OVERRIDABLE


def is_folded(node: Node) -> bool:
    """Whether a node is a Constant that only nodes read, so that its value stands in them and needs no box."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return False
    tensor = node.outputs[0] if node.outputs else None
    return tensor is not None and bool(tensor.consumers) and all(tensor is not t for t in node.graph.outputs)


def even(width: float) -> float:
    """Next even whole number, so that middles of boxes lie on whole pixels."""
    return float(2 * np.ceil(width / 2))
