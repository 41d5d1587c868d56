"""Reading and writing by index tensors, which may hold negative indices counted from the back."""
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.axes import Array, as_ints, check_allocation, normalise_axis, on_axis
from engine.kernels.registry import KernelContext, kernel


@kernel("Gather", 1, 11, 13)
def gather(ctx: KernelContext, x: Array, indices: Array, *, axis: int = 0) -> Array:
    return ctx.xp.take(x, indices, axis=normalise_axis(axis, x.ndim))


@kernel("GatherElements", 11, 13)
def gather_elements(ctx: KernelContext, x: Array, indices: Array, *, axis: int = 0) -> Array:
    return x[_elements(ctx.xp, indices, normalise_axis(axis, x.ndim))]


@kernel("GatherND", 11, 12, 13)
def gather_nd(ctx: KernelContext, x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    """Slices of `x` at index tuples held by the last axis of `indices`, within each of the batches."""
    batch = x.shape[:batch_dims]
    depth = indices.shape[-1]
    flat = x.reshape((prod(batch), *x.shape[batch_dims:]))
    tuples = indices.reshape((prod(batch), -1 if indices.size else 0, depth)) if depth else None
    if tuples is None:
        raise UnsupportedError("GatherND by empty index tuples")
    rows = ctx.xp.arange(flat.shape[0])[:, None]
    found = flat[(rows, *(tuples[..., k] for k in range(depth)))]
    return found.reshape(indices.shape[:-1] + x.shape[batch_dims + depth :])


def _elements(xp: Any, indices: Array, axis: int) -> tuple[Array, ...]:
    """The index that pairs each element of `indices` with its own place on all axes but `axis`."""
    rank = indices.ndim
    return tuple(
        indices if i == axis else on_axis(xp.arange(n), i, rank) for i, n in enumerate(indices.shape)
    )  # fmt: skip


_REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _write(target: np.ndarray, index: tuple[Any, ...], updates: np.ndarray, reduction: str) -> np.ndarray:
    """`updates` written to, or combined with, what `index` addresses; repeated indices combine one after another."""
    if reduction == "none":
        target[index] = updates
    elif reduction in _REDUCTIONS:
        _REDUCTIONS[reduction].at(target, index, updates)
    else:
        raise UnsupportedError(f"reduction {reduction!r} is unknown")
    return target


@kernel("ScatterElements", 11, 13, 16, 18, generic=False)
def scatter_elements(
    ctx: KernelContext, x: Array, indices: Array, updates: Array, *, axis: int = 0, reduction: str = "none"
) -> Array:
    index = _elements(np, indices, normalise_axis(axis, x.ndim))
    return _write(x.copy(), index, updates, reduction)


kernel("Scatter", 9, 11, generic=False)(scatter_elements)


@kernel("ScatterND", 11, 13, 16, 18, generic=False)
def scatter_nd(ctx: KernelContext, x: Array, indices: Array, updates: Array, *, reduction: str = "none") -> Array:
    """A copy of `x` with slices of `updates` written at the index tuples of the last axis of `indices`."""
    return _write(x.copy(), tuple(np.moveaxis(indices, -1, 0)), updates, reduction)


@kernel("TensorScatter", 24, generic=False)
def tensor_scatter(
    ctx: KernelContext, cache: Array, update: Array, write_indices: Array | None = None, *, axis: int = -2,
    mode: str = "linear",
) -> Array:  # fmt: skip
    """A key/value cache with `update` written from each batch's own index on."""
    axis = normalise_axis(axis, cache.ndim)
    starts = np.zeros(cache.shape[0], np.int64) if write_indices is None else write_indices
    positions = starts[:, None] + np.arange(update.shape[axis])
    if mode == "circular":
        positions = positions % cache.shape[axis]
    result = cache.copy()
    batches = np.arange(cache.shape[0])[:, None]
    np.moveaxis(result, axis, 1)[batches, positions] = np.moveaxis(update, axis, 1)
    return result


@kernel("OneHot", 11, 28, host_inputs=(1,))
def one_hot(ctx: KernelContext, indices: Array, depth: np.ndarray, values: Array, *, axis: int = -1) -> Array:
    """`values` is [off, on]; an index outside [-depth, depth) gives off everywhere."""
    n = as_ints(depth)[0]
    whole = indices.astype(np.int64, copy=False)  # also of fractions
    return _one_hot(ctx.xp, ctx.xp.where(whole < 0, whole + n, whole), n, values, axis)


@kernel("OneHot", 9, host_inputs=(1,))
def one_hot_9(ctx: KernelContext, indices: Array, depth: np.ndarray, values: Array, *, axis: int = -1) -> Array:
    """Version 9 has no negative indices."""
    return _one_hot(ctx.xp, indices.astype(np.int64, copy=False), as_ints(depth)[0], values, axis)


def _one_hot(xp: Any, indices: Array, depth: int, values: Array, axis: int) -> Array:
    rank = indices.ndim + 1
    axis = normalise_axis(axis, rank)
    if depth < 0 or values.size != 2:
        raise ValueError(f"depth {depth} should not be negative, and values should be two, not {values.size}")
    check_allocation((*indices.shape, depth), values.dtype)
    hot = xp.expand_dims(indices, axis) == on_axis(xp.arange(depth), axis, rank)
    return xp.where(hot, values[1], values[0])


@kernel("NonZero", 9, 13)
def non_zero(ctx: KernelContext, x: Array) -> Array:
    """Indices of nonzero elements, int64 [rank, count], in row-major order."""
    if x.ndim == 0:
        return ctx.xp.zeros((0, int(bool(x))), dtype=np.int64)
    return ctx.xp.stack(ctx.xp.nonzero(x)).astype(np.int64, copy=False)


@kernel("Compress", 9, 11, 28, generic=False)
def compress(ctx: KernelContext, x: Array, condition: Array, *, axis: int | None = None) -> Array:
    """The slices along `axis` (elements, without one) where the condition, which may be shorter, holds."""
    return np.compress(condition, x, axis=None if axis is None else normalise_axis(axis, x.ndim))
