"""Columns of the Compare pane and the words of its verdict."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtGui import QColor

from engine.compare import counts_text
from engine.words import counted
from gui.look.theme import theme_manager
from gui.models.table import Column, Style
from gui.running.judging import AgreementRow, Judgement
from gui.text import dtype_text

_SMALLEST = 1e-9  # relative differences from here to 1 fill the bar, by their logarithm


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1e}" if value else "0"


def _sortable(value: float | None) -> float:
    return -1.0 if value is None or math.isnan(value) else value


def _cosine(value: float | None) -> str:
    """Many nines read badly: what is missing to 1 says more."""
    if value is None:
        return "–"
    return "1" if value == 1 else f"{value:.4f}" if value < 0.999 else f"1−{1 - value:.0e}"


def _bar(row: AgreementRow) -> float:
    relative = row.agreement.max_rel
    if not relative or not math.isfinite(relative):
        return 1.0 if relative else 0.0
    return min(1.0, max(0.02, 1 - math.log(relative) / math.log(_SMALLEST)))


def verdict(row: AgreementRow) -> str:
    """The agreement of one tensor in words."""
    return "; ".join(filter(None, (row.agreement.words, row.agreement.reason, counts_text(row.nan, row.inf), row.note)))


def _apart(row: AgreementRow) -> str:
    """Quantisation steps of a quantised tensor, representable numbers between small floats."""
    agreement = row.agreement
    if agreement.steps is not None:
        return counted(agreement.steps, "step")
    return "" if agreement.max_ulps is None else f"{counted(agreement.max_ulps, 'ULP')}"


def _colour(row: AgreementRow) -> QColor:
    theme = theme_manager().theme
    if not row.agreement.agrees:
        return theme.colour("error")
    return theme.colour("warning" if not row.finite else "good" if row.agreement.equal else "accent")


def _verdict_style(row: AgreementRow) -> Style:
    return Style("error" if not row.agreement.agrees else "text" if row.finite else "warning")


def _tolerance(row: AgreementRow) -> str:
    tolerance = row.agreement.tolerance
    if not tolerance.rtol:
        return "must be equal"
    steps = f", or {counted(tolerance.steps, 'quantisation step')}" if tolerance.steps else ""
    return f"allowed: |run − expected| ≤ {tolerance.rtol:.0e} · |expected| + {tolerance.atol:.1e}{steps}"


APART = 7  # the column of steps and ULPs

COLUMNS = (
    Column("#", lambda r: str(r.place + 1) if r.place >= 0 else "–", Style("muted"), right=True, key=lambda r: r.place,
           heading_tip="Place of the node in the run order; nodes of subgraphs before the node that owns them"),
    Column("node", lambda r: r.node.qualified_name if r.node else "–", square=_colour),
    Column("tensor", lambda r: r.name, Style("muted")),
    Column("dtype", lambda r: dtype_text(r.tensor.dtype), Style("muted", mono=True)),
    Column("max abs", lambda r: _figure(r.agreement.max_abs), right=True, key=lambda r: _sortable(r.agreement.max_abs),
           heading_tip="Largest difference of two elements"),
    Column("max rel", lambda r: _figure(r.agreement.max_rel), right=True, key=lambda r: _sortable(r.agreement.max_rel),
           bar=_bar, tip=_tolerance, heading_tip="Largest difference by the size of the expected element"),
    Column("cosine", lambda r: _cosine(r.agreement.cosine), Style("muted"), right=True,
           key=lambda r: _sortable(r.agreement.cosine), heading_tip="Of the two tensors taken as vectors"),
    Column("steps", _apart, Style("muted"), right=True,
           key=lambda r: next((n for n in (r.agreement.steps, r.agreement.max_ulps) if n is not None), -1),
           heading_tip="Of quantised tensors quantisation steps, of small floats numbers in between (ULPs)"),
    Column("verdict", verdict, _verdict_style),
)  # fmt: skip


def figures(row: AgreementRow) -> dict[str, Any]:
    """A row as a line of CSV or an entry of JSON."""
    agreement = row.agreement
    return {
        "node": row.node.qualified_name if row.node else None, "operator": row.node.qualified_op if row.node else None,
        "tensor": row.name, "dtype": dtype_text(row.tensor.dtype), "agrees": agreement.agrees,
        "max_abs": agreement.max_abs, "max_rel": agreement.max_rel, "cosine": agreement.cosine,
        "steps": agreement.steps, "ulps": agreement.max_ulps, "mismatched": agreement.mismatched,
        "rtol": agreement.tolerance.rtol, "atol": agreement.tolerance.atol,
        "nan": row.nan, "inf": row.inf, "verdict": verdict(row),
    }  # fmt: skip


def summary(judgement: Judgement) -> tuple[str, str]:
    """What all rows together say, and the role of its colour."""
    rows = judgement.rows
    beyond = sum(not row.agreement.agrees for row in rows)
    first, bad = judgement.first_beyond, judgement.first_nonfinite
    if first is not None:
        where = (first.node or first.tensor).qualified_name
        of = counted(len(rows), "tensor")
        words = f"{first.agreement.words} from {where} on: {beyond:,} of {of} beyond tolerance"
    elif all(row.agreement.equal for row in rows):
        words = f"{_all(rows)} equal to the last bit"
    else:
        worst = max(rows, key=lambda row: (row.agreement.level or 0.0, row.agreement.steps or 0))
        words = f"{_all(rows)} within tolerance, the worst is {worst.agreement.words} at {worst.name}"
    role = "error" if beyond else "good" if bad is None else "warning"
    return (f"{words} · {bad.words}" if bad is not None else words), role


def _all(rows: Sequence[AgreementRow]) -> str:
    return "the one tensor is" if len(rows) == 1 else f"all {len(rows):,} tensors are"


def nonfinite_words(judgement: Judgement) -> str:
    """Where NaN or infinities begin, and how close to the limit the values before were."""
    bad = judgement.first_nonfinite
    if bad is None:
        return ""
    near = (f"before it {p.tensor.qualified_name} reaches {p.max_abs:.6g} of {p.limit:.6g}" for p in bad.near)
    return "\n".join([bad.words, *near])
