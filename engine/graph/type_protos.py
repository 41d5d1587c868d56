"""From TypeProto to the types of `engine.graph.types` (onnx.proto, `TypeProto`, `TensorShapeProto`)."""
from __future__ import annotations

from dataclasses import dataclass

from onnx import TensorShapeProto, TypeProto

from engine import dtypes
from engine.dims import Dim, Shape, symbol
from engine.graph.text import text
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a TypeProto says: the type, and what the value and each axis stand for, empty where it says nothing."""

    type: Type | None
    denotation: str = ""
    dim_denotations: tuple[str, ...] = ()

    @classmethod
    def of(cls, proto: TypeProto) -> Declaration:
        """Read a message (onnx.proto, `TypeProto.denotation`, `TensorShapeProto.Dimension.denotation`)."""
        shape = proto.tensor_type.shape if proto.WhichOneof("value") == "tensor_type" else None
        of_dims = tuple(text(dim.denotation) for dim in shape.dim) if shape else ()
        return cls(read_type(proto), text(proto.denotation), of_dims if any(of_dims) else ())


def read_type(proto: TypeProto) -> Type | None:
    """The type that a message declares; None where it declares none that is known here."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        tensor = proto.tensor_type
        shape = read_shape(tensor.shape) if tensor.HasField("shape") else None
        return TensorType(dtypes.from_code(tensor.elem_type), shape)
    if kind == "sparse_tensor_type":
        sparse = proto.sparse_tensor_type
        shape = read_shape(sparse.shape) if sparse.HasField("shape") else None
        return TensorType(dtypes.from_code(sparse.elem_type), shape, sparse=True)
    if kind == "sequence_type":
        return SequenceType(read_type(proto.sequence_type.elem_type))
    if kind == "optional_type":
        return OptionalType(read_type(proto.optional_type.elem_type))
    if kind == "map_type":
        return MapType(dtypes.from_code(proto.map_type.key_type), read_type(proto.map_type.value_type))
    return None


def read_shape(proto: TensorShapeProto) -> Shape:
    """A declared shape: sizes, named symbols, and None for dims that are unset, negative, "" or "?"."""
    return tuple(_read_dim(dim) for dim in proto.dim)


def _read_dim(dim: TensorShapeProto.Dimension) -> Dim | None:
    kind = dim.WhichOneof("value")
    if kind == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    if kind == "dim_param" and dim.dim_param not in ("", "?"):
        return symbol(text(dim.dim_param))
    return None
