"""What operator Slice takes of an axis of known length, for kernels and shape rules."""

from __future__ import annotations


def cut(length: int, start: int, end: int, step: int) -> slice:
    """The elements from `start` to `end`: negative bounds count from the back, and all bounds are clamped.

    Python's own slices begin nowhere where a start lies before a reversed axis; Slice begins at its first element.

    Raises
    ------
    ValueError: the step is 0.
    """
    if step == 0:
        raise ValueError("a step of Slice is 0")
    start, end = (v + length if v < 0 else v for v in (start, end))
    if step > 0:
        return slice(min(max(start, 0), length), min(max(end, 0), length), step)
    if not length:
        return slice(0, 0)
    start, end = min(max(start, 0), length - 1), min(max(end, -1), length - 1)
    return slice(start, None if end < 0 else end, step)  # None: before the first element; -1 counts from the back
