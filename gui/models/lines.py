"""Lines of labelled values: the Properties pane's content as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gui.models.table import MUTED, PLAIN, Style


class LineKind(Enum):
    """How a line is laid out."""

    TITLE = "title"
    HEADING = "heading"
    PAIR = "pair"
    COUNT = "count"
    TEXT = "text"


@dataclass(slots=True)
class Line:
    """A line: a title with a badge, a heading, a label with a value and maybe a second line under it, a count, a text.

    `target` is what a click on the line goes to; `share`, 0 to 1, the bar of a count. A value that is `wrapped` goes on
    in further lines where it is too long for one, in place of a detail.
    """

    kind: LineKind
    label: str
    value: str = ""
    style: Style = PLAIN
    detail: str = ""
    detail_style: Style = MUTED
    target: object = None
    label_style: Style = MUTED
    badge_colour: str = ""
    share: float = 0.0
    tip: str = ""
    wrapped: bool = False
    full: str = ""  # the whole value, for copying, where `value` is cut

    @property
    def name(self) -> str:
        return self.value
