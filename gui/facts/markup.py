"""The little Markdown that operator documentation is written in, as blocks of plain text. Knows no Qt."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\((?:[^()\n]|\([^()\n]*\)){0,500}\)")
_TAG = re.compile(r"</?(?:b|i|p|br|em|sub|sup|code|pre|div|span|dt|dd|dl|tt|li|ul|ol)\b[^>\n]{0,80}>", re.IGNORECASE)
_STRONG = re.compile(r"\*\*([^*\n]{1,200})\*\*")


class BlockKind(Enum):
    """How a block is laid out."""

    TITLE = "title"
    HEADING = "heading"
    TERM = "term"  # a name, with a note beside it
    TEXT = "text"
    ITEM = "item"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of documentation; `note` is what stands beside a title or a term. Backticks part code from words."""

    kind: BlockKind
    text: str
    note: str = ""


def blocks_of(text: str) -> Iterator[Block]:
    """Paragraphs, list items, headings and code of a text; what is neither comes out as it stands."""
    words: list[str] = []
    code: list[str] | None = None
    kind = BlockKind.TEXT

    def paragraph() -> Iterator[Block]:
        if words:
            yield Block(kind, plain(" ".join(words)))
        words.clear()

    for line in inline_margin(text).splitlines():
        if code is not None:
            if _FENCE.match(line):
                yield Block(BlockKind.CODE, "\n".join(code))
                code = None
            else:
                code.append(line)
        elif _FENCE.match(line):
            yield from paragraph()
            code = []
        elif match := _HEADING.fullmatch(line):
            yield from paragraph()
            yield Block(BlockKind.HEADING, plain(match[1]))
        elif match := _ITEM.fullmatch(line):
            yield from paragraph()
            kind = BlockKind.ITEM
            words.append(match[2].strip())
        elif not line.strip():
            yield from paragraph()
            kind = BlockKind.TEXT
        elif line.startswith("    ") and not words:
            yield Block(BlockKind.CODE, html.unescape(_TAG.sub("", line[4:])).replace("\xa0", " ").rstrip())
        else:
            words.append(line.strip())
    yield from paragraph()
    if code:
        yield Block(BlockKind.CODE, "\n".join(code))


def inline_margin(text: str) -> str:
    """Without the margin that all lines but the first share."""
    lines = text.strip("\n").expandtabs(4).splitlines()
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(margins, default=0)
    return "\n".join(line[least:] for line in lines)


def plain(text: str) -> str:
    """One paragraph without links, tags and asterisks; code stays between backticks."""
    text = _LINK.sub(r"\1", text)
    text = _STRONG.sub(r"\1", _TAG.sub("", text))
    return html.unescape(text).strip()
