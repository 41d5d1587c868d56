"""Nodes whose results nobody reads."""
from __future__ import annotations

from engine.optimiser.rewriting import Rewriting


def remove_dead_code(work: Rewriting) -> None:
    """Remove, from the end to the beginning, nodes none of whose outputs is read, and those that only state a value."""
    for scope in list(work.graph.walk()):
        kept = set(scope.outputs)
        for node in reversed(scope.order):
            if node in work.removed:  # with the node whose subgraph this is
                continue
            if any(t is not None and (t.consumers or t in kept) and not t.is_constant for t in node.outputs):
                continue
            states_a_value = any(t is not None and t.is_constant for t in node.outputs)
            if not states_a_value:
                work.note("removed: nobody reads what it makes", node)
            work.remove(node)
