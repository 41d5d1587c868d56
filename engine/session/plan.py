"""A session's plan: for every graph the steps to take, each bound to its kernel, attributes, inputs and outputs."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from engine.errors import CannotRunError, UnsupportedError
from engine.graph.ir import Graph, Node, Tensor, ValueSource
from engine.kernels.registry import Kernel, T, Value
from engine.providers.base import ExecutionProvider
from engine.providers.groups import Group, is_constant_node, ordered_units
from engine.providers.placement import Placement

RunGraph = Callable[[Graph, Sequence[Value]], list[Value]]


class Room:
    """Bytes that a session may yet spend on what kernels prepare of constants."""

    __slots__ = ("_left",)

    def __init__(self, nbytes: int) -> None:
        self._left = nbytes

    def take(self, nbytes: int) -> bool:
        """Whether there was room for so many bytes, which are then taken."""
        if nbytes > self._left:
            return False
        self._left -= nbytes
        return True


_ROOM = 1 << 30
_GROWTH = 4  # int8 weights become float32


class NodeContext:
    """The `KernelContext` of one node: its array module, itself, who reads its outputs, and a way to run subgraphs.

    `_fixed` are the node's constant inputs, and what was prepared of them, by their identity.
    """

    __slots__ = ("_fixed", "_prepared", "_room", "_run_graph", "node", "wanted", "xp")

    def __init__(
        self, node: Node, xp: Any, run_graph: RunGraph, constants: Mapping[Tensor, Value], room: Room
    ) -> None:
        self.node = node
        self.xp = xp
        self.wanted = tuple(is_read(tensor) for tensor in node.outputs)
        self._run_graph = run_graph
        given = [constants[t] for t in node.inputs if t is not None and t.is_constant and t in constants]
        self._fixed = {id(value): value for value in given}
        self._prepared: dict[tuple[object, ...], Any] = {}
        self._room = room

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Run a subgraph of the node on `inputs` and return its outputs."""
        return self._run_graph(graph, inputs)

    def prepared(self, name: str, make: Callable[[], T], *sources: Value) -> T:
        """``make()``, kept for the session where all `sources` are constants; by identity, since nobody changes them.

        Constants that lie on another device are copies, and what they give is made anew.
        """
        if any(source is not None and id(source) not in self._fixed for source in sources):
            return make()
        key = (name, *map(id, sources))
        if key in self._prepared:
            found: T = self._prepared[key]
            return found
        made = make()
        if self._room.take(_GROWTH * sum(getattr(source, "nbytes", 0) for source in sources)):
            self._prepared[key] = made
            self._fixed[id(made)] = made
        return made


def is_read(tensor: Tensor | None) -> bool:
    """Whether a node or the graph's caller reads the tensor."""
    return tensor is not None and (bool(tensor.consumers) or tensor in tensor.graph.outputs)


@dataclass(slots=True)
class Step:
    """One node, or one group of nodes, ready to run: `call(*inputs)` gives one value or a tuple of them.

    Attributes
    ----------
    node: of a group its last.
    host_inputs, host_outputs: slots whose values are on the host whatever the provider's device.
    fallback: the CPU's steps for the same, for when the provider's device fails.
    body: of a call of a model-local function; it runs in place of `call`, on values where they lie.
    last_reads: values of this graph that nobody needs after this step, made by it or before.
    """

    node: Node
    provider: ExecutionProvider
    call: Callable[..., Any]
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor | None, ...]
    host_inputs: frozenset[int] = frozenset()
    host_outputs: frozenset[int] = frozenset()
    fallback: tuple[Step, ...] = ()
    group: Group | None = None
    body: Graph | None = None
    last_reads: tuple[Tensor, ...] = ()


@dataclass(slots=True)
class Plan:
    """The steps of every graph in the order they are taken.

    `traced` is for runs that keep everything: there a group gives all it makes, not only what others read.
    """

    lean: dict[Graph, list[Step]] = field(default_factory=dict)
    traced: dict[Graph, list[Step]] = field(default_factory=dict)


