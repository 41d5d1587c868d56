"""Summary of a tensor's values: extent, moments, counts of the special ones, a histogram. Knows no Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

BINS = 64
CHUNK = 1 << 20  # elements looked at between two questions whether to go on
MOST_WORDS = 1 << 20  # distinct strings that are counted

Check = Callable[[], None]


@dataclass(slots=True)
class NumberStatistics:
    """Figures over all elements; minimum, maximum, mean and deviation over the finite ones, NaN where there are none.

    Those of complex numbers are of their magnitudes, and `magnitudes` says so. `subnormals` are numbers too small for
    the full precision of their type. `counts` [bins] and `edges` [bins + 1] are the histogram of the finite values.
    """

    size: int = 0
    minimum: float = np.nan
    maximum: float = np.nan
    mean: float = np.nan
    deviation: float = np.nan
    zeros: int = 0
    negatives: int = 0
    nans: int = 0
    infinities: int = 0
    subnormals: int = 0
    magnitudes: bool = False
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    edges: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(slots=True)
class TextStatistics:
    """Figures over strings. `distinct` counts no further than `MOST_WORDS`."""

    size: int = 0
    empty: int = 0
    distinct: int = 0
    longest: int = 0


def is_numeric(array: np.ndarray) -> bool:
    """Whether an array holds numbers: no strings, no objects."""
    return array.dtype.kind in "biufc" or (array.dtype.kind == "V" and array.dtype.names is None)


def summarise(array: np.ndarray, check: Check = lambda: None) -> NumberStatistics:
    """Statistics of a numeric array of any shape, in two passes; `check` is called between chunks and may raise."""
    result = NumberStatistics(size=array.size, magnitudes=array.dtype.kind == "c")
    smallest = smallest_normal(array.dtype)
    finite = 0
    mean = spread = 0.0
    low: float = np.inf
    high: float = -np.inf
    for chunk, exact in _chunks(array):
        check()
        good = chunk[np.isfinite(chunk)]
        nans = int(np.isnan(chunk).sum())
        result.nans += nans
        result.infinities += chunk.size - good.size - nans
        result.zeros += int((good == 0).sum())
        result.negatives += int((good < 0).sum())
        if smallest:
            result.subnormals += int(((np.abs(good) < smallest) & (good != 0)).sum())
        if good.size:
            whole = exact if exact.dtype.kind in "iu" else good  # float64 would round large integers
            low, high = min(low, whole.min().item()), max(high, whole.max().item())
            # Chan, Golub and LeVeque (1979): moments of two parts from those of each.
            part, total = float(good.mean()), finite + good.size
            with np.errstate(over="ignore"):  # numbers near the largest have an infinite deviation
                spread += float(((good - part) ** 2).sum()) + (part - mean) ** 2 * finite * good.size / total
            mean += (part - mean) * good.size / total
            finite = total
    if not finite:
        return result
    result.minimum, result.maximum, result.mean = low, high, mean
    result.deviation = float(np.sqrt(spread / finite))
    result.counts, result.edges = _histogram(array, float(low), float(high), check)
    return result


def summarise_text(array: np.ndarray, check: Check = lambda: None) -> TextStatistics:
    """Statistics of an array of strings."""
    result = TextStatistics(size=array.size)
    words: set[str] = set()
    flat = array.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        check()
        for value in flat[start : start + CHUNK]:
            text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
            result.empty += not text
            result.longest = max(result.longest, len(text))
            if len(words) < MOST_WORDS:
                words.add(text)
    result.distinct = len(words)
    return result


def smallest_normal(dtype: np.dtype) -> float:
    """The smallest positive number of full precision that a floating-point type has; 0 for other types."""
    try:
        return float(ml_dtypes.finfo(dtype).smallest_normal)
    except (ValueError, TypeError, KeyError):
        return 0.0


def _histogram(array: np.ndarray, low: float, high: float, check: Check) -> tuple[np.ndarray, np.ndarray]:
    """Counts and edges; integers of a small range get a bin each."""
    bins = BINS
    whole = array.dtype.kind in "biu"
    if whole and high - low < BINS:
        bins, low, high = int(high - low) + 1, low - 0.5, high + 0.5
    edges = _edges(low, high, bins)
    if np.any(np.diff(edges) <= 0):  # one value, or so narrow a range that its numbers can't be told apart
        room, largest = max(abs(low) * 1e-3, 0.5), float(np.finfo(np.float64).max)
        edges = _edges(max(low - room, -largest), min(high + room, largest), bins)
    counts = np.zeros(bins, np.int64)
    for chunk, _exact in _chunks(array):
        check()
        counts += np.histogram(chunk[np.isfinite(chunk)], edges)[0]
    return counts, edges


def _edges(low: float, high: float, bins: int) -> np.ndarray:
    """Equal bins; halved on the way, since the width of the whole range of float64 is none of its numbers."""
    return np.linspace(low / 2, high / 2, bins + 1) * 2


def _chunks(array: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The elements as float64 and as they are, a bounded number at a time; complex ones by their magnitude."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        exact = flat[start : start + CHUNK]
        yield (np.abs(exact) if exact.dtype.kind == "c" else exact).astype(np.float64), exact
