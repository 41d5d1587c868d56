"""Tooltips that show a model's own text as it is, never as markup."""

from __future__ import annotations

import html

LIMIT = 2000


def plain_tip(text: str) -> str:
    """`text` for `setToolTip` and `ToolTipRole`: Qt would take what looks like HTML for HTML."""
    if not text:
        return ""
    shown = text if len(text) <= LIMIT else text[:LIMIT] + "…"
    return f"<div style='white-space: pre-wrap'>{html.escape(shown)}</div>"
