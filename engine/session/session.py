"""`Session`: a model compiled once for the chosen providers, to be run on any number of feeds."""
from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from typing import Any

import numpy as np

from engine.errors import CannotRunError, DataError, DeviceError, EngineError, NodeError, RunCancelled
from engine.feeds import bound_dims, check_feeds
from engine.graph.ir import Graph, Model, Node, Tensor
from engine.kernels.registry import T, Value
from engine.memory import MemoryEstimate, available_bytes, check_memory, estimate_memory
from engine.optimiser import optimise
from engine.providers import ExecutionProvider, default_providers, provider_named
from engine.providers.base import HOST
from engine.providers.groups import is_constant_node
from engine.providers.overrides import override_keys
from engine.providers.placement import Placement, Placer
from engine.session.execution import ExecutionContext, Policy
from engine.session.keep import Keep, keeps
from engine.session.observers import Observer
from engine.session.plan import Planner
from engine.session.statistics import Statistics
from engine.session.store import Constants, Copy, Fallback
from engine.session.transfers import PlannedCopy, planned_copies

_ABOUT_DIMS = ("equal-dims", "forced-dim", "divisible-dim")
"""Codes of findings that say which sizes of the inputs' dims can work."""


class Mode(StrEnum):
    """Which graph a session runs."""

    FAITHFUL = "faithful"  # as stored, node by node
    FAST = "fast"  # made over by the optimiser


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a session runs.

    Attributes
    ----------
    memory_limit: bytes; None means what the machine has free when a run starts.
    keep: what runs keep beyond their outputs; the rest is dropped after its last use.
    pattern: with ``keep="matching"`` the qualified names of the tensors to keep, with wildcards.
    mode: the graph as stored, or one made over for speed.
    """

    memory_limit: int | None = None
    keep: Keep | str = Keep.ALL
    pattern: str = "*"
    mode: Mode | str = Mode.FAITHFUL


@dataclass(slots=True)
class RunResult:
    """What a run gave.

    Attributes
    ----------
    outputs: by name, on the host.
    values: what the run was asked to keep, on the host; the tensors of subgraphs with their last value.
    statistics: of every tensor, where asked for.
    copies: between devices. A constant is copied in the first run of a session that needs it there.
    fallbacks: nodes that the CPU computed because their provider failed.
    seconds: wall time of the whole run.
    peak_bytes: the most memory that values of the main graph took at once, on the host.

    A run that fails carries its partial result in the error's `partial`.
    """

    outputs: dict[str, Value] = field(default_factory=dict)
    values: dict[Tensor, Value] = field(default_factory=dict)
    statistics: dict[Tensor, Statistics] = field(default_factory=dict)
    fallbacks: list[Fallback] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    seconds: float = 0.0
    peak_bytes: int = 0


class Session:
    """A model compiled for its providers: the graph as stored, node by node, or in the fast mode one made over.

    A session runs one run at a time.

    Attributes
    ----------
    providers: in order of preference, as this session works with them (`ExecutionProvider.for_session`).
    placements: for every node, subgraphs included, who computes it and why earlier providers do not.
    optimised: in the fast mode the model that runs. Its nodes are those that placements and observers speak of;
        tensors that a run keeps are the user's own, where they still exist.
    """

    def __init__(
        self, model: Model, providers: Sequence[ExecutionProvider] | None = None,
        options: SessionOptions = SessionOptions(), overrides: Mapping[str, str] | None = None,
        observer: Observer | None = None,
    ) -> None:  # fmt: skip
        """Place every node on the first of `providers` that takes it; the CPU is always the last of them.

        Parameters
        ----------
        overrides: provider names by ``op:OPERATOR`` or ``node:NAME``, asked before the others (see `Placer.place`); in
            the fast mode those of nodes and operators that are gone do nothing.
        observer: can stop this, which takes seconds for tens of thousands of nodes.

        Raises
        ------
        CannotRunError: the model cannot run here; the message names the operators, cycle or weights at fault.
        InputError: an override names what is not there. RunCancelled: the observer asked to stop.
        """
        def go_on() -> None:
            if observer is not None and observer.should_stop():
                raise RunCancelled("stopped while the session was made")

        self.model = model
        self.options = options
        self.optimised = optimise(model, go_on=go_on) if Mode(options.mode) is Mode.FAST else None
        runs = model if self.optimised is None else self.optimised.model
        self._graph = graph = runs.graph
        chosen = [provider.for_session(runs) for provider in (default_providers() if providers is None else providers)]
        if not any(provider.name == "CPU" for provider in chosen):
            chosen.append(provider_named("CPU"))
        host = next(provider for provider in chosen if provider.name == "CPU")
        self.providers = chosen
        self._host = host
        go_on()
        placer = Placer(chosen)
        self.placements: dict[Node, Placement] = placer.place(graph, self._still_there(overrides or {}))
        self._constants = Constants(_constants(graph))
        self._plan = Planner(
            self.placements, self._constants.values, host, lambda node: placer.kernel_of(host.name, node),
            self._run_subgraph,
        ).plan(graph, go_on)  # fmt: skip
        self._off_host = {
            tensor for node, placement in self.placements.items() for tensor in node.outputs
            if tensor is not None and placement.provider is not None and placement.provider.device != HOST
        }  # fmt: skip
        self._estimated: tuple[object, MemoryEstimate] | None = None  # the last one: runs are alike
        self._active: ExecutionContext | None = None
        self._lock = threading.Lock()

    def run(
        self, feeds: Mapping[str, Any], observer: Observer | None = None, keep: Keep | str | None = None
    ) -> RunResult:
        """Run the model on `feeds`, one array (or list, for sequences) per input name.

        Parameters
        ----------
        keep: in place of the session's own option, for this run.

        Raises
        ------
        InputError: the feeds do not fit the inputs. CannotRunError: the run would not fit into memory.
        NodeError: a node failed; its `partial` holds what was computed before. RunCancelled: the observer stopped it.
        """
        kept = Keep(self.options.keep if keep is None else keep)
        check_feeds(self.model, feeds)
        limit = available_bytes() if self.options.memory_limit is None else self.options.memory_limit
        everything = kept is Keep.ALL
        check_memory(self.estimate_memory(bound_dims(self.model, feeds), kept), limit, everything)
        policy = Policy(
            None if everything else keeps(kept, self.options.pattern), kept is Keep.STATISTICS, limit
        )
        steps = self._plan.traced if everything else self._plan.lean
        with self._lock:
            context = ExecutionContext(steps, self._constants, self._host, observer, policy)
            return self._run(context, feeds, policy)

    def estimate_memory(self, dims: Mapping[str, int], keep: Keep | str | None = None) -> MemoryEstimate:
        """What a run will take in main memory with these sizes of the inputs' symbols (see `bound_dims`)."""
        everything = Keep(self.options.keep if keep is None else keep) is Keep.ALL
        key = (everything, tuple(dims.items()))
        if self._estimated is None or self._estimated[0] != key:
            elsewhere = () if everything else self._off_host
            self._estimated = key, estimate_memory(self._graph, dims, everything, elsewhere)
        return self._estimated[1]

    def planned_copies(self) -> list[PlannedCopy]:
        """The copies between devices that a run will make, those of constants marked as made once a session.

        What runs in the body of a loop or branch is counted once.
        """
        return planned_copies(self._plan.lean, self._graph, self._constants.values)

    def _run(self, context: ExecutionContext, feeds: Mapping[str, Any], policy: Policy) -> RunResult:
        start = time.perf_counter()
        self._active = context
        available = [provider for provider in self.providers if provider.available()]
        started: list[ExecutionProvider] = []
        try:
            for provider in available:
                _start(provider)
                started.append(provider)
            self._put_feeds(context, feeds)
            with np.errstate(all="ignore"):  # overflow and NaN are results here, not accidents
                context.run_steps(self._graph)
            outputs = {t.name: context.store.on_host(t) for t in self._graph.outputs}
            for provider in available:
                provider.synchronize()
            seconds = time.perf_counter() - start
            context.tell_device_times()
            return self._result(context, outputs, seconds, policy)
        except EngineError as error:
            if isinstance(error, NodeError):
                self._tell_dims(error)
            error.partial = self._partial(context, time.perf_counter() - start, policy)
            raise
        finally:
            self._active = None
            for provider in reversed(started):
                provider.run_end()

    def _put_feeds(self, context: ExecutionContext, feeds: Mapping[str, Any]) -> None:
        for tensor in self._graph.inputs:
            if tensor.name in feeds:
                context.put(tensor, _as_value(feeds[tensor.name]))
            elif tensor.data is None:
                context.put(tensor, None)  # an optional input left empty

    def _run_subgraph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        if self._active is None:
            raise RuntimeError("a subgraph can only run within a run of its session")
        return self._active.run_graph(graph, inputs)

    def _result(
        self, context: ExecutionContext, outputs: dict[str, Value], seconds: float, policy: Policy
    ) -> RunResult:
        copies, store = context.store.copies(), context.store
        values: dict[Tensor, Value] = {} if policy.kept else dict(self._constants.values)
        values.update((t, store.for_looking(t)) for t in list(store.values) if policy.kept is None or policy.kept(t))
        kept, statistics = self.by_users_tensors(values), self.by_users_tensors(context.statistics)
        return RunResult(outputs, kept, statistics, context.fallbacks, copies, seconds, context.peak_bytes)

    def by_users_tensors(self, found: dict[Tensor, T]) -> dict[Tensor, T]:
        """What was found of tensors that ran, by the user's own; in the fast mode those that still exist."""
        if self.optimised is None:
            return found
        return {self.optimised.originals[t]: value for t, value in found.items() if t in self.optimised.originals}

    def by_users_nodes(self, seconds: Mapping[Node, list[float]]) -> dict[Node, list[float]]:
        """Times of nodes that ran, by the user's own; in the fast mode each at the first node that it stands for."""
        if self.optimised is None:
            return dict(seconds)
        found: dict[Node, list[float]] = {}
        for node, times in seconds.items():
            first = self.optimised.origins[node][0]
            found[first] = [a + b for a, b in zip_longest(found.get(first, []), times, fillvalue=0.0)]
        return found

    def users_placements(self) -> dict[Node, Placement]:
        """The placements of the user's own nodes; in the fast mode of those that something which runs stands for."""
        if self.optimised is None:
            return dict(self.placements)
        origins = self.optimised.origins
        return {node: placement for made, placement in self.placements.items() for node in origins[made]}

    def _still_there(self, overrides: Mapping[str, str]) -> dict[str, str]:
        """The overrides without those of nodes and operators that the fast mode has made part of others."""
        if self.optimised is None:
            return dict(overrides)
        before, after = (
            {key for node in model.nodes() for key in override_keys(node)}
            for model in (self.model, self.optimised.model)
        )
        return {key: name for key, name in overrides.items() if key in after or key not in before}

    def _tell_dims(self, error: NodeError) -> None:
        """Say what inference asks of the inputs' dims at the node that failed: often the sizes given are the cause."""
        findings = (f for f in self.model.diagnostics if f.node == error.node and f.code in _ABOUT_DIMS)
        asked = [finding.message.partition(": ")[0] for finding in findings]
        if asked:
            error.add(f"Of the sizes of the inputs' dims, it asks: {'; '.join(asked)}")

    def _partial(self, context: ExecutionContext, seconds: float, policy: Policy) -> RunResult:
        try:
            return self._result(context, {}, seconds, policy)
        except DeviceError:  # a lost device keeps what it held
            return RunResult({}, {}, context.statistics, context.fallbacks, seconds=seconds)


def _start(provider: ExecutionProvider) -> None:
    try:
        provider.run_start()
    except DeviceError as error:
        raise CannotRunError(f"{provider.name} cannot start: {error}; choose other providers") from error


def _as_value(value: Any) -> Value:
    if value is None or isinstance(value, (list, dict)) or hasattr(value, "dtype"):
        return value
    return np.asarray(value)


def _constants(graph: Graph) -> dict[Tensor, np.ndarray]:
    """Stored values of the graph and its subgraphs that some node or output may read, as views of the file."""
    found: dict[Tensor, np.ndarray] = {}
    for scope in graph.walk():
        outputs = set(scope.outputs)
        for tensor in scope.tensors.values():
            stated = tensor.producer is not None and is_constant_node(tensor.producer)
            if tensor.data is None or not (tensor.consumers or tensor in outputs or stated):
                continue
            try:
                found[tensor] = tensor.data.array()
            except DataError as error:
                raise CannotRunError(str(error)) from error
    return found
