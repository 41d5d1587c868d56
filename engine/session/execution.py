"""One run of a session: walks the steps, moves values between devices, falls back, times, watches for a stop."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import DeviceError, EngineError, NodeError, RunCancelled
from engine.graph.ir import Graph, Node, Tensor
from engine.kernels.registry import Value
from engine.memory import format_bytes
from engine.providers.base import ExecutionProvider
from engine.session.observers import Observer
from engine.session.plan import Step
from engine.session.store import HOST, Fallback, TensorStore, owned_bytes


class ExecutionContext:
    """The state of one run: its values, fallbacks and memory."""

    def __init__(
        self, plan: Mapping[Graph, list[Step]], host: ExecutionProvider, observer: Observer, memory_limit: int
    ) -> None:
        self.store = TensorStore()
        self.fallbacks: list[Fallback] = []
        self._plan = plan
        self._host = host
        self._observer = observer
        self._memory_limit = memory_limit
        self._held = 0  # bytes of the values kept so far

    def put(self, tensor: Tensor, value: Value) -> None:
        """Give a tensor of the main graph its value, on the host."""
        self.store.put(tensor, value, self._host)

    def run_steps(self, graph: Graph) -> None:
        """Compute every node of a graph whose inputs have been put.

        Raises
        ------
        NodeError: a node failed. RunCancelled: the observer asked to stop.
        """
        for step in self._plan[graph]:
            if self._observer.should_stop():
                raise RunCancelled(f"stopped before the node {step.node.qualified_name!r}")
            self._observer.before_node(step.node)
            inputs, outputs, seconds = self._run_step(step)
            self._observer.after_node(step.node, inputs, outputs, seconds)

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Run a subgraph on values for its inputs, by position, and return its outputs, all on the host."""
        for tensor, value in zip(graph.inputs, inputs, strict=False):
            self.store.put(tensor, value, self._host)
        self.run_steps(graph)
        return [self.store.on_host(tensor) for tensor in graph.outputs]

    def _run_step(self, step: Step) -> tuple[list[Value], tuple[Value, ...], float]:
        node, provider = step.node, step.provider
        start = time.perf_counter()
        try:
            try:
                inputs = self._fetch(node, provider, step.host_inputs)
                outputs = _as_outputs(step.call(*inputs), node)
                if provider.device != HOST:
                    provider.synchronize()
            except DeviceError as error:
                if step.fallback is None:
                    raise
                self.fallbacks.append(Fallback(node, provider.name, str(error)))
                provider = self._host
                inputs = self._fetch(node, provider, frozenset())
                outputs = _as_outputs(step.fallback(*inputs), node)
        except (RunCancelled, NodeError):
            raise
        except Exception as error:
            raise self._node_error(node, error) from error
        seconds = time.perf_counter() - start
        for tensor, value in zip(node.outputs, outputs, strict=False):
            if tensor is not None:
                self.store.put(tensor, value, provider)
        self._count(node, outputs)
        return inputs, outputs, seconds

    def _fetch(self, node: Node, provider: ExecutionProvider, host_inputs: frozenset[int]) -> list[Value]:
        store = self.store
        if provider.device == HOST:
            return [None if t is None else store.on_host(t) for t in node.inputs]
        return [
            None if t is None else store.on_host(t) if slot in host_inputs else store.get(t, provider)
            for slot, t in enumerate(node.inputs)
        ]

    def _count(self, node: Node, outputs: tuple[Value, ...]) -> None:
        if node.graph.owner is not None:  # values of subgraphs replace those of the pass before
            return
        self._held += owned_bytes(outputs)
        if self._held > self._memory_limit:
            raise NodeError(
                f"stopped after the node {node.name!r}: the values kept so far take {format_bytes(self._held)}, and "
                f"{format_bytes(self._memory_limit)} were free: choose smaller dims", node.qualified_name
            )  # fmt: skip

    def _node_error(self, node: Node, error: Exception) -> NodeError:
        if isinstance(error, MemoryError):
            reason = f"out of memory ({error})" if str(error) else "out of memory"
        elif isinstance(error, EngineError):
            reason = str(error)
        else:
            reason = f"{error}" if isinstance(error, (ValueError, IndexError)) else f"{type(error).__name__}: {error}"
        given = ", ".join(
            f"{tensor.name!r} {describe(self.store.values.get(tensor))}" if tensor else "(absent)"
            for tensor in node.inputs
        )
        what = f"{node.qualified_op} {node.qualified_name!r} (opset {node.opset})"
        return NodeError(f"{what} failed: {reason}. It got {given or 'nothing'}", node.qualified_name)


def _as_outputs(result: Any, node: Node) -> tuple[Value, ...]:
    """A kernel's result as one value per output slot; NumPy scalars become arrays of rank 0."""
    values = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(v) if isinstance(v, np.generic) else v for v in values)


def describe(value: Value) -> str:
    """dtype and shape of a value, in short: ``float32[1, 3]``, ``sequence of 4``."""
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"sequence of {len(value)}"
    if isinstance(value, dict):
        return f"map of {len(value)}"
    shape: Callable[[Any], str] = lambda v: str(list(v.shape))  # noqa: E731
    return f"{value.dtype}{shape(value)}" if hasattr(value, "shape") else type(value).__name__
