"""What a shape rule sees of the node it is asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from engine.dims import Dim, Expr, symbol
from engine.dtypes import DType, from_code
from engine.graph.ir import Graph, Node, Tensor
from engine.graph.types import TensorType, Type, format_shape
from engine.shapes.broadcast import broadcast
from engine.shapes.facts import Fact, KnownShape, ShapeClash, Unknown, Values

T = TypeVar("T")
Kind: TypeAlias = "Literal['equal', 'broadcast', 'multiple']"
"""How two dims must fit: be equal, be equal unless one is 1, or the first be a multiple of the second."""


class Scope(Protocol):
    """What inference offers to rules beyond the node's own inputs."""

    def fact(self, tensor: Tensor) -> Fact:
        """What is known of a tensor."""

    def value(self, tensor: Tensor) -> Values | None:
        """The elements of a small tensor, or None."""

    def value_origin(self, tensor: Tensor) -> str:
        """Where the value of a tensor stops being known, in words."""

    def fresh(self, name: str) -> Expr:
        """The symbol of a length that only the run decides; the same for the same name."""

    def unknown(self, key: object, because: str) -> Expr:
        """The symbol of an unknown dim; the same for the same key."""

    def reason(self, fact: Fact) -> str:
        """Why not all of a type is known; empty where it is, or where nothing says why."""

    def graph(self, graph: Graph, inputs: Sequence[Fact | None], runs: bool | None = True) -> list[Fact]:
        """Infer a subgraph from facts of its inputs and return those of its outputs.

        `runs` says whether it ever runs, None where that is open: then its clashes are warnings, or no findings at all.
        """

    def require(self, node: Node, a: Dim, b: Dim, where: str, kind: Kind) -> None:
        """Note that the node only runs where the symbols of two dims make them fit as `kind` says."""


