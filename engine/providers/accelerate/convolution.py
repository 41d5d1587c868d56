"""Convolution for the Accelerate provider: windows gathered as the columns of a matrix, times the filters by sgemm.

The bias lies in the output before sgemm adds to it, and an activation is applied to the output where it lies.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Unpack

import numpy as np

from engine.kernels.activations import swish
from engine.kernels.contrib_fused import fused_conv
from engine.kernels.convolution import conv as library_conv
from engine.kernels.convolution import filter_windows
from engine.kernels.pooling import padded
from engine.kernels.registry import KernelContext
from engine.kernels.windows import Sliding, Windows
from engine.providers.accelerate.vectors import LARGEST, VectorLibrary

_BAND_BYTES = 4 << 20
"""Windows are gathered in bands of rows of about this size, which the next-level cache still holds."""


def conv_kernel(library: VectorLibrary) -> Callable[..., Any]:
    """The kernel of Conv over one loaded library."""

    def conv(
        ctx: KernelContext, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None, *,
        kernel_shape: list[int] | None = None, group: int = 1, **sliding: Unpack[Sliding],
    ) -> Any:  # fmt: skip
        """Conv; depthwise ones, which are no matrix products, as the CPU does them."""
        slides = filter_windows(x, w, group, kernel_shape, sliding)
        if not _suits(w, b, slides, group):
            return library_conv(ctx, x, w, b, kernel_shape=kernel_shape, group=group, **sliding)
        return _convolve(library, x, w, b, slides, group)

    return conv


def fused_conv_kernel(library: VectorLibrary) -> Callable[..., Any]:
    """The kernel of com.microsoft FusedConv."""

    def fused(
        ctx: KernelContext, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None, z: np.ndarray | None = None, *,
        kernel_shape: list[int] | None = None, group: int = 1, activation: str = "",
        activation_params: list[float] | None = None, **sliding: Unpack[Sliding],
    ) -> Any:  # fmt: skip
        """Conv, plus z where given, then Relu, Sigmoid or Tanh in place; other activations as the CPU does them."""
        slides = filter_windows(x, w, group, kernel_shape, sliding)
        if not _suits(w, b, slides, group) or activation not in ("", *_IN_PLACE):
            return fused_conv(
                ctx, x, w, b, z, kernel_shape=kernel_shape, group=group, activation=activation,
                activation_params=activation_params, **sliding,
            )  # fmt: skip
        y = _convolve(library, x, w, b, slides, group)
        if z is not None:
            y += z
        if activation and y.size:
            _IN_PLACE[activation](library, y)
        return y

    return fused


def sigmoid_kernel(library: VectorLibrary) -> Callable[..., Any]:
    """The kernel of Sigmoid."""

    def sigmoid(ctx: KernelContext, x: np.ndarray) -> np.ndarray:
        """1 / (1 + exp(-x))."""
        y = np.array(x, order="C")
        if 0 < y.size <= LARGEST:
            _sigmoid(library, y)
        return y

    return sigmoid


def swish_kernel(library: VectorLibrary) -> Callable[..., Any]:
    """The kernel of Swish, which is SiLU where alpha is 1."""

    def silu(ctx: KernelContext, x: np.ndarray, *, alpha: float = 1.0) -> Any:
        """x · sigmoid(alpha · x)."""
        if alpha != 1 or not (x.flags.c_contiguous and 0 < x.size <= LARGEST):
            return swish(ctx, x, alpha=alpha)
        gate, y = x.copy(), np.empty_like(x)
        _sigmoid(library, gate)
        library.binary("mul", x, gate, y)
        return y

    return silu


def _suits(w: np.ndarray, b: np.ndarray | None, slides: Windows, group: int) -> bool:
    depthwise = group > 1 and w.shape[1] == 1
    bias_fits = b is None or b.shape == w.shape[:1]
    return bias_fits and not depthwise and w.size > 0 and prod(slides.out) * max(w.shape) <= LARGEST


def _convolve(
    library: VectorLibrary, x: np.ndarray, w: np.ndarray, b: np.ndarray | None, slides: Windows, group: int
) -> np.ndarray:
    batch, filters, depth = x.shape[0], w.shape[0], prod(w.shape[1:])
    y = np.empty((batch, filters, *slides.out), np.float32)
    if b is not None:
        y[...] = b.reshape(-1, *(1,) * len(slides.out))
    if not y.size:
        return y
    weights = np.ascontiguousarray(w).reshape(group, filters // group, depth)
    beta = 0.0 if b is None else 1.0
    if slides.is_pointwise and all(s == 1 for s in slides.strides) and x.flags.c_contiguous:
        flat = x.reshape(batch, group, depth, prod(slides.out))
        for n, g in np.ndindex(batch, group):
            library.sgemm(weights[g], flat[n, g], y[n].reshape(group, filters // group, -1)[g], beta=beta)
        return y
    windows = _windows(padded(np, x, slides, 0), slides)
    row = prod(slides.out[1:])
    rows = max(1, min(slides.out[0], _BAND_BYTES // (4 * depth * row)))
    for start in range(0, slides.out[0], rows):
        stop = min(start + rows, slides.out[0])
        cut: tuple[Any, ...] = (..., slice(start, stop), *(slice(None),) * (len(slides.out) - 1))
        band = windows[cut]
        for n, g in np.ndindex(batch, group):
            part = slice(g * w.shape[1], (g + 1) * w.shape[1])
            columns = np.ascontiguousarray(band[n, part]).reshape(depth, (stop - start) * row)
            out = y[n].reshape(group, filters // group, -1)[g][:, start * row : stop * row]
            library.sgemm(weights[g], columns, out, beta=beta)
    return y


def _windows(x: np.ndarray, slides: Windows) -> np.ndarray:
    """Every window of a padded input as a view [N, C, *kernel, *out]."""
    within = tuple(stride * d for stride, d in zip(x.strides[2:], slides.dilations))
    between = tuple(stride * s for stride, s in zip(x.strides[2:], slides.strides))
    shape = x.shape[:2] + slides.kernel + slides.out
    return np.lib.stride_tricks.as_strided(x, shape, x.strides[:2] + within + between)


def _relu(library: VectorLibrary, y: np.ndarray) -> None:
    np.maximum(y, 0, out=y)  # vDSP's threshold would turn NaN into 0


def _sigmoid(library: VectorLibrary, y: np.ndarray) -> None:
    library.vector_scalar("mul", y, -1.0, y)
    library.unary("exp", y, y)
    library.vector_scalar("add", y, 1.0, y)
    library.unary("rec", y, y)


def _tanh(library: VectorLibrary, y: np.ndarray) -> None:
    library.unary("tanh", y, y)


_IN_PLACE: dict[str, Callable[[VectorLibrary, np.ndarray], None]] = {
    "Relu": _relu, "Sigmoid": _sigmoid, "Tanh": _tanh,
}  # fmt: skip
