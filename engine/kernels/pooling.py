"""Pooling: reductions over windows that slide along the spatial axes, and over all of them at once."""
from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod
from typing import Any, Unpack

import numpy as np

from engine.dims.windows import pad_pairs, per_axis
from engine.dtypes import from_numpy
from engine.errors import UnsupportedError
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, host_array, kernel
from engine.kernels.windows import Sliding, Windows, windows


def padded(xp: Any, x: Any, w: Windows, value: Any) -> Any:
    """The input [N, C, *spatial] with `value` around it so that every window lies inside; `x` where none is needed."""
    widths = [(before, max(after, 0)) for before, after in w.padding()]
    if not any(before or after for before, after in widths):
        return x
    shape = x.shape[:2] + tuple(n + before + after for n, (before, after) in zip(w.size, widths))
    out = xp.full(shape, value, x.dtype)
    out[(..., *(slice(before, before + n) for n, (before, _) in zip(w.size, widths)))] = x
    return out


def reduce_windows(x: Any, w: Windows, combine: Callable[..., Any]) -> Any:
    """`combine` (a binary ufunc) over every window of a padded input, one axis after the other.

    Taking axes in turn costs the sum of the kernel's sides where taking its elements would cost their product.
    """
    for axis, (k, s, d, o) in enumerate(zip(w.kernel, w.strides, w.dilations, w.out), start=2):
        picks = [
            x[(slice(None),) * axis + (slice(i * d, i * d + (o - 1) * s + 1, s) if o else slice(0, 0),)]
            for i in range(k)
        ]
        x = picks[0]
        if k > 1:
            x = combine(picks[0], picks[1])
            for pick in picks[2:]:
                combine(x, pick, out=x)
    return x


@kernel("MaxPool", 1, 8, 10, 11, 12, 22)
def max_pool(
    ctx: KernelContext,
    x: Any,
    *,
    kernel_shape: list[int],
    ceil_mode: int = 0,
    storage_order: int = 0,
    **sliding: Unpack[Sliding],
) -> Any:
    """Largest element of each window, and on request its flat index in the input (MaxPool 22)."""
    xp = ctx.xp
    w = windows(x.shape[2:], kernel_shape, ceil_mode=ceil_mode, **sliding)
    wide = padded(xp, x, w, lowest(x.dtype))
    if len(ctx.wanted) < 2 or not ctx.wanted[1]:
        return reduce_windows(wide, w, xp.maximum)
    best: Any = None
    where: Any = None
    for position, index in w.offsets():
        values = wide[(..., *index)]
        places = _flat_places(xp, w, position, storage_order)
        if best is None:
            best, where = values.copy(), xp.broadcast_to(places, values.shape).copy()
            continue
        # The padding holds the lowest value of the dtype, and so may tie with an input: only a place inside can win.
        # Of numbers and NaN, which does not equal itself, NaN wins.
        better = (values > best) | ((where < 0) & (places >= 0) & (values >= best))
        better |= (values != values) & (best == best)
        best = xp.where(better, values, best)
        where = xp.where(better, places, where)
    planes = xp.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(x.shape[:2] + (1,) * len(w.size))
    return best, where + planes * prod(w.size)


def _flat_places(xp: Any, w: Windows, position: tuple[int, ...], column_major: int) -> Any:
    """For each window, the index within its plane of the element at `position`; -1 in the padding. Shape `w.out`."""
    rank = len(w.size)
    places: Any = xp.zeros((1,) * rank, np.int64)
    inside: Any = xp.ones((1,) * rank, bool)
    step = 1
    for axis in range(rank) if column_major else reversed(range(rank)):
        along = xp.arange(w.out[axis], dtype=np.int64) * w.strides[axis] - w.pads_begin[axis]
        along = (along + position[axis] * w.dilations[axis]).reshape(tuple(-1 if a == axis else 1 for a in range(rank)))
        inside = inside & (along >= 0) & (along < w.size[axis])
        places = places + along * step
        step *= w.size[axis]
    return xp.where(inside, places, -1)


def lowest(dtype: np.dtype) -> Any:
    """The least value of a dtype: -inf for floats."""
    described = from_numpy(dtype)
    if described is not None and described.kind == "float":
        return dtype.type(-np.inf)
    return dtype.type(np.iinfo(dtype).min)


