"""Operators in the standard's domain that ONNX never released: experiments of its first years, and device copies.

Source: the schemas of ONNX Runtime 1.32 (`onnxruntime.capi`, domain ai.onnx, version 1).
"""
from __future__ import annotations

from typing import Any

from engine.kernels.activations import softplus_of, thresholded_relu
from engine.kernels.elementwise import blockwise
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel

kernel("ThresholdedRelu", 1)(thresholded_relu)


@kernel("MemcpyFromHost", 1)
@kernel("MemcpyToHost", 1)
def copied(ctx: KernelContext, x: Any) -> Any:
    """The value itself: which device it lies on is the session's affair."""
    return x


@kernel("Affine", 1)
@blockwise
def affine(ctx: KernelContext, x: Any, *, alpha: float = 1.0, beta: float = 0.0) -> Any:
    """``alpha * x + beta``."""
    return x * x.dtype.type(alpha) + x.dtype.type(beta)


@kernel("Scale", 1)
@blockwise
def scaled(ctx: KernelContext, x: Any, *, scale: float = 1.0) -> Any:
    """``scale * x``."""
    return x * x.dtype.type(scale)


@kernel("ParametricSoftplus", 1)
@blockwise
def parametric_softplus(ctx: KernelContext, x: Any, *, alpha: float = 1.0, beta: float = 1.0) -> Any:
    """``alpha * log(1 + exp(beta * x))``."""
    return softplus_of(ctx, x * x.dtype.type(beta)) * x.dtype.type(alpha)


@kernel("ScaledTanh", 1)
@blockwise
def scaled_tanh(ctx: KernelContext, x: Any, *, alpha: float = 1.0, beta: float = 1.0) -> Any:
    """``alpha * tanh(beta * x)``."""
    return ctx.xp.tanh(x * x.dtype.type(beta)) * x.dtype.type(alpha)


@kernel("ImageScaler", 1)
@in_float32
def image_scaler(ctx: KernelContext, x: Any, *, bias: list[float], scale: float = 1.0) -> Any:
    """``scale * x + bias`` of an image [N, C, H, W], one bias a channel."""
    return x * x.dtype.type(scale) + ctx.xp.asarray(bias, x.dtype)[:, None, None]


@kernel("Crop", 1)
def crop(ctx: KernelContext, x: Any, *, border: list[int], scale: list[int] | None = None) -> Any:
    """An image [N, C, H, W] without its borders (left, top, right, bottom), or `scale` (height, width) from there."""
    left, top, right, bottom = border
    height, width = scale or (x.shape[2] - top - bottom, x.shape[3] - left - right)
    return x[:, :, top : top + height, left : left + width]


@kernel("MeanVarianceNormalization", 1)
@in_float32
def mean_variance_normalization(
    ctx: KernelContext, x: Any, *, across_channels: int = 0, normalize_variance: int = 1
) -> Any:
    """Zero mean of each channel of x [N, C, *spatial], or across the channels, and unit variance where asked for."""
    axes = tuple(range(x.ndim)) if across_channels else (0, *range(2, x.ndim))
    centred = x - x.mean(axis=axes, keepdims=True)
    if not normalize_variance:
        return centred
    return centred / ctx.xp.sqrt((centred * centred).mean(axis=axes, keepdims=True))
