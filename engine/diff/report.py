"""What a comparison of two models found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.diff.values import ValueDifference
from engine.graph.ir import Model, Node, Tensor


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One fact that differs, in words on both sides; empty where it is absent. `what` names it: ``attribute axis``."""

    what: str
    before: str
    after: str

    def to_json(self) -> dict[str, str]:
        """Its fields."""
        return {"what": self.what, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class NodePair:
    """A node in both models, what of it has changed, and what decided that it is the same ("structure", "name", …)."""

    before: Node
    after: Node
    how: str
    changes: tuple[FieldChange, ...] = ()

    @property
    def renamed(self) -> bool:
        """Whether only the file's name for it differs, or it differs too."""
        return self.before.name != self.after.name

    def to_json(self) -> dict[str, Any]:
        """Qualified names, operator and changes."""
        return {
            "before": self.before.qualified_name, "after": self.after.qualified_name, "op": self.after.qualified_op,
            "matched_by": self.how, "changes": [change.to_json() for change in self.changes],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class WeightPair:
    """A constant in both models whose type or value differs; `difference` is None where values were not compared."""

    before: Tensor
    after: Tensor
    changes: tuple[FieldChange, ...] = ()
    difference: ValueDifference | None = None

    def to_json(self) -> dict[str, Any]:
        """Qualified names, changes and figures."""
        return {
            "before": self.before.qualified_name, "after": self.after.qualified_name,
            "changes": [change.to_json() for change in self.changes],
            "difference": self.difference.to_json() if self.difference else None,
        }  # fmt: skip


@dataclass(slots=True)
class ModelDiff:
    """Two models: facts of the files that differ, nodes added and removed, pairs of nodes, constants that differ.

    `pairs` holds every node that both have, subgraphs included; a node that is added or removed stands for all in its
    subgraphs. `weights` holds the constants that differ; `weights_compared` says how many were held together.
    """

    before: Model
    after: Model
    facts: list[FieldChange] = field(default_factory=list)
    added: list[Node] = field(default_factory=list)
    removed: list[Node] = field(default_factory=list)
    pairs: list[NodePair] = field(default_factory=list)
    weights: list[WeightPair] = field(default_factory=list)
    added_weights: list[Tensor] = field(default_factory=list)
    removed_weights: list[Tensor] = field(default_factory=list)
    weights_compared: int = 0

    @property
    def changed(self) -> list[NodePair]:
        """The pairs of which something but the name has changed."""
        return [pair for pair in self.pairs if pair.changes]

    @property
    def renamed(self) -> list[NodePair]:
        """The pairs of which nothing but the name has changed."""
        return [pair for pair in self.pairs if pair.renamed and not pair.changes]

    @property
    def same(self) -> bool:
        """Whether nothing but names differs: nodes, attributes, shapes and, where compared, weights are equal."""
        parts: tuple[Sequence[object], ...] = (
            self.added, self.removed, self.changed, self.weights, self.added_weights, self.removed_weights,
        )  # fmt: skip
        return not any(parts)

    def to_json(self) -> dict[str, Any]:
        """The comparison under the keys that docs/cli.md names."""
        return {
            "before": self.before.path, "after": self.after.path, "same": self.same,
            "facts": [change.to_json() for change in self.facts],
            "added": [node_json(node) for node in self.added],
            "removed": [node_json(node) for node in self.removed],
            "changed": [pair.to_json() for pair in self.changed],
            "renamed": [{"before": p.before.qualified_name, "after": p.after.qualified_name} for p in self.renamed],
            "unchanged": sum(not pair.changes and not pair.renamed for pair in self.pairs),
            "weights": [pair.to_json() for pair in self.weights],
            "added_weights": [tensor.qualified_name for tensor in self.added_weights],
            "removed_weights": [tensor.qualified_name for tensor in self.removed_weights],
            "weights_compared": self.weights_compared,
        }  # fmt: skip


def node_json(node: Node) -> dict[str, str]:
    """A node that one model alone has."""
    return {"name": node.qualified_name, "op": node.qualified_op}
