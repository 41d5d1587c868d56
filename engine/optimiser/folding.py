"""Constant folding: what depends on the file alone is computed once."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from engine.errors import EngineError
from engine.graph.ir import Graph, Node, Tensor
from engine.kernels import KernelRegistry, library
from engine.kernels.randomness import RANDOM
from engine.kernels.registry import T, Value
from engine.optimiser.rewriting import Rewriting, constant_value, make_constant

MOST_BYTES_EACH = 64 << 20
MOST_BYTES = 256 << 20
"""Of one folded value, and of all values folded in a model."""

_UNFIXED = frozenset({*RANDOM, "Dropout"})
"""Operators whose results are not fixed by their inputs; Dropout's are random in training."""


def fold_constants(work: Rewriting) -> None:
    """Compute nodes whose inputs are constant, and shapes that are fixed, while the results stay within bounds."""
    room = MOST_BYTES
    for node in work.nodes():
        values = _folded(node)
        size = sum(value.nbytes for value in values or ())
        if values is None or size > room:
            continue
        room -= size
        work.note("computed once: it depends on constants alone", node)
        for tensor, value in zip(node.outputs, values):
            if tensor is not None:
                make_constant(tensor, value)


def _folded(node: Node) -> list[np.ndarray] | None:
    """The values of a node's outputs, or None where they are not fixed, not small or not to be had."""
    if node.subgraphs or node.op_type in _UNFIXED or any(t is not None and t.is_constant for t in node.outputs):
        return None
    if any(t in node.graph.outputs or not _is_small(t) for t in node.outputs if t is not None):
        return None
    if node.op_type == "Shape" and not node.domain:
        inputs: list[Any] | None = _hollow(node.inputs[0])
    else:
        inputs = _constants(node)
    return None if inputs is None else _computed(node, inputs)


def _constants(node: Node) -> list[Any] | None:
    values = [constant_value(tensor) for tensor in node.inputs]
    missing = any(value is None and tensor is not None for value, tensor in zip(values, node.inputs))
    return None if missing or not values else values


def _hollow(tensor: Tensor | None) -> list[Any] | None:
    """An array of a tensor's shape that takes no memory, where the shape is fixed."""
    shape = None if tensor is None else tensor.inferred_shape
    if shape is None or not all(isinstance(dim, int) for dim in shape):
        return None
    return [np.broadcast_to(np.zeros((), np.int8), tuple(dim for dim in shape if isinstance(dim, int)))]


def _is_small(tensor: Tensor) -> bool:
    """Whether a tensor is known to fit the bound on one folded value, before it is computed."""
    shape, dtype = tensor.inferred_shape, tensor.dtype
    if shape is None or dtype is None or dtype.kind == "string":
        return False
    dims = [dim for dim in shape if isinstance(dim, int)]
    return len(dims) == len(shape) and prod(dims) * dtype.numpy.itemsize <= MOST_BYTES_EACH


class _Context:
    """The context of a node that is computed here."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.xp = np
        self.wanted = tuple(tensor is not None for tensor in node.outputs)

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        raise NotImplementedError("nodes with subgraphs are not folded")

    def prepared(self, name: str, make: Callable[[], T], *sources: Value) -> T:
        return make()


@cache
def _registry() -> KernelRegistry:
    return KernelRegistry(library())


def _computed(node: Node, inputs: list[Any]) -> list[np.ndarray] | None:
    kernel, _ = _registry().find(node)
    if kernel is None:
        return None
    try:
        with np.errstate(all="ignore"):
            result = kernel.function(_Context(node), *inputs, **kernel.bind_attributes(node))
    except (EngineError, ArithmeticError, LookupError, TypeError, ValueError, MemoryError):
        return None  # the run will say what is wrong, in the user's own terms
    made = result if isinstance(result, tuple) else (result,)
    if len(made) < len(node.outputs) or not all(isinstance(value, np.ndarray | np.generic) for value in made):
        return None
    return [np.array(value) for value in made]
