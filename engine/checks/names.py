"""Rules about names: duplicates, hidden outer names, empty ones, and characters that nobody sees."""
from __future__ import annotations

import re
from collections.abc import Iterable

from engine.checks.findings import Findings, scope_title, title
from engine.diagnostics import Severity
from engine.graph.ir import Graph, Node, Tensor, ValueSource
from engine.words import counted

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that change the direction of writing and so what a name seems to be."""


def check_names(scopes: Iterable[Graph], findings: Findings) -> None:
    """Report duplicate-node-name, shadowed-name, no-name and control-characters."""
    for graph in scopes:
        _check_node_names(graph, findings)
        _check_tensor_names(graph, findings)
        if graph.parent is not None:
            _check_shadowing(graph, findings)


def _check_node_names(graph: Graph, findings: Findings) -> None:
    used: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.stored_name:
            used.setdefault(node.stored_name, []).append(node)
        if not (node.stored_name.isprintable() and node.op_type.isprintable() and node.domain.isprintable()):
            for kind, name in (("name", node.stored_name), ("operator", node.op_type), ("domain", node.domain)):
                if _UNSEEN.search(name):
                    message = f"the {kind} {name!r} of a node holds characters that cannot be seen"
                    findings.add("control-characters", message, node)
    if len(used) == len(graph.nodes):
        return
    for name, nodes in used.items():
        if len(nodes) > 1:
            shown = ", ".join(repr(node.name) for node in nodes[:4]) + (" …" if len(nodes) > 4 else "")
            message = f"{counted(len(nodes), 'node')} of {scope_title(graph)} are named {name!r}; here {shown}"
            findings.add("duplicate-node-name", message, nodes[1])


def _check_tensor_names(graph: Graph, findings: Findings) -> None:
    for name, tensor in graph.tensors.items():
        if name.isprintable() and name:
            continue
        if not name:
            kind = "input" if tensor in graph.inputs else "initializer" if tensor.data is not None else "output"
            findings.add("no-name", f"an {kind} of {scope_title(graph)} has an empty name", tensor=tensor)
        elif _UNSEEN.search(name):
            message = f"the name of the tensor {name!r} holds characters that cannot be seen"
            findings.add("control-characters", message, tensor=tensor)
    if not graph.name and graph.parent is None and graph.owner is None:
        findings.add("no-name", "the graph has no name, which onnx.checker refuses", severity=Severity.INFO)


def _check_shadowing(graph: Graph, findings: Findings) -> None:
    for name, inner in graph.tensors.items():
        if inner.source is ValueSource.ABSENT or not name:
            continue
        outer = _visible_outside(graph, name)
        if outer is not None:
            message = (
                f"{name!r} in {scope_title(graph)} ({_role(inner)}) hides the value of that name in "
                f"{scope_title(outer.graph)} ({_role(outer)}); inside, the inner one counts"
            )
            findings.add("shadowed-name", message, inner.producer or graph.owner, inner)


def _visible_outside(graph: Graph, name: str) -> Tensor | None:
    """The value that `name` would mean in a subgraph if it did not define it itself.

    What the owner of the subgraph and the nodes after it compute does not exist yet when the subgraph runs.
    """
    while graph.parent is not None and graph.owner is not None:
        owner, graph = graph.owner, graph.parent
        tensor = graph.tensors.get(name)
        if tensor is not None and tensor.source is not ValueSource.ABSENT:
            producer = tensor.producer
            if producer is None or 0 <= producer.index < owner.index:
                return tensor
    return None


def _role(tensor: Tensor) -> str:
    if tensor.producer is not None:
        return f"output of {title(tensor.producer)}"
    return "an initializer" if tensor.data is not None else "an input"
