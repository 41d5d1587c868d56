"""What is drawn of a graph: boxes with their rows, nets with their labels. No Qt.

Graph inputs and outputs are pills. Constants are not boxes but rows of the nodes that read them. Values that a
subgraph shown alone takes from outside are dashed pills, and values that nobody makes are pills in the error colour. A
module that is closed is one box; opened, it is a frame around what is in it, as is a node whose subgraphs are shown in
place. `scene_builder` makes scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, StrEnum
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.graph.ir import Graph, Node, Tensor
from gui.canvas.groups import Group
from gui.canvas.layout import LayoutInput
from gui.canvas.layout.types import Ints
from gui.canvas.palette import Category

HEADER_HEIGHT = 22.0
ROW_HEIGHT = 15.0
ROWS_PADDING = 5.0  # in all, above and below the rows
PADDING = 8.0
GLYPH_WIDTH = 15.0
ROW_GAP = 6.0
MIN_WIDTH = 84.0
PILL_HEIGHT = 22.0
CHIP_HEIGHT = 18.0


class TextStyle(StrEnum):  # of str, whose hash is C: a plain Enum's shows at 50,000 look-ups
    """The kinds of text on the canvas."""

    TITLE = "title"
    NOTE = "note"
    PILL = "pill"
    CHIP = "chip"
    ROW_NAME = "row name"
    ROW_VALUE = "row value"
    LABEL = "label"
    LABEL_INFERRED = "inferred label"
    LABEL_BOUND = "bound label"
    LABEL_BOUND_INFERRED = "bound inferred label"


Measure = Callable[[str, TextStyle], float]
Item: TypeAlias = "Node | Tensor | Group | Graph"
Opened: TypeAlias = "frozenset[Group | Node]"


class BoxKind(Enum):
    """What a box stands for."""

    NODE = "node"
    GROUP = "group"  # closed
    FRAME = "frame"  # an opened group, a node shown with its subgraphs, or one of these
    INPUT = "input"
    OUTPUT = "output"
    CONSTANT = "constant"
    CAPTURED = "captured"
    MISSING = "missing"
    CHIP = "chip"  # the name of a tensor instead of a long line


@dataclass(slots=True)
class Row:
    """A line in a box: a constant input, an attribute, or a subgraph; `item` is the tensor or graph it stands for."""

    name: str
    value: str
    item: Tensor | Graph | None = None


@dataclass(slots=True)
class Box:
    """One box. `item` is the engine's Node, a Group, the Graph of a frame, or the Tensor of a pill; sizes in px."""

    kind: BoxKind
    item: Item
    title: str
    category: Category
    note: str = ""
    rows: list[Row] = field(default_factory=list)
    width: float = MIN_WIDTH
    height: float = PILL_HEIGHT
    title_x: float = 0.0  # where title and note begin, from the left of the box
    note_x: float = 0.0
    name_widths: list[float] = field(default_factory=list)  # of the rows
    parent: int = -1  # the frame it stands in


@dataclass(slots=True)
class Net:
    """A tensor that is drawn as lines, its label, whether the label is inferred, and whether the value is captured."""

    tensor: Tensor
    label: str
    inferred: bool
    captured: bool = False


@dataclass(frozen=True, slots=True)
class SceneOptions:
    """What the boxes and lines show, and which way they flow.

    Attributes
    ----------
    attributes
        None, those that tell nodes apart, or all that the file states.
    label
        What stands beside a line.
    chips
        Whether tensors that are read in many far places are shown as their name there instead of a long line.
    netron
        Netron's look: operator names without numbers and signs.
    hide_casts, hide_qdq, hide_shapes
        Which kinds of nodes are left out: changes of type and copies, quantisation, arithmetic on shapes.
    """

    weights: bool = True
    attributes: Literal["none", "telling", "all"] = "telling"
    names: bool = False
    modules: bool = False
    label: Literal["shape", "name", "both", "dtype"] = "shape"
    chips: bool = True
    horizontal: bool = False
    netron: bool = False
    hide_casts: bool = False
    hide_qdq: bool = False
    hide_shapes: bool = False

    @property
    def leaves_out(self) -> bool:
        """Whether some kind of node is left out."""
        return self.hide_casts or self.hide_qdq or self.hide_shapes


