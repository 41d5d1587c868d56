"""Tables as text for spreadsheets: cells between commas or tabs, after a line of titles. Knows no Qt."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"[=@\t\r]|[+-].*[(|!]", re.DOTALL)
"""What a spreadsheet would run when it opens the file: a function, a program, or a look into another sheet."""
_BREAK = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


def csv_text(titles: Sequence[object], rows: Iterable[Iterable[object]]) -> str:
    """CSV (RFC 4180). A cell that is a formula, as a model's name may be, stands behind an apostrophe: it is text."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_plain, titles))
    writer.writerows(map(_plain, row) for row in rows)
    return out.getvalue()


def _plain(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def tsv_text(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Lines of cells between tabs; tabs and line breaks within a cell become spaces."""
    return "\n".join("\t".join(_BREAK.sub(" ", cell) for cell in row) for row in (titles, *rows))
