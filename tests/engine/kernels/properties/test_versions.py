"""Older versions of operators, whose attributes, inputs or meaning were others, at the opsets that had them."""

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
    indices,
    optional,
    shapes,
    some_axes,
)
from tests.engine.kernels.properties.test_windows import spatial, window

FLAG = st.integers(0, 1)


@pytest.mark.parametrize("opset", [7, 9])
@examples
@given(shapes(1, 3, 2), st.data())
def test_axes_as_attributes(opset: int, shape: tuple[int, ...], pick: Any) -> None:
    x = pick.draw(data(shape))
    axes = [a % x.ndim for a in pick.draw(some_axes(x.ndim))]
    bounds = [[pick.draw(st.integers(-4, 4)) for _ in axes] for _ in range(2)]
    agree("Slice", x, opset=opset, axes=axes, starts=bounds[0], ends=bounds[1])
    agree("Unsqueeze", x, opset=opset, axes=sorted(axes))
    agree("Squeeze", x.reshape(1, *shape, 1), opset=opset, axes=[0])
    agree("Pad", x, opset=opset, pads=[pick.draw(FLAG) for _ in range(2 * x.ndim)], value=0.5,
          mode=pick.draw(st.sampled_from(["constant", "edge", "reflect"])))  # fmt: skip
    axis = axes[0]
    lengths = [shape[axis] - 1, shape[axis] + 1]
    agree("Split", np.concatenate([x, x], axis), opset=opset, axis=axis, split=lengths, outputs=2)
    agree("Flatten", x, opset=opset, axis=axis)
    agree("Tile", x, np.full(x.ndim, 2), opset=opset)


@pytest.mark.parametrize("opset", [7, 9, 11, 12])
@examples
@given(shapes(1), st.data())
def test_reductions_and_choices(opset: int, shape: tuple[int, ...], pick: Any) -> None:
    x = pick.draw(data(shape))
    how = optional(pick.draw, keepdims=FLAG)
    axes = pick.draw(some_axes(x.ndim)) if opset >= 11 else [a % x.ndim for a in pick.draw(some_axes(x.ndim))]
    for op in ("Sum", "Mean", "Max", "LogSumExp"):
        agree(f"Reduce{op}", x, opset=opset, axes=axes, rtol=1e-4, **how)
    axis = pick.draw(axis_of(x.ndim) if opset >= 11 else st.integers(0, x.ndim - 1))
    agree("ArgMax", x, opset=opset, axis=axis, **how)
    k = pick.draw(st.integers(1, shape[axis]))
    if opset < 10:
        agree("TopK", x, opset=opset, axis=axis, k=k, outputs=2)
    else:
        agree("TopK", x, np.array([k]), opset=opset, axis=axis, outputs=2)
    agree("Softmax", x, opset=opset, axis=axis)
    agree("LogSoftmax", x, opset=opset, axis=axis)
    agree("Hardmax", x, opset=opset, axis=axis)


@pytest.mark.parametrize("opset", [7, 9])
@examples
@given(shapes(0), st.data())
def test_elementwise(opset: int, shape: tuple[int, ...], pick: Any) -> None:
    x, y = pick.draw(data(shape)), pick.draw(data(shape))
    agree("Clip", x, opset=opset, **optional(pick.draw, min=st.just(-1.0), max=st.just(0.5)))
    agree("Dropout", x, opset=opset, ratio=0.3)
    agree("Equal", pick.draw(data(shape, np.int32)), pick.draw(data(shape, np.int32)), opset=opset)
    agree("Pow", np.abs(x), y, opset=opset)
    for op in ("Max", "Sum", "Mean"):
        agree(op, x, y, opset=opset)
    agree("Cast", x, to=7, opset=opset)
    agree("PRelu", x, y, opset=opset)
    if opset == 9:
        agree("Where", pick.draw(data(shape, bool)), x, y, opset=9)
        agree("Greater", pick.draw(data(shape, np.int64)), pick.draw(data(shape, np.int64)), opset=9)


