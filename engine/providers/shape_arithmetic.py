"""Which nodes only compute shapes: they stay on the host, where what they make is needed, whatever runs the rest.

A shape lies on the host already (asking an array for it moves no data), and so does a small constant. What follows
from these alone is a handful of numbers: on a device each would cost a launch, and a wait when it is read back.
"""
from __future__ import annotations

from engine.graph.ir import Graph, Node, Tensor

SMALL = 64
"""A constant of at most so many elements may take part."""

_SOURCES = frozenset({"Shape", "Size"})
_OPERATORS = frozenset({
    "Abs", "Add", "And", "Cast", "Ceil", "Concat", "Div", "Equal", "Floor", "Gather", "Greater", "GreaterOrEqual",
    "Identity", "Less", "LessOrEqual", "Max", "Min", "Mod", "Mul", "Neg", "Not", "Or", "ReduceMax", "ReduceMin",
    "ReduceProd", "ReduceSum", "Reshape", "Slice", "Split", "Sqrt", "Squeeze", "Sub", "Unsqueeze", "Where",
})  # fmt: skip
"""Operators whose results are hardly larger than their inputs."""


def shape_arithmetic(graph: Graph) -> set[Node]:
    """The nodes of the graph and its subgraphs that compute nothing but shapes."""
    derived: set[Tensor] = set()
    found: set[Node] = set()
    for scope in graph.walk():
        for node in scope.order:
            if node.domain == "" and node.op_type in _SOURCES:
                derived.update(t for t in node.outputs if t is not None)
            elif _computes_shapes(node, derived):
                found.add(node)
                derived.update(t for t in node.outputs if t is not None)
    return found


def _computes_shapes(node: Node, derived: set[Tensor]) -> bool:
    if node.domain or node.op_type not in _OPERATORS:
        return False
    read = [tensor for tensor in node.inputs if tensor is not None]
    if not read or not all(tensor in derived or _is_small_constant(tensor) for tensor in read):
        return False
    return any(tensor in derived for tensor in read) or all(_is_whole(t) for t in node.outputs if t is not None)


def _is_small_constant(tensor: Tensor) -> bool:
    return tensor.is_constant and tensor.data is not None and tensor.data.size <= SMALL


def _is_whole(tensor: Tensor) -> bool:
    return tensor.dtype is not None and tensor.dtype.kind in ("int", "uint", "bool")