class Call:
    """A node under inference: facts of its inputs, its attributes with their types checked, names for new dims."""

    __slots__ = ("node", "scope")

    def __init__(self, node: Node, scope: Scope) -> None:
        self.node = node
        self.scope = scope

    # --- inputs

    def tensor(self, slot: int) -> Tensor | None:
        """The tensor in an input slot; None where it is absent."""
        inputs = self.node.inputs
        return inputs[slot] if slot < len(inputs) else None

    def has(self, slot: int) -> bool:
        """Whether an optional input is present."""
        return self.tensor(slot) is not None

    @property
    def slots(self) -> range:
        """The input slots."""
        return range(len(self.node.inputs))

    def fact(self, slot: int) -> Fact:
        """What is known of an input; an empty fact where it is absent."""
        tensor = self.tensor(slot)
        return self.scope.fact(tensor) if tensor is not None else Fact()

    def type(self, slot: int) -> Type | None:
        """Type of an input."""
        return self.fact(slot).type

    def dtype(self, slot: int) -> DType | None:
        """Element type of an input; None where unknown or absent."""
        type_ = self.fact(slot).type
        return type_.dtype if isinstance(type_, TensorType) else None

    def shape(self, slot: int) -> KnownShape:
        """Shape of an input. Raises Unknown where its rank is not known, ShapeClash where it is absent."""
        tensor = self.tensor(slot)
        if tensor is None:
            raise ShapeClash(f"input {slot} is missing")
        fact = self.scope.fact(tensor)
        if isinstance(fact.type, TensorType) and fact.type.shape is not None:
            return fact.type.shape  # type: ignore[return-value]  # inside inference no dim is None
        raise Unknown(fact.because or f"the shape of {tensor.name!r} is not known")

    def known_shape(self, slot: int) -> KnownShape | None:
        """Shape of an input; None where it is absent or its rank is not known."""
        type_ = self.fact(slot).type
        return type_.shape if isinstance(type_, TensorType) else None  # type: ignore[return-value]

    def rank_at_least(self, slot: int, rank: int) -> KnownShape:
        """Shape of an input that must have that rank or more."""
        shape = self.shape(slot)
        if len(shape) < rank:
            raise ShapeClash(f"input {slot} is {format_shape(shape)}, of rank {len(shape)}; it needs {rank} or more")
        return shape

    def value(self, slot: int) -> Values | None:
        """Elements of an input, where it is small and anything of them is known."""
        tensor = self.tensor(slot)
        return self.scope.value(tensor) if tensor is not None else None

    def elements(self, slot: int) -> list[Any]:
        """Elements of a 1-D (or scalar) input, None for those not known.

        Raises Unknown where not even their number is known.
        """
        value = self.value(slot)
        if value is not None:
            return list(value.reshape(-1))
        shape = self.known_shape(slot)
        if shape is not None and len(shape) <= 1:
            count = shape[0] if shape else 1
            if isinstance(count, int) and count <= 64:
                return [None] * count
        raise Unknown(self.why_no_value(slot))

    def ints(self, slot: int) -> list[int]:
        """Elements of an input that must all be plain ints here. Raises Unknown otherwise."""
        elements = self.elements(slot)
        if not all(isinstance(e, int) for e in elements):
            raise Unknown(self.why_no_value(slot))
        return [int(e) for e in elements]

    def why_no_value(self, slot: int) -> str:
        """Why the elements of an input are not known, in words."""
        tensor = self.tensor(slot)
        return self.scope.value_origin(tensor) if tensor is not None else f"input {slot} is missing"

    # --- attributes

    def attr(self, name: str, default: T) -> T:
        """A scalar or list attribute of the default's type."""
        value = self.node.attributes.get(name, default)
        if value is default or isinstance(value, type(default)):
            return value
        raise ShapeClash(f"attribute {name!r} should be of type {type(default).__name__}, not {type(value).__name__}")

    def optional_ints(self, name: str) -> list[int] | None:
        """A list-of-ints attribute; None where it is absent."""
        return self._ints(name) if name in self.node.attributes else None

    def _ints(self, name: str) -> list[int]:
        value = self.node.attributes[name]
        if isinstance(value, list) and all(isinstance(v, int) for v in value):
            return list(value)  # type: ignore[arg-type]
        raise ShapeClash(f"attribute {name!r} should be a list of ints")

    def required_ints(self, name: str) -> list[int]:
        """A list-of-ints attribute that must be there."""
        self._must_have(name)
        return self._ints(name)

    def required_int(self, name: str) -> int:
        """An int attribute that must be there."""
        self._must_have(name)
        return self.attr(name, 0)

    def _must_have(self, name: str) -> None:
        if name not in self.node.attributes:
            raise ShapeClash(f"attribute {name!r} is missing")

    def dtype_attr(self, name: str) -> DType | None:
        """The element type that an attribute names by its code; None where absent or unknown."""
        return from_code(self.attr(name, 0))

    @property
    def opset(self) -> int:
        """The opset of the node's domain."""
        return self.node.opset

    # --- what must fit

    def equal(self, a: Dim, b: Dim, where: Callable[[], str]) -> Dim:
        """Of two dims that must be equal the one that says more; `where` goes on "the node …", for the finding.

        Raises ShapeClash where they cannot be equal.
        """
        if a is b or a == b:
            return a
        if isinstance(a, int) and isinstance(b, int):
            raise ShapeClash(f"it {where()}, but {a} is not {b}")
        self.scope.require(self.node, a, b, where(), "equal")
        return b if isinstance(b, int) else a

    def broadcast(self, *shapes: KnownShape) -> KnownShape:
        """The shape that some broadcast to. Raises ShapeClash where there is none."""
        result = shapes[0]
        for shape in shapes[1:]:
            if shape is result or shape == result:
                continue
            before, result = result, broadcast(result, shape)
            for a, b in zip(before[::-1], shape[::-1]):
                if a is not b and a != b and a != 1 and b != 1:
                    where = f"broadcasts {format_shape(before)} and {format_shape(shape)}"
                    self.scope.require(self.node, a, b, where, "broadcast")
        return result

    def multiple(self, a: Dim, n: Dim, where: Callable[[], str]) -> None:
        """Note that `a` must be a multiple of `n`. Raises ShapeClash where both are ints and it is not."""
        if isinstance(a, int) and isinstance(n, int):
            if n and a % n:
                raise ShapeClash(f"it {where()}, but {a} is no multiple of {n}")
        else:
            self.scope.require(self.node, a, n, where(), "multiple")

    # --- new dims

    def length(self, suffix: str) -> Expr:
        """The symbol of a length that the data decides, such as ``NonZero_3_count``."""
        return self.scope.fresh(f"{self.node.name}_{suffix}")

    def unknown_dim(self, key: object, because: str) -> Expr:
        """The symbol of a dim that cannot be told, for a reason."""
        return self.scope.unknown((self.node, key), because)

    def dim(self, element: Any, suffix: str) -> Dim:
        """An element of a shape as a dim: itself where known, else a length that the run decides."""
        if isinstance(element, (int, Expr)):
            return element
        if isinstance(element, float):
            raise ShapeClash(f"a shape holds {element}, which is no int")
        return self.length(suffix)

    def outputs(self, make: Callable[[int], Any]) -> list[Any]:
        """One `make(slot)` for each output slot of the node."""
        return [make(slot) for slot in range(len(self.node.outputs))]


def axis_in(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises ShapeClash where it lies outside the rank."""
    if not -rank <= axis < rank:
        raise ShapeClash(f"axis {axis} lies outside rank {rank}")
    return axis % rank if rank else 0


def axes_in(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front, each once. Raises ShapeClash where one is outside the rank or given twice."""
    found = [axis_in(axis, rank) for axis in axes]
    if len(set(found)) < len(found):
        raise ShapeClash(f"axes {list(axes)} name one axis twice")
    return found


__all__ = ["Call", "Scope", "axes_in", "axis_in", "symbol"]
