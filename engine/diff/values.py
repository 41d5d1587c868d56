"""How far the stored values of two tensors are apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from engine.errors import DataError
from engine.graph.data import SparseData, TensorData
from engine.words import counted

CHUNK = 1 << 20  # elements compared at a time


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """Figures over the elements of two arrays of one shape, taken in float64.

    Attributes
    ----------
    size, changed: elements in all, and those that differ.
    max_abs, mean_abs: of the absolute differences of elements that are finite in both.
    relative: root mean square of the differences over that of the first array; None where that is 0.
    cosine: cosine similarity; None where one of them is 0.
    nonfinite: elements that are NaN or infinite in one and not alike in the other.
    reason: why nothing could be compared, in words; empty where it could.
    """

    size: int = 0
    changed: int = 0
    max_abs: float = 0.0
    mean_abs: float = 0.0
    relative: float | None = None
    cosine: float | None = None
    nonfinite: int = 0
    reason: str = ""

    @property
    def equal(self) -> bool:
        """Whether all elements are the same."""
        return not self.changed and not self.reason

    def in_words(self) -> str:
        """How far the two are apart, in a line."""
        if self.reason:
            return self.reason
        relative = f", {self.relative:.2%} of its size" if self.relative is not None else ""
        odd = f", {self.nonfinite} not finite on one side" if self.nonfinite else ""
        most = f", by {self.max_abs:.3g} at most" if self.max_abs else ""
        return f"{self.changed} of {counted(self.size, 'element')} differ{most}{relative}{odd}"

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON has them."""
        return asdict(self)


def difference(before: TensorData | SparseData, after: TensorData | SparseData) -> ValueDifference:
    """Hold two stored values of one shape against each other; both are read, neither is kept.

    Values of different element types are compared as numbers.
    """
    try:
        first, second = stored_value(before), stored_value(after)
    except (DataError, ValueError) as error:
        return ValueDifference(before.size, reason=str(error))
    if first.shape != second.shape:
        return ValueDifference(first.size, reason=f"shape {list(first.shape)} against {list(second.shape)}")
    if first.dtype.kind in "OUS" or second.dtype.kind in "OUS":
        changed = int(np.count_nonzero(first.astype(object) != second.astype(object)))
        return ValueDifference(first.size, changed)
    if first.dtype == second.dtype and np.array_equal(first, second):
        return ValueDifference(first.size, relative=0.0, cosine=1.0)
    if "c" in (first.dtype.kind, second.dtype.kind):
        return _of_numbers(_parts(first), _parts(second))
    return _of_numbers(first.reshape(-1), second.reshape(-1))


def _parts(array: np.ndarray) -> np.ndarray:
    """Real and imaginary parts side by side."""
    return np.ascontiguousarray(array.reshape(-1).astype(np.complex128)).view(np.float64)


def stored_value(data: TensorData | SparseData) -> np.ndarray:
    """The array, not kept by `data` unless it has it already: all weights together may not fit into memory.

    Raises
    ------
    DataError: as `TensorData.read`.
    """
    if isinstance(data, SparseData) or data.problem or data._array is not None:
        return data.array()
    return data.read()


def _of_numbers(first: np.ndarray, second: np.ndarray) -> ValueDifference:
    changed = nonfinite = 0
    largest = total = squares = norm = other = dot = 0.0
    for start in range(0, first.size, CHUNK):
        x, y = first[start : start + CHUNK], second[start : start + CHUNK]
        unequal = np.asarray(x != y, bool)  # before float64, which rounds large integers
        a, b = x.astype(np.float64), y.astype(np.float64)
        both_nan = np.isnan(a) & np.isnan(b)
        changed += int(np.count_nonzero(unequal & ~both_nan))
        finite = np.isfinite(a) & np.isfinite(b)
        nonfinite += int(np.count_nonzero(~finite & unequal & ~both_nan))
        a, b = a[finite], b[finite]
        apart = np.abs(a - b)
        largest = max(largest, float(apart.max(initial=0.0)))
        total += float(apart.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            squares += float(apart @ apart)
            norm, other, dot = norm + float(a @ a), other + float(b @ b), dot + float(a @ b)
    size = first.size
    return ValueDifference(
        size, changed, largest, total / size if size else 0.0,
        float(np.sqrt(squares / norm)) if 0 < norm < np.inf else None,
        float(np.clip(dot / np.sqrt(norm) / np.sqrt(other), -1.0, 1.0)) if 0 < norm < np.inf and other else None,
        nonfinite,
    )  # fmt: skip