@pytest.mark.parametrize("opset", [9, 11])
@examples
@given(shapes(1, 3), st.data())
def test_indices(opset: int, shape: tuple[int, ...], pick: Any) -> None:
    x, axis = pick.draw(data(shape)), pick.draw(st.integers(0, len(shape) - 1))
    places = pick.draw(data((2,), np.int64, 0, shape[axis] - 1))
    agree("Gather", x, places, axis=axis, opset=opset)
    depth = np.array(5, np.int64)
    agree("OneHot", pick.draw(data(shape, np.int64, 0, 6)), depth, pick.draw(data((2,))), opset=opset)
    if opset == 9:
        one = np.expand_dims(np.zeros(shape, np.int64).take(0, axis), axis)
        agree("Scatter", x, one, pick.draw(data(one.shape)), axis=axis, opset=9)
    else:
        agree("GatherND", x, pick.draw(indices((3, 1), shape[0])), opset=11)
        agree("CumSum", x, np.array(axis, np.int32), opset=11)


@pytest.mark.parametrize("opset", [7, 8, 10, 11, 12, 19])
@examples
@given(st.integers(1, 2), st.data())
def test_windows(opset: int, rank: int, pick: Any) -> None:
    how = pick.draw(window(rank, dilate=False))
    x = pick.draw(data((1, 2, *pick.draw(spatial(rank)))))
    ceil = {"ceil_mode": pick.draw(FLAG)} if opset >= 10 else {}
    agree("MaxPool", x, opset=opset, **ceil, **how)
    agree("AveragePool", x, opset=opset, count_include_pad=pick.draw(FLAG), **ceil, **how)
    agree("LpPool", x, opset=opset, p=2, rtol=1e-4, **how)
    w = pick.draw(data((3, 2, *how["kernel_shape"])))
    agree("Conv", x, w, opset=opset, atol=1e-4, **how)
    agree("ConvTranspose", x, np.ascontiguousarray(w.swapaxes(0, 1)), opset=opset, atol=1e-4, **how)


@pytest.mark.parametrize("opset", [7, 9, 14])
@examples
@given(st.integers(1, 3), shapes(0, 2), st.data())
def test_normalization_and_gemm(opset: int, channels: int, space: tuple[int, ...], pick: Any) -> None:
    x = pick.draw(data((2, channels, *space)))
    scale, bias, mean = (pick.draw(data((channels,))) for _ in range(3))
    agree("BatchNormalization", x, scale, bias, mean, pick.draw(data((channels,), low=0.1)), opset=opset, rtol=1e-3,
          atol=1e-4)  # fmt: skip
    a, b, c = pick.draw(data((2, 3))), pick.draw(data((3, 4))), pick.draw(data((4,)))
    agree("Gemm", a, b, c, opset=opset, alpha=0.5, beta=2.0, atol=1e-4)


@pytest.mark.parametrize(("op", "opset"), [("Upsample", 7), ("Upsample", 9), ("Resize", 10)])
@examples
@given(st.sampled_from(["nearest", "linear"]), st.data())
def test_upsampling(op: str, opset: int, mode: str, pick: Any) -> None:
    x = pick.draw(data((1, 1, pick.draw(st.integers(1, 5)), pick.draw(st.integers(1, 5)))))
    scales = [1.0, 1.0, *(pick.draw(st.sampled_from([1.0, 1.5, 2.0, 3.0])) for _ in range(2))]
    if opset == 7:
        agree(op, x, opset=7, mode=mode, scales=scales, atol=1e-4)
    else:
        agree(op, x, np.array(scales, np.float32), opset=opset, mode=mode, atol=1e-4)


@pytest.mark.parametrize("opset", [10, 13, 19])
@examples
@given(shapes(1, 3), st.data())
def test_quantisation(opset: int, shape: tuple[int, ...], pick: Any) -> None:
    x, scale = pick.draw(data(shape, low=-40, high=40)), pick.draw(data((), low=0.05, high=1))
    zero = pick.draw(data((), np.uint8, 0, 200))
    agree("DequantizeLinear", agree("QuantizeLinear", x, scale, zero, opset=opset), scale, zero, opset=opset)


@pytest.mark.parametrize("opset", [10, 16])
@examples
@given(st.data())
def test_boxes(opset: int, pick: Any) -> None:
    x, corner = pick.draw(data((1, 2, 5, 6))), pick.draw(data((3, 2), low=0, high=3))
    boxes = np.concatenate([corner, corner + pick.draw(data((3, 2), low=0.5, high=4))], axis=1)
    agree("RoiAlign", x, boxes, np.zeros(3, np.int64), output_height=2, output_width=2, sampling_ratio=2, opset=opset,
          atol=1e-4)  # fmt: skip
