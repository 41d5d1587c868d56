"""Two arrays of one shape, element by element: how the differences spread, and pictures of one slice. Knows no Qt."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

BINS = 81  # odd, so that the middle one holds the zeros
CHUNK = 1 << 20  # elements looked at between two questions whether to go on
PIXELS = 384  # of a picture, along each axis, at most


@dataclass(slots=True)
class Spread:
    """Signed differences of all elements that are finite in both.

    `counts` [bins] between `edges` [bins + 1], symmetric about 0. `equal` elements do not differ at all, `apart` differ
    in where they are finite.
    """

    size: int = 0
    equal: int = 0
    apart: int = 0
    largest: float = 0.0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    edges: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(slots=True)
class Planes:
    """Pictures [rows, columns] of a slice: what the run made, what is expected, and how far apart they are.

    Where a slice is larger than a picture, each pixel stands for a block: by its first element, the difference by its
    largest.
    """

    actual: np.ndarray
    expected: np.ndarray
    difference: np.ndarray


def comparable(actual: object, expected: object) -> bool:
    """Whether two values can be subtracted: numeric arrays of one shape."""
    return (
        isinstance(actual, np.ndarray) and isinstance(expected, np.ndarray) and actual.shape == expected.shape
        and _is_real(actual) and _is_real(expected)
    )  # fmt: skip


def _is_real(array: np.ndarray) -> bool:
    return array.dtype.kind in "biuf" or (array.dtype.kind == "V" and array.dtype.names is None)


def spread_of(actual: np.ndarray, expected: np.ndarray, check: Callable[[], None] = lambda: None) -> Spread:
    """The differences of two comparable arrays, in two passes; `check` is called between chunks and may raise."""
    spread = Spread(size=actual.size)
    parts = [slice(start, start + CHUNK) for start in range(0, actual.size, CHUNK)]
    flat = actual.reshape(-1), expected.reshape(-1)
    for part in parts:
        check()
        difference, misplaced = _difference(flat[0][part], flat[1][part])
        spread.equal += int(np.count_nonzero(difference == 0)) - misplaced
        spread.apart += misplaced
        spread.largest = max(spread.largest, float(np.abs(difference).max(initial=0.0)))
    width = spread.largest or 1.0
    spread.edges = np.linspace(-width, width, BINS + 1)
    spread.counts = np.zeros(BINS, np.int64)
    for part in parts:
        check()
        spread.counts += np.histogram(_difference(flat[0][part], flat[1][part])[0], spread.edges)[0]
    return spread


def _difference(actual: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, int]:
    """actual - expected in float64, 0 where either is not finite; and how many of these do not match."""
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    if finite.all():
        return a - b, 0
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        return np.where(finite, a - b, 0.0), int(np.count_nonzero(~finite & ~same))


def planes_of(actual: np.ndarray, expected: np.ndarray, fixed: tuple[int, ...] = ()) -> Planes:
    """Pictures of the last two axes of two comparable arrays at `fixed` indices of the others.

    A vector is folded into rows, a scalar is one pixel. The difference is |actual - expected|, infinite where only one
    is finite or both are not and differ.
    """
    a, b = _as_plane(actual[fixed]), _as_plane(expected[fixed])
    with np.errstate(all="ignore"):
        difference = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    difference = np.where(same, 0.0, np.where(np.isfinite(difference), difference, np.inf))
    return Planes(_thinned(a), _thinned(b), _largest_of_blocks(difference))


def _as_plane(array: np.ndarray) -> np.ndarray:
    values = array.astype(np.float64)
    if values.ndim == 2:
        return values
    flat = values.reshape(-1)
    columns = min(flat.size, max(1, int(np.ceil(np.sqrt(flat.size * 4)))))  # four times as wide as high
    rows = -(-flat.size // columns) if columns else 0
    padded = np.full(rows * columns, np.nan)
    padded[: flat.size] = flat
    return padded.reshape(rows, columns)


def _steps(shape: tuple[int, ...]) -> tuple[int, int]:
    return max(1, -(-shape[0] // PIXELS)), max(1, -(-shape[1] // PIXELS))


def _thinned(plane: np.ndarray) -> np.ndarray:
    rows, columns = _steps(plane.shape)
    return plane[::rows, ::columns]


def _largest_of_blocks(plane: np.ndarray) -> np.ndarray:
    rows, columns = _steps(plane.shape)
    if rows == columns == 1 or not plane.size:
        return plane
    by_rows = np.maximum.reduceat(plane, np.arange(0, plane.shape[0], rows), axis=0)
    return np.maximum.reduceat(by_rows, np.arange(0, plane.shape[1], columns), axis=1)
