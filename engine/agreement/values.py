"""Two values held together: arrays, sequences and maps of them; figures of how far they are apart.

Floats may differ by the tolerance of their dtype, quantised tensors by a quantisation step; integers, booleans and
strings must be equal. NaN equals NaN; infinities must stand at the same places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.agreement.tolerance import EXACT, Tolerance, Tolerances, noise_words
from engine.dtypes import from_numpy
from engine.words import counted

_WHOLE = 1e-2
"""A difference this close to a whole number of quantisation steps is one."""

Step = float | np.ndarray


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two values compare.

    Attributes
    ----------
    max_abs, max_rel, cosine: over the elements that are finite in both, None where that means nothing (strings,
        mismatched shapes). `max_rel` leaves out elements expected to be 0.
    level: the relative tolerance at which they would just agree.
    noise: arithmetic that would explain the difference (``float32``, ``TF32``, ``float16``, ``bfloat16``), "" where
        none would, or where there is none to explain.
    max_ulps: representable numbers between them, for floats of 16 bits and less.
    steps: quantisation steps between them, for quantised tensors that differ by whole ones.
    mismatched: elements beyond `tolerance`.
    worst: index of the largest difference.
    reason: in words, why they disagree.
    """

    agrees: bool
    tolerance: Tolerance
    max_abs: float | None = None
    max_rel: float | None = None
    cosine: float | None = None
    mismatched: int = 0
    worst: tuple[int, ...] | None = None
    reason: str = ""
    level: float | None = None
    noise: str = ""
    max_ulps: int | None = None
    steps: int | None = None

    @property
    def equal(self) -> bool:
        """Whether nothing differs at all."""
        return self.agrees and not self.max_abs

    @property
    def words(self) -> str:
        """The verdict: ``equal``, ``within float32 noise``, ``off by 2 quantisation steps``, ``wrong``."""
        if self.equal:
            return "equal"
        if self.steps:
            return f"off by {counted(self.steps, 'quantisation step')}"
        if self.noise:
            return f"within {self.noise} noise"
        return "within the tolerance" if self.agrees else "wrong"

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON has them."""
        return {
            "agrees": self.agrees, "max_abs": self.max_abs, "max_rel": self.max_rel, "cosine": self.cosine,
            "mismatched": self.mismatched, "worst": None if self.worst is None else list(self.worst),
            "tolerance": {"rtol": self.tolerance.rtol, "atol": self.tolerance.atol, "steps": self.tolerance.steps},
            "reason": self.reason, "level": self.level, "noise": self.noise, "max_ulps": self.max_ulps,
            "steps": self.steps, "verdict": self.words,
        }  # fmt: skip


def compare_values(
    actual: Any, expected: Any, tolerances: Tolerances | float | None = None, step: Step | None = None
) -> Agreement:
    """Hold a value against the one expected: arrays, sequences (lists) and maps (dicts) of them, or None.

    Parameters
    ----------
    tolerances: what is allowed, or one relative tolerance for every dtype that has any; the default ones when None.
    step: what one quantisation step is worth in a quantised tensor (1 for its integers), broadcast to it.
    """
    if not isinstance(tolerances, Tolerances):
        tolerances = Tolerances() if tolerances is None else Tolerances().with_rtol(tolerances)
    if isinstance(expected, (list, dict)) or isinstance(actual, (list, dict)):
        return _compare_containers(actual, expected, tolerances)
    if actual is None or expected is None:
        return _different("one of them is absent") if actual is not expected else Agreement(True, EXACT)
    return _compare_arrays(_array(actual), _array(expected), tolerances, step)


def _array(value: Any) -> np.ndarray:
    """The value as an array; a float of a map's came from a float32 tensor."""
    return np.asarray(value, np.float32) if isinstance(value, float) else np.asarray(value)


def _compare_containers(actual: Any, expected: Any, tolerances: Tolerances) -> Agreement:
    if type(actual) is not type(expected):
        return _different("one is a sequence or map and the other is not")
    if len(actual) != len(expected):
        return _different(f"{len(actual)} elements where {len(expected)} are expected")
    if isinstance(expected, dict):
        if actual.keys() != expected.keys():
            return _different("their keys differ")
        actual, expected = [actual[key] for key in expected], list(expected.values())
    return _together([compare_values(a, e, tolerances) for a, e in zip(actual, expected)])


def _together(parts: list[Agreement]) -> Agreement:
    """One verdict over the elements of a sequence: the worst of each figure, the first reason."""
    if not parts:
        return Agreement(True, EXACT)
    worst = next((part for part in parts if not part.agrees), max(parts, key=lambda part: part.level or 0.0))
    absolute, relative, cosines, levels = (
        [value for value in values if value is not None]
        for values in ([p.max_abs for p in parts], [p.max_rel for p in parts], [p.cosine for p in parts],
                       [p.level for p in parts])
    )  # fmt: skip
    return Agreement(
        all(p.agrees for p in parts), worst.tolerance, max(absolute, default=None), max(relative, default=None),
        min(cosines, default=None), sum(p.mismatched for p in parts), reason=worst.reason,
        level=max(levels, default=None), noise=worst.noise,
    )  # fmt: skip


