"""Convolution and pooling over random ranks, windows and paddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.kernels.oracle import SEVEN_BITS
from tests.engine.kernels.properties.strategies import Draw, agree, data, examples, many

AUTO = st.sampled_from(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])


@st.composite
def window(draw: Draw, rank: int, dilate: bool = True) -> dict[str, Any]:
    """Attributes of a window over `rank` axes; its padding is smaller than its sides."""
    sides = [draw(st.integers(1, 3)) for _ in range(rank)]
    attributes: dict[str, Any] = {"kernel_shape": sides, "strides": [draw(st.integers(1, 3)) for _ in sides]}
    auto = draw(AUTO)
    if dilate and auto in ("NOTSET", "VALID") and draw(st.booleans()):
        attributes["dilations"] = [draw(st.integers(1, 2)) for _ in sides]
    if auto == "NOTSET":
        attributes["pads"] = [draw(st.integers(0, (side - 1) // 2 + (side > 1))) for side in [*sides, *sides]]
    else:
        attributes["auto_pad"] = auto
    if auto.startswith("SAME"):  # a stride beyond the window would pad by less than nothing: docs/semantics.md
        attributes["strides"] = [min(side, stride) for side, stride in zip(sides, attributes["strides"])]
    return attributes


def spatial(rank: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(5, 8), min_size=rank, max_size=rank)


RANK = st.integers(1, 3)


@many
@given(RANK, st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.data())
def test_conv(rank: int, group: int, inside: int, outside: int, pick: Any) -> None:
    attributes = pick.draw(window(rank))
    x = pick.draw(data((pick.draw(st.integers(1, 2)), group * inside, *pick.draw(spatial(rank)))))
    w = pick.draw(data((group * outside, inside, *attributes["kernel_shape"])))
    b = pick.draw(data((group * outside,))) if pick.draw(st.booleans()) else None
    agree("Conv", x, w, b, group=group, opset=22, atol=1e-4, **attributes)


@many
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 3), st.integers(1, 2), st.data())
def test_conv_transpose(rank: int, group: int, inside: int, outside: int, pick: Any) -> None:
    attributes = pick.draw(window(rank))
    if pick.draw(st.booleans()):
        attributes["output_padding"] = [pick.draw(st.integers(0, s - 1)) for s in attributes["strides"]]
    x = pick.draw(data((1, group * inside, *pick.draw(spatial(rank)))))
    w = pick.draw(data((group * inside, outside, *attributes["kernel_shape"])))
    b = pick.draw(data((group * outside,))) if pick.draw(st.booleans()) else None
    agree("ConvTranspose", x, w, b, group=group, opset=22, atol=1e-4, **attributes)


@many
@given(RANK, st.integers(0, 1), st.integers(0, 1), st.data())
def test_max_pool(rank: int, ceil_mode: int, storage_order: int, pick: Any) -> None:
    attributes = pick.draw(window(rank))
    x = pick.draw(data((1, 2, *pick.draw(spatial(rank)))))
    agree("MaxPool", x, opset=22, ceil_mode=ceil_mode, outputs=1, **attributes)
    agree("MaxPool", x, opset=22, ceil_mode=ceil_mode, storage_order=storage_order, outputs=2, **attributes)


@many
@given(RANK, st.integers(0, 1), st.integers(0, 1), st.data())
def test_average_pool(rank: int, ceil_mode: int, count_include_pad: int, pick: Any) -> None:
    attributes = pick.draw(window(rank))
    x = pick.draw(data((1, 2, *pick.draw(spatial(rank)))))
    agree("AveragePool", x, opset=22, ceil_mode=ceil_mode, count_include_pad=count_include_pad, **attributes)


@examples
@given(RANK, st.integers(1, 3), st.data())
def test_lp_pool(rank: int, p: int, pick: Any) -> None:
    x = pick.draw(data((1, 2, *pick.draw(spatial(rank)))))
    agree("LpPool", x, opset=18, p=p, rtol=1e-4, **pick.draw(window(rank)))
    agree("GlobalLpPool", x, opset=18, p=p, rtol=1e-4)
    agree("GlobalAveragePool", x, opset=18)
    agree("GlobalMaxPool", x, opset=18)


@pytest.mark.parametrize("op", ["ConvInteger", "QLinearConv"])
@examples
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.booleans(), st.data())
def test_quantised_conv(op: str, group: int, inside: int, outside: int, per_filter: bool, pick: Any) -> None:
    attributes = pick.draw(window(2))
    filters = group * outside
    x = pick.draw(data((1, group * inside, *pick.draw(spatial(2))), np.uint8, 0, 255))
    w = pick.draw(data((filters, inside, *attributes["kernel_shape"]), np.int8, *SEVEN_BITS))
    x_zero, w_zero = np.array(pick.draw(st.integers(0, 255)), np.uint8), np.zeros((), np.int8)
    if op == "ConvInteger":
        agree(op, x, w.astype(np.uint8), x_zero, np.array(3, np.uint8), group=group, **attributes)
        return
    grain = pick.draw(data((filters,) if per_filter else (), low=0.01, high=0.1))
    bias = pick.draw(data((filters,), np.int32, -500, 500))
    y_zero = np.array(pick.draw(st.integers(0, 255)), np.uint8)
    inputs = (x, np.array(0.05, np.float32), x_zero, w, grain, np.broadcast_to(w_zero, grain.shape).copy(),
              np.array(2.5, np.float32), y_zero, bias)  # fmt: skip
    agree(op, *inputs, group=group, atol=1, **attributes)  # ties may fall one step apart


@examples
@given(st.integers(1, 2), st.integers(1, 3), st.data())
def test_col2im(block: int, stride: int, pick: Any) -> None:
    image, sides = [pick.draw(st.integers(4, 6)) for _ in range(2)], [block, pick.draw(st.integers(1, 3))]
    pads = [pick.draw(st.integers(0, 1)) for _ in range(4)]
    steps = [(n + pads[i] + pads[i + 2] - side) // stride + 1 for i, (n, side) in enumerate(zip(image, sides))]
    x = pick.draw(data((2, 3 * sides[0] * sides[1], steps[0] * steps[1])))
    agree("Col2Im", x, np.array(image), np.array(sides), pads=pads, strides=[stride] * 2, opset=18)


@examples
@given(st.data())
def test_max_unpool(pick: Any) -> None:
    x = pick.draw(data((1, 2, 3, 3)))
    side, stride = pick.draw(st.integers(1, 3)), pick.draw(st.integers(1, 2))
    length = (3 - 1) * stride + side
    flat = np.stack([np.random.default_rng(c).permutation(length * length)[:9] for c in range(2)])
    at = (flat + np.arange(2)[:, None] * length * length).reshape(x.shape)
    agree("MaxUnpool", x, at.astype(np.int64), kernel_shape=[side] * 2, strides=[stride] * 2, opset=11)
