"""Reshaping, cutting, joining and indexing over random shapes and axes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.kernels.properties.strategies import (
    agree,
    axis_of,
    broadcast_pair,
    data,
    examples,
    indices,
    many,
    shapes,
    some_axes,
)

DTYPES = st.sampled_from([np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8, bool])


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)


@examples
@given(shapes(1), DTYPES, st.data())
def test_axes_moved_and_added(shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x = pick.draw(data(shape, dtype))
    agree("Transpose", x, perm=list(pick.draw(st.permutations(range(x.ndim)))))
    agree("Flatten", x, axis=pick.draw(st.integers(-x.ndim, x.ndim)))
    singles = [i for i, d in enumerate(shape) if d == 1]
    agree("Squeeze", x, ints(*singles) if singles and pick.draw(st.booleans()) else None)
    new = pick.draw(some_axes(x.ndim + 1))
    agree("Unsqueeze", x, ints(*new[:1]))
    agree("Shape", x, start=pick.draw(axis_of(x.ndim)))
    agree("Size", x)


@examples
@given(shapes(1, 4), DTYPES, st.data())
def test_reshape(shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x = pick.draw(data(shape, dtype))
    target = list(pick.draw(st.permutations(shape)))
    place = pick.draw(st.integers(0, len(shape) - 1))
    kept = pick.draw(st.integers(0, len(shape) - 1))
    if pick.draw(st.booleans()):
        target[place] = -1
    elif target[kept] == shape[kept]:
        target[kept] = 0
    agree("Reshape", x, ints(*target))


@examples
@given(broadcast_pair(), DTYPES, st.data())
def test_expand(pair: Any, dtype: Any, pick: Any) -> None:
    if pair[1]:
        agree("Expand", pick.draw(data(pair[0], dtype)), ints(*pair[1]))


@many
@given(shapes(1, 3, 0), DTYPES, st.data())
def test_slice(shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x = pick.draw(data(shape, dtype))
    axes = pick.draw(some_axes(x.ndim))
    bound = st.integers(-8, 8) | st.sampled_from([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    starts, ends = ([pick.draw(bound) for _ in axes] for _ in range(2))
    steps = [pick.draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in axes]
    # ONNX Runtime does not clamp an end beyond the last element on a backward axis (docs/semantics.md).
    ends = [min(end, 0) if step < 0 else end for end, step in zip(ends, steps)]
    agree("Slice", x, ints(*starts), ints(*ends), ints(*axes), ints(*steps))


@examples
@given(shapes(1), DTYPES, st.integers(1, 3), st.data())
def test_concat_and_split(shape: tuple[int, ...], dtype: Any, parts: int, pick: Any) -> None:
    axis = pick.draw(axis_of(len(shape)))
    lengths = [pick.draw(st.integers(0, 3)) for _ in range(parts)]
    pieces = [tuple(n if i == axis % len(shape) else d for i, d in enumerate(shape)) for n in lengths]
    agree("Concat", *(pick.draw(data(piece, dtype)) for piece in pieces), axis=axis)
    whole = tuple(sum(lengths) if i == axis % len(shape) else d for i, d in enumerate(shape))
    agree("Split", pick.draw(data(whole, dtype)), ints(*lengths), axis=axis, outputs=parts)
    if sum(lengths) >= parts:
        agree("Split", pick.draw(data(whole, dtype)), axis=axis, num_outputs=parts, outputs=parts, opset=18)


@many
@given(shapes(1, 3, 2), st.sampled_from([np.float32, np.int64, np.uint8]), st.data())
def test_pad(shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x = pick.draw(data(shape, dtype))
    mode = pick.draw(st.sampled_from(["constant", "edge", "reflect", "wrap"]))
    axes = pick.draw(some_axes(x.ndim))
    low = -1 if mode == "constant" else 0
    widths = [pick.draw(st.integers(low, min(2, shape[a] - 1))) for a in [*axes, *axes]]
    fill = pick.draw(data((), dtype)) if mode == "constant" and pick.draw(st.booleans()) else None
    agree("Pad", x, ints(*widths), fill, ints(*axes), mode=mode, opset=19)


@examples
@given(shapes(1, 3, 1, 4), DTYPES, st.data())
def test_tile_trilu_eyelike(shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x = pick.draw(data(shape, dtype))
    agree("Tile", x, ints(*(pick.draw(st.integers(0, 3)) for _ in shape)))
    if x.ndim >= 2:
        agree("Trilu", x, pick.draw(st.integers(-4, 4).map(np.array)), upper=pick.draw(st.integers(0, 1)))
    if x.ndim == 2:
        agree("EyeLike", x, k=pick.draw(st.integers(-3, 3)))
    agree("NonZero", x)


@pytest.mark.parametrize("op", ["DepthToSpace", "SpaceToDepth"])
@examples
@given(st.integers(1, 3), st.sampled_from(["DCR", "CRD"]), shapes(4, 4, 1, 2), st.data())
def test_depth_and_space(op: str, block: int, mode: str, shape: tuple[int, ...], pick: Any) -> None:
    n, c, h, w = shape
    if op == "DepthToSpace":
        agree(op, pick.draw(data((n, c * block * block, h, w))), blocksize=block, mode=mode)
    else:
        agree(op, pick.draw(data((n, c, h * block, w * block))), blocksize=block)


@examples
@given(shapes(1, 3), shapes(0, 2), DTYPES, st.data())
def test_gather(shape: tuple[int, ...], picked: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x, axis = pick.draw(data(shape, dtype)), pick.draw(axis_of(len(shape)))
    agree("Gather", x, pick.draw(indices(picked, shape[axis])), axis=axis)
    within = tuple(pick.draw(st.integers(0 if i == axis % len(shape) else 1, d)) for i, d in enumerate(shape))
    at = pick.draw(indices(within, shape[axis]))
    agree("GatherElements", x, at, axis=axis)


@examples
@given(shapes(2, 4, 1, 4), shapes(0, 2), DTYPES, st.data())
def test_gather_nd(shape: tuple[int, ...], picked: tuple[int, ...], dtype: Any, pick: Any) -> None:
    batch = pick.draw(st.integers(0, len(shape) - 1))
    depth = pick.draw(st.integers(1, len(shape) - batch))
    parts = [pick.draw(indices((*shape[:batch], *picked), n))[..., None] for n in shape[batch : batch + depth]]
    agree("GatherND", pick.draw(data(shape, dtype)), np.concatenate(parts, axis=-1), batch_dims=batch)


@examples
@given(shapes(1, 3), st.sampled_from(["none", "add", "mul", "max", "min"]), st.data())
def test_scatter(shape: tuple[int, ...], reduction: str, pick: Any) -> None:
    dtype = pick.draw(st.sampled_from([np.float32, np.int64]))
    x, axis = pick.draw(data(shape, dtype)), pick.draw(axis_of(len(shape)))
    within = tuple(pick.draw(st.integers(1, d)) for d in shape)
    at = pick.draw(indices(within, shape[axis]))
    if reduction == "none":  # of writes to one place any may win
        steps = np.arange(within[axis]).reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])
        at = np.broadcast_to(steps, within).astype(np.int64).copy()
    agree("ScatterElements", x, at, pick.draw(data(within, dtype)), axis=axis, reduction=reduction, opset=18)
    depth = pick.draw(st.integers(1, len(shape)))
    rows = np.stack([pick.draw(indices((4,), n)) for n in shape[:depth]], axis=-1)
    if reduction == "none":
        rows = rows[:1]
    agree("ScatterND", x, rows, pick.draw(data((len(rows), *shape[depth:]), dtype)), reduction=reduction, opset=18)


@examples
@given(shapes(1, 3), st.data())
def test_compress_onehot_reverse(shape: tuple[int, ...], pick: Any) -> None:
    x, axis = pick.draw(data(shape)), pick.draw(axis_of(len(shape)))
    agree("Compress", x, pick.draw(data((shape[axis],), bool)), axis=axis)
    agree("Compress", x, pick.draw(data((prod(shape),), bool)))
    depth, outside = pick.draw(st.integers(1, 5)), pick.draw(st.integers(0, 2))
    places = pick.draw(data(shape, np.int64, -depth - outside, depth - 1 + outside))
    agree("OneHot", places, np.array(depth), pick.draw(data((2,))), axis=pick.draw(st.integers(-x.ndim - 1, x.ndim)))
    if x.ndim >= 2:
        time = pick.draw(st.integers(0, 1))
        lengths = pick.draw(data((shape[1 - time],), np.int64, 1, shape[time]))
        agree("ReverseSequence", x, lengths, time_axis=time, batch_axis=1 - time)


@examples
@given(st.data())
def test_range(pick: Any) -> None:
    dtype = pick.draw(st.sampled_from([np.float32, np.float64, np.int16, np.int32, np.int64]))
    start, limit = (pick.draw(data((), dtype, -20, 20)) for _ in range(2))
    step = np.array(pick.draw(st.sampled_from([1, 2, 3, -1, -2])), dtype)
    agree("Range", start, limit, step)
