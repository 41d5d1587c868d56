"""Sequences and optionals. A sequence is a list that is never changed, an empty optional is None."""
from __future__ import annotations

from typing import Any

import numpy as np

from engine.graph.types import Type
from engine.kernels.axes import Array, along, as_ints, normalise_axis
from engine.kernels.registry import KernelContext, Value, kernel

Sequence = list[Any]


@kernel("SequenceConstruct", 11, generic=False)
def sequence_construct(ctx: KernelContext, *inputs: Value) -> Sequence:
    return list(inputs)


@kernel("SequenceEmpty", 11, generic=False)
def sequence_empty(ctx: KernelContext) -> Sequence:
    return []


@kernel("SequenceLength", 11, generic=False)
def sequence_length(ctx: KernelContext, sequence: Sequence) -> Array:
    return np.array(len(sequence), np.int64)


@kernel("SequenceAt", 11, generic=False)
def sequence_at(ctx: KernelContext, sequence: Sequence, position: Array) -> Value:
    return sequence[_place(position, len(sequence))]


@kernel("SequenceInsert", 11, generic=False)
def sequence_insert(ctx: KernelContext, sequence: Sequence, value: Value, position: Array | None = None) -> Sequence:
    """Insert before `position`, or at the end."""
    place = len(sequence) if position is None else _place(position, len(sequence), end=True)
    return [*sequence[:place], value, *sequence[place:]]


@kernel("SequenceErase", 11, generic=False)
def sequence_erase(ctx: KernelContext, sequence: Sequence, position: Array | None = None) -> Sequence:
    """Without the element at `position`, or the last one."""
    place = _place(np.array(-1) if position is None else position, len(sequence))
    return [*sequence[:place], *sequence[place + 1 :]]


def _place(position: Array, length: int, end: bool = False) -> int:
    place = as_ints(position)[0]
    if not -length <= place < length + end:
        raise ValueError(f"position {place} is outside a sequence of {length}")
    return place + length if place < 0 else place


@kernel("ConcatFromSequence", 11, generic=False)
def concat_from_sequence(ctx: KernelContext, sequence: Sequence, *, axis: int, new_axis: int = 0) -> Array:
    join = np.stack if new_axis else np.concatenate
    return join(sequence, axis=axis)


@kernel("SplitToSequence", 11, 24, generic=False)
def split_to_sequence(
    ctx: KernelContext, x: Array, split: Array | None = None, *, axis: int = 0, keepdims: int = 1
) -> Sequence:
    """Pieces along `axis`: of the sizes in `split`, of its one size (the last may be smaller), or of one each."""
    axis = normalise_axis(axis, x.ndim)
    length = x.shape[axis]
    if split is None and not keepdims:
        return [x[along(axis, x.ndim, slice(i, i + 1))].squeeze(axis) for i in range(length)]  # arrays of rank 0 too
    if split is not None and split.ndim:
        ends = np.cumsum(as_ints(split)).tolist()
        starts = [0, *ends[:-1]]
    else:
        size = 1 if split is None else as_ints(split)[0]
        starts = list(range(0, length, size))
        ends = [min(s + size, length) for s in starts]
    return [x[along(axis, x.ndim, slice(s, e))] for s, e in zip(starts, ends)]


@kernel("Optional", 15, 28, generic=False)
def optional(ctx: KernelContext, value: Value = None, *, type: Type | None = None) -> Value:
    """The value itself, or an empty optional of the attribute's type."""
    return value


@kernel("OptionalHasElement", 15, 18, 28, generic=False)
def optional_has_element(ctx: KernelContext, value: Value = None) -> Array:
    return np.array(value is not None)


@kernel("OptionalGetElement", 15, 18, 28, generic=False)
def optional_get_element(ctx: KernelContext, value: Value) -> Value:
    if value is None:
        raise ValueError("the optional is empty")
    return value
