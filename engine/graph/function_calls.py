"""Calls of model-local functions: which node calls what, and how much it would all expand to.

A few hundred bytes of functions that call each other twice can stand for millions of nodes, so the expansion is
counted, by a memoised sum over the call graph, before anything is built.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from engine.diagnostics import Diagnostic, Severity
from engine.graph.ir import Node
from engine.graph.schemas import canonical_domain

MAX_EXPANDED_NODES = 100_000

FunctionKey = tuple[str, str, str]  # domain, name, overload


class FunctionExpander:
    """The functions of one model, and whether calls of them are expanded."""

    def __init__(self, functions: Iterable[FunctionProto]) -> None:
        self._functions: dict[FunctionKey, FunctionProto] = {}
        for function in functions:
            self._functions.setdefault((canonical_domain(function.domain), function.name, function.overload), function)
        self._enabled = True

    def defines(self, node: Node) -> bool:
        """Whether the node calls one of the model's functions."""
        return (node.domain, node.op_type, node.overload) in self._functions

    def body(self, node: Node) -> FunctionProto | None:
        """The function that a node calls, if calls are expanded in this model."""
        return self._functions.get((node.domain, node.op_type, node.overload)) if self._enabled else None

    def findings(self, model: ModelProto) -> list[Diagnostic]:
        """Check the call graph: "recursive-function" and "function-too-large" switch expansion off."""
        sizes: dict[FunctionKey, int] = {}
        cycle = self._measure(sizes)
        if cycle:
            self._enabled = False
            path = " → ".join(name for _, name, _ in cycle)
            return [Diagnostic("recursive-function", Severity.ERROR, f"functions call each other in a cycle: {path}")]
        total = sum(sizes.get(key, 0) for key in _calls(model.graph.node))
        if total > MAX_EXPANDED_NODES:
            self._enabled = False
            message = f"its functions stand for {total:,} nodes, over the limit of {MAX_EXPANDED_NODES:,}: not expanded"
            return [Diagnostic("function-too-large", Severity.ERROR, message)]
        return []

    def _measure(self, sizes: dict[FunctionKey, int]) -> list[FunctionKey]:
        """Fill in the expanded node count of every function, callees first; returns a cycle of calls, if any."""
        for root in self._functions:
            if root in sizes:
                continue
            path = [root]
            pending = [self._callees(root)]
            while path:
                callee = next(pending[-1], None)
                if callee is None:
                    key = path.pop()
                    pending.pop()
                    sizes[key] = len(self._functions[key].node) + sum(sizes[c] for c in self._callees(key))
                elif callee in path:
                    return [*path[path.index(callee) :], callee]
                elif callee not in sizes:
                    path.append(callee)
                    pending.append(self._callees(callee))
        return []

    def _callees(self, key: FunctionKey) -> Iterator[FunctionKey]:
        return (call for call in _calls(self._functions[key].node) if call in self._functions)


def _calls(nodes: Iterable[NodeProto]) -> Iterator[FunctionKey]:
    """The operators that nodes call, those of their subgraphs included."""
    for node in nodes:
        yield canonical_domain(node.domain), node.op_type, node.overload
        for attribute in node.attribute:
            graphs: list[GraphProto] = [attribute.g] if attribute.HasField("g") else []
            for graph in (*graphs, *attribute.graphs):
                yield from _calls(graph.node)
