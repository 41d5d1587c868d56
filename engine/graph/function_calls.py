"""Calls of model-local functions: which node calls what, and how much it would all expand to.

A few hundred bytes of functions that call each other twice can stand for millions of nodes, and a chain of calls for
thousands of levels, so the expansion is measured, callees first over the call graph, before anything is built.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from engine.diagnostics import Diagnostic, Severity
from engine.graph.ir import Node
from engine.graph.schemas import canonical_domain
from engine.graph.text import text

MAX_EXPANDED_NODES = 50_000
MAX_LEVELS = 64  # graphs within graphs, bodies of functions among them

_COUNTED = 10**15  # where counting stops

FunctionKey = tuple[str, str, str]  # domain, name, overload


@dataclass(frozen=True, slots=True)
class Size:
    """What a body expands to: its nodes, those of subgraphs and callees included, and how many levels it goes down."""

    nodes: int
    levels: int


class FunctionExpander:
    """The functions of one model, and whether calls of them are expanded."""

    def __init__(self, functions: Iterable[FunctionProto]) -> None:
        self._functions: dict[FunctionKey, FunctionProto] = {}
        for function in functions:
            key = canonical_domain(text(function.domain)), text(function.name), text(function.overload)
            self._functions.setdefault(key, function)
        self._calls = {key: list(_calls(function.node, 1)) for key, function in self._functions.items()}
        self._enabled = bool(self._functions)

    def defines(self, node: Node) -> bool:
        """Whether the node calls one of the model's functions."""
        return (node.domain, node.op_type, node.overload) in self._functions

    def body(self, node: Node) -> FunctionProto | None:
        """The function that a node calls, if calls are expanded in this model."""
        return self._functions.get((node.domain, node.op_type, node.overload)) if self._enabled else None

    def findings(self, model: ModelProto) -> list[Diagnostic]:
        """Check the call graph: "recursive-function" and "function-too-large" switch expansion off."""
        if not self._functions:
            return []
        sizes: dict[FunctionKey, Size] = {}
        cycle = self._measure(sizes)
        if cycle:
            self._enabled = False
            path = " → ".join(name for _, name, _ in cycle)
            return [Diagnostic("recursive-function", Severity.ERROR, f"functions call each other in a cycle: {path}")]
        calls = [(sizes[key], level) for key, level in _calls(model.graph.node, 1) if key in sizes]
        nodes = sum(size.nodes for size, _ in calls)
        levels = max((level + size.levels for size, level in calls), default=0)
        if nodes > MAX_EXPANDED_NODES:
            told = f"stand for {min(nodes, _COUNTED):,} nodes, over the limit of {MAX_EXPANDED_NODES:,}"
        elif levels > MAX_LEVELS:
            told = f"call each other {levels:,} levels deep, over the limit of {MAX_LEVELS}"
        else:
            return []
        self._enabled = False
        return [Diagnostic("function-too-large", Severity.ERROR, f"its functions {told}: not expanded")]

    def _measure(self, sizes: dict[FunctionKey, Size]) -> list[FunctionKey]:
        """Fill in the size of every function, callees first; returns a cycle of calls, if any."""
        for root in self._functions:
            path: dict[FunctionKey, Iterator[FunctionKey]] = {}  # in order: the functions we are inside of
            callee: FunctionKey | None = None if root in sizes else root
            while callee is not None or path:
                if callee in path:
                    names = list(path)
                    return [*names[names.index(callee) :], callee]
                if callee is None:
                    key, _ = path.popitem()
                    sizes[key] = _size(self._calls[key], sizes)
                elif callee not in sizes:
                    path[callee] = (key for key, _ in self._calls[callee] if key in self._functions)
                callee = next(next(reversed(path.values())), None) if path else None
        return []


def _size(calls: Iterable[tuple[FunctionKey, int]], sizes: dict[FunctionKey, Size]) -> Size:
    nodes, levels = 0, 1
    for key, level in calls:
        callee = sizes.get(key, Size(0, 0))
        nodes += 1 + callee.nodes
        levels = max(levels, level + callee.levels)
    return Size(min(nodes, _COUNTED), levels)


def _calls(nodes: Iterable[NodeProto], level: int) -> Iterator[tuple[FunctionKey, int]]:
    """The operators that nodes call, those of their subgraphs included, each with the level where it stands."""
    for node in nodes:
        yield (canonical_domain(text(node.domain)), text(node.op_type), text(node.overload)), level
        for attribute in node.attribute:
            graphs: list[GraphProto] = [attribute.g] if attribute.HasField("g") else []
            for graph in (*graphs, *attribute.graphs):
                yield from _calls(graph.node, level + 1)
