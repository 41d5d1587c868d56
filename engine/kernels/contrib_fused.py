"""Operators of com.microsoft that fuse several of ONNX's: activations, products, convolutions, normalisations.

Source: the schemas of ONNX Runtime 1.32 (`onnxruntime.capi`, domain com.microsoft, version 1).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.activations import gelu, gelu_of, swish
from engine.kernels.convolution import check_bias, convolve, filter_windows
from engine.kernels.elementwise import BLOCK, by_rows
from engine.kernels.matmul import biased, gemm, product
from engine.kernels.normalization import layer_normalization, rms_normalization, standardised
from engine.kernels.precision import in_float32, wide
from engine.kernels.registry import MICROSOFT, KernelContext, kernel
from engine.kernels.windows import Sliding

kernel("Gelu", 1, domain=MICROSOFT)(gelu)


@kernel("BiasGelu", 1, domain=MICROSOFT)
@in_float32
def bias_gelu(ctx: KernelContext, x: Any, bias: Any) -> Any:
    """Gelu of x + bias."""
    if ctx.xp is not np or x.size <= BLOCK or bias.shape != x.shape[-1:]:
        return gelu(ctx, x + bias)
    return by_rows(x, lambda rows: gelu_of(ctx, rows + bias), BLOCK)


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


def activation_in_place(xp: Any, name: str, parameters: Sequence[float]) -> Callable[[Any], object] | None:
    """The activation that a fused operator applies to its result, changing an array in place; None for none."""
    alpha, beta = (*parameters, 0.0, 0.0)[:2]
    if name == "":
        return None
    if name not in _IN_PLACE:
        raise UnsupportedError(f"activation {name!r} of a fused operator is not known here")
    return partial(_IN_PLACE[name], xp, alpha=alpha, beta=beta)


def _sigmoid_in_place(xp: Any, y: Any, alpha: float, beta: float) -> None:
    xp.negative(y, out=y)
    xp.exp(y, out=y)
    y += 1
    xp.divide(1, y, out=y)


def _hard_sigmoid_in_place(xp: Any, y: Any, alpha: float, beta: float) -> None:
    y *= alpha
    y += beta
    xp.clip(y, 0, 1, out=y)


_IN_PLACE: dict[str, Callable[..., object]] = {
    "Relu": lambda xp, y, alpha, beta: xp.maximum(y, 0, out=y),
    "Tanh": lambda xp, y, alpha, beta: xp.tanh(y, out=y),
    "Sigmoid": _sigmoid_in_place,
    "LeakyRelu": lambda xp, y, alpha, beta: xp.copyto(y, y * alpha, where=y < 0),
    "Elu": lambda xp, y, alpha, beta: xp.copyto(y, alpha * xp.expm1(y), where=y < 0),
    "Clip": lambda xp, y, alpha, beta: xp.clip(y, alpha, beta, out=y),
    "HardSigmoid": _hard_sigmoid_in_place,
}


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
    check_bias(b, w)
    activate = activation_in_place(ctx.xp, activation, activation_params or [])
    finish = biased(b, activate if z is None else None)
    y = convolve(ctx.xp, x, w, filter_windows(x, w, group, kernel_shape, sliding), group, finish)
    if z is not None:
        biased(z, activate).apply(y)
    return y


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
    activate = activation_in_place(ctx.xp, activation, [activation_alpha, activation_beta])
    if activate is not None:
        activate(y)
    return y


@kernel("SkipLayerNormalization", 1, domain=MICROSOFT)
def skip_layer_normalization(
    ctx: KernelContext, x: Any, skip: Any, gamma: Any, beta: Any = None, bias: Any = None, *, epsilon: float = 1e-12
) -> Any:
    """LayerNormalization over the last axis of x + skip + bias; the fourth output is that sum."""
    total = _sum(x, skip, bias)
    y, mean, factor = standardised(ctx.xp, total, (-1,), epsilon)
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
