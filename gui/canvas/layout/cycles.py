"""Find the edges whose removal makes a graph acyclic, and the connected parts of a graph."""

from __future__ import annotations

import numpy as np

from gui.canvas.layout.types import Bools, Ints


def grouped(count: int, key: Ints, value: Ints) -> list[list[int]]:
    """Values by key: a list of `count` lists, each in the order of the input."""
    order = np.argsort(key, kind="stable")
    values = value[order].tolist()
    start = np.searchsorted(key[order], np.arange(count + 1)).tolist()
    return [values[start[i] : start[i + 1]] for i in range(count)]


def back_edges(count: int, source: Ints, target: Ints) -> Bools:
    """Edges that lead to a vertex still open in a depth-first search, shape (e,); none in an acyclic graph.

    The search starts at vertices without inputs and goes in index order, so edges against file order are
    the ones found.
    """
    back = np.zeros(len(source), bool)
    if _is_acyclic(count, source, target):
        return back
    edges = grouped(count, source, np.arange(len(source)))
    heads = target.tolist()
    indegree = np.bincount(target, minlength=count)
    roots = np.argsort(indegree > 0, kind="stable").tolist()
    new, opened, closed = 0, 1, 2
    state = [new] * count
    for root in roots:
        if state[root] != new:
            continue
        state[root] = opened
        stack = [(root, iter(edges[root]))]
        while stack:
            vertex, rest = stack[-1]
            for edge in rest:
                head = heads[edge]
                if state[head] == opened:
                    back[edge] = True
                elif state[head] == new:
                    state[head] = opened
                    stack.append((head, iter(edges[head])))
                    break
            else:
                state[vertex] = closed
                stack.pop()
    return back


def _is_acyclic(count: int, source: Ints, target: Ints) -> bool:
    return bool(_sorted_away(count, source, target).all())


def cyclic_core(count: int, source: Ints, target: Ints) -> Bools:
    """Vertices on cycles and on ways between cycles, shape (count,); none in an acyclic graph."""
    if (source < target).all():  # in order as they stand
        return np.zeros(count, bool)
    return ~(_sorted_away(count, source, target) | _sorted_away(count, target, source))


def _sorted_away(count: int, source: Ints, target: Ints) -> Bools:
    """Vertices that a topological sort reaches: those with no cycle before them."""
    waiting = np.bincount(target, minlength=count).tolist()
    heads = grouped(count, source, target)
    ready = [v for v in range(count) if not waiting[v]]
    for vertex in ready:
        for head in heads[vertex]:
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    reached = np.zeros(count, bool)
    reached[ready] = True
    return reached


def connected_parts(count: int, source: Ints, target: Ints) -> Ints:
    """Part number of every vertex, shape (count,); parts are numbered by their first vertex."""
    parent = list(range(count))

    def root(vertex: int) -> int:
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]
            vertex = parent[vertex]
        return vertex

    for a, b in zip(source.tolist(), target.tolist(), strict=True):
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    roots = np.array([root(v) for v in range(count)], np.int64)
    return np.unique(roots, return_inverse=True)[1].astype(np.int64)
