"""Whether two values agree: how far they are apart, and whether that is within what their dtype allows.

An element agrees when |actual - expected| ≤ rtol · |expected| + atol. `rtol` follows from the dtype; `atol` is
rtol · the typical magnitude of the tensor (the median of its non-zero elements), so that what cancels to almost
nothing is judged by the size of what was cancelled, and a few huge elements, such as an attention mask's, excuse
nothing. Integers, booleans and strings must be equal. NaN equals NaN; infinities must stand at the same places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.dtypes import from_numpy

RTOL = {
    "float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2, "complex64": 1e-4, "complex128": 1e-9,
    "float8e4m3fn": 0.25, "float8e4m3fnuz": 0.25, "float8e5m2": 0.5, "float8e5m2fnuz": 0.5,
}  # fmt: skip
"""Relative tolerance by dtype, some hundred times its rounding step; dtypes not listed must be equal."""

SMALLEST_ATOL = 1e-3
"""`atol` is at least this part of rtol, for tensors that are zero but for noise."""

SAMPLE = 1 << 16
"""The typical magnitude is taken over so many elements at most."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """|actual - expected| ≤ rtol · |expected| + atol."""

    rtol: float
    atol: float


EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two values compare.

    `max_abs`, `max_rel` and `cosine` are over the elements that are finite in both, None where that means nothing
    (strings, mismatched shapes). `max_rel` leaves out elements expected to be 0. `mismatched` counts the elements
    beyond `tolerance`, `worst` is the index of the largest difference, and `reason` says in words why they disagree.
    """

    agrees: bool
    tolerance: Tolerance
    max_abs: float | None = None
    max_rel: float | None = None
    cosine: float | None = None
    mismatched: int = 0
    worst: tuple[int, ...] | None = None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON has them."""
        return {
            "agrees": self.agrees, "max_abs": self.max_abs, "max_rel": self.max_rel, "cosine": self.cosine,
            "mismatched": self.mismatched, "worst": None if self.worst is None else list(self.worst),
            "tolerance": {"rtol": self.tolerance.rtol, "atol": self.tolerance.atol}, "reason": self.reason,
        }  # fmt: skip


def compare_values(actual: Any, expected: Any, rtol: float | None = None) -> Agreement:
    """Hold a value against the one expected: arrays, sequences (lists) and maps (dicts) of them, or None.

    Parameters
    ----------
    rtol: in place of the dtype's own relative tolerance.
    """
    if isinstance(expected, (list, dict)) or isinstance(actual, (list, dict)):
        return _compare_containers(actual, expected, rtol)
    if actual is None or expected is None:
        return _different("one of them is absent") if actual is not expected else Agreement(True, EXACT)
    return compare_arrays(np.asarray(actual), np.asarray(expected), rtol)


def _compare_containers(actual: Any, expected: Any, rtol: float | None) -> Agreement:
    if type(actual) is not type(expected):
        return _different("one is a sequence or map and the other is not")
    if len(actual) != len(expected):
        return _different(f"{len(actual)} elements where {len(expected)} are expected")
    if isinstance(expected, dict):
        if actual.keys() != expected.keys():
            return _different("their keys differ")
        actual, expected = [actual[key] for key in expected], list(expected.values())
    return _together([compare_values(a, e, rtol) for a, e in zip(actual, expected)])


def _together(parts: list[Agreement]) -> Agreement:
    """One verdict over the elements of a sequence: the worst of each figure, the first reason."""
    if not parts:
        return Agreement(True, EXACT)
    worst = next((part for part in parts if not part.agrees), parts[0])
    absolute, relative, cosines = (
        [value for value in values if value is not None]
        for values in ([p.max_abs for p in parts], [p.max_rel for p in parts], [p.cosine for p in parts])
    )
    return Agreement(
        all(p.agrees for p in parts), worst.tolerance, max(absolute, default=None), max(relative, default=None),
        min(cosines, default=None), sum(p.mismatched for p in parts), reason=worst.reason,
    )  # fmt: skip


def compare_arrays(actual: np.ndarray, expected: np.ndarray, rtol: float | None = None) -> Agreement:
    """Hold an array against the one expected; see `compare_values`."""
    if actual.dtype != expected.dtype and "string" not in (_dtype_name(actual), _dtype_name(expected)):
        return _different(f"dtype {_dtype_name(actual)} where {_dtype_name(expected)} is expected")
    if actual.shape != expected.shape:
        return _different(f"shape {list(actual.shape)} where {list(expected.shape)} is expected")
    name = _dtype_name(expected)
    if rtol is None:
        rtol = RTOL.get(name, 0.0)
    if name == "string":
        return _compare_strings(actual, expected)
    if expected.dtype.kind == "c":
        real_parts, imaginary_parts = ((actual.real, expected.real), (actual.imag, expected.imag))
        return _together([compare_arrays(*real_parts, rtol), compare_arrays(*imaginary_parts, rtol)])
    if np.array_equal(actual, expected):
        return Agreement(True, _tolerance(expected, rtol), 0.0, 0.0, 1.0)
    return _compare_numbers(actual, expected, rtol)


def _compare_numbers(actual: np.ndarray, expected: np.ndarray, rtol: float) -> Agreement:
    tolerance = _tolerance(expected, rtol)
    equal = np.asarray(actual == expected, bool)  # before float64, which rounds large integers
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(actual) & np.isfinite(expected)
    misplaced = ~finite & ~equal & ~(np.isnan(actual) & np.isnan(expected))
    with np.errstate(all="ignore"):
        difference = np.where(finite, np.abs(actual - expected), 0.0)
        magnitude = np.where(finite, np.abs(expected), 0.0)
        beyond = finite & ~equal & (difference >= tolerance.rtol * magnitude + tolerance.atol)
        relative = np.max(difference / magnitude, where=magnitude > 0, initial=0.0)
    mismatched = int(np.count_nonzero(beyond)) + int(np.count_nonzero(misplaced))
    reason = ""
    if misplaced.any():
        reason = _misplaced_words(actual, expected, misplaced)
        worst = np.argmax(misplaced)
    else:
        worst = np.argmax(difference)
        if mismatched:
            reason = f"{mismatched} of {expected.size} elements differ by more than the tolerance"
    return Agreement(
        mismatched == 0, tolerance, float(difference.max(initial=0.0)), float(relative),
        _cosine(actual[finite], expected[finite]), mismatched,
        tuple(int(i) for i in np.unravel_index(worst, expected.shape)) if expected.size else None, reason,
    )  # fmt: skip


def _misplaced_words(actual: np.ndarray, expected: np.ndarray, misplaced: np.ndarray) -> str:
    first = tuple(int(i) for i in np.unravel_index(np.argmax(misplaced), expected.shape))
    return f"{actual[first]:g} at {list(first)} where {expected[first]:g} is expected"


def _compare_strings(actual: np.ndarray, expected: np.ndarray) -> Agreement:
    different = np.asarray(actual.astype(object) != expected.astype(object), bool)
    count = int(np.count_nonzero(different))
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(different), expected.shape)) if count else None
    reason = f"{count} of {expected.size} strings differ" if count else ""
    return Agreement(count == 0, EXACT, mismatched=count, worst=worst, reason=reason)


def _cosine(a: np.ndarray, b: np.ndarray) -> float | None:
    """Cosine similarity of two float64 vectors; 1 for two zero vectors, None for empty ones."""
    if not a.size:
        return None
    scale_a, scale_b = float(np.abs(a).max()), float(np.abs(b).max())
    if not scale_a or not scale_b:
        return float(scale_a == scale_b)
    a, b = a / scale_a, b / scale_b  # or the squares of large values overflow
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def _tolerance(expected: np.ndarray, rtol: float) -> Tolerance:
    if not rtol:
        return EXACT
    flat = expected.reshape(-1)
    sample = np.abs(flat[:: max(1, flat.size // SAMPLE)].astype(np.float64))
    sample = sample[np.isfinite(sample) & (sample > 0)]
    typical = float(np.median(sample)) if sample.size else 0.0
    return Tolerance(rtol, rtol * max(typical, SMALLEST_ATOL))


def _different(reason: str) -> Agreement:
    return Agreement(False, EXACT, reason=reason)


def _dtype_name(array: np.ndarray) -> str:
    dtype = from_numpy(array.dtype)
    return dtype.name if dtype else str(array.dtype)
