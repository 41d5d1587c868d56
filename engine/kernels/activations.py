"""Activation functions, elementwise. Half floats are evaluated in float32 and rounded once."""
from __future__ import annotations

import math
from functools import partial

from engine.kernels.axes import Array
from engine.kernels.elementwise import blockwise, by_table, is_tabulated
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel
from engine.kernels.special import erf

FLOAT_MAX = 3.4028234663852886e38


@kernel("Relu", 1, 6, 13, 14)
def relu(ctx: KernelContext, x: Array) -> Array:
    return by_table(ctx, "relu", partial(_relu, ctx), x) if is_tabulated(ctx, x) else _relu(ctx, x)


@in_float32
def _relu(ctx: KernelContext, x: Array) -> Array:
    return ctx.xp.maximum(x, x.dtype.type(0))


@kernel("LeakyRelu", 1, 6, 16)
@blockwise
def leaky_relu(ctx: KernelContext, x: Array, *, alpha: float = 0.01) -> Array:
    scaled = x * x.dtype.type(alpha)
    return ctx.xp.maximum(x, scaled) if 0 <= alpha <= 1 else ctx.xp.where(x < 0, scaled, x)


@kernel("PRelu", 7, 9, 16)
@in_float32
def prelu(ctx: KernelContext, x: Array, slope: Array) -> Array:
    return ctx.xp.where(x < 0, slope * x, x)


@kernel("PRelu", 1, 6)
@in_float32
def prelu_per_channel(ctx: KernelContext, x: Array, slope: Array) -> Array:
    """Before opset 7 the slope is one number, or one number per channel (axis 1)."""
    if slope.size > 1 and x.ndim > 1:
        slope = slope.reshape((-1,) + (1,) * (x.ndim - 2))
    return ctx.xp.where(x < 0, slope * x, x)


def logistic(ctx: KernelContext, x: Array) -> Array:
    """1 / (1 + exp(-x)) of floats, in a fresh array."""
    result = ctx.xp.exp(-x)
    result += 1
    return 1 / result


kernel("Sigmoid", 1, 6, 13)(blockwise(logistic))


@kernel("HardSigmoid", 1, 6, 22)
@blockwise
def hard_sigmoid(ctx: KernelContext, x: Array, *, alpha: float = 0.2, beta: float = 0.5) -> Array:
    return ctx.xp.clip(x * x.dtype.type(alpha) + x.dtype.type(beta), 0, 1)


@kernel("HardSwish", 14, 22)
@blockwise
def hard_swish(ctx: KernelContext, x: Array) -> Array:
    gate = x * x.dtype.type(1 / 6)
    gate += x.dtype.type(0.5)
    return x * ctx.xp.clip(gate, 0, 1)


@kernel("Elu", 1, 6, 22)
@blockwise
def elu(ctx: KernelContext, x: Array, *, alpha: float = 1.0) -> Array:
    return ctx.xp.where(x < 0, x.dtype.type(alpha) * ctx.xp.expm1(x), x)


@kernel("Selu", 6, 22)
@blockwise
def selu(
    ctx: KernelContext, x: Array, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875
) -> Array:
    negative = x.dtype.type(alpha) * ctx.xp.expm1(x)
    return x.dtype.type(gamma) * ctx.xp.where(x <= 0, negative, x)


@kernel("Selu", 1)
def selu_1(ctx: KernelContext, x: Array, *, alpha: float = 1.6732, gamma: float = 1.0507) -> Array:
    """Version 1 has its constants to four decimals."""
    return selu(ctx, x, alpha=alpha, gamma=gamma)


@kernel("Celu", 12, 28)
@blockwise
def celu(ctx: KernelContext, x: Array, *, alpha: float = 1.0) -> Array:
    a = x.dtype.type(alpha)
    return ctx.xp.maximum(x, 0) + ctx.xp.minimum(a * ctx.xp.expm1(x / a), 0)


