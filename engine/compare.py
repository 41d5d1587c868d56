"""Comparison: a model on the chosen providers against CPU only, in time and in numbers.

Two sessions run interleaved on the same feeds, taking turns at going first, so that a machine that warms up or slows
down does so for both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from engine.agreement import Agreement, compare_values
from engine.errors import InputError, RunCancelled
from engine.graph.ir import Graph, Model, Node, Tensor
from engine.kernels.registry import Value
from engine.providers import ExecutionProvider, default_providers, provider_named
from engine.providers.placement import placement_counts
from engine.session import Copy, Fallback, Observer, ObserverGroup, RunResult, Session, TimingObserver

SAME_PATH = "every node is on CPU in both: the two sides take the same path"


@dataclass(slots=True)
class Side:
    """One side of a comparison: who ran the nodes, and how long every run took.

    `runs_ms` are the timed runs, `warmup_ms` those before them, the cold one first. `node_seconds` holds each node's
    time in each timed run. `result` is the last run's; its `values` are kept as `compare` says.
    """

    session: Session
    runs_ms: list[float] = field(default_factory=list)
    warmup_ms: list[float] = field(default_factory=list)
    node_seconds: dict[Node, list[float]] = field(default_factory=dict)
    result: RunResult = field(default_factory=RunResult)

    @property
    def providers(self) -> list[str]:
        """Names of the providers, in order."""
        return [provider.name for provider in self.session.providers]

    @property
    def placement(self) -> dict[str, int]:
        """Number of nodes that each provider took."""
        return placement_counts(self.session.placements.values())

    @property
    def copies(self) -> list[Copy]:
        """Tensors copied between devices in the last run."""
        return self.result.copies

    @property
    def fallbacks(self) -> list[Fallback]:
        """Nodes that the CPU had to compute in the last run because their provider failed."""
        return self.result.fallbacks

    @property
    def median_ms(self) -> float:
        return median(self.runs_ms)

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        """The middle half of the timed runs lies between these."""
        low, high = np.percentile(self.runs_ms, [25, 75])
        return float(low), float(high)

    def to_json(self) -> dict[str, Any]:
        """The side under the keys that docs/cli.md names."""
        return {
            "providers": self.providers,
            "placement": self.placement,
            "runs_ms": self.runs_ms,
            "warmup_ms": self.warmup_ms,
            "quartiles_ms": list(self.quartiles_ms),
            "copies": [
                {"tensor": c.tensor.qualified_name, "source": c.source, "target": c.target, "nbytes": c.nbytes}
                for c in self.copies
            ],
            "fallbacks": [
                {"node": f.node.qualified_name, "provider": f.provider, "reason": f.reason} for f in self.fallbacks
            ],
        }


@dataclass(frozen=True, slots=True)
class TensorAgreement:
    """How one tensor compares; `node` computes it, or is None for tensors that no node computes."""

    tensor: Tensor
    node: Node | None
    agreement: Agreement

    def to_json(self) -> dict[str, Any]:
        """The agreement's fields with the names of node and tensor."""
        node = None if self.node is None else self.node.qualified_name
        return {"node": node, "tensor": self.tensor.qualified_name, **self.agreement.to_json()}


@dataclass(frozen=True, slots=True)
class NonFinite:
    """The first node whose output holds NaN or infinities while its inputs hold none."""

    node: Node
    tensor: Tensor
    nan: int
    inf: int

    def to_json(self) -> dict[str, Any]:
        """Names and counts."""
        return {
            "node": self.node.qualified_name, "tensor": self.tensor.qualified_name, "nan": self.nan, "inf": self.inf,
        }  # fmt: skip


