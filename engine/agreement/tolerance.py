"""How far two values may be apart: by dtype, by who computed them, and what kind of arithmetic would explain it.

An element agrees when |actual - expected| ≤ rtol · |expected| + atol. `atol` is rtol · the typical magnitude of the
tensor (the median of its non-zero elements), so that what cancels to almost nothing is judged by the size of what was
cancelled; at least some rounding steps of its largest elements, from which the small ones were computed. Elements that
are huge beside the others, such as an attention mask's, excuse nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

RTOL: Mapping[str, float] = {
    "float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2, "complex64": 1e-4, "complex128": 1e-9,
    "float8e4m3fn": 0.25, "float8e4m3fnuz": 0.25, "float8e5m2": 0.5, "float8e5m2fnuz": 0.5, "float6e2m3": 0.25,
    "float6e3m2": 0.25, "float4e2m1": 0.5,
}  # fmt: skip
"""Relative tolerance by dtype, some hundred times its rounding step; dtypes not listed must be equal."""

TF32, HALF, BRAIN = 2e-3, 1e-2, 5e-2
PROVIDER_RTOL: Mapping[str, Mapping[str, float]] = {
    "CUDA": {"float32": TF32}, "ORT:CUDA": {"float32": TF32}, "ORT:Tensorrt": {"float32": TF32},
    "ORT:CoreML": {"float32": HALF},
}  # fmt: skip
"""What providers that compute in less than their tensors' precision are allowed instead."""

_NOISE = (
    ("float64", 1e-9), ("float32", 1e-4), ("TF32", TF32), ("float16", HALF), ("bfloat16", BRAIN),
)  # fmt: skip

SMALLEST_ATOL = 1e-3
"""`atol` is at least this part of rtol, for tensors that are zero but for noise."""

ROUNDING_STEPS = 16
"""`atol` is at least so many rounding steps of the tensor's largest elements, or rtol times these if that is less."""

HUGE = 1e3
"""Elements beyond this, and beyond this times the typical magnitude, do not count as the largest."""

SAMPLE = 1 << 16
"""Magnitudes are taken over so many elements at most."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """|actual - expected| ≤ rtol · |expected| + atol, or at most `steps` quantisation steps."""

    rtol: float
    atol: float
    steps: int = 0


EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What a comparison allows.

    Attributes
    ----------
    rtol: relative tolerance by dtype; dtypes not named must be equal.
    steps: quantisation steps that quantised tensors may be apart.
    """

    rtol: Mapping[str, float] = field(default_factory=lambda: RTOL)
    steps: int = 1

    @classmethod
    def for_providers(cls, names: Iterable[str]) -> Tolerances:
        """Those of each dtype, or of the provider among `names` that needs most."""
        rtol = dict(RTOL)
        for name in names:
            for dtype, least in PROVIDER_RTOL.get(name, {}).items():
                rtol[dtype] = max(rtol[dtype], least)
        return cls(rtol)

    def with_rtol(self, rtol: float | Mapping[str, float]) -> Tolerances:
        """The same with other relative tolerances: one for every dtype that has any, or some by dtype."""
        changed = dict.fromkeys(self.rtol, rtol) if isinstance(rtol, int | float) else rtol
        return replace(self, rtol={**self.rtol, **changed})

    def of(self, expected: np.ndarray, dtype: str) -> Tolerance:
        """The tolerance for one tensor."""
        rtol = self.rtol.get(dtype, 0.0)
        return Tolerance(rtol, _atol(expected, rtol)) if rtol else EXACT


def noise_words(level: float, dtype: str) -> str:
    """The least precise arithmetic needed to explain a relative difference: ``TF32``; "" where none would.

    Parameters
    ----------
    level: the relative tolerance at which the values would just agree.
    dtype: of the values; arithmetic more precise than this explains nothing.
    """
    names = [name for name, _ in _NOISE]
    if dtype not in names:
        return dtype if level <= RTOL.get(dtype, 0.0) else ""
    return next((name for name, limit in _NOISE[names.index(dtype) :] if level <= limit), "")


def _atol(expected: np.ndarray, rtol: float) -> float:
    flat = expected.reshape(-1)
    sample = np.abs(flat[:: max(1, flat.size // SAMPLE)].astype(np.float64))
    sample = sample[np.isfinite(sample) & (sample > 0)]
    if not sample.size:
        return rtol * SMALLEST_ATOL
    typical = float(np.median(sample))
    largest = float(np.max(sample, where=sample < max(HUGE, HUGE * typical), initial=typical))
    return max(rtol * max(typical, SMALLEST_ATOL), min(ROUNDING_STEPS * _rounding_step(expected), rtol) * largest)


def _rounding_step(array: np.ndarray) -> float:
    """Distance from 1 to the next number of a float dtype."""
    if array.dtype.kind in "fc":
        return float(np.finfo(array.dtype).eps)
    return float("inf")  # the small floats: their rtol is less than any number of their steps
