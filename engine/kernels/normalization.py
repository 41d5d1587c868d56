"""Normalisations: to zero mean and unit variance, or to unit length, over some axes, then scaled and shifted."""
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from engine.dtypes import FLOAT32, from_code
from engine.errors import UnsupportedError
from engine.kernels.axes import normalise_axes
from engine.kernels.elementwise import ROWS, in_rows
from engine.kernels.precision import HALF, in_float32, wide
from engine.kernels.registry import KernelContext, kernel


def standardised(xp: Any, x: Any, axes: tuple[int, ...], epsilon: float) -> tuple[Any, Any, Any]:
    """``(x - mean) / sqrt(variance + epsilon)`` over `axes` as a fresh array, the mean, and ``1 / sqrt(...)``."""
    mean = x.mean(axis=axes, keepdims=True)
    y = x - mean
    factor = 1 / xp.sqrt((y * y).mean(axis=axes, keepdims=True) + x.dtype.type(epsilon))
    y *= factor
    return y, mean, factor


def goes_by_rows(xp: Any, x: Any, *vectors: Any) -> bool:
    """Whether `standardised_rows` can and should take over: of x, scale and what is added, None where absent."""
    plain = all(vector is None or (vector.ndim <= 1 and vector.dtype == x.dtype) for vector in vectors)
    return xp is np and plain and x.dtype not in HALF and x.size > ROWS


def standardised_rows(x: np.ndarray, scale: Any, bias: Any, epsilon: float) -> tuple[Any, Any, Any]:
    """`standardised` along the last axis of an array on the host, times `scale` and plus `bias` [n], by rows."""
    rows = x.reshape(-1, x.shape[-1])
    y, mean, factor = np.empty(rows.shape, x.dtype), *(np.empty((len(rows), 1), x.dtype) for _ in range(2))

    def task(part: slice) -> None:
        own, mean[part], factor[part] = standardised(np, rows[part], (1,), epsilon)
        np.multiply(own, scale, out=y[part])
        if bias is not None:
            y[part] += bias

    in_rows(len(rows), rows.shape[1], task)
    each = (*x.shape[:-1], 1)
    return y.reshape(x.shape), mean.reshape(each), factor.reshape(each)


def check_channels(x: Any, **vectors: Any) -> None:
    """Raise an UnsupportedError where a vector does not hold one value for each channel of x [N, C, *spatial].

    An x [N] has one channel.
    """
    channels = x.shape[1] if x.ndim > 1 else 1
    for name, vector in vectors.items():
        if vector.shape != (channels,):
            raise UnsupportedError(f"{name} {list(vector.shape)} should hold one number a channel: {channels}")


def _along_channels(vector: Any, rank: int) -> Any:
    """A vector of one value a channel, ready to broadcast against [N, C, *spatial]."""
    return vector.reshape(-1, *(1,) * (rank - 2))


def _inference(xp: Any, x: Any, scale: Any, bias: Any, mean: Any, variance: Any, epsilon: float) -> Any:
    factor = scale / xp.sqrt(variance + epsilon)
    y = wide(x) * factor
    y += bias - mean * factor
    return y.astype(x.dtype, copy=False)


def _training(
    xp: Any, x: Any, scale: Any, bias: Any, given: tuple[Any, Any], axes: tuple[int, ...], epsilon: float,
    momentum: float,
) -> tuple[Any, list[Any], list[Any]]:  # fmt: skip
    """x normalised by its own mean and variance, the `given` ones moved towards them, and these themselves."""
    x_wide = wide(x)
    y, mean, _ = standardised(xp, x_wide, axes, epsilon)
    batch = [mean, x_wide.var(axis=axes)]
    running = [
        (old * momentum + new.reshape(old.shape) * (1 - momentum)).astype(old.dtype) for old, new in zip(given, batch)
    ]
    return (y * scale + bias).astype(x.dtype, copy=False), running, batch


