"""A run held against a reference: every tensor's agreement in run order, from values that are there already."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from engine.agreement import Agreement, Tolerances, compare_values
from engine.compare import NonFinite, expected_tensors, find_nonfinite, run_order
from engine.compare.nodes import Steps
from engine.compare.undefined import undefined_by_standard
from engine.feeds import load_arrays
from engine.graph.ir import Graph, Model, Node, Tensor
from engine.providers import provider_named
from engine.session import Keep, Observer, Session
from gui.running.state import RunState

CPU = "CPU only"
OPINION = "ONNX Runtime"
_OPINION_PROVIDER = "ORT"


@dataclass(slots=True)
class Reference:
    """Values to hold a run against.

    Attributes
    ----------
    name: for people: ``CPU only`` or a file's name.
    values: by tensor, with the stride over the flattened tensor that they were kept with (1 for all elements).
    """

    name: str
    values: dict[Tensor, tuple[int, Any]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class AgreementRow:
    """A tensor of the run beside that of the reference.

    `place` is its node's in the run order, -1 where none computes it; `nan` and `inf` count in the run's value; `note`
    says what else explains a difference, `words` how far both are apart where agreement is not asked for.
    """

    tensor: Tensor
    node: Node | None
    place: int
    agreement: Agreement
    actual: Any
    expected: Any
    nan: int = 0
    inf: int = 0
    note: str = ""
    words: str = ""

    @property
    def name(self) -> str:
        return self.tensor.qualified_name

    @property
    def finite(self) -> bool:
        return not (self.nan or self.inf)


@dataclass(slots=True)
class Judgement:
    """All rows in run order, tensors that no node computes first, and where NaN or infinities begin."""

    rows: list[AgreementRow] = field(default_factory=list)
    first_nonfinite: NonFinite | None = None

    @property
    def first_beyond(self) -> AgreementRow | None:
        """The first row beyond its tolerance."""
        return next((row for row in self.rows if not row.agreement.agrees), None)


def cpu_reference(run: RunState) -> Reference | None:
    """The CPU side of the run's comparison; None where the run ended before there was one."""
    comparison = run.comparison
    if comparison is None:
        return None
    result, graph = comparison.cpu_only.result, comparison.cpu_only.session.model.graph
    values = {tensor: (1, value) for tensor, value in result.values.items() if tensor.producer is not None}
    values |= {t: (1, result.outputs[t.name]) for t in graph.outputs if t.name in result.outputs}
    return Reference(CPU, values)


def file_reference(path: str, model: Model) -> Reference:
    """The tensors of a file.

    Raises
    ------
    InputError: the file cannot be read or holds no tensor of the model.
    """
    return Reference(Path(path).name, expected_tensors(model, load_arrays(path)))


def opinion_reference(model: Model, feeds: Mapping[str, Any], observer: Observer) -> Reference:
    """What ONNX Runtime computes on the same feeds; nodes that it cannot take are left out.

    Raises
    ------
    EngineError: as `Session` and `Session.run`.
    """
    session = Session(model, [provider_named(_OPINION_PROVIDER)])
    result = session.run(feeds, observer, Keep.ALL)
    failed = {fallback.node for fallback in result.fallbacks}
    own = {
        node for node, placement in session.placements.items()
        if placement.provider is not None and placement.provider.name == _OPINION_PROVIDER
        and not failed & set(placement.group.nodes if placement.group else (node,))
    }  # fmt: skip
    return Reference(OPINION, {t: (1, value) for t, value in result.values.items() if t.producer in own})


def opinion_available() -> str:
    """Why ONNX Runtime cannot be asked; empty where it can."""
    return provider_named(_OPINION_PROVIDER).available().reason


def judge(
    model: Model, run: RunState, reference: Reference, rtol: float | None = None,
    check: Callable[[], None] = lambda: None,
) -> Judgement:
    """Hold every tensor that both have against the other.

    Parameters
    ----------
    rtol: in place of the relative tolerances of the element types and providers.
    check: called between two tensors; may raise to stop.
    """
    actual = _actual_values(model.graph, run)
    place = {node: number for number, node in enumerate(run_order(model.graph))}
    allowed = run.comparison.tolerances if run.comparison is not None else Tolerances()
    if rtol is not None:
        allowed = allowed.with_rtol(rtol)
    steps, others = Steps(model), {t: value for t, (stride, value) in reference.values.items() if stride == 1}
    judgement = Judgement()
    for tensor, (stride, expected) in reference.values.items():
        if tensor not in actual:
            continue
        check()
        node, value = tensor.producer, _strided(actual[tensor], stride)
        agreement = compare_values(value, expected, allowed, steps.of(tensor) if stride == 1 else None)
        note = "" if agreement.equal or node is None else undefined_by_standard(node, others)
        judgement.rows.append(AgreementRow(
            tensor, node, place.get(node, -1) if node else -1, agreement, value, expected, *count_nonfinite(value), note
        ))  # fmt: skip
    judgement.rows.sort(key=lambda row: (row.place, row.tensor.producer_slot))
    check()
    if any(not row.finite for row in judgement.rows):
        judgement.first_nonfinite = find_nonfinite(model.graph, actual, others)
    return judgement


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
    outputs = run.result.outputs if run.result is not None else {}
    return {t: outputs[t.name] for t in graph.outputs if t.name in outputs} | run.values


def _strided(value: Any, stride: int) -> Any:
    return value.reshape(-1)[::stride] if stride > 1 and isinstance(value, np.ndarray) else value
