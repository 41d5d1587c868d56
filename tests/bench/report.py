"""Tables in docs/results.md, between marks that name them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results.md"


def show_table(
    mark: str, heads: Sequence[str], rows: Iterable[Sequence[str]], write: bool, remark: str = ""
) -> None:
    """Print rows as they are measured, then how busy the machine was; if `write`, also as `write_table`."""
    shown = []
    for row in rows:
        shown.append(row)
        print("  ".join(row), flush=True)
    note = (f"{remark}{os.cpu_count()} processors, software raster; load of the machine meanwhile about "
            f"{os.getloadavg()[0]:.1f}.")  # fmt: skip
    print(note)
    if write:
        write_table(mark, heads, shown, note)


def write_table(mark: str, heads: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """Put a table in the place of the one that stands between the marks of this name.

    Raises
    ------
    ValueError
        The page has no such marks.
    """
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    text = RESULTS.read_text()
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{RESULTS} has no marks {begin} … {end}")
    lines = [" | ".join(heads), " | ".join("---" for _ in heads), *(" | ".join(row) for row in rows)]
    table = "\n".join(f"| {line} |" for line in lines)
    RESULTS.write_text(f"{before}{begin}\n{table}\n{note and chr(10) + note + chr(10)}{end}{after}")
