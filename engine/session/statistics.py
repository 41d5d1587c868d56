"""A value in a few figures."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.dtypes import from_numpy
from engine.kernels.registry import Value


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of one array. Those over its elements are taken over the finite ones, None where there is none."""

    dtype: str
    shape: tuple[int, ...]
    nan: int = 0
    inf: int = 0
    zeros: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None


def statistics_of(value: Value) -> Statistics | None:
    """The figures of an array; None for sequences, maps and absent values."""
    if not isinstance(value, np.ndarray | np.generic):
        return None
    array = np.asarray(value)
    dtype = from_numpy(array.dtype)
    name = dtype.name if dtype else str(array.dtype)
    if dtype is None or dtype.kind not in ("float", "int", "uint", "bool"):
        return Statistics(name, array.shape)
    exact = array.dtype in (np.dtype(np.float32), np.dtype(np.float64))
    numbers = array if exact else array.astype(np.float64)
    nan, inf = int(np.isnan(numbers).sum()), int(np.isinf(numbers).sum())
    finite = numbers[np.isfinite(numbers)] if nan or inf else numbers
    zeros = int(numbers.size - np.count_nonzero(numbers))
    if not finite.size:
        return Statistics(name, array.shape, nan, inf, zeros)
    with np.errstate(all="ignore"):
        mean = float(finite.mean(dtype=np.float64))
        std = float(finite.std(dtype=np.float64))
    return Statistics(name, array.shape, nan, inf, zeros, float(finite.min()), float(finite.max()), mean, std)