@kernel("AveragePool", 1, 7, 10, 11, 19, 22)
@in_float32
def average_pool(
    ctx: KernelContext,
    x: Any,
    *,
    kernel_shape: list[int],
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    **sliding: Unpack[Sliding],
) -> Any:
    """Mean of each window over its elements in the input, or with the padding counted as zeros (AveragePool 22)."""
    xp = ctx.xp
    w = windows(x.shape[2:], kernel_shape, ceil_mode=ceil_mode, **sliding)
    total = reduce_windows(padded(xp, x, w, 0), w, xp.add)
    counts = w.counts(bool(count_include_pad))
    if all(c == k for axis, k in zip(counts, w.kernel) for c in axis):
        return total * x.dtype.type(1 / prod(w.kernel))
    # A window that holds nothing but padding averages nothing; it is given 0 rather than 0 / 0.
    sizes = reduce(np.multiply.outer, [np.array(axis) for axis in counts])
    return total / xp.asarray(np.maximum(sizes, 1).astype(x.dtype))


@kernel("LpPool", 1, 2, 11, 18, 22)
@in_float32
def lp_pool(
    ctx: KernelContext,
    x: Any,
    *,
    kernel_shape: list[int],
    p: float = 2,
    ceil_mode: int = 0,
    **sliding: Unpack[Sliding],
) -> Any:
    """p-norm of each window (LpPool 22)."""
    xp = ctx.xp
    w = windows(x.shape[2:], kernel_shape, ceil_mode=ceil_mode, **sliding)
    powers = xp.abs(x) ** x.dtype.type(p)
    return reduce_windows(padded(xp, powers, w, 0), w, xp.add) ** x.dtype.type(1 / p)


def _planes(x: Any) -> Any:
    """[N, C, *spatial] as [N, C, elements of a plane]."""
    return x.reshape(*x.shape[:2], prod(x.shape[2:]))


def _as_global(y: Any, x: Any) -> Any:
    return y.reshape(x.shape[:2] + (1,) * (x.ndim - 2))


@kernel("GlobalAveragePool", 1, 22)
@in_float32
def global_average_pool(ctx: KernelContext, x: Any) -> Any:
    """Mean over all spatial axes, kept with length 1 (GlobalAveragePool 22)."""
    return _as_global(_planes(x).mean(axis=2), x)


@kernel("GlobalMaxPool", 1, 22)
def global_max_pool(ctx: KernelContext, x: Any) -> Any:
    """Maximum over all spatial axes, kept with length 1 (GlobalMaxPool 22)."""
    return _as_global(_planes(x).max(axis=2), x)


@kernel("GlobalLpPool", 1, 2, 22)
@in_float32
def global_lp_pool(ctx: KernelContext, x: Any, *, p: float = 2) -> Any:
    """p-norm over all spatial axes, kept with length 1 (GlobalLpPool 22)."""
    powers = ctx.xp.abs(_planes(x)) ** x.dtype.type(p)
    return _as_global(powers.sum(axis=2) ** x.dtype.type(1 / p), x)


@kernel("MaxUnpool", 9, 11, 22, host_inputs=(2,))
def max_unpool(
    ctx: KernelContext,
    x: Any,
    indices: Any,
    output_shape: Any = None,
    *,
    kernel_shape: list[int],
    strides: list[int] | None = None,
    pads: list[int] | None = None,
) -> Any:
    """Each element back at its flat index, zeros elsewhere (MaxUnpool 22).

    The indices count in the shape that undoes the pooling; a larger `output_shape` adds zeros behind it.
    """
    xp = ctx.xp
    rank = x.ndim - 2
    axes = zip(
        x.shape[2:], per_axis("strides", strides, rank), per_axis("kernel_shape", kernel_shape, rank),
        pad_pairs(pads, rank),
    )  # fmt: skip
    spatial = tuple((n - 1) * s + k - before - after for n, s, k, (before, after) in axes)
    y = xp.zeros(prod(x.shape[:2]) * prod(spatial), x.dtype)
    y[indices.reshape(-1)] = x.reshape(-1)
    y = y.reshape(x.shape[:2] + spatial)
    if output_shape is None:
        return y
    shape = tuple(int(n) for n in host_array(output_shape))
    if any(n < m for n, m in zip(shape, y.shape)):
        raise UnsupportedError(f"output_shape {list(shape)} is smaller than the unpooled shape {list(y.shape)}")
    larger = xp.zeros(shape, x.dtype)
    larger[tuple(slice(n) for n in y.shape)] = y
    return larger
