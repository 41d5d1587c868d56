"""What the command line prints: aligned tables for people, JSON for programs, names made harmless for terminals."""

from __future__ import annotations

import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.diagnostics import Diagnostic, Severity
from engine.dims import Shape
from engine.errors import InputError
from engine.graph.types import TensorType, Type
from engine.words import counted


def escape(text: str) -> str:
    """`text` on one line and without anything that a terminal obeys: control, bidi and lone surrogate characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def require_folder(path: str | Path) -> None:
    """Refuse a file to write in a folder that is not there, before the work whose results would go into it.

    Raises
    ------
    InputError
    """
    folder = Path(path).absolute().parent
    if not os.path.isdir(folder):
        raise InputError(f"{path}: the folder {folder} does not exist")


def heading(text: str) -> None:
    """Print a section's title, bold on a terminal."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}")


def print_table(rows: Iterable[Sequence[object]], header: Sequence[str] = (), indent: str = "  ") -> None:
    """Print rows in aligned columns, numbers to the right."""
    body = [[cell_text(cell) for cell in row] for row in rows]
    if not body:
        print(f"{indent}none")
        return
    lines = [list(header), *body] if header else body
    columns = list(zip(*lines))
    widths = [max(map(len, column)) for column in columns]
    numeric = [all(_is_number(c) for c in column[bool(header) :]) for column in columns]
    for line in lines:
        cells = [c.rjust(w) if right else c.ljust(w) for c, w, right in zip(line, widths, numeric)]
        print((indent + "  ".join(cells)).rstrip())


def cell_text(value: object) -> str:
    """A table cell: floats with four significant digits, None as a dash, text escaped."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return escape(str(value))


def _is_number(text: str) -> bool:
    return text.lstrip("+-")[:1].isdigit() and not text.endswith("]")


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON object; NaN and infinities, which JSON lacks, become null."""
    # One line for each key at the top: with an indent, Python's encoder takes ten times as long.
    lines = [f" {json.dumps(str(key))}: {_encode(item)}" for key, item in value.items()]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


def _encode(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, TypeError):
        return json.dumps(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def json_finding(finding: Diagnostic) -> dict[str, str]:
    """A finding for JSON, with what to do about it."""
    return asdict(finding) | {"severity": finding.severity.value, "hint": finding.hint}


def findings_summary(findings: Iterable[Diagnostic]) -> str:
    """How many findings there are of each severity, in words."""
    counts = Counter(finding.severity for finding in findings)
    nouns = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "remark"}
    return ", ".join(counted(counts[s], noun) for s, noun in nouns.items() if counts[s]) or "no findings"


def json_shape(shape: Shape | None) -> list[int | str | None] | None:
    """A shape for JSON: each dim an int, an expression as a string, or null; null where the rank is unknown."""
    if shape is None:
        return None
    return [dim if dim is None or isinstance(dim, int) else str(dim) for dim in shape]


def json_type(type_: Type | None) -> dict[str, object]:
    """dtype and shape of a tensor; for other values both are null and `type` spells the type out."""
    if isinstance(type_, TensorType):
        return {"dtype": type_.dtype.name if type_.dtype else None, "shape": json_shape(type_.shape)}
    described: dict[str, object] = {"dtype": None, "shape": None}
    if type_ is not None:
        described["type"] = str(type_)
    return described
