"""Operators of com.microsoft that fuse several of ONNX's: activations, products, convolutions, normalisations.

Source: the schemas of ONNX Runtime 1.32 (`onnxruntime.capi`, domain com.microsoft, version 1).
"""
from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.activations import elu, gelu, hard_sigmoid, leaky_relu, logistic, relu, swish
from engine.kernels.convolution import conv
from engine.kernels.matmul import gemm, product
from engine.kernels.normalization import layer_normalization, rms_normalization, standardized
from engine.kernels.precision import in_float32, wide
from engine.kernels.registry import MICROSOFT, KernelContext, kernel
from engine.kernels.windows import Sliding

kernel("Gelu", 1, domain=MICROSOFT)(gelu)


@kernel("BiasGelu", 1, domain=MICROSOFT)
@in_float32
def bias_gelu(ctx: KernelContext, x: Any, bias: Any) -> Any:
    """Gelu of x + bias."""
    return gelu(ctx, x + bias)


@kernel("FastGelu", 1, domain=MICROSOFT)
@in_float32
def fast_gelu(ctx: KernelContext, x: Any, bias: Any = None) -> Any:
    """Gelu of x, plus bias where given, by its tanh approximation."""
    return gelu(ctx, x if bias is None else x + bias, approximate="tanh")


@kernel("QuickGelu", 1, domain=MICROSOFT)
def quick_gelu(ctx: KernelContext, x: Any, *, alpha: float = 1.702) -> Any:
    """``x * sigmoid(alpha * x)``."""
    return swish(ctx, x, alpha=alpha)


@kernel("TransposeMatMul", 1, domain=MICROSOFT)
@kernel("FusedMatMul", 1, domain=MICROSOFT)
@in_float32
def fused_matmul(
    ctx: KernelContext,
    a: Any,
    b: Any,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Any:
    """``alpha * a' @ b'``; `transBatch` brings the first axis to the place before the last, ahead of `trans`."""
    xp = ctx.xp
    a, b = (xp.moveaxis(x, 0, -2) if batch else x for x, batch in ((a, transBatchA), (b, transBatchB)))
    a, b = (x.swapaxes(-1, -2) if trans and x.ndim > 1 else x for x, trans in ((a, transA), (b, transB)))
    y = product(xp, a, b)
    return y if alpha == 1 else y * y.dtype.type(alpha)


def _activated(ctx: KernelContext, y: Any, name: str, parameters: list[float]) -> Any:
    """The activation that a fused operator applies to its result."""
    parameters = [*parameters, 0.0, 0.0]
    if name == "":
        return y
    if name == "Relu":
        return relu(ctx, y)
    if name == "Tanh":
        return ctx.xp.tanh(y)
    if name == "Sigmoid":
        return logistic(ctx, y)
    if name == "LeakyRelu":
        return leaky_relu(ctx, y, alpha=parameters[0])
    if name == "Elu":
        return elu(ctx, y, alpha=parameters[0])
    if name == "Clip":
        return ctx.xp.clip(y, parameters[0], parameters[1])
    if name == "HardSigmoid":
        return hard_sigmoid(ctx, y, alpha=parameters[0], beta=parameters[1])
    raise UnsupportedError(f"activation {name!r} of a fused operator is not known here")


@kernel("FusedConv", 1, domain=MICROSOFT)
@in_float32
def fused_conv(
    ctx: KernelContext,
    x: Any,
    w: Any,
    b: Any = None,
    z: Any = None,
    *,
    kernel_shape: list[int] | None = None,
    group: int = 1,
    activation: str = "",
    activation_params: list[float] | None = None,
    **sliding: Unpack[Sliding],
) -> Any:
    """Conv, plus z where given, then an activation."""
    y = conv(ctx, x, w, b, kernel_shape=kernel_shape, group=group, **sliding)
    return _activated(ctx, y if z is None else y + z, activation, activation_params or [])


@kernel("FusedGemm", 1, domain=MICROSOFT)
@in_float32
def fused_gemm(
    ctx: KernelContext,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    activation: str = "",
    activation_alpha: float = 0.0,
    activation_beta: float = 0.0,
    activation_gamma: float = 0.0,
) -> Any:
    """Gemm, then an activation."""
    y = gemm(ctx, a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)
    return _activated(ctx, y, activation, [activation_alpha, activation_beta])


@kernel("SkipLayerNormalization", 1, domain=MICROSOFT)
def skip_layer_normalization(
    ctx: KernelContext, x: Any, skip: Any, gamma: Any, beta: Any = None, bias: Any = None, *, epsilon: float = 1e-12
) -> Any:
    """LayerNormalization over the last axis of x + skip + bias; the fourth output is that sum."""
    total = _sum(x, skip, bias)
    y, mean, factor = standardized(ctx.xp, total, (-1,), epsilon)
    y = y * wide(gamma)
    if beta is not None:
        y += wide(beta)
    return y.astype(x.dtype, copy=False), mean, factor, total.astype(x.dtype, copy=False)


@kernel("SkipSimplifiedLayerNormalization", 1, domain=MICROSOFT)
def skip_simplified_layer_normalization(
    ctx: KernelContext, x: Any, skip: Any, gamma: Any, bias: Any = None, *, epsilon: float = 1e-12
) -> Any:
    """RMSNormalization over the last axis of x + skip + bias; the fourth output is that sum."""
    total = _sum(x, skip, bias)
    y = rms_normalization(ctx, total, wide(gamma), epsilon=epsilon)
    return y.astype(x.dtype, copy=False), None, None, total.astype(x.dtype, copy=False)


def _sum(x: Any, skip: Any, bias: Any) -> Any:
    total = wide(x) + wide(skip)
    return total if bias is None else total + wide(bias)


@kernel("SimplifiedLayerNormalization", 1)
@kernel("SimplifiedLayerNormalization", 1, domain=MICROSOFT)
def simplified_layer_normalization(
    ctx: KernelContext, x: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    """RMSNormalization under its former name."""
    return rms_normalization(ctx, x, scale, axis=axis, epsilon=epsilon)


@kernel("EmbedLayerNormalization", 1, domain=MICROSOFT)
def embed_layer_normalization(
    ctx: KernelContext,
    input_ids: Any,
    segment_ids: Any,
    word_embedding: Any,
    position_embedding: Any,
    segment_embedding: Any,
    gamma: Any,
    beta: Any,
    mask: Any = None,
    position_ids: Any = None,
    *,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> Any:
    """Sum of word, position and segment embeddings, normalised; also the length of each sequence by its mask."""
    xp = ctx.xp
    places = xp.arange(input_ids.shape[1])[None] if position_ids is None else position_ids
    total = word_embedding[input_ids] + position_embedding[places]
    if segment_ids is not None and segment_embedding is not None:
        total = total + segment_embedding[segment_ids]
    y, _, _ = layer_normalization(ctx, total, gamma, beta, epsilon=epsilon)
    lengths = xp.zeros(input_ids.shape[0], np.int32) if mask is None else (mask != 0).sum(axis=1).astype(np.int32)
    return y, lengths, total
