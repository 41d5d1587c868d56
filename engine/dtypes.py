"""Element types of ONNX tensors: one `DType` per code of `TensorProto.DataType`, with its NumPy counterpart and width.

Source: onnx.proto (IR version 14), `TensorProto.DataType`.
"""
from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class DType:
    """An element type: its ONNX name and code, the NumPy dtype that carries it, and its stored width in bits.

    `bits` is the width in a file (4 for int4); NumPy spends at least a byte on each element. Strings have `bits` 0.
    """

    name: str
    code: int
    numpy: np.dtype
    bits: int
    kind: str  # "float", "int", "uint", "bool", "complex", "string"

    @property
    def short(self) -> str:
        """Abbreviation used where space is scarce, such as ``f32`` or ``i64``."""
        return _SHORT.get(self.name, self.name)

    def __str__(self) -> str:
        return self.name


_SHORT = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "string": "str",
    "complex64": "c64", "complex128": "c128", "int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2",
}  # fmt: skip


def _table() -> list[DType]:
    rows: list[tuple[str, int, object, int, str]] = [
        ("float32", 1, np.float32, 32, "float"),
        ("uint8", 2, np.uint8, 8, "uint"),
        ("int8", 3, np.int8, 8, "int"),
        ("uint16", 4, np.uint16, 16, "uint"),
        ("int16", 5, np.int16, 16, "int"),
        ("int32", 6, np.int32, 32, "int"),
        ("int64", 7, np.int64, 64, "int"),
        ("string", 8, np.object_, 0, "string"),
        ("bool", 9, np.bool_, 8, "bool"),
        ("float16", 10, np.float16, 16, "float"),
        ("float64", 11, np.float64, 64, "float"),
        ("uint32", 12, np.uint32, 32, "uint"),
        ("uint64", 13, np.uint64, 64, "uint"),
        ("complex64", 14, np.complex64, 64, "complex"),
        ("complex128", 15, np.complex128, 128, "complex"),
        ("bfloat16", 16, ml_dtypes.bfloat16, 16, "float"),
        ("float8e4m3fn", 17, ml_dtypes.float8_e4m3fn, 8, "float"),
        ("float8e4m3fnuz", 18, ml_dtypes.float8_e4m3fnuz, 8, "float"),
        ("float8e5m2", 19, ml_dtypes.float8_e5m2, 8, "float"),
        ("float8e5m2fnuz", 20, ml_dtypes.float8_e5m2fnuz, 8, "float"),
        ("uint4", 21, ml_dtypes.uint4, 4, "uint"),
        ("int4", 22, ml_dtypes.int4, 4, "int"),
        ("float4e2m1", 23, ml_dtypes.float4_e2m1fn, 4, "float"),
        ("float8e8m0", 24, ml_dtypes.float8_e8m0fnu, 8, "float"),
        ("uint2", 25, ml_dtypes.uint2, 2, "uint"),
        ("int2", 26, ml_dtypes.int2, 2, "int"),
        ("float6e2m3", 27, ml_dtypes.float6_e2m3fn, 6, "float"),
        ("float6e3m2", 28, ml_dtypes.float6_e3m2fn, 6, "float"),
    ]
    return [DType(name, code, np.dtype(numpy), bits, kind) for name, code, numpy, bits, kind in rows]  # type: ignore[call-overload]


ALL = tuple(_table())
BY_CODE = {t.code: t for t in ALL}
BY_NAME = {t.name: t for t in ALL}
_BY_NUMPY = {t.numpy: t for t in ALL}

FLOAT32, FLOAT16, BFLOAT16, FLOAT64 = (BY_NAME[n] for n in ("float32", "float16", "bfloat16", "float64"))
INT32, INT64, UINT8, INT8, BOOL, STRING = (BY_NAME[n] for n in ("int32", "int64", "uint8", "int8", "bool", "string"))


def from_code(code: int) -> DType | None:
    """The element type with that `TensorProto.DataType` code, or None for UNDEFINED and codes unknown here."""
    return BY_CODE.get(code)


def from_numpy(dtype: np.dtype) -> DType | None:
    """The element type that NumPy carries as `dtype`; any string dtype is `string`. None where ONNX has none."""
    if dtype.kind in "US":
        return STRING
    return _BY_NUMPY.get(dtype)
