"""The rules of the standard that a loaded model is held against: `check_model`. Each module holds one kind of rule.

What can only be told while linking (cycles, names that nothing defines) is reported by `engine.graph`, what follows
from shapes by `engine.shapes`; rules about the protobuf messages themselves are in `engine.graph.message_rules`.
"""
from __future__ import annotations

from engine.checks.calls import check_calls
from engine.checks.data import check_data
from engine.checks.findings import Findings
from engine.checks.names import check_names
from engine.checks.size import check_size
from engine.checks.types import check_types
from engine.checks.usage import check_usage
from engine.checks.versions import check_versions
from engine.diagnostics import Diagnostic
from engine.graph.ir import Graph, Model

__all__ = ["CODES", "check_model"]

CODES = frozenset({
    "attribute-type", "body-mismatch", "captured-output", "control-characters", "deprecated-op",
    "dtype-not-allowed", "duplicate-node-name", "empty-graph", "function-opset", "large-doc-string", "many-nodes",
    "missing-attribute", "missing-rank", "missing-type", "newer-than-ir", "no-name", "no-outputs", "not-utf8",
    "passthrough-output", "shadowed-name", "sparse-indices", "unknown-attribute", "unnamed-output", "unused-function",
    "unused-initializer", "unused-input", "unused-node", "unused-output", "wrong-arity",
})  # fmt: skip
"""Codes of the findings made here; those of an earlier check are replaced."""

_CAUSES = ("wrong-arity", "missing-attribute", "attribute-type", "body-mismatch")
_ECHOES = ("malformed-node", "shape-clash")
"""What shape inference says of nodes that have one of the faults in `_CAUSES`, or read data with a fault of its own."""


def check_model(model: Model) -> None:
    """Hold a loaded model, best after shape inference, against the standard; findings join `model.diagnostics`.

    Reads no weights, except the indices of small sparse constants. Where a rule says what is wrong with a node, what
    shape inference made of it is dropped.
    """
    findings = Findings(model)
    every, distinct = _scopes(model)
    clashing = {d.node for d in model.diagnostics if d.code == "dtype-clash"}
    check_calls(model, distinct, findings)
    check_types(every, clashing, findings)
    check_names(distinct, findings)
    check_usage(model, [g for g in distinct if g.outermost is model.graph], findings)
    check_versions(model, distinct, findings)
    check_data(distinct, findings)
    check_size(model, distinct, findings)
    earlier = [d for d in model.diagnostics if d.code not in CODES]
    explained = set().union(*map(findings.nodes, _CAUSES)) | _readers_of_faulty_data(every, earlier)
    model.diagnostics = [d for d in earlier if d.code not in _ECHOES or d.node not in explained] + findings.all


def _readers_of_faulty_data(graphs: list[Graph], findings: list[Diagnostic]) -> set[str]:
    """Nodes that read stored values whose shape cannot be trusted."""
    faulty = {d.tensor for d in findings if d.code in ("bad-data", "sparse-form") and d.tensor}
    if not faulty:
        return set()
    tensors = (t for graph in graphs for t in graph.tensors.values() if t.qualified_name in faulty)
    return {node.qualified_name for tensor in tensors for node, _ in tensor.consumers}


def _scopes(model: Model) -> tuple[list[Graph], list[Graph]]:
    """All graphs of the model, outer before inner; and those in which every function's body stands but once.

    A called function is looked at in its first call, so that findings have a place; others as templates.
    """
    every, distinct = list(model.graph.walk()), []
    seen: set[tuple[str, str, str]] = set()
    skipped: set[Graph] = set()
    for graph in every:
        owner = graph.owner
        if owner is not None:
            if owner.graph in skipped:
                skipped.add(graph)
                continue
            if graph.owner_attribute == "function":
                key = (owner.domain, owner.op_type, owner.overload)
                if key in seen:
                    skipped.add(graph)
                    continue
                seen.add(key)
        distinct.append(graph)
    for key, function in model.functions.items():
        if key not in seen:
            distinct += function.body.walk()
    return every, distinct
