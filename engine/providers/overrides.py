"""The user's own placements: a provider for one node, or for all nodes of an operator."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.errors import InputError
from engine.graph.ir import Node
from engine.words import meant

_KINDS = {"op": "operator", "node": "node"}


def override_keys(node: Node) -> tuple[str, str]:
    """What overrides call a node: by its own name, which counts more, and by its operator."""
    return f"node:{node.qualified_name}", f"op:{node.qualified_op}"


def chosen_providers(nodes: Sequence[Node], overrides: Mapping[str, str], providers: Sequence[str]) -> dict[Node, str]:
    """The provider that the user chose, for each node that has one.

    Parameters
    ----------
    overrides: provider names by ``op:OPERATOR`` (``op:Conv``, ``op:com.microsoft::Gelu``) or ``node:NAME`` (qualified).
    providers: the names there are.

    Raises
    ------
    InputError: an override names a provider, operator or node that is not there.
    """
    if not overrides:
        return {}
    known = {name.lower(): name for name in providers}
    for key, name in overrides.items():
        if key.partition(":")[0] not in _KINDS:
            raise InputError(f"{key!r} names no nodes: write node:NAME or op:OPERATOR")
        if name.strip().lower() not in known:
            raise InputError(f"{key} is to run on {name!r}, and the providers of this run are {', '.join(providers)}")
    chosen, used = {}, set()
    for node in nodes:
        keys = [key for key in override_keys(node) if key in overrides]
        used.update(keys)
        if keys:
            chosen[node] = known[overrides[keys[0]].strip().lower()]
    for key in overrides.keys() - used:
        kind, _, what = key.partition(":")
        there = [node.qualified_name if kind == "node" else node.qualified_op for node in nodes]
        raise InputError(f"the model has no {_KINDS[kind]} {what!r} to place{meant(what, there)}")
    return chosen
