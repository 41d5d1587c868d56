"""Placement: the first provider, in the user's order, that takes a node; who declined it before, and why."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.errors import DeviceError
from engine.graph.ir import Graph, Node
from engine.kernels.registry import Kernel, KernelRegistry
from engine.providers.base import HOST, ExecutionProvider
from engine.providers.groups import Group, make_group, with_subgraphs
from engine.providers.overrides import chosen_providers
from engine.providers.shape_arithmetic import shape_arithmetic

SHAPES_STAY = "shapes are computed on the host"


@dataclass(frozen=True, slots=True)
class Refusal:
    """That a provider did not take a node, and why, in words."""

    provider: str
    reason: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Who computes a node, by which kernel, and why each earlier provider did not.

    `provider` and `kernel` are None where nobody can; a call of a model-local function has a provider name only in its
    own nodes, so there both are None and `is_call` is True. `group` is what the node runs as a part of, if its provider
    claimed it; then there is no kernel either.
    """

    provider: ExecutionProvider | None
    kernel: Kernel | None
    refusals: tuple[Refusal, ...] = ()
    is_call: bool = False
    group: Group | None = None

    @property
    def runnable(self) -> bool:
        return self.kernel is not None or self.is_call or self.group is not None


@dataclass(slots=True)
class _Entry:
    provider: ExecutionProvider
    registry: KernelRegistry
    unavailable: str  # why, or "" where it is available


class Placer:
    """Places nodes on `providers`, in order of preference. Registries are filled once, here."""

    def __init__(self, providers: Sequence[ExecutionProvider]) -> None:
        self._entries: list[_Entry] = []
        for provider in providers:
            registry, available = KernelRegistry(), provider.available()
            unavailable = "" if available else available.reason or "not available"
            if available:
                try:
                    provider.register_kernels(registry)
                except DeviceError as error:  # what only using it shows, such as a broken installation
                    unavailable = str(error)
            self._entries.append(_Entry(provider, registry, unavailable))

    def place(self, graph: Graph, overrides: Mapping[str, str] | None = None) -> dict[Node, Placement]:
        """A placement for every node of the graph and its subgraphs, in file order.

        Parameters
        ----------
        overrides: the user's own choices (see `chosen_providers`). The provider chosen for a node is asked first,
            the others in their order where it declines.

        Raises
        ------
        InputError: an override names a provider, operator or node that is not there.
        """
        nodes = [node for scope in graph.walk() for node in scope.nodes]
        order = [entry.provider.name for entry in self._entries]
        chosen = chosen_providers(nodes, overrides or {}, order)
        placing = _Placing(graph, nodes)
        for entry in self._entries:
            placing.offer(entry, [node for node, name in chosen.items() if name == entry.provider.name], asked_for=True)
        for entry in self._entries:
            placing.offer(entry, nodes)
        return {node: _told(placing.placement(node), chosen.get(node), order) for node in nodes}

    def kernel_of(self, provider_name: str, node: Node) -> Kernel | None:
        """The kernel that one provider has for a node, if any."""
        for entry in self._entries:
            if entry.provider.name == provider_name:
                return entry.registry.find(node)[0]
        return None


def _told(placement: Placement, chosen: str | None, order: Sequence[str]) -> Placement:
    """The placement with a word on the providers that the user's choice for the node passed over."""
    if chosen is None or placement.provider is None or placement.provider.name != chosen:
        return placement
    passed = (Refusal(name, f"set aside: {chosen} was chosen for it") for name in order[: order.index(chosen)])
    return replace(placement, refusals=(*passed, *placement.refusals))