@dataclass(slots=True)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    outputs: how the graph's outputs of the mixed side compare with those of the CPU, by name.
    nodes: the same for every tensor that nodes computed, in run order; None unless asked for.
    against: how the mixed side compares with the values given; None unless given.
    first_nonfinite: in the mixed side; only with `nodes`.
    notes: what is worth knowing about how it was done.
    """

    mixed: Side
    cpu_only: Side
    outputs: dict[str, Agreement]
    nodes: list[TensorAgreement] | None = None
    against: list[TensorAgreement] | None = None
    first_nonfinite: NonFinite | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def mixed_ms(self) -> float:
        """Median of the mixed side's runs."""
        return self.mixed.median_ms

    @property
    def cpu_only_ms(self) -> float:
        """Median of the CPU side's runs."""
        return self.cpu_only.median_ms

    @property
    def speedup_pct(self) -> float:
        """How much of the CPU's time the mixed side saves, in percent; negative where it is slower."""
        return (self.cpu_only_ms - self.mixed_ms) / self.cpu_only_ms * 100 if self.cpu_only_ms else 0.0

    @property
    def agree(self) -> bool:
        """Whether all outputs agree, and all values with those given."""
        given = [entry.agreement for entry in self.against or ()]
        return all(agreement.agrees for agreement in (*self.outputs.values(), *given))

    @property
    def first_divergence(self) -> TensorAgreement | None:
        """The first tensor in run order beyond its tolerance: against the values given, else against the CPU."""
        entries = [*(self.against or ()), *(self.nodes or ())]
        return next((entry for entry in entries if not entry.agreement.agrees), None)

    def to_json(self) -> dict[str, Any]:
        """The comparison under the keys that docs/cli.md names."""
        divergence, nonfinite = self.first_divergence, self.first_nonfinite
        report: dict[str, Any] = {
            "mixed_ms": self.mixed_ms,
            "cpu_only_ms": self.cpu_only_ms,
            "speedup_pct": self.speedup_pct,
            "agree": self.agree,
            "outputs": {name: agreement.to_json() for name, agreement in self.outputs.items()},
            "mixed": self.mixed.to_json(),
            "cpu_only": self.cpu_only.to_json(),
            "notes": self.notes,
        }
        if self.nodes is not None:
            report["nodes"] = [entry.to_json() for entry in self.nodes]
            report["first_nonfinite"] = nonfinite.to_json() if nonfinite else None
        if self.against is not None:
            report["against"] = [entry.to_json() for entry in self.against]
        if self.nodes is not None or self.against is not None:
            report["first_divergence"] = divergence.to_json() if divergence else None
        return report


