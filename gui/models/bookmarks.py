"""Columns of the Bookmarks pane; its rows are the bookmarks themselves."""

from __future__ import annotations

from PySide6.QtGui import QColor

from engine.graph.ir import Node
from gui.bookmarks import Bookmark
from gui.models.order import category_colour
from gui.models.table import MUTED, PLAIN, Column, Style
from gui.text import one_line


def _kind(row: Bookmark) -> str:
    if row.item is None:
        return "not here"
    return one_line(row.item.op_type) if isinstance(row.item, Node) else row.mark.kind


def _name_style(row: Bookmark) -> Style:
    return PLAIN if row.item is not None else Style("faint")


def _square(row: Bookmark) -> QColor | None:
    return category_colour(row.item) if isinstance(row.item, Node) else None


COLUMNS = (
    Column("name", lambda r: one_line(r.name), _name_style, square=_square),
    Column("what", _kind, MUTED),
    Column("note", lambda r: one_line(r.mark.note)),
)
