"""Axes and shapes as ONNX writes them, turned into what array modules take."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from engine.memory import available_bytes
from engine.words import bytes_text

Array = Any
"""An array of the provider's module: `numpy.ndarray`, `cupy.ndarray`."""

_ALWAYS_FREE = 1 << 26


def normalise_axis(axis: int, rank: int) -> int:
    """`axis` counted from the front.

    Raises
    ------
    ValueError: the axis lies outside [-rank, rank - 1].
    """
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"axis {axis} is outside [{-rank}, {rank - 1}] of a tensor of rank {rank}")
    return int(axis) + rank if axis < 0 else int(axis)


def normalise_axes(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """Each axis counted from the front, in the order given; a repeated one is an error (ValueError)."""
    found = tuple(normalise_axis(int(a), rank) for a in axes)
    if len(set(found)) != len(found):
        raise ValueError(f"axes {list(found)} name one axis twice")
    return found


def as_ints(values: Any) -> list[int]:
    """A list attribute or a host tensor of any integer dtype as Python integers; a scalar is a list of one."""
    return [int(v) for v in np.asarray(values).reshape(-1).tolist()]


def along(axis: int, rank: int, part: Any) -> tuple[Any, ...]:
    """The index that takes `part` (a slice, an index array) of one axis and all of the others."""
    return (slice(None),) * axis + (part,) + (slice(None),) * (rank - axis - 1)


def on_axis(vector: Array, axis: int, rank: int) -> Array:
    """A vector reshaped so that it broadcasts along one axis of a tensor of `rank`."""
    return vector.reshape((-1,) + (1,) * (rank - axis - 1))


def zero_of(dtype: np.dtype) -> Any:
    """What fills space of that dtype: 0, or the empty string."""
    return "" if dtype.kind == "O" else dtype.type(0)


def check_allocation(shape: Iterable[int], dtype: np.dtype) -> tuple[int, ...]:
    """The shape as a tuple, where a result of that size fits the free memory.

    Operators whose result is as large as a number in their input ask first: the system hands out pages it lacks.

    Raises
    ------
    MemoryError: saying how much is needed and how much is free. ValueError: a dim is negative.
    """
    dims = tuple(int(d) for d in shape)
    if any(d < 0 for d in dims):
        raise ValueError(f"the result would have the shape {list(dims)}")
    needed = prod(dims) * dtype.itemsize
    if needed > _ALWAYS_FREE and needed > available_bytes():
        raise MemoryError(f"{list(dims)} needs {bytes_text(needed)}, and {bytes_text(available_bytes())} are free")
    return dims


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that several shapes broadcast to (ValueError where they don't)."""
    return np.broadcast_shapes(*(tuple(int(d) for d in s) for s in shapes))


def align_unidirectional(b: Array, rank: int, axis: int | None) -> Array:
    """The second operand of an opset < 7 binary operator with ``broadcast=1``, reshaped to broadcast as it means.

    Its dims match those of the first operand from `axis` on, or the last ones where no axis is given.
    """
    if axis is None or b.size == 1:
        return b
    return b.reshape(b.shape + (1,) * (rank - normalise_axis(axis, rank) - b.ndim))
