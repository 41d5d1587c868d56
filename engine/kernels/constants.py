"""Values that come from attributes and shapes rather than from computing: constants, shapes, ranges."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.dtypes import from_code
from engine.errors import UnsupportedError
from engine.kernels.axes import Array, as_ints, check_allocation
from engine.kernels.precision import wide
from engine.kernels.registry import KernelContext, kernel

_LATE = (19, 21, 23, 24, 25)


@kernel("Identity", 1, 13, 14, 16, *_LATE)
def identity(ctx: KernelContext, x: Any) -> Any:
    return x


@kernel("Constant", 1, 9, 11, 12, 13, *_LATE)
def constant(
    ctx: KernelContext,
    *,
    value: np.ndarray | None = None,
    sparse_value: np.ndarray | None = None,
    value_float: float | None = None,
    value_floats: list[float] | None = None,
    value_int: int | None = None,
    value_ints: list[int] | None = None,
    value_string: str | None = None,
    value_strings: list[str] | None = None,
) -> Array:
    forms: tuple[tuple[Any, Any], ...] = (
        (value_float, np.float32), (value_floats, np.float32), (value_int, np.int64), (value_ints, np.int64),
        (value_string, object), (value_strings, object),
    )  # fmt: skip
    for tensor in (value, sparse_value):
        if tensor is not None:
            return ctx.xp.asarray(tensor) if tensor.dtype.kind != "O" else tensor
    for content, dtype in forms:
        if content is not None:
            return np.array(content, dtype=dtype) if dtype is object else ctx.xp.asarray(content, dtype=dtype)
    raise UnsupportedError("Constant holds none of the attributes that give it a value")


@kernel("ConstantOfShape", 9, 20, 21, 23, 24, 25, host_inputs=(0,))
def constant_of_shape(ctx: KernelContext, shape: np.ndarray, *, value: np.ndarray | None = None) -> Array:
    fill = np.zeros(1, np.float32) if value is None else value.reshape(-1)
    return ctx.xp.full(check_allocation(as_ints(shape), fill.dtype), fill[0], dtype=fill.dtype)


@kernel("Shape", 1, 13, host_outputs=(0,))
def shape(ctx: KernelContext, x: Array) -> Array:
    return np.asarray(x.shape, dtype=np.int64)


@kernel("Shape", 15, *_LATE, host_outputs=(0,))
def shape_between(ctx: KernelContext, x: Array, *, start: int = 0, end: int | None = None) -> Array:
    """The dims from `start` to `end`; both count from the back where negative, and are clamped."""
    return np.asarray(x.shape[start:end], dtype=np.int64)


@kernel("Size", 1, 13, *_LATE, host_outputs=(0,))
def size(ctx: KernelContext, x: Array) -> Array:
    return np.asarray(x.size, dtype=np.int64)


@kernel("Range", 11, 27, host_inputs=(0, 1, 2))
def arange(ctx: KernelContext, start: Array, limit: Array, delta: Array, *, stash_type: int = 1) -> Array:
    """``start + i * delta`` below `limit`; half floats are computed in float32."""
    dtype = start.dtype
    first, step = (wide(np.asarray(v).reshape(()))[()] for v in (start, delta))  # scalars: welcome on every device
    if step == 0:
        raise ValueError("delta is 0, so that the range would never end")
    if dtype.kind in "iu":
        count = -((int(start.item()) - int(limit.item())) // int(step))
    else:
        count = math.ceil((float(limit.item()) - float(first)) / float(step))
    (count,) = check_allocation([max(count, 0)], np.dtype(np.int64))
    steps = ctx.xp.arange(count).astype(first.dtype)
    return (steps * step + first).astype(dtype, copy=False)


@kernel("EyeLike", 9, 22)
def eye_like(ctx: KernelContext, x: Array, *, dtype: int | None = None, k: int = 0) -> Array:
    target = from_code(dtype) if dtype is not None else None
    rows, columns = x.shape
    return ctx.xp.eye(rows, columns, k=k).astype(target.numpy if target else x.dtype)
