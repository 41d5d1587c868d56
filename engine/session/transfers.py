"""Copies between devices: which a plan will make, and which edges of the graph carry those that a run made."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from engine.graph.ir import Graph, Node, Tensor
from engine.providers.base import HOST
from engine.providers.placement import Placement
from engine.session.plan import Step
from engine.session.store import Copy


@dataclass(frozen=True, slots=True)
class PlannedCopy:
    """A tensor that a run will copy from one device to another; `once` a session, as constants are, or every run."""

    tensor: Tensor
    source: str
    target: str
    once: bool = False


def planned_copies(
    steps: Mapping[Graph, list[Step]], graph: Graph, constants: Collection[Tensor]
) -> list[PlannedCopy]:
    """Walk the plan as a run would, noting where each value lies and where it is asked for."""
    walk = _Walk(steps, constants)
    walk.visit(graph)
    return walk.copies


FUNCTION = "function"
"""The attribute name that bodies of model-local functions stand under."""


class _Walk:
    def __init__(self, steps: Mapping[Graph, list[Step]], constants: Collection[Tensor]) -> None:
        self._steps = steps
        self._constants = set(constants)
        self._places: dict[Tensor, list[str]] = {}  # where a value lies, its home first
        self.copies: list[PlannedCopy] = []

    def visit(self, graph: Graph) -> None:
        for step in self._steps[graph]:
            if step.body is not None:
                self._call_function(step, step.body)
            else:
                self._compute(step)
        if graph.owner is None or graph.owner_attribute != FUNCTION:
            for tensor in graph.outputs:
                self._need(tensor, HOST)

    def _compute(self, step: Step) -> None:
        for slot, tensor in enumerate(step.inputs):
            if tensor is not None:
                self._need(tensor, HOST if slot in step.host_inputs else step.provider.device)
        if step.group is None:
            for inner in step.node.subgraphs.values():
                self.visit(inner)
        for slot, tensor in enumerate(step.outputs):
            if tensor is not None:
                self._places[tensor] = [HOST if slot in step.host_outputs else step.provider.device]

    def _call_function(self, step: Step, body: Graph) -> None:
        for formal, actual in zip(body.inputs, step.inputs, strict=False):
            if actual is not None:
                self._alias(formal, actual)
        self.visit(body)
        for made, given in zip(body.outputs, step.outputs, strict=False):
            if given is not None:
                self._alias(given, made)

    def _alias(self, tensor: Tensor, source: Tensor) -> None:
        self._places[tensor] = self._places.setdefault(source, [HOST])
        if source in self._constants:
            self._constants.add(tensor)

    def _need(self, tensor: Tensor, device: str) -> None:
        places = self._places.setdefault(tensor, [HOST])
        if device not in places:
            self.copies.append(PlannedCopy(tensor, places[0], device, once=tensor in self._constants))
            places.append(device)


@dataclass(frozen=True, slots=True)
class ProviderEdge:
    """A tensor that goes from the provider of one node to that of others, by copies between their devices.

    Attributes
    ----------
    producer: the node that makes it; None for inputs and constants.
    consumers: the nodes that read it on the target device.
    count, nbytes, seconds: of the copies made; zero before a run.
    """

    tensor: Tensor
    source: str
    target: str
    producer: Node | None
    consumers: tuple[Node, ...]
    count: int = 0
    nbytes: int = 0
    seconds: float = 0.0


def provider_edges(
    placements: Mapping[Node, Placement], copies: Iterable[PlannedCopy | Copy]
) -> list[ProviderEdge]:
    """The edges that copies run along, copies of one tensor between the same devices taken together."""
    found: dict[tuple[Tensor, str, str], list[Copy]] = {}
    for copy in copies:
        made = found.setdefault((copy.tensor, copy.source, copy.target), [])
        if isinstance(copy, Copy):
            made.append(copy)
    return [
        ProviderEdge(
            tensor, source, target, tensor.producer, _readers(tensor, target, placements), len(made),
            sum(copy.nbytes for copy in made), sum(copy.seconds for copy in made),
        )
        for (tensor, source, target), made in found.items()
    ]  # fmt: skip


def _readers(tensor: Tensor, device: str, placements: Mapping[Node, Placement]) -> tuple[Node, ...]:
    def on_device(node: Node, slot: int) -> bool:
        placement = placements[node]
        if placement.provider is None or (placement.kernel is not None and slot in placement.kernel.host_inputs):
            return device == HOST
        return placement.provider.device == device

    return tuple(dict.fromkeys(node for node, slot in tensor.consumers if on_device(node, slot)))
