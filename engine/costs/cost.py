"""The cost of one node, and what a formula sees of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from engine.dims import Dim, product
from engine.graph.ir import Node, Tensor

KnownShape: TypeAlias = "tuple[Dim, ...]"


@dataclass(frozen=True, slots=True)
class Cost:
    """What running a node once takes; None for what is not known, with the reason in `unknown_because`.

    Attributes
    ----------
    macs: multiplications that are added up: those of matrix products, convolutions and their like.
    flops: operations on single elements; each multiply-accumulate counts as two.
    bytes_read, bytes_written: sizes of the inputs (constants included) and of the outputs.
    """

    macs: Dim | None = 0
    flops: Dim | None = 0
    bytes_read: Dim | None = 0
    bytes_written: Dim | None = 0
    unknown_because: str = ""


class NotKnown(Exception):
    """A formula cannot tell; the message says why, for people."""


class Sizes:
    """Shapes and attributes of a node, as formulas read them; `shape_of` tells the shape of a tensor where known."""

    __slots__ = ("_shape_of", "node")

    def __init__(self, node: Node, shape_of: Callable[[Tensor], KnownShape | None]) -> None:
        self.node = node
        self._shape_of = shape_of

    def has(self, slot: int) -> bool:
        """Whether an input is present."""
        return slot < len(self.node.inputs) and self.node.inputs[slot] is not None

    def input(self, slot: int) -> KnownShape:
        """Shape of an input. Raises NotKnown."""
        return self._shape(self.node.inputs, slot, "input")

    def output(self, slot: int = 0) -> KnownShape:
        """Shape of an output. Raises NotKnown."""
        return self._shape(self.node.outputs, slot, "output")

    def elements(self, slot: int = 0) -> Dim:
        """Number of elements of an output. Raises NotKnown."""
        return product(self.output(slot))

    def input_elements(self, slot: int = 0) -> Dim:
        """Number of elements of an input. Raises NotKnown."""
        return product(self.input(slot))

    def _shape(self, tensors: list[Tensor | None], slot: int, what: str) -> KnownShape:
        tensor = tensors[slot] if slot < len(tensors) else None
        if tensor is None:
            raise NotKnown(f"it has no {what} {slot}")
        shape = self._shape_of(tensor)
        if shape is None:
            raise NotKnown(f"the shape of {tensor.name!r} is not known")
        return shape

    def integer(self, name: str, default: int) -> int:
        """An int attribute."""
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, int) else default

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, str) else default

    def ints(self, name: str) -> list[int]:
        """A list-of-ints attribute; empty where it is absent."""
        value = self.node.attributes.get(name)
        return [v for v in value if isinstance(v, int)] if isinstance(value, list) else []

    def count(self, name: str) -> int:
        """Number of entries of a list attribute."""
        value = self.node.attributes.get(name)
        return len(value) if isinstance(value, list) else 0


Work: TypeAlias = "tuple[Dim, Dim]"
"""Multiply-accumulates, and operations besides them."""
Formula: TypeAlias = "Callable[[Sizes], Work]"
