"""Softmax and its kin: along one axis since opset 13, over the rows of the flattened 2-D matrix before."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.kernels.axes import Array, normalise_axis, on_axis
from engine.kernels.elementwise import ROWS, by_rows
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel


def softmax_along(xp: Any, x: Array, axis: int) -> Array:
    """exp(x) over its sum along `axis`, of floats, shifted by the greatest value against overflow."""
    if x.size == 0:
        return x
    if xp is not np or axis != x.ndim - 1 or x.size <= ROWS:
        return _softmax(xp, x, axis)
    return by_rows(x, lambda rows: _softmax(np, rows, 1))


def _softmax(xp: Any, x: Array, axis: int) -> Array:
    result = x - x.max(axis=axis, keepdims=True)
    result = xp.exp(result, out=result)
    result /= result.sum(axis=axis, keepdims=True)
    return result


def log_softmax_along(xp: Any, x: Array, axis: int) -> Array:
    """The logarithm of `softmax_along`, without its rounding."""
    if x.size == 0:
        return x
    result = x - x.max(axis=axis, keepdims=True)
    result -= xp.log(xp.exp(result).sum(axis=axis, keepdims=True))
    return result


def hardmax_along(xp: Any, x: Array, axis: int) -> Array:
    """1 at the first greatest value along `axis`, 0 elsewhere."""
    if x.size == 0:
        return x
    positions = on_axis(xp.arange(x.shape[axis]), axis, x.ndim)
    return (positions == xp.expand_dims(x.argmax(axis=axis), axis)).astype(x.dtype)


def _declare(op_type: str, function: Callable[[Any, Array, int], Array]) -> None:
    @kernel(op_type, 13)
    @in_float32
    def along_axis(ctx: KernelContext, x: Array, *, axis: int = -1) -> Array:
        return function(ctx.xp, x, normalise_axis(axis, x.ndim))

    @kernel(op_type, 1, 11)
    @in_float32
    def over_rows(ctx: KernelContext, x: Array, *, axis: int = 1) -> Array:
        axis = x.ndim if axis == x.ndim else normalise_axis(axis, x.ndim)
        rows = 1
        for d in x.shape[:axis]:
            rows *= d
        columns = x.size // rows if rows else 0
        return function(ctx.xp, x.reshape(rows, columns), 1).reshape(x.shape)


_declare("Softmax", softmax_along)
_declare("LogSoftmax", log_softmax_along)
_declare("Hardmax", hardmax_along)
