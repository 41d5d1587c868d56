"""Run order: a topological sort that keeps the file's order where it can, and cycles named as paths.

Source: Kahn, "Topological sorting of large networks" (1962); Tarjan, "Depth-first search and linear graph algorithms"
(1972) for the cycles.
"""
from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from engine.diagnostics import Diagnostic, Severity
from engine.graph.ir import Graph, Node
from engine.words import counted


def sort_graph(graph: Graph) -> list[Diagnostic]:
    """Set `graph.order` and each node's `index`, subgraphs included; findings are "cycle", "after-cycle", "unsorted".

    Of the nodes that are ready, the one that stands first in the file runs first, so that a sorted file keeps its
    order. Values that a subgraph captures count as inputs of the node that owns it. O(E + V log V).
    """
    findings: list[Diagnostic] = []
    for scope in graph.walk():
        findings += _sort_scope(scope)
    return findings


def _sort_scope(graph: Graph) -> list[Diagnostic]:
    successors = _successors(graph)
    waiting = dict.fromkeys(graph.nodes, 0)
    for following in successors.values():
        for node in following:
            waiting[node] += 1
    ready = [(node.file_index, node) for node, count in waiting.items() if count == 0]
    heapify(ready)  # file indices are unique, so nodes themselves are never compared
    graph.order = []
    while ready:
        _, node = heappop(ready)
        node.index = len(graph.order)
        graph.order.append(node)
        for successor in successors[node]:
            waiting[successor] -= 1
            if waiting[successor] == 0:
                heappush(ready, (successor.file_index, successor))
    stuck = [node for node in graph.nodes if waiting[node] > 0]
    return _report_cycles(stuck, successors) if stuck else _report_moves(graph)


def _successors(graph: Graph) -> dict[Node, list[Node]]:
    """For each node of the scope, the nodes of the scope that read one of its outputs, in file order, no repeats."""
    successors: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    for node in graph.nodes:
        producers = {t.producer for t in node.read_tensors() if t.producer is not None and t.graph is graph}
        for producer in producers:
            successors[producer].append(node)
    return successors


def _report_moves(graph: Graph) -> list[Diagnostic]:
    moved = moved_nodes(graph)
    if not moved:
        return []
    stand = "stands" if len(moved) == 1 else "stand"
    message = (
        f"{len(moved):,} of {counted(len(graph.nodes), 'node')} {stand} in the file before what is read there "
        f"(first: {moved[0].name!r}); they run in sorted order"
    )
    return [Diagnostic("unsorted", Severity.WARNING, message, moved[0].qualified_name)]


def moved_nodes(graph: Graph) -> list[Node]:
    """The nodes that the file places before a node whose output they read, in file order."""
    return [
        node for node in graph.nodes
        if any(t.producer is not None and t.graph is graph and t.producer.file_index > node.file_index
               for t in node.read_tensors())
    ]  # fmt: skip


def _report_cycles(stuck: list[Node], successors: dict[Node, list[Node]]) -> list[Diagnostic]:
    findings = []
    components = _cyclic_components(stuck, successors)
    in_cycles = {node for component in components for node in component}
    for component in components:
        names = [node.name for node in _cycle_through(component, successors)]
        path = " → ".join([*names, names[0]])
        message = f"nodes depend on each other in a cycle: {path}; none of them can run"
        findings.append(Diagnostic("cycle", Severity.ERROR, message, component[0].qualified_name))
    behind = [node for node in stuck if node not in in_cycles]
    if behind:
        who = f"the node {behind[0].name!r} waits" if len(behind) == 1 else (
            f"{counted(len(behind), 'node')} (first: {behind[0].name!r}) wait")
        message = f"{who} for a cycle and cannot run either"
        findings.append(Diagnostic("after-cycle", Severity.WARNING, message, behind[0].qualified_name))
    return findings


def _cyclic_components(stuck: Iterable[Node], successors: dict[Node, list[Node]]) -> list[list[Node]]:
    """Strongly connected components that hold a cycle, each in file order, by file order of their first node."""
    number: dict[Node, int] = {}
    low: dict[Node, int] = {}
    path: list[Node] = []
    on_path: set[Node] = set()
    components: list[list[Node]] = []
    for root in stuck:
        if root in number:
            continue
        work = [(root, iter(successors[root]))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        while work:
            node, following = work[-1]
            for successor in following:
                if successor not in number:
                    number[successor] = low[successor] = len(number)
                    path.append(successor)
                    on_path.add(successor)
                    work.append((successor, iter(successors[successor])))
                    break
                if successor in on_path:
                    low[node] = min(low[node], number[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    component = [path.pop()]
                    while component[-1] is not node:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    if len(component) > 1 or node in successors[node]:
                        components.append(sorted(component, key=lambda n: n.file_index))
    return sorted(components, key=lambda component: component[0].file_index)


def _cycle_through(component: list[Node], successors: dict[Node, list[Node]]) -> list[Node]:
    """A shortest cycle through the component's first node, as nodes in the direction of the data (breadth first)."""
    start, members = component[0], set(component)
    reached_from: dict[Node, Node] = {}
    queue = [start]
    for node in queue:
        for successor in successors[node]:
            if successor is start:
                cycle = [node]
                while cycle[-1] is not start:
                    cycle.append(reached_from[cycle[-1]])
                return cycle[::-1]
            if successor in members and successor not in reached_from:
                reached_from[successor] = node
                queue.append(successor)
    raise AssertionError("a strongly connected component without a cycle")
