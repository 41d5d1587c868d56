"""Signal processing: Fourier transforms, windows, and the mel scale."""
from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from engine.dtypes import from_code
from engine.errors import UnsupportedError
from engine.kernels.axes import normalise_axis
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, host_array, kernel


@kernel("DFT", 20, host_inputs=(1, 2))
@in_float32
def dft(
    ctx: KernelContext, x: Any, dft_length: Any = None, axis: Any = None, *, inverse: int = 0, onesided: int = 0
) -> Any:
    """Discrete Fourier transform of x [..., 1] (real) or [..., 2] (real and imaginary part) along an axis (DFT 20)."""
    place = -2 if axis is None else _number(axis)
    return _transform(ctx.xp, x, None if dft_length is None else _number(dft_length), place, inverse, onesided)


@kernel("DFT", 17, host_inputs=(1,))
@in_float32
def dft_17(
    ctx: KernelContext, x: Any, dft_length: Any = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Any:
    """DFT with its axis as an attribute (DFT 17)."""
    return _transform(ctx.xp, x, None if dft_length is None else _number(dft_length), axis, inverse, onesided)


def _number(value: Any) -> int:
    return int(host_array(value).reshape(-1)[0])


def _transform(xp: Any, x: Any, length: int | None, axis: int, inverse: int, onesided: int) -> Any:
    axis = normalise_axis(axis, x.ndim)
    if axis == x.ndim - 1:
        raise UnsupportedError("the axis of a DFT is the one that holds real and imaginary parts")
    signal = _complex(x)
    if onesided and inverse:
        return xp.fft.irfft(signal, length, axis)[..., None].astype(x.dtype, copy=False)
    if onesided:
        return _parts(xp, xp.fft.rfft(x[..., 0], length, axis), x.dtype)
    transform = xp.fft.ifft if inverse else xp.fft.fft
    return _parts(xp, transform(signal, length, axis), x.dtype)


def _complex(x: Any) -> Any:
    """[..., 1 or 2] of reals as complex numbers."""
    if x.shape[-1] == 1:
        return x[..., 0]
    if x.shape[-1] != 2:
        raise UnsupportedError(f"the last axis has length {x.shape[-1]}, not 1 (real) or 2 (complex)")
    return x[..., 0] + 1j * x[..., 1]


def _parts(xp: Any, z: Any, dtype: np.dtype) -> Any:
    return xp.stack([z.real, z.imag], axis=-1).astype(dtype, copy=False)


@kernel("STFT", 17, host_inputs=(1, 3))
@in_float32
def stft(
    ctx: KernelContext, x: Any, frame_step: Any, window: Any = None, frame_length: Any = None, *, onesided: int = 1
) -> Any:
    """Fourier transforms of frames of x [B, L, 1 or 2], `frame_step` apart: [B, frames, bins, 2] (STFT 17)."""
    xp = ctx.xp
    length = x.shape[1]
    if frame_length is not None:
        length = _number(frame_length)
    elif window is not None:
        length = window.shape[0]
    step = _number(frame_step)
    if step < 1 or length < 1:
        raise ValueError(f"frame_step {step} and frame_length {length} should be 1 at least")
    starts = xp.arange(0, x.shape[1] - length + 1, step)
    frames = _complex(x)[:, starts[:, None] + xp.arange(length)]
    if window is not None:
        frames = frames * window
    # Only real signals have the symmetry that lets half of the bins stand for all.
    transform = xp.fft.rfft if onesided and x.shape[-1] == 1 else xp.fft.fft
    return _parts(xp, transform(frames, length, 2), x.dtype)


def _window(ctx: KernelContext, size: Any, periodic: int, code: int, terms: tuple[float, ...]) -> Any:
    """Sum of ``terms[k] * cos(2 pi k n / N)``, N the size or for a symmetric window one less."""
    count = _number(size)
    angle = np.arange(count) * (2 * pi / max(count if periodic else count - 1, 1))
    values = sum(term * np.cos(k * angle) for k, term in enumerate(terms))
    return ctx.xp.asarray(np.asarray(values).astype(_dtype(code)))


def _dtype(code: int) -> np.dtype:
    found = from_code(code)
    if found is None:
        raise UnsupportedError(f"element type {code} is unknown")
    return found.numpy


@kernel("HannWindow", 17, host_inputs=(0,))
def hann_window(ctx: KernelContext, size: Any, *, output_datatype: int = 1, periodic: int = 1) -> Any:
    """Raised cosine, 0 at its edge (HannWindow 17)."""
    return _window(ctx, size, periodic, output_datatype, (0.5, -0.5))


@kernel("HammingWindow", 17, host_inputs=(0,))
def hamming_window(ctx: KernelContext, size: Any, *, output_datatype: int = 1, periodic: int = 1) -> Any:
    """Raised cosine, 4 / 46 at its edge (HammingWindow 17)."""
    return _window(ctx, size, periodic, output_datatype, (25 / 46, -21 / 46))


@kernel("BlackmanWindow", 17, host_inputs=(0,))
def blackman_window(ctx: KernelContext, size: Any, *, output_datatype: int = 1, periodic: int = 1) -> Any:
    """Cosine sum of three terms (BlackmanWindow 17)."""
    return _window(ctx, size, periodic, output_datatype, (0.42, -0.5, 0.08))


@kernel("MelWeightMatrix", 17, host_inputs=(0, 1, 2, 3, 4))
def mel_weight_matrix(
    ctx: KernelContext,
    num_mel_bins: Any,
    dft_length: Any,
    sample_rate: Any,
    lower_edge_hertz: Any,
    upper_edge_hertz: Any,
    *,
    output_datatype: int = 1,
) -> Any:
    """Triangles evenly spaced on the mel scale over the bins of a one-sided DFT, [bins, mel bins] (version 17)."""
    count, length = _number(num_mel_bins), _number(dft_length)
    low, high = (_mel(float(host_array(v).reshape(-1)[0])) for v in (lower_edge_hertz, upper_edge_hertz))
    mels = low + np.arange(count + 2) * ((high - low) / (count + 2))
    hertz = 700 * (10 ** (mels / 2595) - 1)
    corners = np.floor((length + 1) * hertz / _number(sample_rate))
    bins = np.arange(length // 2 + 1)[:, None]
    left, centre, right = corners[:-2], corners[1:-1], corners[2:]
    rising = np.where(centre > left, (bins - left) / np.maximum(centre - left, 1), bins == centre)
    falling = (right - bins) / np.maximum(right - centre, 1)
    weights = np.where(bins <= centre, np.where(bins >= left, rising, 0), np.maximum(falling, 0))
    return ctx.xp.asarray(weights.astype(_dtype(output_datatype)))


def _mel(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))
