"""One side of a comparison, and the runs of both: in turns, or in blocks where one would slow the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np

from engine.errors import RunCancelled
from engine.graph.ir import Model, Node
from engine.kernels.registry import Value
from engine.providers import ExecutionProvider
from engine.providers.placement import placement_counts
from engine.session import (
    Copy,
    Fallback,
    Keep,
    Mode,
    Observer,
    ObserverGroup,
    RunResult,
    Session,
    SessionOptions,
    TimingObserver,
)


@dataclass(slots=True)
class Side:
    """Who ran the nodes, and how long every run took.

    Attributes
    ----------
    setup_ms: making the session.
    runs_ms: the timed runs; `warmup_ms` those before them, the cold one first.
    copy_ms: of each timed run, what copies between devices took.
    node_seconds: each node's time in each timed run; of a group that runs as one all of it under its last node, and in
        the fast mode of nodes made one all of it under the first.
    first_copies: of the first run, which brings the weights to their devices.
    copies: of the last timed run.
    result: the last run's; its `values` are there if the side was traced.
    """

    session: Session
    setup_ms: float = 0.0
    runs_ms: list[float] = field(default_factory=list)
    warmup_ms: list[float] = field(default_factory=list)
    copy_ms: list[float] = field(default_factory=list)
    node_seconds: dict[Node, list[float]] = field(default_factory=dict)
    first_copies: list[Copy] = field(default_factory=list)
    result: RunResult = field(default_factory=RunResult)

    @classmethod
    def prepare(
        cls, model: Model, providers: Sequence[ExecutionProvider], overrides: Mapping[str, str] | None = None,
        mode: Mode | str = Mode.FAITHFUL, observer: Observer | None = None,
    ) -> Side:  # fmt: skip
        """A side with its session made."""
        start = time.perf_counter()
        session = Session(model, providers, SessionOptions(mode=mode), overrides, observer)
        return cls(session, (time.perf_counter() - start) * 1e3)

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
        """Tensors copied between devices in the last timed run."""
        return self.result.copies

    @property
    def fallbacks(self) -> list[Fallback]:
        """Nodes that the CPU had to compute in the last run because their provider failed."""
        return self.result.fallbacks

    @property
    def cold_ms(self) -> float | None:
        """The very first run, which loads and compiles what later ones find ready; None without warm-up."""
        return self.warmup_ms[0] if self.warmup_ms else None

    @property
    def median_ms(self) -> float:
        return median(self.runs_ms)

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        """The middle half of the timed runs lies between these."""
        low, high = np.percentile(self.runs_ms, [25, 75])
        return float(low), float(high)

    @property
    def spins(self) -> bool:
        """Whether threads of a provider that took nodes stay busy after a run."""
        return any(provider.spins and provider.name in self.placement for provider in self.session.providers)

    def time(self, feeds: Mapping[str, Value], watch: Watch, timing: TimingObserver | None) -> None:
        """One run that keeps nothing; without `timing` it is to warm up."""
        self.result = RunResult()  # frees what the run before gave
        self.result = self.session.run(feeds, ObserverGroup(watch.next_run(), timing), Keep.NONE)
        if not (self.runs_ms or self.warmup_ms):
            self.first_copies = self.result.copies
        ms = self.result.seconds * 1e3
        if timing is None:
            self.warmup_ms.append(ms)
        else:
            timing.end_run()
            self.runs_ms.append(ms)
            self.copy_ms.append(sum(copy.seconds for copy in self.result.copies) * 1e3)

    def trace(self, feeds: Mapping[str, Value], watch: Watch) -> None:
        """One more run, not timed, that keeps every tensor."""
        traced = self.session.run(feeds, watch.next_run(), Keep.ALL)
        self.result = replace(traced, copies=self.result.copies) if self.runs_ms else traced

    def to_json(self) -> dict[str, Any]:
        """The side under the keys that docs/cli.md names."""
        return {
            "providers": self.providers,
            "placement": self.placement,
            "setup_ms": self.setup_ms,
            "cold_ms": self.cold_ms,
            "runs_ms": self.runs_ms,
            "warmup_ms": self.warmup_ms,
            "quartiles_ms": list(self.quartiles_ms),
            "copy_ms": self.copy_ms,
            "copies": [copy_json(copy) for copy in self.copies],
            "first_copies": [copy_json(copy) for copy in self.first_copies],
            "fallbacks": [
                {"node": f.node.qualified_name, "provider": f.provider, "reason": f.reason} for f in self.fallbacks
            ],
        }


def copy_json(copy: Copy) -> dict[str, Any]:
    """A copy for JSON."""
    return {
        "tensor": copy.tensor.qualified_name, "source": copy.source, "target": copy.target, "nbytes": copy.nbytes,
        "ms": copy.seconds * 1e3,
    }  # fmt: skip


class Watch:
    """Whoever watches all runs: an observer, and a count of runs told before each."""

    def __init__(self, observer: Observer | None, on_run: Callable[[int, int], None] | None, total: int) -> None:
        self._observer = observer
        self._on_run = on_run
        self._done, self._total = 0, total

    def next_run(self) -> Observer | None:
        """The observer for the run that is about to start.

        Raises
        ------
        RunCancelled: the observer wants no more runs.
        """
        if self._on_run:
            self._on_run(self._done, self._total)
        if self._observer and self._observer.should_stop():
            raise RunCancelled("the comparison was stopped")
        self._done += 1
        return self._observer

    def finish(self) -> None:
        """Tell that all runs are done."""
        if self._on_run:
            self._on_run(self._done, self._total)


def measure(
    mixed: Side, cpu_only: Side, feeds: Mapping[str, Value], warmup: int, repeat: int, watch: Watch
) -> bool:
    """Run both sides on the same feeds; whether they ran in blocks.

    Taking turns at going first, so that a machine that warms up or slows down does so for both; in blocks where the
    threads of one side would still be busy when the other's turn comes.
    """
    given = {name: _read_only(value) for name, value in feeds.items()}
    timings = {id(side): TimingObserver() for side in (mixed, cpu_only)}
    in_blocks = mixed.spins or cpu_only.spins
    for side, turn in (_in_blocks if in_blocks else _in_turns)(mixed, cpu_only, warmup + repeat):
        side.time(given, watch, timings[id(side)] if turn >= warmup else None)
    for side in (mixed, cpu_only):
        side.node_seconds = side.session.by_users_nodes(timings[id(side)].seconds)
    return in_blocks


def _in_turns(mixed: Side, cpu_only: Side, turns: int) -> Iterator[tuple[Side, int]]:
    for turn in range(turns):
        for side in (mixed, cpu_only) if turn % 2 == 0 else (cpu_only, mixed):
            yield side, turn


def _in_blocks(mixed: Side, cpu_only: Side, turns: int) -> Iterator[tuple[Side, int]]:
    for side in (mixed, cpu_only):
        for turn in range(turns):
            yield side, turn


def _read_only(value: Value) -> Value:
    """A view that no kernel can write to, so that both sides get the same to the last bit."""
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view
