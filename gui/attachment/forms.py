"""Files that say something of a model's nodes and tensors, read into entries that name what they are about. No Qt.

Three forms are told apart by their content: Netron's attachment (see `gui.attachment.write`), a profile as ONNX Runtime
writes it, and a table as CSV whose first column names nodes or tensors.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from engine.errors import EngineError
from engine.graph.storage import open_regular

SIGNATURE = "netron:attachment"
MAX_BYTES = 128 << 20  # reading JSON takes about ten times as much memory
KINDS = ("model", "graph", "node", "value", "tensor")
KERNEL, ANY = "kernel", "any"  # a kernel of ONNX Runtime, named after a node or after what it makes; a node or a tensor
TIME = "time (ms)"

_KERNEL_TIME = "_kernel_time"
_HEAD = 1 << 16  # bytes that are looked at to tell an attachment from a model
_SIGNS = (f'"{SIGNATURE}"'.encode(), b"_kernel_time", b'"model_loading')


class AttachmentError(EngineError):
    """A file says nothing of a model's nodes and tensors; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact: of what kind and name its subject is, what it is called, and a finite number or words."""

    kind: str
    target: str
    name: str
    value: float | str


def first_line(name: str) -> str:
    """What Netron matches of a name."""
    return name.split("\n", 1)[0]


def looks_attached(path: str) -> bool:
    """Whether a file is meant to be attached rather than opened as a model, by its name and its first bytes."""
    suffix = Path(path).suffix.lower()
    if suffix != ".json":
        return suffix == ".csv"
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            head = file.read(_HEAD)
            file.seek(-min(_HEAD, file.seek(0, 2)), 2)
            ends = head + file.read()
    except OSError:
        return False
    return any(sign in ends for sign in _SIGNS)


def read_entries(path: str) -> list[Entry]:
    """The entries of a file, whatever its form.

    Raises
    ------
    AttachmentError: it has none of the forms.
    OSError: it cannot be read.
    """
    file = Path(path)
    with os.fdopen(open_regular(path), "rb") as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise AttachmentError(f"{file.name} is larger than {MAX_BYTES >> 20} MiB")
    text = data.decode("utf-8-sig", "replace")
    if file.suffix.lower() == ".csv":
        return list(_table(text))
    try:
        found = json.loads(text)
    except RecursionError:
        raise AttachmentError(f"{file.name} is nested too deeply") from None
    except ValueError as error:
        raise AttachmentError(f"{file.name} is no JSON: {error}") from None
    events = found.get("traceEvents") if isinstance(found, dict) else found
    if isinstance(events, list):
        return list(_profile([event for event in events if isinstance(event, dict)]))
    if isinstance(found, dict) and found.get("signature") == SIGNATURE:
        return list(_netron(found))
    raise AttachmentError(f"{file.name} is neither an attachment of Netron (it has no signature {SIGNATURE!r}) "
                          "nor a profile of ONNX Runtime")  # fmt: skip


def _netron(found: dict[str, Any]) -> Iterator[Entry]:
    """Numbers among the metrics, words among both."""
    for key in ("metadata", "metrics"):
        items = found.get(key) or []
        if not isinstance(items, list):
            raise AttachmentError(f"{key!r} of the attachment is no list")
        for place, item in enumerate(items):
            if not isinstance(item, dict) or item.get("kind") not in KINDS:
                raise AttachmentError(f"item {place} of {key!r} is not about any of {', '.join(KINDS)}")
            target, name, value = (item.get(field) for field in ("target", "name", "value"))
            number = _number(value) if key == "metrics" else None
            words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield Entry(item["kind"], str(target or ""), str(name or "value"), words if number is None else number)


def _profile(events: list[dict[str, Any]]) -> Iterator[Entry]:
    """The time of every kernel in a run, the median over the runs, with its operator and provider."""
    nodes = [event for event in events if event.get("cat") == "Node" and str(event.get("name")).endswith(_KERNEL_TIME)]
    if not nodes:
        raise AttachmentError("there are no kernel times in this profile; ONNX Runtime writes them when a model is run")
    runs = sorted(_number(event.get("ts")) or 0.0 for event in events if event.get("name") == "model_run")
    times: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    facts: dict[str, dict[str, str]] = {}
    for event in nodes:
        target = str(event["name"]).removesuffix(_KERNEL_TIME)
        run = bisect_right(runs, _number(event.get("ts")) or 0.0)
        times[target][run] += (_number(event.get("dur")) or 0.0) / 1e3
        args = event.get("args")
        about = args if isinstance(args, dict) else {}
        facts[target] = {"kernel": str(about.get("op_name", "")), "provider": str(about.get("provider", ""))}
    for target, by_run in times.items():
        time = _number(median(by_run.values()))
        if time is not None:
            yield Entry(KERNEL, target, TIME, time)
        yield from (Entry(KERNEL, target, name, words) for name, words in facts[target].items() if words)


def _table(text: str) -> Iterator[Entry]:
    """A line per node or tensor: its name, then a column per number or fact."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise AttachmentError(f"this table cannot be read: {error}") from None
    titles = [title.strip() for title in rows[0]] if rows else []
    named = next((i for i, title in enumerate(titles) if title.casefold() in ("name", "node", "tensor", "target")), 0)
    if len(titles) < 2:
        raise AttachmentError("this table needs a line of titles, a column of names and one of values at least")
    for row in rows[1:]:
        for place, cell in enumerate(row[: len(titles)]):
            if place != named and cell.strip() and named < len(row):
                number = _number(cell)
                yield Entry(ANY, row[named], titles[place] or f"column {place + 1}", cell if number is None else number)


def _number(value: object) -> float | None:
    """A finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
