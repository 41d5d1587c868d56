"""Rows and columns of the Problems pane: the model's diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QColor

from engine.diagnostics import Diagnostic, Severity, grouped
from engine.graph.ir import Node, Tensor
from gui.facts.index import ModelIndex
from gui.look.theme import theme_manager
from gui.models.table import Column, Style
from gui.text import one_line

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
_ROLE = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "neutral"}


@dataclass(slots=True, eq=False)
class ProblemRow:
    """A diagnostic and what it concerns, None where that is the whole model.

    `beyond` says that there are so many of its code that it is shown only on request; a row with `more` stands for
    that many of them until then, by the first of them.
    """

    diagnostic: Diagnostic
    item: Node | Tensor | None
    beyond: bool = False
    more: int = 0

    @property
    def name(self) -> str:
        return "" if self.more else self.diagnostic.node or self.diagnostic.tensor

    @property
    def message(self) -> str:
        return f"and {self.more:,} more like these: pick to list them" if self.more else self.diagnostic.message

    @property
    def advice(self) -> str:
        """What is wrong in general, and what to do about it."""
        return f"{self.diagnostic.title}. {self.diagnostic.hint}".strip()


def problem_rows(diagnostics: Sequence[Diagnostic], index: ModelIndex) -> list[ProblemRow]:
    """Errors first, then warnings, then the rest, each by code in the order found."""
    rows: list[ProblemRow] = []
    for group in grouped(diagnostics):
        shown = len(group.first)
        for place, diagnostic in enumerate(group.findings):
            item = index.nodes.get(diagnostic.node) or index.tensors.get(diagnostic.tensor)
            rows.append(ProblemRow(diagnostic, item, beyond=place >= shown))
        if group.rest:
            rows.append(ProblemRow(group.findings[shown], None, more=group.rest))
    return rows


def severity_colour(severity: Severity) -> QColor:
    """The colour that marks a severity."""
    return theme_manager().theme.colour(_ROLE[severity])


COLUMNS = (
    Column("severity", lambda r: r.diagnostic.severity.value, lambda r: Style(_ROLE[r.diagnostic.severity]),
           key=lambda r: _RANK[r.diagnostic.severity], square=lambda r: severity_colour(r.diagnostic.severity)),
    Column("message", lambda r: one_line(r.message), tip=lambda r: f"{r.message}\n\n{r.advice}"),
    Column("place", lambda r: one_line(r.name), Style("muted")),
    Column("code", lambda r: r.diagnostic.code, Style("faint", mono=True), tip=lambda r: r.advice),
)  # fmt: skip
