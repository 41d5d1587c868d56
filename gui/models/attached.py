"""Rows and columns of the Attached pane: what a file says of nodes and tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QColor

from engine.graph.ir import Node, Tensor
from gui.attachment.attached import Attached
from gui.models.order import category_colour
from gui.models.table import Column, Style
from gui.text import one_line

MOST = 24  # columns of numbers, and as many of words


@dataclass(slots=True, eq=False)
class AttachedRow:
    """A node or a tensor with what is said of it."""

    item: Node | Tensor
    numbers: dict[str, float]
    facts: dict[str, str]

    @property
    def name(self) -> str:
        return self.item.qualified_name

    @property
    def kind(self) -> str:
        return self.item.op_type if isinstance(self.item, Node) else "tensor"


def attached_rows(found: Attached) -> list[AttachedRow]:
    """All that the file speaks of, in its order."""
    return [
        AttachedRow(item, {n: v[item] for n, v in found.numbers.items() if item in v}, found.facts[item])
        for item in found.subjects
    ]


def attached_columns(found: Attached | None) -> tuple[Column, ...]:
    """Kind and name, then a column for each number and for each other fact."""
    columns = [Column("what", lambda r: one_line(r.kind), square=_square), Column("name", lambda r: one_line(r.name))]
    if found is None:
        return tuple(columns)
    facts = dict.fromkeys(name for item in found.subjects for name in found.facts[item] if name not in found.numbers)
    for name, values in list(found.numbers.items())[:MOST]:
        columns.append(_number_column(name, max(map(abs, values.values()))))
    columns += [_fact_column(name) for name in list(facts)[:MOST]]
    return tuple(columns)


def _number_column(name: str, most: float) -> Column:
    def share(row: AttachedRow) -> float:
        return abs(row.numbers.get(name, 0.0)) / most if most else 0.0

    def key(row: AttachedRow) -> float:
        return row.numbers.get(name, float("-inf"))

    return Column(one_line(name, 40), _fact(name), Style("text", mono=True), right=True, key=key, bar=share,
                  heading_tip=one_line(name))  # fmt: skip


def _fact_column(name: str) -> Column:
    return Column(one_line(name, 40), _fact(name), Style("muted"), heading_tip=one_line(name))


def _fact(name: str) -> Callable[[AttachedRow], str]:
    return lambda row: one_line(row.facts.get(name, ""))


def _square(row: AttachedRow) -> QColor | None:
    return category_colour(row.item) if isinstance(row.item, Node) else None
