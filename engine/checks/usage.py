"""Rules about what a graph is for: dead code, unread values, and outputs that nothing computes with."""
from __future__ import annotations

from collections.abc import Iterable

from engine.checks.findings import Findings, scope_title, title
from engine.checks.forms import form_of
from engine.graph.ir import Graph, Model, Node, Tensor, ValueSource
from engine.graph.types import TensorType


def check_usage(model: Model, scopes: Iterable[Graph], findings: Findings) -> None:
    """Report empty-graph, no-outputs, passthrough- and captured-output, missing-type and -rank, and what is unused."""
    scopes = list(scopes)
    returned = {tensor for graph in model.graph.walk() for tensor in graph.outputs}
    dead: set[Node] = set()
    for graph in scopes:  # outer before inner
        if graph.owner in dead:
            dead.update(graph.nodes)
            continue
        if graph.owner is None:
            _check_main(graph, findings)
        if graph.outputs:
            unused = _unused_nodes(graph)
            dead.update(unused)
            # An output that nothing computes is a wrong name more often than not, and then no code is known to be dead.
            if all(tensor.source is not ValueSource.ABSENT for tensor in graph.outputs):
                for node in unused:
                    if node.index >= 0 and not _is_duplicate(node):  # those of cycles have been told
                        findings.add("unused-node", f"nothing that {title(node)} computes reaches an output", node)
            _check_outputs(graph, dead, returned, findings)
        _check_values(graph, returned, findings)
    _check_functions(model, findings)


# --- the graph as a whole


def _check_main(graph: Graph, findings: Findings) -> None:
    if not graph.nodes:
        findings.add("empty-graph", "the graph has no nodes: nothing is computed")
    if not graph.outputs:
        findings.add("no-outputs", "the graph has no outputs: whatever it computes is thrown away")
    computed = [tensor for tensor in graph.outputs if tensor.producer is not None]
    for kind, tensors in (("input", graph.feeds), ("output", computed)):
        for tensor in tensors:
            declared = tensor.stored_type
            if declared is None or (isinstance(declared, TensorType) and declared.dtype is None):
                findings.add("missing-type", f"the {kind} {tensor.name!r} has no element type", tensor=tensor)
            elif isinstance(declared, TensorType) and declared.shape is None:
                findings.add("missing-rank", f"the {kind} {tensor.name!r} has no shape", tensor=tensor)


# --- dead code


def _unused_nodes(graph: Graph) -> list[Node]:
    """The nodes of a scope from which no output of it can be reached, in file order; what subgraphs capture counts."""
    live: set[Node] = set()
    pending = [t.producer for t in graph.outputs if t.graph is graph and t.producer is not None]
    while pending:
        node = pending.pop()
        if node in live:
            continue
        live.add(node)
        for tensor in node.inputs:
            if tensor is not None and tensor.producer is not None and tensor.graph is graph:
                pending.append(tensor.producer)
        for tensor in node.captures:
            if tensor.producer is not None and tensor.graph is graph:
                pending.append(tensor.producer)
    return [node for node in graph.nodes if node not in live]


def _is_duplicate(node: Node) -> bool:
    """Whether it lost its outputs to others of the same name, which "duplicate-output" has said."""
    return any(t is not None and node.graph.tensors.get(t.name) is not t for t in node.outputs)


def _check_values(graph: Graph, returned: set[Tensor], findings: Findings) -> None:
    """Stored and fed values that nobody reads. What only dead nodes read goes with them."""
    inputs = set(graph.inputs)
    for tensor in graph.tensors.values():
        if tensor.producer is not None or tensor.consumers or tensor in returned:
            continue
        if tensor.data is not None and tensor.source is not ValueSource.INPUT:
            where = "" if graph.owner is None else f" of {scope_title(graph)}"
            message = f"the initializer {tensor.name!r}{where} is never read ({tensor.data.nbytes:,} bytes)"
            findings.add("unused-initializer", message, graph.owner, tensor)
        elif tensor in inputs and graph.owner is None:  # bodies must take what their operator gives them
            findings.add("unused-input", f"the input {tensor.name!r} is never read", tensor=tensor)


# --- outputs


def _check_outputs(graph: Graph, dead: set[Node], returned: set[Tensor], findings: Findings) -> None:
    for tensor in dict.fromkeys(graph.outputs):
        if tensor.graph is not graph:
            message = f"{scope_title(graph)} returns {tensor.name!r}, a value of {scope_title(tensor.graph)}"
            findings.add("captured-output", message, graph.owner, tensor)
        elif tensor.producer is None and graph.owner is None and tensor.source is not ValueSource.ABSENT:
            kind = "initializer" if tensor.data is not None else "input"
            findings.add("passthrough-output", f"the output {tensor.name!r} is an {kind}", tensor=tensor)
    for node in graph.nodes:
        if len(node.outputs) > 1 and node not in dead:
            _check_optional_outputs(node, returned, findings)


def _check_optional_outputs(node: Node, returned: set[Tensor], findings: Findings) -> None:
    form = None
    for slot, tensor in enumerate(node.outputs):
        if tensor is None or tensor.consumers or tensor in returned:
            continue
        form = form or form_of(node)
        formal = form.output(slot) if form else None
        if formal is not None and not formal.required and not formal.variadic:
            message = f"{title(node)} computes its optional output {tensor.name!r} ({formal.name}), which nobody reads"
            findings.add("unused-output", message, node, tensor)


# --- functions


def _check_functions(model: Model, findings: Findings) -> None:
    if not model.functions:
        return
    graphs = [*model.graph.walk(), *(g for f in model.functions.values() for g in f.body.walk())]
    called = {(node.domain, node.op_type, node.overload) for graph in graphs for node in graph.nodes}
    for key, function in model.functions.items():
        if key not in called:
            findings.add("unused-function", f"the function {function.name!r} is never called")
