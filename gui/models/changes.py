"""Rows and columns of the Changes pane: what differs between two models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtGui import QColor

from engine.diff import NodePair, WeightPair
from engine.graph.ir import Node, Tensor
from gui.comparing.changes import Changes
from gui.look.theme import theme_manager
from gui.models.table import Column, Style
from gui.text import one_line

KINDS = {
    "added": ("Only here", "good"), "removed": ("Removed", "error"), "changed": ("Changed", "warning"),
    "weights": ("Weights", "accent"), "renamed": ("Renamed", "neutral"), "file": ("File", "neutral"),
}  # fmt: skip
"""What a difference is about: its name, and the theme's role for its colour."""


@dataclass(slots=True, eq=False)
class ChangeRow:
    """A difference. `item` is the node or tensor of the model shown, None where it has none; `other` of the other."""

    kind: str
    what: str
    before: str = ""
    after: str = ""
    item: Node | Tensor | None = None
    other: Node | Tensor | None = None
    values: WeightPair | None = None  # that can be looked at side by side

    @property
    def name(self) -> str:
        subject = self.item or self.other
        return subject.qualified_name if subject is not None else ""

    @property
    def title(self) -> str:
        return KINDS[self.kind][0]

    @property
    def role(self) -> str:
        return KINDS[self.kind][1]


def change_rows(changes: Changes) -> list[ChangeRow]:
    """Nodes added and removed, then what changed of nodes and weights, then names, then facts of the files."""
    found = changes.found
    rows = [ChangeRow("added", node.qualified_op, item=node) for node in found.added]
    rows += [ChangeRow("removed", node.qualified_op, _where(node, changes), other=node) for node in found.removed]
    for pair in found.changed:
        rows += _changed(pair)
    for weight in found.weights:
        rows += _weight(weight)
    rows += [ChangeRow("weights", "only here", item=tensor) for tensor in found.added_weights]
    rows += [ChangeRow("weights", "only in the other", other=tensor) for tensor in found.removed_weights]
    rows += [ChangeRow("renamed", "name", p.before.name, p.after.name, p.after, p.before) for p in found.renamed]
    rows += [ChangeRow("file", change.what, change.before, change.after) for change in found.facts]
    return rows


def _where(node: Node, changes: Changes) -> str:
    """Where a node of the other model stood, by its neighbours in the model shown."""
    before, behind = changes.stood(node)
    words = [f"behind {before.name}"] if before is not None else []
    return ", ".join([*words, f"before {behind.name}"] if behind is not None else words)


def _changed(pair: NodePair) -> Iterator[ChangeRow]:
    for change in pair.changes:
        yield ChangeRow("changed", change.what, change.before, change.after, pair.after, pair.before)


def _weight(pair: WeightPair) -> Iterator[ChangeRow]:
    for change in pair.changes:
        yield ChangeRow("weights", change.what, change.before, change.after, pair.after, pair.before)
    if pair.difference is not None and not pair.difference.equal:
        yield ChangeRow("weights", "values", "", pair.difference.in_words(), pair.after, pair.before, pair)


def _square(row: ChangeRow) -> QColor | None:
    return theme_manager().theme.colour(row.role)


COLUMNS = (
    Column("difference", lambda r: r.title, square=_square, key=lambda r: list(KINDS).index(r.kind)),
    Column("name", lambda r: one_line(r.name)),
    Column("what", lambda r: one_line(r.what)),
    Column("before", lambda r: one_line(r.before), Style("muted", mono=True), heading_tip="In the other model"),
    Column("now", lambda r: one_line(r.after), Style("text", mono=True), heading_tip="In the model shown"),
)  # fmt: skip
