"""Rows and columns of the Problems pane: the model's diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QColor

from engine.diagnostics import Diagnostic, Severity
from engine.graph.ir import Node, Tensor
from gui.index import ModelIndex
from gui.models.table import Column, Style
from gui.text import one_line
from gui.theme import theme_manager

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
_ROLE = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "neutral"}


@dataclass(slots=True, eq=False)
class ProblemRow:
    """A diagnostic and what it concerns, None where that is the whole model."""

    diagnostic: Diagnostic
    item: Node | Tensor | None

    @property
    def name(self) -> str:
        return self.diagnostic.node or self.diagnostic.tensor


def problem_rows(diagnostics: Sequence[Diagnostic], index: ModelIndex) -> list[ProblemRow]:
    """Errors first, then warnings, then the rest, each in the order found."""
    ordered = sorted(diagnostics, key=lambda d: _RANK[d.severity])
    return [ProblemRow(d, index.nodes.get(d.node) or index.tensors.get(d.tensor)) for d in ordered]


def severity_color(severity: Severity) -> QColor:
    """The colour that marks a severity."""
    return theme_manager().theme.color(_ROLE[severity])


COLUMNS = (
    Column("severity", lambda r: r.diagnostic.severity.value, lambda r: Style(_ROLE[r.diagnostic.severity]),
           key=lambda r: _RANK[r.diagnostic.severity], square=lambda r: severity_color(r.diagnostic.severity)),
    Column("message", lambda r: one_line(r.diagnostic.message), tip=lambda r: r.diagnostic.message),
    Column("place", lambda r: one_line(r.name), Style("muted")),
    Column("code", lambda r: r.diagnostic.code, Style("faint", mono=True)),
)  # fmt: skip
