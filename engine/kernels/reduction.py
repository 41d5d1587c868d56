"""Reductions along axes, which older versions take as an attribute and newer ones as an input."""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from engine.dtypes import from_numpy
from engine.kernels.axes import normalise_axes
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, host_array, kernel

Reduce = Callable[[Any, Any, "tuple[int, ...]", bool], Any]
"""(xp, x, axes, keepdims) -> the reduced array; no axes means that each element is reduced alone."""


def _sum(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return x.sum(axis=axes, keepdims=keepdims, dtype=x.dtype)


def _prod(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return x.prod(axis=axes, keepdims=keepdims, dtype=x.dtype)


def _mean(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    count = prod(x.shape[axis] for axis in axes)
    if count == 0:  # undefined by the specification
        return _sum(xp, x, axes, keepdims) + x.dtype.type(0 if _is_integer(x) else np.nan)
    if not _is_integer(x):
        return x.mean(axis=axes, keepdims=keepdims)
    total = x.sum(axis=axes, keepdims=keepdims)
    return (xp.sign(total) * (xp.abs(total) // count)).astype(x.dtype)


def _max(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.size == 0:
        return x.max(axis=axes, keepdims=keepdims, initial=_least(x.dtype))
    return x.max(axis=axes, keepdims=keepdims)


def _min(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.size == 0:
        return x.min(axis=axes, keepdims=keepdims, initial=_greatest(x.dtype))
    return x.min(axis=axes, keepdims=keepdims)


def _l1(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return _sum(xp, xp.abs(x), axes, keepdims)


def _sum_square(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return _sum(xp, x * x, axes, keepdims)


def _l2(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return xp.sqrt(_sum_square(xp, _real(x), axes, keepdims)).astype(x.dtype)


def _log_sum(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return xp.log(_sum(xp, _real(x), axes, keepdims)).astype(x.dtype)


def _log_sum_exp(xp: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    real = _real(x)
    peak = _max(xp, real, axes, True)
    peak = xp.where(xp.isfinite(peak), peak, 0)
    total = xp.log(_sum(xp, xp.exp(real - peak), axes, True)) + peak
    if not keepdims:
        total = total.reshape([n for axis, n in enumerate(x.shape) if axis not in axes])
    return total.astype(x.dtype)


def _is_integer(x: Any) -> bool:
    return x.dtype.kind in "iu"


def _real(x: Any) -> Any:
    return x.astype(np.float64) if _is_integer(x) else x


def _least(dtype: np.dtype) -> Any:
    described = from_numpy(dtype)
    if described is not None and described.kind == "bool":
        return False
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _greatest(dtype: np.dtype) -> Any:
    described = from_numpy(dtype)
    if described is not None and described.kind == "bool":
        return True
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _declare(op_type: str, reduce: Reduce, by_attribute: tuple[int, ...], by_input: tuple[int, ...]) -> None:
    """Declare both forms of a reduction for the versions that have each."""

    def from_attribute(
        ctx: KernelContext, x: Any, *, axes: list[int] | None = None, keepdims: int = 1
    ) -> Any:
        chosen = normalise_axes(axes, x.ndim) if axes else tuple(range(x.ndim))
        return reduce(ctx.xp, x, chosen, bool(keepdims))

    def from_input(
        ctx: KernelContext, x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Any:
        wanted = () if axes is None else host_array(axes).reshape(-1)
        if len(wanted) == 0 and noop_with_empty_axes:
            return reduce(ctx.xp, x, (), bool(keepdims))
        chosen = normalise_axes(wanted, x.ndim) if len(wanted) else tuple(range(x.ndim))
        return reduce(ctx.xp, x, chosen, bool(keepdims))

    kernel(op_type, *by_attribute)(in_float32(from_attribute))
    kernel(op_type, *by_input, host_inputs=(1,))(in_float32(from_input))


_declare("ReduceSum", _sum, (1, 11), (13,))
for _op, _reduce in {
    "ReduceMean": _mean, "ReduceProd": _prod, "ReduceL1": _l1, "ReduceL2": _l2, "ReduceSumSquare": _sum_square,
}.items():  # fmt: skip
    _declare(_op, _reduce, (1, 11, 13), (18,))
for _op, _reduce in {"ReduceLogSum": _log_sum, "ReduceLogSumExp": _log_sum_exp}.items():
    _declare(_op, _reduce, (1, 11, 13), (18, 28))
for _op, _reduce in {"ReduceMax": _max, "ReduceMin": _min}.items():
    _declare(_op, _reduce, (1, 11, 12, 13), (18, 20))
