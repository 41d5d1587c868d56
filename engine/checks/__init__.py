"""The rules of the standard that a loaded model is held against: `check_model`. Each module holds one kind of rule.

What can only be told while linking (cycles, names that nothing defines) is reported by `engine.graph`, what follows
from shapes by `engine.shapes`; rules about the protobuf messages themselves are in `engine.graph.message_rules`.
"""
from __future__ import annotations

from engine.checks.calls import check_calls
from engine.checks.findings import Findings
from engine.checks.names import check_names
from engine.checks.size import check_size
from engine.checks.types import check_types
from engine.checks.usage import check_usage
from engine.checks.versions import check_references, check_versions
from engine.graph.ir import Graph, Model

__all__ = ["CODES", "check_model"]

CODES = frozenset({
    "attribute-reference", "attribute-type", "body-mismatch", "captured-output", "control-characters", "deprecated-op",
    "dtype-not-allowed", "duplicate-node-name", "empty-graph", "function-opset", "large-doc-string", "many-nodes",
    "missing-attribute", "missing-rank", "missing-type", "newer-than-ir", "no-name", "no-outputs", "not-utf8",
    "passthrough-output", "shadowed-name", "unknown-attribute", "unnamed-output", "unused-function",
    "unused-initializer", "unused-input", "unused-node", "unused-output", "wrong-arity",
})  # fmt: skip
"""Codes of the findings made here; those of an earlier check are replaced."""

_EXPLAINS_MALFORMED = ("wrong-arity", "missing-attribute", "attribute-type", "body-mismatch")


def check_model(model: Model) -> None:
    """Hold a loaded model, best after shape inference, against the standard; findings join `model.diagnostics`.

    Reads no weights, except the indices of small sparse constants. A finding "malformed-node" of the inference gives
    way to the rule that says what is wrong with the node.
    """
    findings = Findings(model)
    instances, distinct = _scopes(model)
    clashing = {d.node for d in model.diagnostics if d.code == "dtype-clash"}
    check_calls(model, distinct, findings)
    check_types(instances, clashing, findings)
    check_names(distinct, findings)
    check_usage(model, [g for g in distinct if _is_placed(g, model)], findings)
    check_versions(model, distinct, findings)
    check_references(model, findings)
    check_size(model, distinct, findings)
    explained = set().union(*map(findings.nodes, _EXPLAINS_MALFORMED))
    kept = [
        d for d in model.diagnostics
        if d.code not in CODES and not (d.code == "malformed-node" and d.node in explained)
    ]  # fmt: skip
    model.diagnostics = kept + findings.all


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


def _is_placed(graph: Graph, model: Model) -> bool:
    while graph.owner is not None:
        graph = graph.owner.graph
    return graph is model.graph
