"""Operators of com.microsoft whose channels are the last axis, and those of its block layout, which cannot run here.

Source: the schemas of ONNX Runtime 1.32 (`onnxruntime.capi`, domains com.microsoft and com.microsoft.nchwc, version 1).
"""
from __future__ import annotations

from typing import Any, Unpack

from engine.graph.ir import Node
from engine.kernels.contrib_quantized import real
from engine.kernels.pooling import average_pool, max_pool
from engine.kernels.quantization import qlinear_conv, quantise
from engine.kernels.registry import MICROSOFT, KernelContext, kernel
from engine.kernels.windows import Sliding


def _first(xp: Any, x: Any, are_last: int = 1) -> Any:
    """A view of x with its channels, where they are the last axis, as the second."""
    return xp.moveaxis(x, -1, 1) if are_last else x


def _last(xp: Any, y: Any, are_last: int = 1) -> Any:
    """What `_first` did, undone."""
    return xp.moveaxis(y, 1, -1) if are_last else y


@kernel("NhwcMaxPool", 1, domain=MICROSOFT)
def nhwc_max_pool(
    ctx: KernelContext,
    x: Any,
    *,
    kernel_shape: list[int],
    ceil_mode: int = 0,
    **sliding: Unpack[Sliding],
) -> Any:
    """MaxPool of x [N, *spatial, C]."""
    y = max_pool(ctx, _first(ctx.xp, x), kernel_shape=kernel_shape, ceil_mode=ceil_mode, **sliding)
    return _last(ctx.xp, y)


@kernel("QLinearConv", 1, domain=MICROSOFT)
def qlinear_conv_of_layout(
    ctx: KernelContext,
    x: Any,
    *inputs: Any,
    kernel_shape: list[int] | None = None,
    group: int = 1,
    channels_last: int = 0,
    **sliding: Unpack[Sliding],
) -> Any:
    """QLinearConv, of x [N, *spatial, C] with `channels_last`; the filters are [M, C / group, *kernel] either way."""
    first = _first(ctx.xp, x, channels_last)
    y = qlinear_conv(ctx, first, *inputs, kernel_shape=kernel_shape, group=group, **sliding)
    return _last(ctx.xp, y, channels_last)


@kernel("QLinearGlobalAveragePool", 1, domain=MICROSOFT)
def qlinear_global_average_pool(
    ctx: KernelContext, x: Any, x_scale: Any, x_zero: Any, scale: Any, zero: Any, *, channels_last: int = 0
) -> Any:
    """Mean over the spatial axes of a quantised tensor, quantised."""
    axes = tuple(range(1, x.ndim - 1)) if channels_last else tuple(range(2, x.ndim))
    return quantise(ctx.xp, real(x, x_scale, x_zero).mean(axis=axes, keepdims=True), scale, zero, x.dtype)


@kernel("QLinearAveragePool", 1, domain=MICROSOFT)
def qlinear_average_pool(
    ctx: KernelContext,
    x: Any,
    x_scale: Any,
    x_zero: Any,
    scale: Any,
    zero: Any = None,
    *,
    kernel_shape: list[int],
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    channels_last: int = 0,
    **sliding: Unpack[Sliding],
) -> Any:
    """AveragePool of a quantised tensor, quantised."""
    y = average_pool(
        ctx, _first(ctx.xp, real(x, x_scale, x_zero), channels_last), kernel_shape=kernel_shape, ceil_mode=ceil_mode,
        count_include_pad=count_include_pad, **sliding,
    )  # fmt: skip
    return quantise(ctx.xp, _last(ctx.xp, y, channels_last), scale, zero, x.dtype)


def _blocked(node: Node) -> str:
    return (
        f"{node.qualified_op} holds its weights in the block layout of the CPU that the file was optimised on: "
        "save it from ONNX Runtime at the level ORT_ENABLE_EXTENDED"
    )


def blocked(ctx: KernelContext, *inputs: Any) -> Any:
    """Stands for the operators of com.microsoft.nchwc; `_blocked` refuses each node, so it never runs."""
    raise NotImplementedError


for _op in ("AveragePool", "Conv", "GlobalAveragePool", "GlobalMaxPool", "MaxPool", "ReorderInput", "ReorderOutput",
            "Upsample"):  # fmt: skip
    kernel(_op, 1, domain="com.microsoft.nchwc", accepts=_blocked)(blocked)
