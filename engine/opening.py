"""Opening a model for people: load, infer, and look for kernels, in phases that can be reported and stopped."""
from __future__ import annotations

import os
import time
from collections.abc import Callable

from engine.checks import check_model
from engine.diagnostics import Diagnostic, Severity
from engine.graph.ir import Model, Node
from engine.graph.loader import load
from engine.graph.reader import ModelFile
from engine.providers import provider_named
from engine.providers.placement import Placer
from engine.shapes.infer import infer_shapes
from engine.words import counted

Report = Callable[[str, int, int], None]


def open_model(
    path: str | os.PathLike[str], report: Report | None = None, allow_external: bool = False,
    on_read: Callable[[ModelFile], object] | None = None, go_on: Callable[[], object] = lambda: None,
) -> Model:  # fmt: skip
    """Load a model, infer its shapes, hold it against the standard, and note the operators that nothing here can run.

    `report(phase, done, total)` is told before each phase and may raise to stop. `Model.timings_ms` gets "read",
    "link", "infer" and "check". `allow_external`, `on_read` and `go_on` are those of `load`.

    Raises
    ------
    ModelFormatError: the file cannot be read or is not an ONNX model.
    """
    tell = report or (lambda *_: None)
    tell("Reading", 0, 4)
    model = load(path, allow_external, on_read, go_on)
    tell("Inferring shapes", 1, 4)
    start = time.perf_counter()
    infer_shapes(model, go_on=go_on)
    inferred = time.perf_counter()
    tell("Checking", 2, 4)
    check_model(model)
    model.timings_ms["infer"] = (inferred - start) * 1e3
    model.timings_ms["check"] = (time.perf_counter() - inferred) * 1e3
    tell("Looking for kernels", 3, 4)
    model.diagnostics += missing_kernels(model)
    return model


def missing_kernels(model: Model) -> list[Diagnostic]:
    """A finding "no-kernel" for each reason why the CPU, and so nobody, can run some nodes."""
    placements = Placer([provider_named("CPU")]).place(model.graph)
    lacking: dict[str, list[Node]] = {}
    for node, placement in placements.items():
        if not placement.runnable:
            lacking.setdefault(placement.refusals[-1].reason, []).append(node)
    return [
        Diagnostic("no-kernel", Severity.ERROR, f"{reason}: {_count(nodes)} cannot run", nodes[0].qualified_name)
        for reason, nodes in lacking.items()
    ]


def _count(nodes: list[Node]) -> str:
    first = repr(nodes[0].name)
    return f"the node {first}" if len(nodes) == 1 else f"{counted(len(nodes), 'node')} (first: {first})"
