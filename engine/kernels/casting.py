"""Casts between element types, rounding and saturating as the operator's tables say."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx

from engine.dtypes import DType, from_code
from engine.errors import UnsupportedError
from engine.kernels.axes import Array
from engine.kernels.registry import KernelContext, kernel

_CAST_VERSIONS = (6, 9, 13, 19, 21, 23, 24, 25, 28)


@kernel("Cast", *_CAST_VERSIONS)
def cast(ctx: KernelContext, x: Array, *, to: int, saturate: int = 1, round_mode: str = "up") -> Array:
    """Each element in the type with the code `to` of `TensorProto.DataType` (Cast 25)."""
    target = _dtype(to)
    return convert(ctx.xp, x, target.numpy, saturate=bool(saturate), round_mode=round_mode)


@kernel("Cast", 1)
def cast_1(ctx: KernelContext, x: Array, *, to: str) -> Array:
    """Version 1 names the target type, such as ``FLOAT``."""
    return convert(ctx.xp, x, _dtype(onnx.TensorProto.DataType.Value(to.upper())).numpy)


@kernel("CastLike", 15, 19, 21, 23, 24, 25)
def cast_like(ctx: KernelContext, x: Array, like: Array, *, saturate: int = 1, round_mode: str = "up") -> Array:
    """Cast to the element type of `like` (CastLike 25)."""
    return convert(ctx.xp, x, like.dtype, saturate=bool(saturate), round_mode=round_mode)


@kernel("BitCast", 26, generic=False)
def bit_cast(ctx: KernelContext, x: Array, *, to: int) -> Array:
    """The same bits read as another type of the same width."""
    return np.ascontiguousarray(x).view(_dtype(to).numpy).reshape(x.shape)


def _dtype(code: int) -> DType:
    found = from_code(code)
    if found is None:
        raise UnsupportedError(f"element type {code} is unknown")
    return found


def convert(xp: Any, x: Array, dtype: np.dtype, *, saturate: bool = True, round_mode: str = "up") -> Array:
    """`x` cast to `dtype` by the rules of operator Cast. Numbers beyond an integer type's range give what wrapping
    through int64 gives, so that an answer the specification leaves open is at least always the same one.
    """
    source = x.dtype
    if source == dtype:
        return x
    if dtype.kind == "O":
        return _to_strings(x)
    if source.kind in "OUS":
        return _from_strings(x, dtype, saturate)
    if dtype == ml_dtypes.float8_e8m0fnu:
        return _to_e8m0(x.astype(np.float32), saturate, round_mode)
    if dtype in _FLOAT8:
        return _to_float8(xp, x, dtype, saturate)
    if dtype.kind == "b":
        return x != source.type(0)
    if dtype.kind in "iu" and source.kind in "fV" and dtype.itemsize < 8 and dtype != np.int32:
        return x.astype(np.int64).astype(dtype)
    return x.astype(dtype)


_FLOAT8 = {
    np.dtype(t): float(ml_dtypes.finfo(t).max)
    for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz)
}


def _to_float8(xp: Any, x: Array, dtype: np.dtype, saturate: bool) -> Array:
    if x.dtype.kind != "f":
        x = x.astype(np.float32)
    if saturate:  # NaN passes through clip
        greatest = x.dtype.type(_FLOAT8[dtype]) if x.dtype != np.float16 else np.float16(min(_FLOAT8[dtype], 65504))
        x = xp.clip(x, -greatest, greatest)
    return x.astype(dtype)


def _to_e8m0(x: np.ndarray, saturate: bool, round_mode: str) -> np.ndarray:
    """Powers of two 2^-127 … 2^127, stored as the exponent + 127; 255 is NaN."""
    fraction, exponent = np.frexp(x)  # x = fraction * 2^exponent, fraction in [0.5, 1)
    carry = {"up": fraction > 0.5, "nearest": fraction >= 0.75, "down": False}[round_mode]
    code = exponent.astype(np.int32) - 1 + carry + 127
    code = np.where(x == 0, -1, np.where(np.isinf(x), 255, code))  # outside [0, 254] as are all that don't fit
    code = np.clip(code, 0, 254) if saturate else np.where((code < 0) | (code > 254), 255, code)
    return np.asarray(np.where(np.isnan(x), 255, code).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu))


def _to_strings(x: np.ndarray) -> np.ndarray:
    spell = _spell_float if x.dtype.kind in "fV" else str
    if x.dtype.kind == "V":
        x = x.astype(np.float32)
    out = np.empty(x.shape, dtype=object)
    out.reshape(-1)[:] = [spell(v) for v in x.reshape(-1)]
    return out


def _spell_float(value: Any) -> str:
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "INF" if value > 0 else "-INF"
    return str(value)


def _from_strings(x: np.ndarray, dtype: np.dtype, saturate: bool) -> np.ndarray:
    words = [v.decode() if isinstance(v, bytes) else str(v) for v in x.reshape(-1)]
    if dtype.kind in "iub":
        values: list[Any] = [_parse_int(w) for w in words]
        wide = np.array(values, dtype=object).astype(np.uint64 if dtype == np.uint64 else np.int64)
        return wide.astype(dtype).reshape(x.shape)
    numbers = np.array([float(w) for w in words], dtype=np.float64).reshape(x.shape)
    return np.asarray(convert(np, numbers, dtype, saturate=saturate))


def _parse_int(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        return int(float(word))
