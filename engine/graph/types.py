"""Types of ONNX values: tensors, sparse tensors, sequences, optionals and maps (onnx.proto `TypeProto`)."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from engine.dims import Shape
from engine.dtypes import DType


@dataclass(frozen=True, slots=True)
class TensorType:
    """A (sparse) tensor of `dtype` and `shape`; None stands for an unknown dtype, rank or dim."""

    dtype: DType | None
    shape: Shape | None = None
    sparse: bool = False

    def with_shape(self, shape: Shape | None) -> TensorType:
        return replace(self, shape=shape)

    def __str__(self) -> str:
        return f"{self.dtype or '?'}{format_shape(self.shape)}"


@dataclass(frozen=True, slots=True)
class SequenceType:
    """A sequence of values of one type."""

    element: Type | None

    def __str__(self) -> str:
        return f"sequence({self.element or '?'})"


@dataclass(frozen=True, slots=True)
class OptionalType:
    """A value of `element` type, or nothing."""

    element: Type | None

    def __str__(self) -> str:
        return f"optional({self.element or '?'})"


@dataclass(frozen=True, slots=True)
class MapType:
    """A map from keys of a scalar type to values of one type."""

    key: DType | None
    value: Type | None

    def __str__(self) -> str:
        return f"map({self.key or '?'}, {self.value or '?'})"


Type: TypeAlias = "TensorType | SequenceType | OptionalType | MapType"


def format_shape(shape: Shape | None) -> str:
    """A shape as people write it, such as ``[N, 3, 224, ?]``; an unknown rank is ``[...]``."""
    if shape is None:
        return "[...]"
    return "[" + ", ".join("?" if d is None else str(d) for d in shape) + "]"
