"""Tooltips that show a model's own text as it is, never as markup."""

from __future__ import annotations

import html

from PySide6.QtWidgets import QWidget

LIMIT = 2000


def plain_tip(text: str) -> str:
    """`text` for `setToolTip` and `ToolTipRole`: Qt would take what looks like HTML for HTML."""
    if not text:
        return ""
    shown = text if len(text) <= LIMIT else text[:LIMIT] + "…"
    return f"<div style='white-space: pre-wrap'>{html.escape(shown)}</div>"


def set_tip(widget: QWidget, text: str) -> None:
    """Give a widget a tooltip of plain text, and a screen reader the same words: it would read the markup out."""
    widget.setToolTip(plain_tip(text))
    widget.setAccessibleDescription(text[:LIMIT])
