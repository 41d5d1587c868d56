"""Placement: the first provider, in the user's order, that has a kernel for a node takes it."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.graph.ir import Graph, Node
from engine.kernels.registry import Kernel, KernelRegistry
from engine.providers.base import ExecutionProvider


@dataclass(frozen=True, slots=True)
class Refusal:
    """That a provider did not take a node, and why, in words."""

    provider: str
    reason: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Who computes a node, by which kernel, and why each earlier provider did not.

    `provider` and `kernel` are None where nobody can; a call of a model-local function has a provider name only in its
    own nodes, so there both are None and `is_call` is True.
    """

    provider: ExecutionProvider | None
    kernel: Kernel | None
    refusals: tuple[Refusal, ...] = ()
    is_call: bool = False

    @property
    def runnable(self) -> bool:
        return self.kernel is not None or self.is_call


class Placer:
    """Places nodes on `providers`, in order of preference. Registries are filled once, here."""

    def __init__(self, providers: Sequence[ExecutionProvider]) -> None:
        self._entries: list[tuple[ExecutionProvider, KernelRegistry, str]] = []
        for provider in providers:
            available, registry = provider.available(), KernelRegistry()
            if available:
                provider.register_kernels(registry)
            self._entries.append((provider, registry, "" if available else available.reason))

    def place(self, graph: Graph) -> dict[Node, Placement]:
        """A placement for every node of the graph and its subgraphs, in file order."""
        return {node: self.place_node(node) for scope in graph.walk() for node in scope.nodes}

    def place_node(self, node: Node) -> Placement:
        """The first provider with a kernel for the node's domain, operator, version and dtypes."""
        if "function" in node.subgraphs:
            return Placement(None, None, is_call=True)
        refusals: list[Refusal] = []
        for provider, registry, unavailable in self._entries:
            kernel, reason = (None, unavailable) if unavailable else registry.find(node)
            if kernel is not None:
                return Placement(provider, kernel, tuple(refusals))
            refusals.append(Refusal(provider.name, reason))
        return Placement(None, None, tuple(refusals))

    def kernel_of(self, provider_name: str, node: Node) -> Kernel | None:
        """The kernel that one provider has for a node, if any."""
        for provider, registry, _ in self._entries:
            if provider.name == provider_name:
                return registry.find(node)[0]
        return None


def placement_counts(placements: Iterable[Placement]) -> dict[str, int]:
    """Number of nodes each provider took, by name; calls of functions and nodes without a taker are left out."""
    counts: dict[str, int] = {}
    for placement in placements:
        if placement.provider is not None:
            counts[placement.provider.name] = counts.get(placement.provider.name, 0) + 1
    return counts