OPTION_VALUES = {"attributes": ("none", "telling", "all"), "label": ("shape", "name", "both", "dtype")}


def stored_options(stored: Mapping[str, Any]) -> SceneOptions:
    """The options as they were left; what is not understood is as at first."""
    options = SceneOptions()
    for option in fields(SceneOptions):
        name, value = option.name, stored.get(option.name)
        if isinstance(value, type(getattr(options, name))) and (
            not isinstance(value, str) or value in OPTION_VALUES[name]
        ):
            options = replace(options, **{name: value})
    return options


@dataclass(slots=True)
class Scene:
    """The boxes and nets of one graph, ready to be laid out.

    Attributes
    ----------
    category
        Of each box, as an index into `CATEGORIES` of the palette, shape (n,).
    box_of
        Index of the box of a node, group, frame, input or captured tensor, by `id` of the item.
    nets_of
        Indices of the nets of a tensor, by `id` of the tensor.
    output_box
        Index of the pill of a graph output, by `id` of its tensor.
    readers
        Boxes in which a folded constant is a row, by `id` of its tensor.
    hidden
        Index of the closed group that a node or pill is in, by `id` of the item, or of a box beside the node where its
        kind is left out.
    left_out
        The nodes that are left out of the graph and of what is shown in place, because of their kinds, by `id`.
    """

    graph: Graph
    options: SceneOptions
    boxes: list[Box]
    nets: list[Net]
    layout_input: LayoutInput
    category: NDArray[np.int8]
    box_of: dict[int, int]
    nets_of: dict[int, list[int]]
    output_box: dict[int, int]
    readers: dict[int, list[int]]
    hidden: dict[int, int]
    left_out: frozenset[int] = frozenset()

    def locate(self, item: object) -> list[int]:
        """Boxes that show an engine object: its own, its closed group's, its producer's, or those it is folded into."""
        for found in (self.box_of, self.hidden):
            if id(item) in found:
                return [found[id(item)]]
        if isinstance(item, Node):
            return [box for tensor in item.outputs if tensor is not None for box in self.readers.get(id(tensor), [])]
        if isinstance(item, Tensor):
            if item.producer is not None and (made := self.box_with(item.producer)) >= 0:
                return [made]
            return self.readers.get(id(item), []) or [b for b in [self.output_box.get(id(item))] if b is not None]
        return []

    def locate_all(self, items: Iterable[object]) -> Ints:
        """The boxes that show any of many engine objects, each once; the usual box is found without a call an item."""
        boxes: set[int] = set()
        box_of, hidden = self.box_of.get, self.hidden.get
        for item in items:
            box = box_of(id(item))
            if box is None:
                box = hidden(id(item))
            if box is None:
                boxes.update(self.locate(item))
            else:
                boxes.add(box)
        return np.array(sorted(boxes), np.int64)

    def conceals(self, item: object) -> bool:
        """Whether nothing of a node, tensor or group is seen but the closed groups that it is in, or is read in."""
        if id(item) in self.box_of or id(item) in self.nets_of:
            return False
        boxes = self.locate(item)
        return bool(boxes) and all(self.boxes[box].kind is BoxKind.GROUP for box in boxes)

    def leaves_out(self, item: object) -> bool:
        """Whether a node, or what makes a tensor, is left out because of its kind."""
        return id(item.producer if isinstance(item, Tensor) else item) in self.left_out

    def box_with(self, item: object) -> int:
        """The box of an item, or of the closed group it is in; -1 if it is not shown."""
        return self.box_of.get(id(item), self.hidden.get(id(item), -1))
