"""Shapes worked out by hand: the cases that other tools get wrong, and each family's corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.engine.shapes.making import (
    FLOAT,
    INT64,
    INT_MAX,
    INT_MIN,
    Dims,
    codes,
    infer,
    ints,
    one,
    shape_of,
)


@pytest.mark.parametrize(
    ("dims", "target", "allowzero", "expected"),
    [
        (["N", 3, 4], [0, -1], 0, "[N, 12]"),
        (["N", 4], [-1, 2], 0, "[2*N, 2]"),
        ([1, 32, 5, 5], [-1, 2, 4, 4, 5, 5], 1, "[1, 2, 4, 4, 5, 5]"),
        (["N", "S", 64], [0, 0, 8, 8], 0, "[N, S, 8, 8]"),
        (["N", "S", 8, 8], [0, -1, 64], 0, "[N, S, 64]"),
    ],
)
def test_reshape(dims: Dims, target: list[int], allowzero: int, expected: str) -> None:
    assert one("Reshape", dims, allowzero=allowzero, shape=ints(*target)) == [expected]


@pytest.mark.parametrize(
    ("dims", "target", "allowzero"), [([3, 4], [0, -1], 1), ([3, 4], [5, -1], 0), ([0, 10], [0, 1, -1], 0)]
)
def test_reshape_that_means_nothing(dims: list[int], target: list[int], allowzero: int) -> None:
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], allowzero=allowzero)
    model = infer([node], [], x=np.zeros(dims), shape=ints(*target))
    assert (shape_of(model, "y"), codes(model)) == ("[...]", ["shape-clash"])


@pytest.mark.parametrize(
    ("length", "start", "end", "step", "expected"),
    [
        (4, -1, INT_MIN, -1, "[4]"),
        (4, -1, INT_MAX, -1, "[0]"),
        ("N", 1, -1, 1, "[N - 2]"),
        ("N", 0, 5, 1, "[min(5, N)]"),
        ("N", 0, 1_000_000_000, 1, "[N]"),
        ("N", -1, INT_MAX, 1, "[1]"),
        ("N", -7, INT_MAX, 1, "[min(7, N)]"),
        ("N", -3, -1, 1, "[min(3, N) - 1]"),
        ("N", 0, INT_MAX, 2, "[(N + 1)//2]"),
        ("N", -1, INT_MIN, -1, "[N]"),
        ("N", 3, INT_MAX, 4, "[N//4]"),
        (10, 7, 3, 1, "[0]"),
        (1, -2, -3, -1, "[1]"),
        ("N", 0, INT_MIN, 1, "[0]"),
        ("N", INT_MAX, INT_MAX, 1, "[0]"),
        ("N", INT_MIN, 3, 1, "[min(3, N)]"),
    ],
)
def test_slice(length: int | str, start: int, end: int, step: int, expected: str) -> None:
    made = one("Slice", [length], starts=ints(start), ends=ints(end), axes=ints(0), steps=ints(step))
    assert made == [expected]


def test_prelu() -> None:
    assert one("PRelu", ["N", "C", 5], [64, 1]) == ["[N, 64, 5]"]
    assert one("PRelu", [2, 2], [2, 1, 1, 2]) == ["[2, 1, 2, 2]"]  # not as the standard asks, but so it runs
    assert one("PRelu", [2, 3, 2], [3], opset=6) == ["[2, 3, 2]"]


def test_slice_with_attributes() -> None:
    assert one("Slice", ["N", 9, 4], opset=9, starts=[1, 0], ends=[-1, 2], axes=[1, 2]) == ["[N, 7, 2]"]


@pytest.mark.parametrize(
    ("op", "dims", "rest", "expected"),
    [
        ("Concat", [[5, 2], ["N", 2]], {"axis": 0}, "[N + 5, 2]"),
        ("Tile", [["N", 3]], {"repeats": ints(2, 1)}, "[2*N, 3]"),
        ("Conv", [["N", 3, "H", "W"], [8, 3, 3, 3]], {"strides": [2, 2], "pads": [1] * 4},
         "[N, 8, (H + 1)//2, (W + 1)//2]"),
        ("Conv", [["N", 3, "H", 7], [8, 3, 3, 3]], {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
         "[N, 8, (H + 1)//2, 4]"),
        ("Conv", [["N", 3, "L"], [8, 1, 5]], {"group": 3, "dilations": [2]}, "[N, 8, L - 8]"),
        ("ConvTranspose", [[1, 1, 3, 3], [1, 1, 3, 3]],
         {"auto_pad": "SAME_UPPER", "strides": [2, 2], "output_padding": [1, 1]}, "[1, 1, 6, 6]"),
        ("ConvTranspose", [[1, 1, "H", 3], [1, 4, 2, 2]], {"strides": [2, 2], "group": 2}, "[1, 8, 2*H, 6]"),
        ("ConvTranspose", [[1, 1, 5, 5], [1, 1, 3, 3]], {"strides": [2, 2], "output_shape": [10, 10]},
         "[1, 1, 10, 10]"),
        ("MaxPool", [[1, 1, 2, 2]], {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1] * 4, "ceil_mode": 1},
         "[1, 1, 1, 1]"),
        ("AveragePool", [[1, 2, 3, 6, 5]],
         {"kernel_shape": [3] * 3, "strides": [3] * 3, "pads": [1] * 6, "ceil_mode": 1}, "[1, 2, 2, 3, 2]"),
        ("MaxPool", [[1, 1, "H", 8]], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
         "[1, 1, (H + 1)//2, 4]"),
        ("Resize", [[1, 1, 706, "W"]], {"roi": np.zeros(0, np.float32),
                                        "scales": np.array([1, 1, 224 / 706, 2], np.float32)}, "[1, 1, 223, 2*W]"),
        ("Resize", [[1, 1, 7, "W"]], {"roi": np.zeros(0, np.float32),
                                      "scales": np.array([1, 1, 0.5, 0.5], np.float32)}, "[1, 1, 3, W//2]"),
        ("Flatten", [["N", 3, "H"]], {"axis": 0}, "[1, 3*H*N]"),
        ("Transpose", [["N", 3, "H"]], {}, "[H, 3, N]"),
        ("Gather", [["N", 3, 4], ["M", 2]], {"axis": 1, "dtypes": (FLOAT, INT64)}, "[N, M, 2, 4]"),
        ("GatherND", [["N", 3, 4], ["M", 2]], {"dtypes": (FLOAT, INT64)}, "[M, 4]"),
        ("GatherND", [["N", 3, 4], ["N", 1]], {"batch_dims": 1, "dtypes": (FLOAT, INT64)}, "[N, 4]"),
        ("Einsum", [["b", "i", 8], ["b", 8, "k"]], {"equation": "bij,bjk->bik"}, "[b, i, k]"),
        ("Einsum", [["b", "h", "i", 8], ["j", 8]], {"equation": "...ij,kj"}, "[b, h, i, j]"),
        ("MatMul", [["B", 1, "M", 8], [4, 8, "K"]], {}, "[B, 4, M, K]"),
        ("MatMul", [[8], ["B", 8, "K"]], {}, "[B, K]"),
        ("Gemm", [[8, "M"], ["K", 8]], {"transA": 1, "transB": 1}, "[M, K]"),
        ("Add", [["N", 1, 5], [7, 1]], {}, "[N, 7, 5]"),
        ("Add", [["N"], ["M"]], {}, "[max(M, N)]"),
        ("ReduceMean", [["N", "C", 7]], {"axes": ints(-1), "keepdims": 0}, "[N, C]"),
        ("ReduceSum", [["N", 4]], {"axes": ints(), "noop_with_empty_axes": 1}, "[N, 4]"),
        ("Pad", [["N", 4]], {"pads": ints(0, 1, 2, 3)}, "[N + 2, 8]"),
        ("DepthToSpace", [["N", 8, "H", 3]], {"blocksize": 2}, "[N, 2, 2*H, 6]"),
        ("OneHot", [["N"]], {"dtypes": (INT64,), "depth": np.array(10), "values": ints(0, 1)}, "[N, 10]"),
        ("GlobalAveragePool", [["N", 3, "H", "W"]], {}, "[N, 3, 1, 1]"),
        ("ScaledTanh", [["N", 3]], {"alpha": 2.0}, "[N, 3]"),
        ("Crop", [["N", 3, "H", 9]], {"border": [1, 2, 3, 4]}, "[N, 3, H - 6, 5]"),
        ("Crop", [["N", 3, 20, 9]], {"border": [1, 2, 0, 0], "scale": [5, 6]}, "[N, 3, 5, 6]"),
        ("MemcpyToHost", [["N", 3]], {}, "[N, 3]"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_one_node(op: str, dims: list[Dims], rest: dict[str, Any], expected: str) -> None:
    assert one(op, *dims, **rest) == [expected]


@pytest.mark.parametrize(
    ("opset", "rest", "expected"),
    [
        (18, {"num_outputs": 3, "axis": 1}, ["[N, 3]", "[N, 3]", "[N, 1]"]),
        (13, {"split": ints(2, 4, 1), "axis": 1}, ["[N, 2]", "[N, 4]", "[N, 1]"]),
        (11, {"split": [2, 4, 1], "axis": -1}, ["[N, 2]", "[N, 4]", "[N, 1]"]),
    ],
)
def test_split(opset: int, rest: dict[str, Any], expected: list[str]) -> None:
    assert one("Split", ["N", 7], opset=opset, outputs=3, **rest) == expected


def test_lstm_and_top_k_fill_every_slot() -> None:
    assert one("LSTM", ["S", "B", 3], [2, 20, 3], [2, 20, 5], outputs=3, direction="bidirectional", hidden_size=5) == [
        "[S, 2, B, 5]", "[2, B, 5]", "[2, B, 5]",
    ]  # fmt: skip
    assert one("TopK", ["N", 100], k=ints(5), outputs=2) == ["[N, 5]", "[N, 5]"]
