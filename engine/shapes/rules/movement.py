"""Operators that move, repeat or cut out elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.dims import Dim, Expr, ceil_div, is_at_least, maximum, minimum
from engine.dims.cuts import cut
from engine.graph.types import format_shape
from engine.shapes import values
from engine.shapes.broadcast import broadcast_dim
from engine.shapes.call import Call, axes_in, axis_in
from engine.shapes.facts import KnownShape, Out, ShapeClash, concrete
from engine.shapes.registry import rule

_ENDLESS = 1_000_000_000
"""Slice ends from here on mean "to the end", and bounds as far below 0 "from the beginning": exporters write them so,
and no axis is as long."""


@rule("Transpose")
def transpose(call: Call) -> Out:
    """The axes in another order, reversed where none is given."""
    shape = call.shape(0)
    perm = call.optional_ints("perm") or list(range(len(shape)))[::-1]
    if sorted(p % len(shape) if shape else p for p in perm) != list(range(len(shape))):
        raise ShapeClash(f"perm {perm} does not order the axes of {format_shape(shape)}")
    value = call.value(0)
    return Out(tuple(shape[p] for p in perm), None, None if value is None else value.transpose(perm))


@rule("Concat")
def concat(call: Call) -> Out:
    """The inputs one after the other along `axis`; the other dims must agree."""
    shapes = [call.shape(slot) for slot in call.slots]
    axis = axis_in(call.attr("axis", 1), len(shapes[0]))
    parts = [call.value(slot) for slot in call.slots]
    result = concatenated(call, shapes, axis)
    value = None
    if values.is_small(result):
        filled = [
            values.filled(dims, None) if part is None else part
            for part, dims in zip(parts, map(concrete, shapes))
            if dims is not None
        ]
        value = np.concatenate(filled, axis) if filled else None
    return Out(result, None, value)


def concatenated(call: Call, shapes: Sequence[KnownShape], axis: int) -> KnownShape:
    """Shape of tensors joined along an axis. Raises ShapeClash where the other dims differ."""
    result = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) != len(result):
            raise ShapeClash(f"{format_shape(shapes[0])} and {format_shape(shape)} differ in rank")
        where = _joining(axis, shapes[0], shape)
        for i, dim in enumerate(shape):
            result[i] = result[i] + dim if i == axis else call.equal(result[i], dim, where)
    return tuple(result)


def _joining(axis: int, first: KnownShape, second: KnownShape) -> Callable[[], str]:
    return lambda: f"joins {format_shape(first)} and {format_shape(second)} along axis {axis}"


@rule("Split")
def split(call: Call) -> list[Any]:
    """Parts along `axis`, as long as an attribute or input says, or equal."""
    shape = call.rank_at_least(0, 1)
    axis = axis_in(call.attr("axis", 0), len(shape))
    lengths = _part_lengths(call, shape[axis])
    value, start, parts = call.value(0), 0, []
    for length in lengths:
        part = None
        if value is not None and isinstance(length, int):
            part = value[(slice(None),) * axis + (slice(start, start + length),)]
            start += length
        else:
            value = None
        parts.append(Out((*shape[:axis], length, *shape[axis + 1 :]), call.dtype(0), part))
    return parts


def _part_lengths(call: Call, length: Dim) -> list[Dim]:
    count = len(call.node.outputs)
    if "split" in call.node.attributes or call.has(1):
        given = call.required_ints("split") if "split" in call.node.attributes else call.elements(1)
        if len(given) != count:
            raise ShapeClash(f"it splits into {len(given)} parts but has {count} outputs")
        if None not in given:
            call.equal(length, sum(given), lambda: f"splits an axis of {length} into parts of {given}")
        return [call.dim(e, f"part{i}") for i, e in enumerate(given)]
    if call.node.since_version >= 18:
        part = ceil_div(length, count)
        return [part] * (count - 1) + [length - part * (count - 1)]
    call.multiple(length, count, lambda: f"splits an axis of {length} into {count} equal parts")
    return [length // count] * count


@rule("Slice")
def slice_(call: Call) -> Out:
    """From `starts` to `ends` by `steps` along `axes`; attributes before opset 10, inputs since."""
    shape = call.shape(0)
    starts, ends, axes, steps = _slice_arguments(call)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ShapeClash(f"starts {starts}, ends {ends}, axes {axes} and steps {steps} differ in length")
    result = list(shape)
    cuts: list[slice] = [slice(None)] * len(shape)
    plain = True
    for axis, start, end, step in zip(axes_in(axes, len(shape)), starts, ends, steps):
        length = shape[axis]
        result[axis] = _sliced(call, axis, length, start, end, step)
        if isinstance(length, int) and all(isinstance(v, int) for v in (start, end, step)):
            cuts[axis] = cut(length, start, end, step)
        else:
            plain = False
    value = call.value(0)
    return Out(tuple(result), None, value[tuple(cuts)] if value is not None and plain else None)


def _slice_arguments(call: Call) -> tuple[list[Any], list[Any], list[int], list[Any]]:
    if call.node.since_version < 10:
        starts: list[Any] = list(call.required_ints("starts"))
        axes = call.optional_ints("axes") or list(range(len(starts)))
        return starts, list(call.required_ints("ends")), axes, [1] * len(starts)
    axes = call.ints(3) if call.has(3) else list(range(len(call.elements(1))))
    if call.has(3):  # known axes give the number of starts, even where those are computed
        starts, ends = (elements_or_unknown(call, slot, len(axes)) for slot in (1, 2))
    else:
        starts, ends = call.elements(1), elements_or_unknown(call, 2, len(axes))
    return starts, ends, axes, elements_or_unknown(call, 4, len(axes)) if call.has(4) else [1] * len(axes)


def elements_or_unknown(call: Call, slot: int, count: int) -> list[Any]:
    """Elements of an input, or as many unknown ones where nothing of its value is known."""
    return [None] * count if call.value(slot) is None else call.elements(slot)


def _sliced(call: Call, axis: int, length: Dim, start: Any, end: Any, step: Any) -> Dim:
    if step == 0:
        raise ShapeClash("a step is 0")
    if start is None or end is None or not isinstance(step, int):
        return call.length(f"dim{axis}")
    if isinstance(length, int) and isinstance(start, int) and isinstance(end, int):
        return len(range(*cut(length, start, end, step).indices(length)))
    if step < 0:
        known = _reversed_length(length, start, end, -step)
        return call.length(f"dim{axis}") if known is None else known
    return ceil_div(slice_length(length, start, end), step)


def slice_length(length: Dim, start: Dim, end: Dim) -> Dim:
    """Elements from `start` to `end` of an axis, negative ones counted from its end.

    An end is cut off at the axis (``min(end, length)``), and so is a start counted from the end. An open axis is taken
    to be no shorter than a start counted from the front, and than what a negative end takes off: ``[1:-1]`` of N is
    N - 2, not ``max(N - 2, 0)``. A window of constant width that an expression moves is taken to lie within the axis.
    """
    if (isinstance(end, int) and end <= -_ENDLESS) or (isinstance(start, int) and start >= _ENDLESS):
        return 0
    if isinstance(start, int) and start <= -_ENDLESS:
        start = 0
    if isinstance(end, int) and end >= _ENDLESS:
        cut: Dim | None = 0  # what is left off at the end
    else:
        cut = -end if _is_negative(end) else None
    left = -start if _is_negative(start) else None  # where it starts, counted from the end
    stop = minimum(end, length) if cut is None else length - cut
    width = end - start
    if isinstance(start, Expr) and isinstance(width, int):
        kept: Dim = max(width, 0)
    elif left is None:
        overlap = cut is not None or is_at_least(end, start)
        kept = stop - start if overlap else maximum(stop - start, 0)
    elif cut is None:
        kept = maximum(stop - maximum(length - left, 0), 0)
    else:
        last = 1 if left == 1 else minimum(left, length)
        kept = last - cut if is_at_least(left, cut + 1) else maximum(last - cut, 0)
    return max(kept, 0) if isinstance(kept, int) else kept


def _is_negative(index: Dim) -> bool:
    return index < 0 if isinstance(index, int) else is_at_least(-1, index)


def _reversed_length(length: Dim, start: Dim, end: Dim, step: int) -> Dim | None:
    """Elements from `start` down to `end`, for a start at the end of the axis."""
    if not isinstance(start, int) or not isinstance(end, int) or not (start == -1 or start >= _ENDLESS):
        return None
    if end <= -_ENDLESS:
        return ceil_div(length, step)
    return ceil_div(length - 1 - end, step) if end >= 0 else None


@rule("Pad")
def pad(call: Call) -> Out:
    """Begin and end pads added along each axis, or along `axes`."""
    shape = call.shape(0)
    if call.node.since_version < 11:
        name = "pads" if "pads" in call.node.attributes else "paddings"
        pads: list[Any] = list(call.required_ints(name))
        axes = list(range(len(shape)))
    else:
        axes = axes_in(call.ints(3), len(shape)) if call.has(3) else list(range(len(shape)))
        pads = elements_or_unknown(call, 1, 2 * len(axes))
    return Out(padded(call, shape, axes, pads))


def padded(call: Call, shape: KnownShape, axes: list[int], pads: list[Any]) -> KnownShape:
    """A shape with [begins..., ends...] added along the axes."""
    if len(pads) != 2 * len(axes):
        raise ShapeClash(f"{len(pads)} pads are given for {len(axes)} axes")
    result = list(shape)
    for i, axis in enumerate(axes):
        before, after = pads[i], pads[i + len(axes)]
        known = before is not None and after is not None
        result[axis] = shape[axis] + before + after if known else call.length(f"dim{axis}")
    return tuple(result)


@rule("Tile")
def tile(call: Call) -> Out:
    """Each axis repeated; before opset 6 one axis."""
    shape = list(call.shape(0))
    if call.node.since_version < 6:
        count, axis = call.elements(1)[0], axis_in(call.ints(2)[0], len(shape))
        shape[axis] = call.length("repeated") if count is None else shape[axis] * count
        return Out(tuple(shape))
    repeats = elements_or_unknown(call, 1, len(shape))
    if len(repeats) != len(shape):
        raise ShapeClash(f"{len(repeats)} repeats are given for {format_shape(tuple(shape))}")
    return Out(tuple(call.length(f"dim{i}") if r is None else d * r for i, (d, r) in enumerate(zip(shape, repeats))))


@rule("Expand")
def expand(call: Call) -> Out:
    """The input broadcast with a shape that an input gives."""
    shape, target = call.shape(0), call.elements(1)
    if None not in target:
        result = call.broadcast(shape, tuple(target))
    else:
        wide = (1,) * (len(target) - len(shape)) + shape
        offset = len(wide) - len(target)
        result = wide[:offset] + tuple(_expanded(call, i, d, e) for i, (d, e) in enumerate(zip(wide[offset:], target)))
    value, dims = call.value(0), concrete(result)
    small = value is not None and dims is not None and values.is_small(dims)
    return Out(result, None, np.broadcast_to(value, dims) if small else None)  # type: ignore[arg-type]


def _expanded(call: Call, axis: int, dim: Dim, element: Any) -> Dim:
    if element is not None:
        return broadcast_dim(dim, element)
    return dim if isinstance(dim, int) and dim > 1 else call.length(f"dim{axis}")


@rule("DepthToSpace")
def depth_to_space(call: Call) -> Out:
    """Blocks of channels spread over height and width."""
    n, c, h, w = call.rank_at_least(0, 4)
    b = call.required_int("blocksize")
    call.multiple(c, b * b, lambda: f"spreads {c} channels over blocks of {b} by {b}")
    return Out((n, c // (b * b), h * b, w * b))


@rule("SpaceToDepth")
def space_to_depth(call: Call) -> Out:
    """Blocks of height and width stacked as channels."""
    n, c, h, w = call.rank_at_least(0, 4)
    b = call.required_int("blocksize")
    for length in (h, w):
        call.multiple(length, b, lambda: f"cuts {format_shape((h, w))} into blocks of {b} by {b}")
    return Out((n, c * (b * b), h // b, w // b))


@rule("CenterCropPad")
def center_crop_pad(call: Call) -> Out:
    """The named axes cut or padded to the lengths that an input gives."""
    shape = list(call.shape(0))
    axes = axes_in(call.optional_ints("axes") or list(range(len(shape))), len(shape))
    for i, (axis, element) in enumerate(zip(axes, call.elements(1))):
        shape[axis] = call.dim(element, f"dim{i}")
    return Out(tuple(shape))