def softplus_of(ctx: KernelContext, x: Array) -> Array:
    """log(1 + exp(x)) of floats without overflow."""
    return ctx.xp.log1p(ctx.xp.exp(-ctx.xp.abs(x))) + ctx.xp.maximum(x, 0)


kernel("Softplus", 1, 22)(blockwise(softplus_of))


@kernel("Softsign", 1, 22)
@blockwise
def softsign(ctx: KernelContext, x: Array) -> Array:
    return x / (1 + ctx.xp.abs(x))


@kernel("ThresholdedRelu", 10, 22)
@blockwise
def thresholded_relu(ctx: KernelContext, x: Array, *, alpha: float = 1.0) -> Array:
    return ctx.xp.where(x > x.dtype.type(alpha), x, x.dtype.type(0))


@kernel("Shrink", 9)
@blockwise
def shrink(ctx: KernelContext, x: Array, *, bias: float = 0.0, lambd: float = 0.5) -> Array:
    toward = ctx.xp.where(x < -lambd, x + bias, ctx.xp.where(x > lambd, x - bias, 0))
    return toward.astype(x.dtype, copy=False)


def gelu_of(ctx: KernelContext, x: Array, *, approximate: str = "none") -> Array:
    """``x * (1 + erf(x / sqrt(2))) / 2`` of floats, or its tanh approximation."""
    if approximate == "tanh":
        inner = x * x
        inner *= 0.044715
        inner += 1
        inner *= x
        inner *= math.sqrt(2 / math.pi)
        inner = ctx.xp.tanh(inner)
    else:
        inner = erf(ctx.xp, x * x.dtype.type(1 / math.sqrt(2)))
    inner += 1
    inner *= x
    inner *= 0.5
    return inner


gelu = kernel("Gelu", 20)(blockwise(gelu_of))


@kernel("Mish", 18, 22)
@blockwise
def mish(ctx: KernelContext, x: Array) -> Array:
    return x * ctx.xp.tanh(softplus_of(ctx, x))


@kernel("Swish", 24)
@blockwise
def swish(ctx: KernelContext, x: Array, *, alpha: float = 1.0) -> Array:
    return x * logistic(ctx, x if alpha == 1 else x * x.dtype.type(alpha))


@kernel("SwiGLU", 28)
@in_float32
def swiglu(ctx: KernelContext, gate: Array, linear: Array, *, alpha: float = 1.0) -> Array:
    return gate * logistic(ctx, gate * gate.dtype.type(alpha)) * linear


@kernel("Clip", 6)
def clip_6(ctx: KernelContext, x: Array, *, min: float = -FLOAT_MAX, max: float = FLOAT_MAX) -> Array:
    """Version 6 holds the bounds as attributes, by default the finite float32 numbers."""
    return clip(ctx, x, x.dtype.type(min), x.dtype.type(max))


@kernel("Clip", 1)
def clip_1(ctx: KernelContext, x: Array, *, min: float | None = None, max: float | None = None) -> Array:
    """Version 1 holds the bounds as attributes and has no default."""
    low, high = (None if v is None else x.dtype.type(v) for v in (min, max))
    return clip(ctx, x, low, high)


@kernel("Clip", 11, 12, 13)
def clip(ctx: KernelContext, x: Array, low: Array | None = None, high: Array | None = None) -> Array:
    """Values held within [low, high]; where low > high all become high. NaN stays NaN.

    A bound is one number, of whatever rank.
    """
    low, high = (bound.reshape(()) if bound is not None and bound.size == 1 else bound for bound in (low, high))
    if is_tabulated(ctx, x):
        return by_table(ctx, "clip", lambda every: _clip(ctx, every, low, high), x, low, high)
    return _clip(ctx, x, low, high)


@in_float32
def _clip(ctx: KernelContext, x: Array, low: Array | None, high: Array | None) -> Array:
    if low is not None and high is not None:
        return ctx.xp.clip(x, low, high)
    if low is not None:
        x = ctx.xp.maximum(x, low)
    return x if high is None else ctx.xp.minimum(x, high)
