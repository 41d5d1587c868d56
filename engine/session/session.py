"""`Session`: a model compiled once for the chosen providers, to be run on any number of feeds."""
from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.errors import CannotRunError, DataError, EngineError
from engine.feeds import bound_dims, check_feeds
from engine.graph.ir import Graph, Model, Node, Tensor, ValueSource
from engine.kernels.registry import Value
from engine.memory import available_bytes, check_memory
from engine.providers import ExecutionProvider, default_providers, provider_named
from engine.providers.placement import Placement, Placer
from engine.session.execution import ExecutionContext
from engine.session.observers import Observer
from engine.session.plan import Planner
from engine.session.store import Copy, Fallback


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a session runs. `memory_limit` is in bytes; None means what the machine has free when a run starts."""

    memory_limit: int | None = None


@dataclass(slots=True)
class RunResult:
    """What a run gave. `values` holds every tensor computed, on the host; those of subgraphs with their last value.

    `seconds` is the wall time of the whole run. A run that fails carries its partial result in the error's `partial`.
    """

    outputs: dict[str, Value] = field(default_factory=dict)
    values: dict[Tensor, Value] = field(default_factory=dict)
    fallbacks: list[Fallback] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    seconds: float = 0.0


class Session:
    """Compiles a model in the faithful mode: the graph as stored, node by node, every tensor kept.

    A session runs one run at a time.

    Attributes
    ----------
    placements: for every node, subgraphs included, who computes it and why earlier providers do not.
    """

    def __init__(
        self, model: Model, providers: Sequence[ExecutionProvider] | None = None,
        options: SessionOptions = SessionOptions(),
    ) -> None:  # fmt: skip
        """Place every node on the first of `providers` that has a kernel for it; the CPU is always the last of them.

        Raises
        ------
        CannotRunError: the model cannot run here; the message names the operators, cycle or weights at fault.
        """
        self.model = model
        self.options = options
        chosen = list(default_providers() if providers is None else providers)
        if not any(provider.name == "CPU" for provider in chosen):
            chosen.append(provider_named("CPU"))
        host = next(provider for provider in chosen if provider.name == "CPU")
        self.providers = chosen
        self._host = host
        placer = Placer(chosen)
        self.placements: dict[Node, Placement] = placer.place(model.graph)
        planner = Planner(self.placements, host, lambda node: placer.kernel_of(host.name, node), self._run_subgraph)
        self._plan = planner.plan(model.graph)
        self._constants = _constants(model.graph)
        self._active: ExecutionContext | None = None
        self._lock = threading.Lock()

    def run(self, feeds: Mapping[str, Any], observer: Observer | None = None) -> RunResult:
        """Run the model on `feeds`, one array (or list, for sequences) per input name.

        Raises
        ------
        InputError: the feeds do not fit the inputs. CannotRunError: the run would not fit into memory.
        NodeError: a node failed; its `partial` holds what was computed before. RunCancelled: the observer stopped it.
        """
        check_feeds(self.model, feeds)
        graph = self.model.graph
        limit = available_bytes() if self.options.memory_limit is None else self.options.memory_limit
        check_memory(graph, bound_dims(self.model, feeds), limit)
        with self._lock:
            context = ExecutionContext(self._plan, self._host, observer or Observer(), limit)
            start = time.perf_counter()
            self._active = context
            try:
                self._start(context, feeds)
                with np.errstate(all="ignore"):  # overflow and NaN are results here, not accidents
                    context.run_steps(graph)
            except EngineError as error:
                error.partial = self._result(context, start)
                raise
            finally:
                self._active = None
                for provider in self.providers:
                    if provider.available():
                        provider.run_end()
            return self._result(context, start, complete=True)

    def _start(self, context: ExecutionContext, feeds: Mapping[str, Any]) -> None:
        for provider in self.providers:
            if provider.available():
                provider.run_start()
        for tensor, array in self._constants.items():
            context.put(tensor, array)
        for tensor in self.model.graph.inputs:
            if tensor.name in feeds:
                context.put(tensor, _as_value(feeds[tensor.name]))
            elif tensor.data is None:
                context.put(tensor, None)  # an optional input left empty

    def _run_subgraph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        if self._active is None:
            raise RuntimeError("a subgraph can only run within a run of its session")
        return self._active.run_graph(graph, inputs)

    def _result(self, context: ExecutionContext, start: float, complete: bool = False) -> RunResult:
        outputs = {t.name: context.store.on_host(t) for t in self.model.graph.outputs} if complete else {}
        seconds = time.perf_counter() - start
        return RunResult(outputs, context.store.host_values(), context.fallbacks, context.store.copies, seconds)


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
            if tensor.data is None or not (tensor.consumers or tensor in outputs):
                continue
            if tensor.producer is not None and tensor.source is ValueSource.CONSTANT:
                continue  # a Constant node computes it
            try:
                found[tensor] = tensor.data.array()
            except DataError as error:
                raise CannotRunError(str(error)) from error
    return found
