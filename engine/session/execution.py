"""One run of a session: walks the steps, moves values between devices, falls back, times, watches for a stop."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import DeviceError, NodeError, RunCancelled
from engine.graph.ir import Graph, Node, Tensor
from engine.kernels.registry import Value
from engine.providers.base import HOST, ExecutionProvider
from engine.session.observers import Observer
from engine.session.plan import Step
from engine.session.reasons import reason_of
from engine.session.statistics import Statistics, statistics_of
from engine.session.store import Constants, Fallback, TensorStore, fresh_bytes
from engine.words import bytes_text


@dataclass(frozen=True, slots=True)
class Policy:
    """What a run keeps, and how much memory it may take.

    `kept` says which values stay; None means all. `measured` asks for the statistics of every tensor. `memory_limit`
    is in bytes.
    """

    kept: Callable[[Tensor], bool] | None
    measured: bool
    memory_limit: int


class ExecutionContext:
    """The state of one run: its values, fallbacks and memory."""

    def __init__(
        self, steps: Mapping[Graph, list[Step]], constants: Constants, host: ExecutionProvider,
        observer: Observer | None, policy: Policy,
    ) -> None:  # fmt: skip
        self.store = TensorStore(constants, host)
        self.fallbacks: list[Fallback] = []
        self.statistics: dict[Tensor, Statistics] = {}
        self.peak_bytes = 0
        self._steps = steps
        self._host = host
        self._observer = observer
        self._policy = policy
        self._held: dict[Tensor, int] = {}  # bytes of the values of the main graph that the run holds
        self._bytes = 0
        self._clocks: list[tuple[Node, ExecutionProvider, Any, Any]] = []

    def put(self, tensor: Tensor, value: Value) -> None:
        """Give a tensor its value, on the host."""
        self.store.put(tensor, value, self._host)
        self._measure(tensor)

    def run_steps(self, graph: Graph) -> None:
        """Compute every node of a graph whose inputs have been put.

        Raises
        ------
        NodeError: a node failed. RunCancelled: the observer asked to stop.
        """
        for step in self._steps[graph]:
            if self._observer is None:
                self._compute(step)
            else:
                self._observe(step, self._observer)
            self._release(step.last_reads)

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Run a subgraph on values for its inputs, by position, and return its outputs, all on the host."""
        for tensor, value in zip(graph.inputs, inputs, strict=False):
            self.put(tensor, value)
        self.run_steps(graph)
        outputs = [self.store.on_host(tensor) for tensor in graph.outputs]
        self._release_own(graph)
        return outputs

    def tell_device_times(self) -> None:
        """Tell the observer the times of nodes on devices, whose clocks are read only now; waits for the devices."""
        clocks, self._clocks = self._clocks, []
        if self._observer is not None:
            for node, provider, start, end in clocks:
                self._observer.node_time(node, provider.seconds_between(start, end))

    def _observe(self, step: Step, observer: Observer) -> None:
        node, provider = step.node, step.provider
        if observer.should_stop():
            raise RunCancelled(f"stopped before the node {node.qualified_name!r}")
        observer.before_node(node)
        start = _mark(provider)
        inputs, outputs = self._compute(step)
        end = _mark(provider)
        if provider.device == HOST:
            observer.node_time(node, provider.seconds_between(start, end))
        elif start is not None and end is not None:
            self._clocks.append((node, provider, start, end))
        if step.group is not None:  # what its last node reads and gives, as far as it leaves the group
            inputs = [t and self.store.peek(t) for t in node.inputs]
            outputs = tuple(t and self.store.peek(t) for t in node.outputs)
        observer.after_node(node, inputs, outputs)

    def _compute(self, step: Step) -> tuple[list[Value], tuple[Value, ...]]:
        """Run a step, by its fallback where its device fails, and keep what it makes."""
        try:
            try:
                return self._call(step)
            except DeviceError as error:
                if not step.fallback:
                    raise
                self.fallbacks.append(Fallback(step.node, step.provider.name, _fallback_words(step, error)))
            for instead in step.fallback:
                inputs, outputs = self._call(instead)
            return inputs, outputs
        except (RunCancelled, NodeError):
            raise
        except Exception as error:
            raise self._node_error(step.node, error) from error

    def _call(self, step: Step) -> tuple[list[Value], tuple[Value, ...]]:
        if step.body is not None:
            return self._call_function(step, step.body)
        inputs = self._fetch(step)
        outputs = _as_outputs(step.call(*inputs))
        for slot, (tensor, value) in enumerate(zip(step.outputs, outputs, strict=False)):
            if tensor is None:
                continue
            self.store.put(tensor, value, self._host if slot in step.host_outputs else step.provider)
            if tensor.graph.owner is None:  # values of subgraphs replace those of the pass before
                self._hold(tensor, value, inputs)
            self._measure(tensor)
        self._check_memory(step.node)
        return inputs, outputs

    def _call_function(self, step: Step, body: Graph) -> tuple[list[Value], tuple[Value, ...]]:
        """Run the body of a model-local function; what goes in and out stays where it lies."""
        store = self.store
        for slot, formal in enumerate(body.inputs):
            actual = step.inputs[slot] if slot < len(step.inputs) else None
            if actual is None:
                store.put(formal, None, self._host)
            else:
                store.alias(formal, actual)
        self.run_steps(body)
        for made, given in zip(body.outputs, step.outputs, strict=False):
            if given is not None:
                store.alias(given, made)
                self._measure(given)
        self._release_own(body)
        return [t and store.peek(t) for t in step.inputs], tuple(t and store.peek(t) for t in step.outputs)

    def _fetch(self, step: Step) -> list[Value]:
        store, provider = self.store, step.provider
        if provider.device == HOST:
            return [None if t is None else store.on_host(t) for t in step.inputs]
        return [
            None if t is None else store.on_host(t) if slot in step.host_inputs else store.get(t, provider)
            for slot, t in enumerate(step.inputs)
        ]

    def _measure(self, tensor: Tensor) -> None:
        if self._policy.measured:
            figures = statistics_of(self.store.for_looking(tensor))
            if figures is not None:
                self.statistics[tensor] = figures

    def _release(self, tensors: Sequence[Tensor]) -> None:
        kept = self._policy.kept
        if kept is None:
            return
        for tensor in tensors:
            if not kept(tensor):
                self.store.release(tensor)
                self._bytes -= self._held.pop(tensor, 0)

    def _release_own(self, graph: Graph) -> None:
        """Let go of what a subgraph was given and gave."""
        self._release([t for t in (*graph.inputs, *graph.outputs) if t.graph is graph and not t.is_constant])

    def _hold(self, tensor: Tensor, value: Value, inputs: Sequence[Value]) -> None:
        nbytes = fresh_bytes(value, inputs)
        if nbytes:
            self._held[tensor] = nbytes
            self._bytes += nbytes

    def _check_memory(self, node: Node) -> None:
        self.peak_bytes = max(self.peak_bytes, self._bytes)
        limit = self._policy.memory_limit
        if self._bytes > limit:
            raise NodeError(
                f"stopped after the node {node.name!r}: the values kept so far take {bytes_text(self._bytes)}, and "
                f"{bytes_text(limit)} were free: choose smaller dims", node.qualified_name
            )  # fmt: skip

    def _node_error(self, node: Node, error: Exception) -> NodeError:
        given = ", ".join(
            f"{tensor.name!r} {describe(self.store.peek(tensor))}" if tensor else "(absent)"
            for tensor in node.inputs
        )
        what = f"{node.qualified_op} {node.qualified_name!r} (opset {node.opset})"
        return NodeError(f"{what} failed: {reason_of(error)}. It got {given or 'nothing'}", node.qualified_name)


def _mark(provider: ExecutionProvider) -> Any:
    """The present moment by the provider's clock; None where its device has none to give."""
    try:
        return provider.mark()
    except DeviceError:
        return None


def _fallback_words(step: Step, error: DeviceError) -> str:
    if step.group is None or len(step.group.nodes) == 1:
        return str(error)
    return f"{error} (its {len(step.group.nodes)} nodes ran one by one instead)"


def _as_outputs(result: Any) -> tuple[Value, ...]:
    """A kernel's result as one value per output slot; NumPy scalars, and words alone, become arrays of rank 0."""
    if type(result) is np.ndarray:
        return (result,)
    values = result if isinstance(result, tuple) else (result,)
    return tuple(_as_array(v) for v in values)


def _as_array(value: Value) -> Value:
    if isinstance(value, np.generic):
        return np.asarray(value)
    return np.array(value, object) if isinstance(value, str) else value


def describe(value: Value) -> str:
    """dtype and shape of a value, in short: ``float32[1, 3]``, ``sequence of 4``."""
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"sequence of {len(value)}"
    if isinstance(value, dict):
        return f"map of {len(value)}"
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "shape") else type(value).__name__