@kernel("BatchNormalization", 14, 15)
def batch_normalization(
    ctx: KernelContext,
    x: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Any:
    """Normalise each channel of x [N, C, *spatial] by given statistics, in training by its own (BatchNormalization 15).

    In training the running statistics come out too: momentum x old + (1 - momentum) x the batch's.
    """
    check_channels(x, scale=scale, B=bias, input_mean=mean, input_var=variance)
    rank = max(x.ndim, 2)
    factor, shift, given_mean, given_variance = (_along_channels(wide(v), rank) for v in (scale, bias, mean, variance))
    if not training_mode:
        return _inference(ctx.xp, x, factor, shift, given_mean, given_variance, epsilon)
    axes = (0, *range(2, x.ndim))
    y, running, _ = _training(ctx.xp, x, factor, shift, (mean, variance), axes, epsilon, momentum)
    return y, *running


@kernel("BatchNormalization", 1, 6, 7, 9)
def batch_normalization_by_outputs(
    ctx: KernelContext,
    x: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
    is_test: int = 0,
) -> Any:
    """BatchNormalization of opsets 1 to 13: a node with one output, or with `is_test` (1, 6), is for inference.

    With `spatial` 0 every element of a sample has statistics of its own (7 and before).
    """
    if spatial:
        shape: tuple[int, ...] = (-1, *(1,) * (x.ndim - 2))
        axes: tuple[int, ...] = (0, *range(2, x.ndim))
    else:
        shape, axes = x.shape[1:], (0,)
    factor, shift, given_mean, given_variance = (wide(v).reshape(shape) for v in (scale, bias, mean, variance))
    if is_test or not any(tensor is not None for tensor in ctx.node.outputs[1:]):
        return _inference(ctx.xp, x, factor, shift, given_mean, given_variance, epsilon)
    y, running, batch = _training(ctx.xp, x, factor, shift, (mean, variance), axes, epsilon, momentum)
    saved = [v.reshape(mean.shape).astype(mean.dtype, copy=False) for v in batch]
    return y, *running, *saved


@kernel("InstanceNormalization", 1, 6, 22)
@in_float32
def instance_normalization(ctx: KernelContext, x: Any, scale: Any, bias: Any, *, epsilon: float = 1e-5) -> Any:
    """Each channel of each sample to zero mean and unit variance, scaled and shifted (InstanceNormalization 22)."""
    check_channels(x, scale=scale, B=bias)
    y, _, _ = standardised(ctx.xp, x.reshape(*x.shape[:2], prod(x.shape[2:])), (2,), epsilon)
    y *= scale[:, None]
    y += bias[:, None]
    return y.reshape(x.shape)


@kernel("GroupNormalization", 18)
def group_normalization_by_group(
    ctx: KernelContext, x: Any, scale: Any, bias: Any, *, num_groups: int, epsilon: float = 1e-5
) -> Any:
    """Normalise groups of channels; scale and bias hold one value a group (GroupNormalization 18)."""
    repeats = x.shape[1] // num_groups
    return _group_normalization(ctx.xp, x, scale.repeat(repeats), bias.repeat(repeats), num_groups, epsilon)


@kernel("GroupNormalization", 21)
def group_normalization(
    ctx: KernelContext,
    x: Any,
    scale: Any,
    bias: Any,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Any:
    """Normalise groups of channels; scale and bias hold one value a channel (GroupNormalization 21)."""
    return _group_normalization(ctx.xp, x, scale, bias, num_groups, epsilon)


def _group_normalization(xp: Any, x: Any, scale: Any, bias: Any, groups: int, epsilon: float) -> Any:
    if x.shape[1] % groups:
        raise UnsupportedError(f"{x.shape[1]} channels do not part into {groups} groups")
    flat = wide(x).reshape(x.shape[0], groups, x.size // max(x.shape[0] * groups, 1))
    y = standardised(xp, flat, (2,), epsilon)[0].reshape(x.shape)
    # As the function body says: statistics in float32, rounded, then scaled in the input's own precision.
    y = y.astype(x.dtype, copy=False)
    return y * _along_channels(scale, x.ndim) + _along_channels(bias, x.ndim)


@kernel("LayerNormalization", 1, 17)
def layer_normalization(
    ctx: KernelContext,
    x: Any,
    scale: Any,
    bias: Any = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Any:
    """Normalise over `axis` and all after it; also gives mean and 1 / standard deviation (LayerNormalization 17).

    Those two have the type `stash_type`, but what they are computed in is no narrower than x.
    """
    stash = from_code(stash_type) or FLOAT32
    y, *moments = _layer_normalization(ctx.xp, x, scale, bias, axis, epsilon)
    return y, *(moment.astype(stash.numpy, copy=False) for moment in moments)


def _layer_normalization(xp: Any, x: Any, scale: Any, bias: Any, axis: int, epsilon: float) -> tuple[Any, Any, Any]:
    axes = tuple(range(axis % x.ndim, x.ndim))
    if axes == (x.ndim - 1,) and goes_by_rows(xp, x, scale, bias):
        return standardised_rows(x, scale, bias, epsilon)
    y, mean, factor = standardised(xp, wide(x), axes, epsilon)
    if y.dtype == x.dtype:
        y *= scale
        if bias is not None:
            y += bias
        return y, mean, factor
    y = y.astype(x.dtype) * scale
    return (y if bias is None else y + bias), mean, factor


@kernel("RMSNormalization", 23)
def rms_normalization(
    ctx: KernelContext, x: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    """Divide by the root of the mean square over `axis` and all after it, and scale (RMSNormalization 23)."""
    axes = tuple(range(axis % x.ndim, x.ndim))
    real = wide(x)
    root = ctx.xp.sqrt((real * real).mean(axis=axes, keepdims=True) + real.dtype.type(epsilon))
    return (real / root).astype(x.dtype, copy=False) * scale


@kernel("LRN", 1, 13)
@in_float32
def lrn(
    ctx: KernelContext, x: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Any:
    """Divide by a power of the squares summed over `size` neighbouring channels (LRN 13)."""
    xp, channels = ctx.xp, x.shape[1]
    before = (size - 1) // 2
    squares = xp.zeros((x.shape[0], channels + size - 1, *x.shape[2:]), x.dtype)
    squares[:, before : before + channels] = x * x
    total = squares[:, :channels].copy()
    for shift in range(1, size):
        total += squares[:, shift : shift + channels]
    total *= alpha / size
    total += bias
    return x / total ** x.dtype.type(beta)


@kernel("LpNormalization", 1, 22)
@in_float32
def lp_normalization(ctx: KernelContext, x: Any, *, axis: int = -1, p: int = 2) -> Any:
    """Divide by the 1- or 2-norm along one axis; what has norm 0 stays 0 (LpNormalization 22)."""
    xp = ctx.xp
    norm = xp.abs(x).sum(axis, keepdims=True) if p == 1 else xp.sqrt((x * x).sum(axis, keepdims=True))
    return x / xp.where(norm == 0, x.dtype.type(1), norm)


@kernel("MeanVarianceNormalization", 9, 13)
@in_float32
def mean_variance_normalization(ctx: KernelContext, x: Any, *, axes: list[int] | None = None) -> Any:
    """Zero mean and unit variance over `axes`, [0, 2, 3] by default (MeanVarianceNormalization 13)."""
    chosen = normalise_axes([0, 2, 3] if axes is None else axes, x.ndim)
    centred = x - x.mean(axis=chosen, keepdims=True)
    deviation = ctx.xp.sqrt((centred * centred).mean(axis=chosen, keepdims=True))
    return centred / (deviation + np.float32(1e-9))
