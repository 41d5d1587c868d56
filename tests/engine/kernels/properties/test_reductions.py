"""Reductions, running sums, order and choice over random shapes and axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.kernels.properties.strategies import (
    agree,
    axis_of,
    data,
    examples,
    many,
    optional,
    shapes,
    some_axes,
)

FLAG = st.integers(0, 1)
REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")


@pytest.mark.parametrize("op", REDUCTIONS)
@examples
@given(shapes(1), st.sampled_from([np.float32, np.float64, np.float16, np.int32, np.int64]), st.data())
def test_reduction(op: str, shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    low = 0.5 if op == "LogSum" else -3
    x = pick.draw(data(shape, dtype, low))
    attributes = optional(pick.draw, keepdims=FLAG, noop_with_empty_axes=FLAG)
    axes = pick.draw(st.none() | some_axes(x.ndim, 0))
    if np.dtype(dtype).kind == "i" and op in ("L2", "LogSum", "LogSumExp", "Mean"):
        return  # truncation on the way: test_reduction_of_integers
    agree(f"Reduce{op}", x, None if axes is None else np.array(axes, np.int64), opset=20, rtol=2e-3, **attributes)
    if axes:
        attributes.pop("noop_with_empty_axes", None)
        agree(f"Reduce{op}", x, opset=11, rtol=2e-3, axes=axes, **attributes)


@examples
@given(shapes(1), st.sampled_from([np.int32, np.int64]), st.data())
def test_mean_of_integers(shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x, axes = pick.draw(data(shape, dtype, -50, 50)), pick.draw(some_axes(len(shape)))
    agree("ReduceMean", x, np.array(axes, np.int64), opset=20, keepdims=pick.draw(FLAG))


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@many
@given(shapes(1), st.sampled_from([np.float32, np.float64, np.int32, np.uint8]), st.data())
def test_arg_extreme(op: str, shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x = pick.draw(data(shape, dtype, 0, 2)).round().astype(dtype)  # many ties
    agree(op, x, **optional(pick.draw, axis=axis_of(x.ndim), keepdims=FLAG, select_last_index=FLAG))


@many
@given(shapes(1), st.sampled_from([np.float32, np.float64, np.int32, np.int64]), st.data())
def test_top_k(shape: tuple[int, ...], dtype: Any, pick: Any) -> None:
    x, axis = pick.draw(data(shape, dtype, -3, 3)).round(1).astype(dtype), pick.draw(axis_of(len(shape)))
    k = np.array([pick.draw(st.integers(0, shape[axis]))])
    agree("TopK", x, k, axis=axis, largest=pick.draw(FLAG), outputs=2)


@pytest.mark.parametrize("op", ["CumSum"])
@examples
@given(shapes(1), st.sampled_from([np.float32, np.float64, np.int32, np.int64]), FLAG, FLAG, st.data())
def test_running(op: str, shape: tuple[int, ...], dtype: Any, exclusive: int, reverse: int, pick: Any) -> None:
    x = pick.draw(data(shape, dtype))
    agree(op, x, np.array(pick.draw(axis_of(x.ndim))), exclusive=exclusive, reverse=reverse)


@many
@given(shapes(1, 3), st.sampled_from([np.float32, np.int64, np.int8]), FLAG, st.data())
def test_unique(shape: tuple[int, ...], dtype: Any, in_order: int, pick: Any) -> None:
    x = pick.draw(data(shape, dtype, 0, 2)).round().astype(dtype)
    agree("Unique", x, sorted=in_order, outputs=4, **optional(pick.draw, axis=axis_of(x.ndim)))


@many
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 8), FLAG, st.data())
def test_non_max_suppression(batches: int, classes: int, boxes: int, center: int, pick: Any) -> None:
    corners = pick.draw(data((batches, boxes, 4), low=0.1, high=4))
    scores = pick.draw(data((batches, classes, boxes), low=0, high=1))
    limit = np.array([pick.draw(st.integers(0, 5))])
    iou = np.array([pick.draw(st.floats(0, 1, width=32))], np.float32)
    floor = np.array([0.3], np.float32) if pick.draw(st.booleans()) else None
    agree("NonMaxSuppression", corners, scores, limit, iou, floor, center_point_box=center)
