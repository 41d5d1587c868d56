"""Random operators and Dropout. Values repeat from run to run: by the seed attribute, else by the node's name."""
from __future__ import annotations

import struct
import zlib

import numpy as np

from engine.dtypes import BOOL, from_code
from engine.kernels.axes import Array, check_allocation
from engine.kernels.registry import KernelContext, kernel

RANDOM = (
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
)  # fmt: skip
"""Operators whose outputs are random numbers, whatever they read."""

_DRAWN = np.dtype(np.float64)


def _generator(ctx: KernelContext, seed: float | None) -> np.random.RandomState:
    """NumPy's legacy generator, whose stream for a seed is frozen (the seed attribute is a float)."""
    if seed is None:
        return np.random.RandomState(zlib.crc32(ctx.node.qualified_name.encode()))
    whole = int(seed) if float(seed).is_integer() else struct.unpack("<I", struct.pack("<f", seed))[0]
    return np.random.RandomState(whole % 2**32)


def _numpy_dtype(code: int | None, otherwise: np.dtype) -> np.dtype:
    found = from_code(code) if code is not None else None
    return found.numpy if found else otherwise


@kernel("RandomNormal", 1, 22, generic=False)
def random_normal(
    ctx: KernelContext, *, shape: list[int], dtype: int = 1, mean: float = 0.0, scale: float = 1.0,
    seed: float | None = None,
) -> Array:  # fmt: skip
    drawn = _generator(ctx, seed).standard_normal(check_allocation(shape, _DRAWN)) * scale + mean
    return np.asarray(drawn).astype(_numpy_dtype(dtype, np.dtype(np.float32)))


@kernel("RandomNormalLike", 1, 22, generic=False)
def random_normal_like(
    ctx: KernelContext, x: Array, *, dtype: int | None = None, mean: float = 0.0, scale: float = 1.0,
    seed: float | None = None,
) -> Array:  # fmt: skip
    drawn = _generator(ctx, seed).standard_normal(x.shape) * scale + mean
    return np.asarray(drawn).astype(_numpy_dtype(dtype, x.dtype))


@kernel("RandomUniform", 1, 22, generic=False)
def random_uniform(
    ctx: KernelContext, *, shape: list[int], dtype: int = 1, low: float = 0.0, high: float = 1.0,
    seed: float | None = None,
) -> Array:  # fmt: skip
    drawn = _generator(ctx, seed).random_sample(check_allocation(shape, _DRAWN)) * (high - low) + low
    return np.asarray(drawn).astype(_numpy_dtype(dtype, np.dtype(np.float32)))


@kernel("RandomUniformLike", 1, 22, generic=False)
def random_uniform_like(
    ctx: KernelContext, x: Array, *, dtype: int | None = None, low: float = 0.0, high: float = 1.0,
    seed: float | None = None,
) -> Array:  # fmt: skip
    drawn = _generator(ctx, seed).random_sample(x.shape) * (high - low) + low
    return np.asarray(drawn).astype(_numpy_dtype(dtype, x.dtype))


@kernel("Bernoulli", 15, 22, generic=False)
def bernoulli(ctx: KernelContext, x: Array, *, dtype: int | None = None, seed: float | None = None) -> Array:
    """1 with probability `x`, elementwise."""
    drawn = _generator(ctx, seed).random_sample(x.shape) < x.astype(np.float64)
    return np.asarray(drawn).astype(_numpy_dtype(dtype, x.dtype))


@kernel("Multinomial", 7, 22, generic=False)
def multinomial(
    ctx: KernelContext, x: Array, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None
) -> Array:
    """Class indices [batch, sample], drawn by the log-probabilities (of any sum) [batch, class]."""
    weights = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
    ends = np.cumsum(weights, axis=1)
    drawn = _generator(ctx, seed).random_sample((x.shape[0], sample_size)) * ends[:, -1:]
    return (drawn[:, :, None] >= ends[:, None, :]).sum(axis=2).astype(_numpy_dtype(dtype, np.dtype(np.int32)))


@kernel("Dropout", 1, 6, 7, 10)
def dropout_inference(ctx: KernelContext, x: Array) -> Array | tuple[Array, Array]:
    """Before opset 12 dropout is for inference only here: the data, and a mask (bool since opset 10) of ones."""
    mask_dtype = BOOL.numpy if ctx.node.since_version >= 10 else x.dtype
    return (x, ctx.xp.ones(x.shape, dtype=mask_dtype)) if any(ctx.wanted[1:]) else x


@kernel("Dropout", 12, 13, 22, generic=False)
def dropout(
    ctx: KernelContext, x: Array, ratio: Array | None = None, training_mode: Array | None = None, *,
    seed: float | None = None,
) -> Array | tuple[Array, Array]:  # fmt: skip
    """In training mode each element is dropped with probability `ratio` and the others are scaled to keep the mean."""
    share = 0.5 if ratio is None else float(ratio.reshape(-1)[0])
    if training_mode is None or not training_mode.reshape(-1)[0] or share == 0:
        return (x, np.ones(x.shape, dtype=bool)) if any(ctx.wanted[1:]) else x
    mask = np.asarray(_generator(ctx, seed).random_sample(x.shape) >= share)
    return x * mask * x.dtype.type(1 / (1 - share)), mask
