"""Kernels in CUDA C for what array operations do badly: windows that slide over one channel at a time.

They take float32 tensors [N, C, H, W]; everything else goes to the array-module kernels. Each thread computes elements
of the output in turn, so that any number of threads will do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from engine.kernels.contrib_fused import activation_in_place
from engine.kernels.convolution import filter_windows
from engine.kernels.matmul import biased
from engine.kernels.registry import MICROSOFT, KernelContext
from engine.kernels.windows import Windows, windows

SOURCE = r"""
#define EACH_OUTPUT(i) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x)

struct Window { int h, w, oh, ow, kh, kw, sh, sw, dh, dw, top, left, bottom, right; };

extern "C" __global__ void depthwise(const float *x, const float *weights, const float *bias, float *y, int total,
                                     int filters, int times, int has_bias, Window g) {
    EACH_OUTPUT(i) {
        int ox = i % g.ow, oy = i / g.ow % g.oh, plane = i / (g.ow * g.oh), m = plane % filters;
        const float *in = x + (size_t)(plane / times) * g.h * g.w;
        const float *taps = weights + (size_t)m * g.kh * g.kw;
        float sum = 0.0f;
        for (int a = 0; a < g.kh; a++) {
            int iy = oy * g.sh - g.top + a * g.dh;
            if (iy < 0 || iy >= g.h) continue;
            for (int b = 0; b < g.kw; b++) {
                int ix = ox * g.sw - g.left + b * g.dw;
                if (ix >= 0 && ix < g.w) sum += in[(size_t)iy * g.w + ix] * taps[a * g.kw + b];
            }
        }
        y[i] = has_bias ? sum + bias[m] : sum;
    }
}

extern "C" __global__ void max_pool(const float *x, float *y, int total, Window g) {
    EACH_OUTPUT(i) {
        int ox = i % g.ow, oy = i / g.ow % g.oh;
        const float *in = x + (size_t)(i / (g.ow * g.oh)) * g.h * g.w;
        float best = -1.0f / 0.0f;
        for (int a = 0; a < g.kh; a++) {
            int iy = oy * g.sh - g.top + a * g.dh;
            if (iy < 0 || iy >= g.h) continue;
            for (int b = 0; b < g.kw; b++) {
                int ix = ox * g.sw - g.left + b * g.dw;
                if (ix < 0 || ix >= g.w) continue;
                float value = in[(size_t)iy * g.w + ix];
                if (value > best || value != value) best = value;  /* NaN wins, and nothing exceeds it */
            }
        }
        y[i] = best;
    }
}

