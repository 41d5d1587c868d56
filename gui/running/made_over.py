"""What the fast mode did to the user's own nodes, for a run in it. No Qt."""
from __future__ import annotations

from dataclasses import dataclass, field

from engine.graph.ir import Model, Node, Tensor
from engine.optimiser import Optimised


@dataclass(frozen=True, slots=True)
class MadeOver:
    """By node of the model as stored.

    `parts` holds, for the first of several nodes that ran as one, all of them; `told` what was done to each node that
    is not as it was, pass by pass.
    """

    parts: dict[Node, tuple[Node, ...]] = field(default_factory=dict)
    told: dict[Node, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model, optimised: Optimised) -> MadeOver:
        """Read off what the optimiser noted."""
        made_over = cls()
        for origins in optimised.origins.values():
            if len(origins) > 1:
                before = made_over.parts.get(origins[0], ())
                made_over.parts[origins[0]] = tuple(dict.fromkeys((*before, *origins)))
        nodes = {node.qualified_name: node for node in model.nodes()}
        for change in optimised.changes:
            for name in change.nodes:
                if name in nodes:
                    made_over.told.setdefault(nodes[name], []).append(str(change))
        return made_over

    def why_gone(self, tensor: Tensor) -> str:
        """Why a run did not make a tensor; empty where nothing was done to its node."""
        return "; ".join(self.told.get(tensor.producer, [])) if tensor.producer is not None else ""
