"""A second opinion: another runtime's values beside those of both sides, so that it shows which of them is off."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.agreement import Agreement, Tolerances, compare_values
from engine.compare.nodes import Steps, run_order
from engine.compare.side import Side
from engine.graph.ir import Model, Node, Tensor
from engine.session import Fallback


@dataclass(frozen=True, slots=True)
class OpinionOn:
    """One tensor of both sides against the second opinion's; `node` computes it."""

    tensor: Tensor
    node: Node | None
    mixed: Agreement
    cpu_only: Agreement | None

    def to_json(self) -> dict[str, Any]:
        """Names and both agreements."""
        return {
            "node": self.node.qualified_name if self.node else None, "tensor": self.tensor.qualified_name,
            "mixed": self.mixed.to_json(), "cpu_only": self.cpu_only.to_json() if self.cpu_only else None,
        }  # fmt: skip


@dataclass(slots=True)
class SecondOpinion:
    """What another provider computes, tensor by tensor in run order.

    `left_out` are nodes that it could not take and the CPU computed instead; nothing is said about these.
    """

    provider: str
    entries: list[OpinionOn] = field(default_factory=list)
    left_out: list[Node] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)

    @property
    def words(self) -> str:
        """Whom it agrees with, in one line."""
        if not self.entries:
            return f"{self.provider} has no opinion: it takes none of these nodes"
        mixed = [entry for entry in self.entries if not entry.mixed.agrees]
        cpu = [entry for entry in self.entries if entry.cpu_only is not None and not entry.cpu_only.agrees]
        with_whom = {(True, True): "both sides", (True, False): "mixed alone", (False, True): "CPU only alone",
                     (False, False): "neither side"}[not mixed, not cpu]  # fmt: skip
        first = next((entry for entry in self.entries if entry in mixed or entry in cpu), None)
        where = f"; first apart at {(first.node or first.tensor).qualified_name}" if first else ""
        return f"{self.provider} agrees with {with_whom}{where}"

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON has them."""
        return {
            "provider": self.provider, "verdict": self.words, "entries": [entry.to_json() for entry in self.entries],
            "left_out": [node.qualified_name for node in self.left_out],
            "fallbacks": [{"node": f.node.qualified_name, "reason": f.reason} for f in self.fallbacks],
        }  # fmt: skip


def ask(
    model: Model, asked: Side, mixed: Side, cpu_only: Side, tolerances: Tolerances, per_node: bool
) -> SecondOpinion:
    """Hold the outputs, or with `per_node` every tensor, of both sides against those of `asked`, which was traced."""
    provider = asked.session.providers[0]
    opinion = SecondOpinion(provider.name, fallbacks=asked.fallbacks)
    failed = {node for f in asked.fallbacks for node in _all_of(asked, f.node)}
    steps, outputs = Steps(model), set(model.graph.outputs)
    for node in run_order(model.graph):
        placement = asked.session.placements[node]
        if placement.provider is not provider or node in failed:
            opinion.left_out.append(node)
            continue
        for tensor in node.outputs:
            if tensor is None or tensor not in asked.result.values or not (per_node or tensor in outputs):
                continue
            theirs, step = asked.result.values[tensor], steps.of(tensor)
            agreements = [
                compare_values(values[tensor], theirs, tolerances, step) if tensor in values else None
                for values in (_seen(mixed, model), _seen(cpu_only, model))
            ]
            if agreements[0] is not None:
                opinion.entries.append(OpinionOn(tensor, node, agreements[0], agreements[1]))
    return opinion


def _all_of(side: Side, node: Node) -> tuple[Node, ...]:
    group = side.session.placements[node].group
    return group.nodes if group else (node,)


def _seen(side: Side, model: Model) -> dict[Tensor, Any]:
    """What is known of a side's values: its outputs, and every tensor where it was traced."""
    return {**side.result.values, **{t: side.result.outputs[t.name] for t in model.graph.outputs}}