class Planner:
    """Makes the steps of a model's graphs from its placements."""

    def __init__(
        self, placements: Mapping[Node, Placement], constants: Mapping[Tensor, Value], host: ExecutionProvider,
        host_kernel: Callable[[Node], Kernel | None], run_graph: RunGraph,
    ) -> None:  # fmt: skip
        self._placements = placements
        self._constants = constants
        self._host = host
        self._host_kernel = host_kernel
        self._run_graph = run_graph
        self._room = Room(_ROOM)

    def plan(self, graph: Graph, go_on: Callable[[], object] = lambda: None) -> Plan:
        """The steps of the graph and of every subgraph. `go_on` is called before each step and may raise to stop.

        Raises
        ------
        CannotRunError: nodes lie on cycles, read what nobody gives, have no kernel, or lack an attribute.
        """
        self._check(graph)
        plan = Plan()
        try:
            for scope in graph.walk():
                units, steps = self._units(scope), []
                for unit in units:
                    go_on()
                    steps.append(self._step(unit, traced=False))
                plan.lean[scope] = _with_last_reads(steps)
                grouped = any(isinstance(unit, Group) for unit in units)
                steps = [self._step(unit, traced=True) for unit in units] if grouped else []
                plan.traced[scope] = _with_last_reads(steps) if grouped else plan.lean[scope]
        except UnsupportedError as error:
            raise CannotRunError(str(error)) from error
        return plan

    def _units(self, scope: Graph) -> Sequence[Node | Group]:
        groups = {node: self._placements[node].group for node in scope.order}
        whole = {node: group for node, group in groups.items() if group and group.nodes[0].graph is scope}
        return ordered_units(scope, whole) if whole else scope.order

    def _step(self, unit: Node | Group, traced: bool) -> Step:
        if isinstance(unit, Group):
            return self._group_step(unit, traced)
        node = unit
        placement = self._placements[node]
        if "function" in node.subgraphs:
            return self._call_step(node)
        value = self._stated(node)
        if value is not None:  # the session keeps it; there is nothing to compute
            return Step(node, placement.provider or self._host, lambda: value, (), ())
        kernel, provider = placement.kernel, placement.provider
        if placement.group is not None:  # in a subgraph of a claimed node: runs only if the group's provider failed
            kernel, provider = self._host_kernel(node), self._host
        if kernel is None or provider is None:
            raise CannotRunError(f"nobody runs {node.qualified_name!r}")
        fallback = () if provider is self._host else self._host_steps(node)
        return self._node_step(
            node, provider, self._bind(kernel, node, provider), frozenset(kernel.host_inputs),
            frozenset(kernel.host_outputs), fallback,
        )  # fmt: skip

    def _stated(self, node: Node) -> Value:
        """The value of a Constant node that the session keeps; None for every other node."""
        output = node.outputs[0] if is_constant_node(node) else None
        return None if output is None else self._constants.get(output)

    def _group_step(self, group: Group, traced: bool) -> Step:
        node = group.nodes[-1]
        provider = self._placements[node].provider
        assert provider is not None
        outputs = group.made if traced else group.outputs
        compiled = cache(lambda: provider.compile(group, outputs))
        fallback = tuple(step for node in group.nodes for step in self._host_steps(node))
        return Step(
            node, provider, lambda *inputs: tuple(compiled()(*inputs)), group.inputs, outputs, fallback=fallback,
            group=group,
        )  # fmt: skip

    def _call_step(self, node: Node) -> Step:
        body = node.subgraphs["function"]
        return Step(node, self._host, _no_call, tuple(node.inputs), tuple(node.outputs), body=body)

    def _host_steps(self, node: Node) -> tuple[Step, ...]:
        if "function" in node.subgraphs:
            return (self._call_step(node),)
        kernel = self._host_kernel(node)
        if kernel is None:
            return ()
        return (self._node_step(node, self._host, self._bind(kernel, node, self._host)),)

    def _node_step(
        self, node: Node, provider: ExecutionProvider, call: Callable[..., Any],
        host_inputs: frozenset[int] = frozenset(), host_outputs: frozenset[int] = frozenset(),
        fallback: tuple[Step, ...] = (),
    ) -> Step:  # fmt: skip
        return Step(node, provider, call, tuple(node.inputs), tuple(node.outputs), host_inputs, host_outputs, fallback)

    def _bind(self, kernel: Kernel, node: Node, provider: ExecutionProvider) -> Callable[..., Any]:
        context = NodeContext(node, provider.xp, self._run_graph, self._constants, self._room)
        return partial(kernel.function, context, **kernel.bind_attributes(node))

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


def _no_call(*inputs: Value) -> Value:
    raise RuntimeError("a function call has a body instead")


def _with_last_reads(steps: list[Step]) -> list[Step]:
    """Tell each step which values of its own graph nobody needs after it; the graph's outputs are always needed."""
    if not steps:
        return steps
    graph = steps[0].node.graph
    needed = set(graph.outputs)
    for step in reversed(steps):
        nodes = step.group.nodes if step.group else (step.node,)
        touched = dict.fromkeys(t for node in nodes for t in node.read_tensors())
        touched.update(dict.fromkeys(t for t in step.outputs if t is not None))
        step.last_reads = tuple(t for t in touched if t not in needed and t.graph is graph and not t.is_constant)
        needed.update(touched)
    return steps


def _names(nodes: list[Node]) -> str:
    first = repr(nodes[0].qualified_name)
    return first if len(nodes) == 1 else f"{len(nodes)} nodes, first {first}"
