"""What stands in a box, and how large that makes it. No Qt."""

from __future__ import annotations

import numpy as np

from engine.graph.ir import Graph, Node, Tensor
from engine.graph.modules import module_path
from gui.canvas.folding import is_constant_row
from gui.canvas.groups import Group
from gui.canvas.labels import all_attributes, clean, constant_text, important_attributes, subgraph_text
from gui.canvas.leaving_out import LeftOut
from gui.canvas.palette import Category, category_of
from gui.canvas.scene import (
    CHIP_HEIGHT,
    GLYPH_WIDTH,
    HEADER_HEIGHT,
    MIN_WIDTH,
    PADDING,
    ROW_GAP,
    ROW_HEIGHT,
    ROWS_PADDING,
    Box,
    BoxKind,
    Measure,
    Row,
    SceneOptions,
    TextStyle,
)
from gui.facts.schemas import input_name

NOTE_GAP = 12.0
MAX_WIDTH = 280.0
PILL_WIDTH = 64.0
MAX_ROWS = 10
LONGEST_TITLE = 34
LONGEST_NAME = 44


class BoxMaker:
    """Makes the boxes of one scene."""

    def __init__(self, measure: Measure, options: SceneOptions, left_out: LeftOut) -> None:
        self._measure = measure
        self._left_out = left_out
        self._options = options
        self._constant_texts: dict[int, str] = {}

    def node(self, node: Node) -> Box:
        """A node with its rows: name, module, constants, attributes, subgraphs, as far as asked for."""
        options = self._options
        box = Box(BoxKind.NODE, node, self._op(node), category_of(node.op_type, node.domain))
        if not options.netron:
            box.note = (f"#{node.index + 1}" if node.index >= 0 else "∞") + ("  +" if node.subgraphs else "")
        if options.names:
            box.rows.append(Row("name", clean(node.name, LONGEST_NAME)))
        if options.modules and (path := module_path(node)):
            box.rows.append(Row("module", clean("/".join(path), LONGEST_NAME)))
        if options.weights:
            box.rows += self._constant_rows(node)
        if options.attributes != "none":
            rows = important_attributes(node) if options.attributes == "telling" else all_attributes(node)
            box.rows += [Row(name, text) for name, text in rows]
        box.rows += [Row(clean(name, 24), subgraph_text(graph), graph) for name, graph in node.subgraphs.items()]
        self._fit(box)
        return box

    def _op(self, node: Node) -> str:
        if self._options.netron:
            return clean(node.op_type.rsplit(".", 1)[-1], LONGEST_TITLE)
        plain = node.domain in ("", "ai.onnx")
        return clean(node.op_type if plain else f"{node.domain}.{node.op_type}", LONGEST_TITLE)

    def _constant_rows(self, node: Node) -> list[Row]:
        rows = []
        for slot, read in enumerate(node.inputs):
            tensor = self._left_out.source(read) if read is not None else None
            if tensor is None or not is_constant_row(tensor):
                continue
            if id(tensor) not in self._constant_texts:
                self._constant_texts[id(tensor)] = constant_text(tensor)
            rows.append(Row(clean(input_name(node, slot), 16), self._constant_texts[id(tensor)], tensor))
        if len(rows) > MAX_ROWS:
            rows[MAX_ROWS - 1 :] = [Row("…", f"{len(rows) - MAX_ROWS + 1} more")]
        return rows

    def group(self, group: Group) -> Box:
        """A closed group: its name and class, how many like it there are, how many nodes are in it."""
        box = Box(BoxKind.GROUP, group, group_title(group), Category.GROUP, "+")
        box.rows = [Row(f"×{group.twins:,}" if group.twins > 1 else "", f"{group.nodes:,} nodes")]
        self._fit(box)
        return box

    def group_frame(self, group: Group) -> Box:
        twins = f"  ×{group.twins:,}" if group.twins > 1 else ""
        return self._frame(group, group_title(group) + twins, Category.GROUP)

    def node_frame(self, node: Node) -> Box:
        return self._frame(node, f"{self._op(node)}  {clean(node.name, 30)}", category_of(node.op_type, node.domain))

    def graph_frame(self, name: str, graph: Graph) -> Box:
        return self._frame(graph, f"{clean(name, 24)}  {clean(graph.name, 30)}".strip(), Category.IO)

    def _frame(self, item: Group | Node | Graph, title: str, category: Category) -> Box:
        """A frame no smaller than its title; what is in it makes it larger."""
        box = Box(BoxKind.FRAME, item, title, category, "" if isinstance(item, Graph) else "−")
        self._fit(box)
        return box

    def pill(self, kind: BoxKind, tensor: Tensor) -> Box:
        """An input, output, or value from elsewhere, with its element type."""
        name = tensor.name if len(tensor.name) <= 28 else tensor.name.rsplit("/", 1)[-1]
        note = tensor.dtype.short if tensor.dtype and not self._options.netron else ""
        box = Box(kind, tensor, clean(name, 30) or "(no name)", Category.IO, note)
        title = self._measure(box.title, TextStyle.PILL)
        text = title + (ROW_GAP + self._measure(note, TextStyle.NOTE) if note else 0.0)
        box.width = even(max(PILL_WIDTH, text + 3 * PADDING))
        box.title_x = (box.width - text) / 2
        box.note_x = box.title_x + title + ROW_GAP
        return box

    def chip(self, tensor: Tensor, readers: int = 0) -> Box:
        """The name of a tensor beside one that reads it; with `readers`, below the node that makes it."""
        name = clean(tensor.name if len(tensor.name) <= 20 else tensor.name.rsplit("/", 1)[-1], 20)
        box = Box(BoxKind.CHIP, tensor, f"{name} ▸ {readers:,}" if readers else name, Category.IO)
        text = self._measure(box.title, TextStyle.CHIP)
        box.width, box.height = even(text + 2 * PADDING), CHIP_HEIGHT
        box.title_x = (box.width - text) / 2
        return box

    def _fit(self, box: Box) -> None:
        """Give a box the size its texts need."""
        measure = self._measure
        note = measure(box.note, TextStyle.NOTE) if box.note else 0.0
        glyph = 0.0 if self._options.netron else GLYPH_WIDTH
        box.name_widths = [measure(row.name, TextStyle.ROW_NAME) for row in box.rows]
        rows = [
            name + ROW_GAP + measure(row.value, TextStyle.ROW_VALUE)
            for name, row in zip(box.name_widths, box.rows, strict=True)
        ]
        title = glyph + measure(box.title, TextStyle.TITLE) + (NOTE_GAP + note if note else 0.0)
        box.width = even(min(MAX_WIDTH, max(MIN_WIDTH if not self._options.netron else 0.0, title + 2 * PADDING,
                                            max(rows, default=0.0) + 2 * PADDING)))  # fmt: skip
        box.title_x = PADDING + glyph
        box.note_x = box.width - PADDING - note if note else box.width
        box.height = HEADER_HEIGHT + (ROWS_PADDING + ROW_HEIGHT * len(box.rows) if box.rows else 0.0)


def group_title(group: Group) -> str:
    """Name and class of a group, and which part of a split module it is."""
    name, outer = group.name, group.parent.name if group.parent else ""
    rest = name.removeprefix(f"{outer}.") if outer else name
    title = clean(rest if rest[:1].isalpha() else name, 30) + (f" · {clean(group.kind, 24)}" if group.kind else "")
    return title + (f" ({group.part}/{group.parts})" if group.parts > 1 else "")


def even(width: float) -> float:
    """Next even whole number, so that middles of boxes lie on whole pixels."""
    return float(2 * np.ceil(width / 2))