def compare(
    model: Model,
    feeds: Mapping[str, Any],
    providers: Sequence[ExecutionProvider] | None = None,
    warmup: int = 2,
    repeat: int = 10,
    observer: Observer | None = None,
    per_node: bool = False,
    against: Mapping[str, Value] | None = None,
    rtol: float | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Run the model on the chosen providers and on the CPU alone, `warmup` + `repeat` times each, and compare.

    Parameters
    ----------
    providers: in order of preference; the default order when None.
    observer: watches every run of both sides, and can stop them.
    per_node: compare every tensor, not the outputs alone; the CPU side's values are kept then too.
    against: expected values by tensor name; see `expected_tensors` for the names understood.
    rtol: relative tolerance in place of each dtype's own.
    on_run: told (runs done, runs in all) before each run and at the end.

    Raises
    ------
    InputError: feeds or `against` do not fit the model, or `repeat` is less than 1.
    CannotRunError, NodeError, RunCancelled: as `Session.run`.
    """
    if repeat < 1 or warmup < 0:
        raise InputError(f"repeat must be at least 1 and warmup at least 0, not {repeat} and {warmup}")
    expected = None if against is None else expected_tensors(model, against)
    mixed = Side(Session(model, default_providers() if providers is None else providers))
    cpu_only = Side(Session(model, [provider_named("CPU")]))
    _run_interleaved(mixed, cpu_only, feeds, warmup, repeat, observer, on_run)

    comparison = Comparison(mixed, cpu_only, _compare_outputs(mixed.result, cpu_only.result, rtol))
    if set(mixed.placement) <= {"CPU"}:
        comparison.notes.append(SAME_PATH)
    if per_node:
        comparison.nodes = list(_compare_nodes(model.graph, mixed.result.values, cpu_only.result.values, rtol))
        comparison.first_nonfinite = find_nonfinite(model.graph, mixed.result.values)
    else:
        cpu_only.result.values = {}
    if expected is not None:
        comparison.against = _compare_expected(model.graph, mixed.result, expected, rtol)
    return comparison


def _run_interleaved(
    mixed: Side, cpu_only: Side, feeds: Mapping[str, Any], warmup: int, repeat: int, observer: Observer | None,
    on_run: Callable[[int, int], None] | None,
) -> None:  # fmt: skip
    timings = {id(side): TimingObserver() for side in (mixed, cpu_only)}
    done, total = 0, 2 * (warmup + repeat)
    for turn in range(warmup + repeat):
        for side in (mixed, cpu_only) if turn % 2 == 0 else (cpu_only, mixed):
            if on_run:
                on_run(done, total)
            if observer and observer.should_stop():
                raise RunCancelled("the comparison was stopped")
            timing = timings[id(side)] if turn >= warmup else None
            side.result = RunResult()  # frees the values of the run before
            side.result = side.session.run(feeds, ObserverGroup(observer, timing))
            (side.runs_ms if timing else side.warmup_ms).append(side.result.seconds * 1e3)
            if timing:
                timing.end_run()
            done += 1
    for side in (mixed, cpu_only):
        side.node_seconds = timings[id(side)].seconds
    if on_run:
        on_run(done, total)


def _compare_outputs(mixed: RunResult, cpu_only: RunResult, rtol: float | None) -> dict[str, Agreement]:
    return {name: compare_values(mixed.outputs[name], value, rtol) for name, value in cpu_only.outputs.items()}


def run_order(graph: Graph) -> Iterator[Node]:
    """Every node in run order; the nodes of subgraphs before the node that owns them, since they finish first."""
    for node in graph.order:
        for subgraph in node.subgraphs.values():
            yield from run_order(subgraph)
        yield node


def _compare_nodes(
    graph: Graph, actual: Mapping[Tensor, Value], expected: Mapping[Tensor, Value], rtol: float | None
) -> Iterator[TensorAgreement]:
    for node in run_order(graph):
        for tensor in node.outputs:
            if tensor is not None and tensor in actual and tensor in expected:
                yield TensorAgreement(tensor, node, compare_values(actual[tensor], expected[tensor], rtol))


def find_nonfinite(graph: Graph, values: Mapping[Tensor, Value]) -> NonFinite | None:
    """The first node in run order that makes NaN or infinities out of finite inputs; None where there is none."""
    bad: dict[Tensor, tuple[int, int]] = {}

    def count(tensor: Tensor) -> tuple[int, int]:
        if tensor not in bad:
            bad[tensor] = _count_nonfinite(values.get(tensor))
        return bad[tensor]

    for node in run_order(graph):
        for tensor in node.outputs:
            if tensor is None or not any(count(tensor)):
                continue
            if not any(any(count(read)) for read in node.read_tensors()):
                nan, inf = count(tensor)
                return NonFinite(node, tensor, nan, inf)
    return None


def _count_nonfinite(value: Value) -> tuple[int, int]:
    """NaNs and infinities in a value."""
    if isinstance(value, list):
        counts = [_count_nonfinite(v) for v in value]
        return sum(nan for nan, _ in counts), sum(inf for _, inf in counts)
    if not isinstance(value, np.ndarray) or value.dtype.kind in "iubOUS" or np.isfinite(value).all():
        return 0, 0
    return int(np.count_nonzero(np.isnan(value))), int(np.count_nonzero(np.isinf(value)))


_EXPECTED_NAME = re.compile(r"(?:every(\d+):)?(?:out:)?(.+)", re.DOTALL)


def expected_tensors(model: Model, against: Mapping[str, Value]) -> dict[Tensor, tuple[int, Value]]:
    """Find the tensors that expected values belong to, each with its stride over the flattened tensor.

    A name is a tensor's qualified name, or that after ``out:``, or ``everyN:out:`` where only every N-th element was
    kept. Names after ``in:`` are inputs and left out.

    Raises
    ------
    InputError: a name is no tensor of the model.
    """
    tensors = {tensor.qualified_name: tensor for graph in model.graph.walk() for tensor in graph.tensors.values()}
    found: dict[Tensor, tuple[int, Value]] = {}
    for name, value in against.items():
        if name not in tensors and name.startswith("in:"):
            continue
        match = _EXPECTED_NAME.fullmatch(name)
        stride, bare = (match[1], match[2]) if match and name not in tensors else (None, name)
        if bare not in tensors:
            raise InputError(f"the file to compare with has a value {bare!r}, and the model has no such tensor")
        found[tensors[bare]] = (int(stride or 1), value)
    if not found:
        raise InputError("the file to compare with holds no tensor of the model")
    return found


def _compare_expected(
    graph: Graph, result: RunResult, expected: Mapping[Tensor, tuple[int, Value]], rtol: float | None
) -> list[TensorAgreement]:
    """Expected values against the mixed run's, in run order, tensors without a node first."""
    place = {node: index for index, node in enumerate(run_order(graph))}
    entries: list[TensorAgreement] = []
    for tensor, (stride, value) in expected.items():
        actual = result.outputs.get(tensor.name) if tensor in graph.outputs else result.values.get(tensor)
        if stride > 1 and isinstance(actual, np.ndarray):
            actual = actual.reshape(-1)[::stride]
        entries.append(TensorAgreement(tensor, tensor.producer, compare_values(actual, value, rtol)))
    return sorted(entries, key=lambda entry: place.get(entry.node, -1) if entry.node else -1)
