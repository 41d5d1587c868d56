"""How much memory a run may take, and how much the inferred shapes say that it will."""
from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod

from engine.dims import Expr
from engine.errors import CannotRunError
from engine.graph.ir import Graph, Node, Tensor
from engine.words import bytes_text


def available_bytes() -> int:
    """Memory that this machine can still give, in bytes."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """What the values of a run will take, in bytes, as far as inferred shapes tell.

    Attributes
    ----------
    nbytes: at the moment when it is most.
    largest: the tensor that takes most by itself, and `largest_bytes`; None where no size is known.
    unknown: tensors whose size only the run will show.
    """

    nbytes: int
    largest: Tensor | None
    largest_bytes: int
    unknown: int


_VIEWS = frozenset({
    "Constant", "Dropout", "Expand", "Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose",
    "Unsqueeze",
})  # fmt: skip
"""Operators whose results are views of their first input, or of what the session holds anyway."""


def estimate_memory(
    graph: Graph, bindings: Mapping[str, int], keep_all: bool = True, elsewhere: Collection[Tensor] = ()
) -> MemoryEstimate:
    """Walk the graph in run order as a run would, adding up what its nodes allocate.

    Parameters
    ----------
    bindings: the values of the symbols in inferred shapes, as far as the feeds fix them.
    keep_all: whether every value stays; otherwise each goes after its last use.
    elsewhere: tensors that lie on a device.
    """
    walk = _Walk(graph, keep_all)
    for node in graph.order:
        for tensor in node.outputs:
            if tensor is not None and tensor not in elsewhere and not tensor.is_constant:
                walk.add(tensor, needed_bytes(tensor, bindings))
        walk.release(node)
    return MemoryEstimate(walk.most, walk.largest, walk.largest_bytes, walk.unknown)


class _Walk:
    """The bytes alive on the way through a graph; views are counted with what they are views of."""

    def __init__(self, graph: Graph, keep_all: bool) -> None:
        self.most = self.largest_bytes = self.unknown = self._alive = 0
        self.largest: Tensor | None = None
        self._sizes: dict[Tensor, int] = {}
        self._base: dict[Tensor, Tensor] = {}
        self._ends: dict[Node, list[Tensor]] = {}
        if not keep_all:
            self._plan_releases(graph)

    def add(self, tensor: Tensor, nbytes: int | None) -> None:
        """Count a tensor that was just computed, `nbytes` None where its size is not known."""
        if self._is_view(tensor):
            return
        if nbytes is None:
            self.unknown += 1
            return
        self._sizes[tensor] = nbytes
        self._alive += nbytes
        self.most = max(self.most, self._alive)
        if nbytes > self.largest_bytes:
            self.largest, self.largest_bytes = tensor, nbytes

    def release(self, node: Node) -> None:
        """Give back what nobody needs after a node."""
        for tensor in self._ends.get(node, ()):
            self._alive -= self._sizes.get(tensor, 0)

    def _is_view(self, tensor: Tensor) -> bool:
        return tensor.producer is not None and tensor.producer.op_type in _VIEWS and not tensor.producer.domain

    def _plan_releases(self, graph: Graph) -> None:
        for node in graph.order:
            for tensor in node.outputs:
                if tensor is not None:
                    source = node.inputs[0] if self._is_view(tensor) and node.inputs else None
                    self._base[tensor] = self._base.get(source, source) if source is not None else tensor
        needed = {self._base.get(tensor, tensor) for tensor in graph.outputs}
        for node in reversed(graph.order):
            touched = [*node.read_tensors(), *(t for t in node.outputs if t is not None)]
            for tensor in dict.fromkeys(self._base.get(t, t) for t in touched):
                if tensor not in needed:
                    needed.add(tensor)
                    self._ends.setdefault(node, []).append(tensor)


def check_memory(estimate: MemoryEstimate, limit: int, keep_all: bool = True) -> None:
    """Refuse a run that will not fit, before anything is allocated; `limit` is in bytes.

    Raises
    ------
    CannotRunError: naming the largest tensor, its node and size.
    """
    largest = estimate.largest
    if estimate.nbytes <= limit or largest is None or largest.producer is None:
        return
    free = f"{bytes_text(limit)} are free"
    size = bytes_text(estimate.largest_bytes)
    one = f"the node {largest.producer.name!r} would compute {largest.name!r} with {size}"
    if estimate.largest_bytes > limit:
        raise CannotRunError(f"{one}, and {free}: choose smaller dims")
    advice = "smaller dims or keep fewer tensors" if keep_all else "smaller dims"
    raise CannotRunError(f"the run would take {bytes_text(estimate.nbytes)}, and {free} ({one}): choose {advice}")


def needed_bytes(tensor: Tensor, bindings: Mapping[str, int]) -> int | None:
    """Bytes of a tensor by its inferred shape under `bindings`; None where they do not fix it."""
    if tensor.inferred_shape is None or tensor.dtype is None:
        return None
    sizes: list[int] = []
    for dim in tensor.inferred_shape:
        if isinstance(dim, Expr):
            if not bindings.keys() >= set(dim.symbols()):
                return None
            try:
                sizes.append(dim.evaluate(bindings))
            except ArithmeticError:
                return None
        elif dim is None:
            return None
        else:
            sizes.append(dim)
    return prod(sizes) * max(tensor.dtype.numpy.itemsize, 1)