def _compare_arrays(
    actual: np.ndarray, expected: np.ndarray, tolerances: Tolerances, step: Step | None = None
) -> Agreement:
    name = _dtype_name(expected)
    if actual.dtype != expected.dtype and "string" not in (_dtype_name(actual), name):
        return _different(f"dtype {_dtype_name(actual)} where {name} is expected")
    if actual.shape != expected.shape:
        return _different(f"shape {list(actual.shape)} where {list(expected.shape)} is expected")
    if name == "string":
        return _compare_strings(actual, expected)
    if expected.dtype.kind == "c":
        rtol = tolerances.rtol.get(name, 0.0)
        parts = tolerances.with_rtol(dict.fromkeys(("float32", "float64"), rtol))
        real_parts, imaginary_parts = ((actual.real, expected.real), (actual.imag, expected.imag))
        return _together([_compare_arrays(*real_parts, parts), _compare_arrays(*imaginary_parts, parts)])
    tolerance = tolerances.of(expected, name)
    if step is not None:
        tolerance = Tolerance(tolerance.rtol, tolerance.atol, tolerances.steps)
    if np.array_equal(actual, expected):
        return Agreement(True, tolerance, 0.0, 0.0, 1.0, level=0.0)
    return _compare_numbers(actual, expected, tolerance, name, step)


def _compare_numbers(
    actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance, dtype: str, step: Step | None
) -> Agreement:
    equal = np.asarray(actual == expected, bool)  # before float64, which rounds large integers
    ulps = _max_ulps(actual, expected)
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(actual) & np.isfinite(expected)
    misplaced = ~finite & ~equal & ~(np.isnan(actual) & np.isnan(expected))
    with np.errstate(all="ignore"):
        difference = np.where(finite & ~equal, np.abs(actual - expected), 0.0)
        magnitude = np.where(finite, np.abs(expected), 0.0)
        allowed = tolerance.rtol * magnitude + tolerance.atol
        excess = np.where(finite & ~equal, difference / np.maximum(allowed, np.finfo(np.float64).tiny), 0.0)
        relative = np.max(difference / magnitude, where=magnitude > 0, initial=0.0)
        beyond = excess >= 1.0 if tolerance.rtol else finite & ~equal
        steps = None if step is None else _whole_steps(difference, step)
        if step is not None:
            beyond &= difference > (tolerance.steps + _WHOLE) * np.asarray(step)
    mismatched = int(np.count_nonzero(beyond)) + int(np.count_nonzero(misplaced))
    level = float(excess.max(initial=0.0)) * tolerance.rtol if tolerance.rtol else None
    reason, worst = "", np.argmax(difference)
    if misplaced.any():
        reason, worst, level = _misplaced_words(actual, expected, misplaced), np.argmax(misplaced), None
    elif mismatched:
        reason = f"{mismatched} of {expected.size} elements differ by more than the tolerance"
    return Agreement(
        mismatched == 0, tolerance, float(difference.max(initial=0.0)), float(relative),
        _cosine(actual[finite], expected[finite]), mismatched,
        tuple(int(i) for i in np.unravel_index(worst, expected.shape)) if expected.size else None, reason,
        level, "" if level is None else noise_words(level, dtype), ulps, steps,
    )  # fmt: skip


def _max_ulps(actual: np.ndarray, expected: np.ndarray) -> int | None:
    """The most representable numbers that lie between two elements, of floats of at most 16 bits; else None."""
    dtype = from_numpy(expected.dtype)
    if dtype is None or dtype.kind != "float" or dtype.bits > 16:
        return None
    finite = np.isfinite(actual) & np.isfinite(expected)
    if not finite.any():
        return None
    places = [_place(array[finite], dtype.bits, signed=dtype.name != "float8e8m0") for array in (actual, expected)]
    return int(np.abs(places[0] - places[1]).max())


def _place(array: np.ndarray, bits: int, signed: bool) -> np.ndarray:
    """Where floats stand among all numbers of their dtype, counted from zero."""
    code = array.view(np.uint16 if array.itemsize == 2 else np.uint8).astype(np.int64)
    if not signed:
        return code
    sign = 1 << (bits - 1)
    size = code & (sign - 1)
    return np.where(code & sign, -size, size)


def _whole_steps(difference: np.ndarray, step: Step) -> int | None:
    """The most quantisation steps between two elements; None unless all differences are whole ones."""
    counts = difference / np.asarray(step, np.float64)
    whole = np.rint(counts)
    return int(whole.max(initial=0)) if bool(np.all(np.abs(counts - whole) <= _WHOLE)) else None


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


def _different(reason: str) -> Agreement:
    return Agreement(False, EXACT, reason=reason)


def _dtype_name(array: np.ndarray) -> str:
    dtype = from_numpy(array.dtype)
    return dtype.name if dtype else str(array.dtype)
