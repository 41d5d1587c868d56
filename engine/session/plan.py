"""A session's plan: for every graph the steps to take, each bound to its kernel, attributes, inputs and outputs."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine.errors import CannotRunError, UnsupportedError
from engine.graph.ir import Graph, Node, Tensor, ValueSource
from engine.kernels.registry import Kernel, Value
from engine.providers.base import ExecutionProvider
from engine.providers.placement import Placement

RunGraph = Callable[[Graph, Sequence[Value]], list[Value]]


class NodeContext:
    """The `KernelContext` of one node: its array module, itself, who reads its outputs, and a way to run subgraphs."""

    __slots__ = ("_run_graph", "node", "wanted", "xp")

    def __init__(self, node: Node, xp: Any, run_graph: RunGraph) -> None:
        self.node = node
        self.xp = xp
        self.wanted = tuple(_is_read(tensor) for tensor in node.outputs)
        self._run_graph = run_graph

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Run a subgraph of the node on `inputs` and return its outputs."""
        return self._run_graph(graph, inputs)


def _is_read(tensor: Tensor | None) -> bool:
    return tensor is not None and (bool(tensor.consumers) or tensor in tensor.graph.outputs)


@dataclass(slots=True)
class Step:
    """One node, ready to run: `call(*inputs)` gives one value or a tuple of them."""

    node: Node
    provider: ExecutionProvider
    call: Callable[..., Any]
    host_inputs: frozenset[int]
    fallback: Callable[..., Any] | None  # the CPU's call, for when the provider's device fails


class Planner:
    """Makes the steps of a model's graphs from its placements."""

    def __init__(
        self, placements: Mapping[Node, Placement], host: ExecutionProvider,
        host_kernel: Callable[[Node], Kernel | None], run_graph: RunGraph,
    ) -> None:  # fmt: skip
        self._placements = placements
        self._host = host
        self._host_kernel = host_kernel
        self._run_graph = run_graph

    def plan(self, graph: Graph) -> dict[Graph, list[Step]]:
        """The steps of the graph and of every subgraph, each in run order.

        Raises
        ------
        CannotRunError: nodes lie on cycles, read what nobody gives, have no kernel, or lack an attribute.
        """
        self._check(graph)
        try:
            return {scope: [self._step(node) for node in scope.order] for scope in graph.walk()}
        except UnsupportedError as error:
            raise CannotRunError(str(error)) from error

    def _step(self, node: Node) -> Step:
        placement = self._placements[node]
        if placement.is_call:
            return Step(node, self._host, self._function_call(node), frozenset(), None)
        kernel, provider = placement.kernel, placement.provider
        if kernel is None or provider is None:
            raise CannotRunError(f"nobody runs {node.qualified_name!r}")
        host_kernel = None if provider is self._host else self._host_kernel(node)
        fallback = self._bind(host_kernel, node, self._host) if host_kernel is not None else None
        return Step(node, provider, self._bind(kernel, node, provider), frozenset(kernel.host_inputs), fallback)

    def _bind(self, kernel: Kernel, node: Node, provider: ExecutionProvider) -> Callable[..., Any]:
        context = NodeContext(node, provider.xp, self._run_graph)
        return partial(kernel.function, context, **kernel.bind_attributes(node))

    def _function_call(self, node: Node) -> Callable[..., Any]:
        body, run_graph = node.subgraphs["function"], self._run_graph

        def call(*inputs: Value) -> tuple[Value, ...]:
            missing = [None] * (len(body.inputs) - len(inputs))
            return tuple(run_graph(body, [*inputs, *missing]))

        return call

    def _check(self, graph: Graph) -> None:
        stuck = [node for scope in graph.walk() for node in scope.nodes if node.index < 0]
        if stuck:
            raise CannotRunError(f"{len(stuck)} nodes lie on a cycle or wait for one (first: {stuck[0].name!r})")
        for scope in graph.walk():
            for tensor in scope.tensors.values():
                if tensor.source is ValueSource.ABSENT:
                    raise CannotRunError(f"nothing in the file defines {tensor.qualified_name!r}")
        lacking: dict[str, list[Node]] = {}
        for node, placement in self._placements.items():
            if not placement.runnable:
                lacking.setdefault(placement.refusals[-1].reason, []).append(node)
        if lacking:
            raise CannotRunError("; ".join(f"{why} ({_names(nodes)})" for why, nodes in lacking.items()))


def _names(nodes: list[Node]) -> str:
    first = repr(nodes[0].qualified_name)
    return first if len(nodes) == 1 else f"{len(nodes)} nodes, first {first}"
