"""A run held against a reference: every tensor's agreement in run order, from values that are there already."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from engine.agreement import Agreement, compare_values
from engine.compare import expected_tensors, run_order
from engine.feeds import load_arrays
from engine.graph.ir import Graph, Model, Node, Tensor
from gui.document import RunState

CPU = "CPU only"


@dataclass(slots=True)
class Reference:
    """Values to hold a run against.

    Attributes
    ----------
    name: for people: ``CPU only`` or a file's name.
    values: by tensor, with the stride over the flattened tensor that they were kept with (1 for all elements).
    known: agreements at the dtypes' own tolerances that are there already.
    """

    name: str
    values: dict[Tensor, tuple[int, Any]] = field(default_factory=dict)
    known: dict[Tensor, Agreement] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class AgreementRow:
    """A tensor of the run beside that of the reference; `place` is its node's in the run order, `nan` and `inf` counts
    of the run's value."""

    tensor: Tensor
    node: Node | None
    place: int
    agreement: Agreement
    actual: Any
    expected: Any
    nan: int = 0
    inf: int = 0

    @property
    def name(self) -> str:
        return self.tensor.qualified_name

    @property
    def finite(self) -> bool:
        return not (self.nan or self.inf)


def cpu_reference(run: RunState) -> Reference | None:
    """The CPU side of the run's comparison; None where the run ended before there was one."""
    comparison = run.comparison
    if comparison is None:
        return None
    result, graph = comparison.cpu_only.result, comparison.cpu_only.session.model.graph
    values = {tensor: (1, value) for tensor, value in result.values.items() if tensor.producer is not None}
    values |= {t: (1, result.outputs[t.name]) for t in graph.outputs if t.name in result.outputs}
    return Reference(CPU, values, {entry.tensor: entry.agreement for entry in comparison.nodes or ()})


def file_reference(path: str, model: Model) -> Reference:
    """The tensors of a file.

    Raises
    ------
    InputError: the file cannot be read or holds no tensor of the model.
    """
    return Reference(Path(path).name, expected_tensors(model, load_arrays(path)))


def judge(
    model: Model, run: RunState, reference: Reference, rtol: float | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[AgreementRow]:
    """A row for every tensor that both have, in run order, tensors that no node computes first.

    Parameters
    ----------
    rtol: in place of each dtype's own relative tolerance.
    check: called between two tensors; may raise to stop.
    """
    actual = _actual_values(model.graph, run)
    place = {node: number for number, node in enumerate(run_order(model.graph))}
    rows = []
    for tensor, (stride, expected) in reference.values.items():
        if tensor not in actual:
            continue
        check()
        value = _strided(actual[tensor], stride)
        agreement = reference.known.get(tensor) if rtol is None else None
        nan, inf = count_nonfinite(value)
        rows.append(AgreementRow(
            tensor, tensor.producer, place.get(tensor.producer, -1) if tensor.producer else -1,
            agreement or compare_values(value, expected, rtol), value, expected, nan, inf,
        ))  # fmt: skip
    rows.sort(key=lambda row: (row.place, row.tensor.producer_slot))
    return rows


def first_beyond(rows: Iterable[AgreementRow]) -> AgreementRow | None:
    """The first row beyond its tolerance."""
    return next((row for row in rows if not row.agreement.agrees), None)


def first_nonfinite(rows: Iterable[AgreementRow]) -> AgreementRow | None:
    """The first row whose value in the run holds NaN or infinities."""
    return next((row for row in rows if not row.finite), None)


def count_nonfinite(value: Any) -> tuple[int, int]:
    """NaNs and infinities in a value."""
    if isinstance(value, list):
        counts = [count_nonfinite(element) for element in value]
        return sum(nan for nan, _ in counts), sum(inf for _, inf in counts)
    if not isinstance(value, np.ndarray) or value.dtype.kind in "iubOUSM":
        return 0, 0
    try:
        bad = value.size - int(np.count_nonzero(np.isfinite(value)))
    except TypeError:  # small integers of ml_dtypes are all finite
        return 0, 0
    nan = int(np.count_nonzero(np.isnan(value))) if bad else 0
    return nan, bad - nan


def _actual_values(graph: Graph, run: RunState) -> Mapping[Tensor, Any]:
    """What the run kept; outputs that it did not keep come from its result."""
    outputs = getattr(run.result, "outputs", {})
    return {t: outputs[t.name] for t in graph.outputs if t.name in outputs} | run.values


def _strided(value: Any, stride: int) -> Any:
    return value.reshape(-1)[::stride] if stride > 1 and isinstance(value, np.ndarray) else value
