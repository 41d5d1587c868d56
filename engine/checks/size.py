"""Rules about size: what makes a model slow to look at."""
from __future__ import annotations

from collections.abc import Iterable

from engine.checks.findings import Findings, title
from engine.graph.ir import Graph, Model

MANY_NODES = 200_000
LONG_TEXT = 64 * 1024  # characters


def check_size(model: Model, scopes: Iterable[Graph], findings: Findings) -> None:
    """Report many-nodes and large-doc-string."""
    total = 0
    if len(model.doc_string) > LONG_TEXT:
        findings.add("large-doc-string", f"the model's doc string has {len(model.doc_string):,} characters")
    for graph in scopes:
        total += len(graph.nodes)
        if len(graph.doc_string) > LONG_TEXT:
            message = f"the doc string of the graph {graph.name!r} has {len(graph.doc_string):,} characters"
            findings.add("large-doc-string", message, graph.owner)
        for node in graph.nodes:
            if len(node.doc_string) > LONG_TEXT:
                message = f"the doc string of {title(node)} has {len(node.doc_string):,} characters"
                findings.add("large-doc-string", message, node)
    if total > MANY_NODES:
        findings.add("many-nodes", f"the model has {total:,} nodes")