extern "C" __global__ void average_pool(const float *x, float *y, int total, int with_padding, Window g) {
    EACH_OUTPUT(i) {
        int ox = i % g.ow, oy = i / g.ow % g.oh, count = 0;
        const float *in = x + (size_t)(i / (g.ow * g.oh)) * g.h * g.w;
        float sum = 0.0f;
        for (int a = 0; a < g.kh; a++) {
            int iy = oy * g.sh - g.top + a * g.dh;
            if (iy < -g.top || iy >= g.h + g.bottom) continue;  /* overhang counts in no case */
            for (int b = 0; b < g.kw; b++) {
                int ix = ox * g.sw - g.left + b * g.dw;
                if (ix < -g.left || ix >= g.w + g.right) continue;
                int inside = iy >= 0 && iy < g.h && ix >= 0 && ix < g.w;
                count += inside || with_padding;
                if (inside) sum += in[(size_t)iy * g.w + ix];
            }
        }
        y[i] = sum / (count ? count : 1);
    }
}
"""

_THREADS = 256
_MOST_BLOCKS = 1 << 16
_LARGEST = 2**31 - 1 - _THREADS * _MOST_BLOCKS  # elements are counted by ints, which step over the end

_WINDOW = np.dtype([(name, np.int32) for name in (
    "h", "w", "oh", "ow", "kh", "kw", "sh", "sw", "dh", "dw", "top", "left", "bottom", "right",
)])  # fmt: skip
"""The struct `Window`; NumPy scalars of such a type are passed by value."""

Function = Callable[..., Any]


def convolution(generic: Function) -> Function:
    """Conv: depthwise ones by the kernel above."""

    def conv(ctx: KernelContext, x: Any, w: Any, b: Any = None, **attributes: Any) -> Any:
        y = _depthwise(ctx, x, w, b, attributes)
        return generic(ctx, x, w, b, **attributes) if y is None else y

    return conv


def fused_convolution(generic: Function) -> Function:
    """FusedConv: depthwise ones by the kernel above, then the sum and the activation in place."""

    def conv(
        ctx: KernelContext, x: Any, w: Any, b: Any = None, z: Any = None, *, activation: str = "",
        activation_params: list[float] | None = None, **attributes: Any,
    ) -> Any:  # fmt: skip
        y = _depthwise(ctx, x, w, b, attributes)
        if y is None:
            return generic(ctx, x, w, b, z, activation=activation, activation_params=activation_params, **attributes)
        biased(z, activation_in_place(ctx.xp, activation, activation_params or [])).apply(y)
        return y

    return conv


def _depthwise(ctx: KernelContext, x: Any, w: Any, b: Any, attributes: dict[str, Any]) -> Any:
    """The convolution by the kernel above; None where it does not fit."""
    sliding = {k: v for k, v in attributes.items() if k not in ("group", "kernel_shape")}
    group = attributes.get("group", 1)
    fits = _fits(x) and _fits(w) and group == x.shape[1] > 1 and w.shape[1] == 1
    if not fits or (b is not None and (not _is_plain(b) or b.shape != w.shape[:1])):
        return None
    slides = filter_windows(x, w, group, attributes.get("kernel_shape"), sliding)  # type: ignore[arg-type]
    y = ctx.xp.empty((x.shape[0], w.shape[0], *slides.out), np.float32)
    bias = w if b is None else b
    times = w.shape[0] // group
    _launch(ctx.xp, "depthwise", y, (x, w, bias, y), (w.shape[0], times, int(b is not None)), slides)
    return y


def max_pooling(generic: Function) -> Function:
    """MaxPool without indices."""

    def max_pool(ctx: KernelContext, x: Any, *, kernel_shape: list[int], **attributes: Any) -> Any:
        if not _fits(x) or any(ctx.wanted[1:]):
            return generic(ctx, x, kernel_shape=kernel_shape, **attributes)
        sliding = {k: v for k, v in attributes.items() if k != "storage_order"}
        slides = windows(x.shape[2:], kernel_shape, **sliding)
        y = ctx.xp.empty((*x.shape[:2], *slides.out), np.float32)
        _launch(ctx.xp, "max_pool", y, (x, y), (), slides)
        return y

    return max_pool


def average_pooling(generic: Function) -> Function:
    """AveragePool."""

    def average_pool(ctx: KernelContext, x: Any, *, kernel_shape: list[int], **attributes: Any) -> Any:
        if not _fits(x):
            return generic(ctx, x, kernel_shape=kernel_shape, **attributes)
        with_padding = int(bool(attributes.get("count_include_pad", 0)))
        sliding = {k: v for k, v in attributes.items() if k != "count_include_pad"}
        slides = windows(x.shape[2:], kernel_shape, **sliding)
        y = ctx.xp.empty((*x.shape[:2], *slides.out), np.float32)
        _launch(ctx.xp, "average_pool", y, (x, y), (with_padding,), slides)
        return y

    return average_pool


FASTER: dict[tuple[str, str], Callable[[Function], Function]] = {
    ("", "Conv"): convolution, (MICROSOFT, "FusedConv"): fused_convolution, ("", "MaxPool"): max_pooling,
    ("", "AveragePool"): average_pooling,
}  # fmt: skip
"""By domain and operator: what makes a kernel of the library one that takes the short way where there is one."""


def _fits(x: Any) -> bool:
    return x.ndim == 4 and _is_plain(x)


def _is_plain(x: Any) -> bool:
    return x.dtype == np.float32 and bool(x.flags.c_contiguous) and x.size <= _LARGEST


@lru_cache(maxsize=32)
def _compiled(xp: Any, name: str) -> Any:
    return xp.RawKernel(SOURCE, name)


def _launch(xp: Any, name: str, y: Any, arrays: tuple[Any, ...], counts: tuple[int, ...], slides: Windows) -> None:
    total = prod(y.shape)
    if not total:
        return
    fields = (
        *slides.size, *slides.out, *slides.kernel, *slides.strides, *slides.dilations, *slides.pads_begin,
        *slides.pads_end,
    )  # fmt: skip
    window = np.array(tuple(fields), _WINDOW)[()]
    blocks = min(-(-total // _THREADS), _MOST_BLOCKS)
    numbers = (np.int32(total), *map(np.int32, counts), window)
    _compiled(xp, name)((blocks,), (_THREADS,), (*arrays, *numbers))