class _Placing:
    """One placement under way: who took what so far, and who declined."""

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        self._graph = graph
        self._placed: dict[Node, Placement] = {}
        self._refusals: dict[Node, list[Refusal]] = {node: [] for node in nodes}
        self._shapes: set[Node] | None = None

    def placement(self, node: Node) -> Placement:
        if node in self._placed:
            return self._placed[node]
        return Placement(None, None, tuple(self._refusals[node]), is_call="function" in node.subgraphs)

    def offer(self, entry: _Entry, nodes: Sequence[Node], asked_for: bool = False) -> None:
        """Let a provider take what it can of the nodes that are still free and that it has not declined before."""
        provider = entry.provider
        free = [node for node in nodes if node not in self._placed and not self._declined(node, provider.name)]
        if free and not entry.unavailable:
            self._claim(provider, free)
        for node in free:
            if node in self._placed or "function" in node.subgraphs:
                continue
            kernel, reason = self._ask(entry, node, asked_for)
            if kernel is None:
                self._refusals[node].append(Refusal(provider.name, reason))
            else:
                self._placed[node] = Placement(provider, kernel, tuple(self._refusals[node]))

    def _declined(self, node: Node, provider: str) -> bool:
        return any(refusal.provider == provider for refusal in self._refusals[node])

    def _ask(self, entry: _Entry, node: Node, asked_for: bool) -> tuple[Kernel | None, str]:
        if entry.unavailable:
            return None, entry.unavailable
        if entry.provider.device != HOST and not asked_for and node in self._shape_nodes():
            return None, SHAPES_STAY
        return entry.registry.find(node)

    def _claim(self, provider: ExecutionProvider, free: Sequence[Node]) -> None:
        for nodes in provider.claim(self._graph, frozenset(free)):
            group = make_group(nodes)
            for node in (part for member in group.nodes for part in with_subgraphs(member)):
                self._placed[node] = Placement(provider, None, tuple(self._refusals[node]), group=group)

    def _shape_nodes(self) -> set[Node]:
        if self._shapes is None:
            self._shapes = shape_arithmetic(self._graph)
        return self._shapes


def placement_counts(placements: Iterable[Placement]) -> dict[str, int]:
    """Number of nodes each provider took, by name; calls of functions and nodes without a taker are left out."""
    counts: dict[str, int] = {}
    for placement in placements:
        if placement.provider is not None:
            counts[placement.provider.name] = counts.get(placement.provider.name, 0) + 1
    return counts


@dataclass(frozen=True, slots=True)
class RefusalLine:
    """Nodes that one provider declined for one reason and another took (``""`` where nobody did)."""

    provider: str
    reason: str
    taker: str
    nodes: tuple[Node, ...]

    @property
    def operators(self) -> dict[str, int]:
        """How many nodes of each operator."""
        counts: dict[str, int] = {}
        for node in self.nodes:
            counts[node.qualified_op] = counts.get(node.qualified_op, 0) + 1
        return counts

    def __str__(self) -> str:
        """In one line: ``CPU: Erf ×2 (CUDA: no float16 Erf kernel)``."""
        listed = ", ".join(f"{op} ×{count}" if count > 1 else op for op, count in self.operators.items())
        return f"{self.taker or 'nobody'}: {listed} ({self.provider}: {self.reason})"

    def to_json(self) -> dict[str, object]:
        """Its fields as JSON has them."""
        return {
            "provider": self.provider, "reason": self.reason, "taker": self.taker,
            "nodes": [node.qualified_name for node in self.nodes],
        }  # fmt: skip


def refusal_lines(placements: Mapping[Node, Placement]) -> list[RefusalLine]:
    """Why earlier providers did not take nodes, those of one reason together, most nodes first."""
    found: dict[tuple[str, str, str], list[Node]] = {}
    for node, placement in placements.items():
        taker = placement.provider.name if placement.provider else ""
        for refusal in placement.refusals if not placement.is_call else ():
            found.setdefault((refusal.provider, refusal.reason, taker), []).append(node)
    lines = [RefusalLine(*key, tuple(nodes)) for key, nodes in found.items()]
    return sorted(lines, key=lambda line: -len(line.nodes))
