"""Shapes, times and errors as a file that Netron takes as an attachment to a model. Knows no Qt.

The format is what Netron 9 reads when a file is dropped onto an open model: an object with the signature
``netron:attachment`` and the lists ``metadata`` and ``metrics``, whose items name a kind ("model", "graph", "node",
"value" or "tensor"), a target of that kind, and a name with a value. Netron matches the first line of names as they
stand in the file, and drops what it can't match; so nodes without a name in the file are left out here.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from engine.costs import CostTable
from engine.graph.ir import Graph, Model, Node
from engine.writing import replacing
from gui.attachment.forms import SIGNATURE, TIME, first_line
from gui.running.state import RunState
from gui.text import provider_name, type_text

Item = dict[str, Any]


def attachment(
    model: Model, run: RunState | None, costs: CostTable | None, go_on: Callable[[], object] = lambda: None
) -> Item:
    """The object to write as JSON: inferred types always, costs and what a run left where there are any. `go_on` is
    called again and again and may raise to stop."""
    metadata: list[Item] = []
    metrics: list[Item] = []
    nodes = Counter(first_line(node.stored_name) for node in model.nodes())
    for graph in model.graph.walk():
        metadata += _types(graph, run)
        for node in graph.nodes:
            go_on()
            target = first_line(node.stored_name)
            if target and nodes[target] == 1:
                metadata += _about(node, run)
                metrics += _figures(node, run, costs)
    metrics += _totals(run, costs)
    return {"signature": SIGNATURE, "metadata": metadata, "metrics": metrics}


def write_attachment(
    path: str, model: Model, run: RunState | None, costs: CostTable | None, go_on: Callable[[], object] = lambda: None
) -> None:
    """Write the attachment of a model; where `go_on` raises to stop, nothing is left.

    Raises
    ------
    OSError: the file cannot be written.
    """
    text = json.dumps(attachment(model, run, costs, go_on), allow_nan=False)
    with replacing(path, go_on) as file:
        file.write(text.encode())


def _item(kind: str, target: str, name: str, value: object) -> Item:
    return {"kind": kind, "target": first_line(target), "name": name, "value": value}


def _types(graph: Graph, run: RunState | None) -> Iterator[Item]:
    """What inference found of each tensor, and what the run saw."""
    for name, tensor in graph.tensors.items():
        if not first_line(name):
            continue
        if tensor.inferred_type is not None:
            yield _item("value", name, "inferred", type_text(tensor.inferred_type))
        elif tensor.unknown_because:
            yield _item("value", name, "unknown because", tensor.unknown_because)
        observed = run.observed.get(tensor) if run is not None else None
        if observed is not None:
            yield _item("value", name, "observed", type_text(observed))


def _about(node: Node, run: RunState | None) -> Iterator[Item]:
    if node.index >= 0:
        yield _item("node", node.stored_name, "run order", str(node.index + 1))
    provider = provider_name(run.placements.get(node)) if run is not None else ""
    if provider:
        yield _item("node", node.stored_name, "provider", provider)


def _figures(node: Node, run: RunState | None, costs: CostTable | None) -> Iterator[Item]:
    figures: dict[str, object] = {}
    if run is not None:
        figures |= {TIME: _short(run.node_ms.get(node)), "error": run.disagreement.get(node)}
    cost = costs.costs.get(node) if costs is not None else None
    if cost is not None:
        figures |= {"MACs": cost.macs, "FLOPs": cost.flops}
    for name, value in figures.items():
        if _is_number(value):
            yield _item("node", node.stored_name, name, value)


def _totals(run: RunState | None, costs: CostTable | None) -> Iterator[Item]:
    figures: dict[str, object] = {}
    if costs is not None:
        figures |= {"MACs": costs.total.macs, "FLOPs": costs.total.flops}
    if run is not None and run.comparison is not None:
        mixed, alone = run.comparison.mixed_ms, run.comparison.cpu_only_ms
        figures |= {"mixed (ms)": _short(mixed), "CPU only (ms)": _short(alone)}
    for name, value in figures.items():
        if _is_number(value):
            yield _item("model", "", name, value)


def _short(ms: float | None) -> float | None:
    """A time in the digits that mean something: Netron shows every one that stands in the file."""
    return None if ms is None else float(f"{ms:.4g}")


def _is_number(value: object) -> bool:
    """Whether JSON can say it: expressions, NaN and infinities are left out."""
    return isinstance(value, int | float) and math.isfinite(value)
