"""Cutting, joining, padding."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
MAX, MIN = np.iinfo(np.int64).max, np.iinfo(np.int64).min


def test_concat() -> None:
    assert check("Concat", X, X[:, :1], axis=-2).shape == (2, 4, 4)
    assert run("Concat", X, X, opset=3).shape == (2, 6, 4)  # axis 1 where version 1 states none
    assert run("Concat", np.array(["a"], object), np.array(["b"], object), axis=0).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("length", "outputs", "opset", "expected"), [(6, 3, 13, [2, 2, 2]), (7, 3, 18, [3, 3, 1]), (2, 3, 18, [1, 1, 0])]
)
def test_split_evenly(length: int, outputs: int, opset: int, expected: list[int]) -> None:
    extra = {"num_outputs": outputs} if opset == 18 else {}
    parts = run("Split", np.arange(length), outputs=outputs, opset=opset, **extra)
    assert [len(p) for p in parts] == expected
    assert np.concatenate(parts).tolist() == list(range(length))


def test_split_by_sizes() -> None:
    assert [p.shape for p in check("Split", X, np.array([3, 1]), axis=-1, outputs=2)] == [(2, 3, 3), (2, 3, 1)]
    assert [p.shape for p in check("Split", X, outputs=2, opset=11, axis=2, split=[0, 4])] == [(2, 3, 0), (2, 3, 4)]
    with pytest.raises(ValueError, match="sum to 5"):
        run("Split", X, np.array([4, 1]), axis=-1, outputs=2)


@pytest.mark.parametrize(("start", "end", "step", "expected"), [
    (1, 3, 1, [1, 2]), (-2, MAX, 1, [2, 3]), (0, -1, 2, [0, 2]), (9, 12, 1, []), (-9, 2, 1, [0, 1]),
    (-1, MIN, -1, [3, 2, 1, 0]), (-1, -3, -1, [3, 2]), (9, 0, -2, [3, 1]), (2, 0, -1, [2, 1]), (1, 3, -1, []),
    (-6, -7, -1, [0]), (-6, MIN, -2, [0]),
])  # fmt: skip
def test_slice(start: int, end: int, step: int, expected: list[int]) -> None:
    x = np.arange(4)
    assert check("Slice", x, *(np.array([v]) for v in (start, end, 0, step))).tolist() == expected


def test_slice_backwards_to_the_greatest_integer_is_empty() -> None:
    # ONNX Runtime returns four values here; the specification clamps the end to dim - 1.
    assert run("Slice", np.arange(4), np.array([-1]), np.array([MAX]), np.array([0]), np.array([-1])).tolist() == []
    assert run("Slice", np.zeros((0, 4)), *(np.array([v]) for v in (-1, MIN, 0, -1))).shape == (0, 4)


def test_slice_axes() -> None:
    bounds = np.array([0, 1], np.int32), np.array([1, 9], np.int32)
    np.testing.assert_array_equal(check("Slice", X, *bounds, np.array([2, -2], np.int32)), X[:, 1:, :1])
    np.testing.assert_array_equal(check("Slice", X, np.array([1]), np.array([2])), X[1:2])
    np.testing.assert_array_equal(run("Slice", X, opset=9, starts=[1], ends=[-1], axes=[2]), X[..., 1:-1])


def test_tile() -> None:
    assert check("Tile", X, np.array([1, 2, 3])).shape == (2, 6, 12)
    assert run("Tile", X, np.array([2]), np.array([1]), opset=1).shape == (2, 6, 4)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [[0, 1, 2, 0, 2, 1], [0, -1, 0, 0, 0, 2], [0, 0, -1, 0, 0, -1]])
def test_pad(mode: str, pads: list[int]) -> None:
    check("Pad", X, np.array(pads), mode=mode)


def test_pad_by_hand() -> None:
    row = np.array([1, 2, 3], np.int32)
    amounts = np.array([2, 1])
    assert run("Pad", row, amounts, np.array(9, np.int32)).tolist() == [9, 9, 1, 2, 3, 9]
    assert run("Pad", row, amounts, mode="reflect").tolist() == [3, 2, 1, 2, 3, 2]
    assert run("Pad", row, amounts, mode="edge").tolist() == [1, 1, 1, 2, 3, 3]
    assert run("Pad", row, amounts, mode="wrap").tolist() == [2, 3, 1, 2, 3, 1]
    assert run("Pad", row, np.array([-1, 2])).tolist() == [2, 3, 0, 0]


def test_pad_axes_and_early_versions() -> None:
    assert check("Pad", X, np.array([1, 2]), None, np.array([-1])).shape == (2, 3, 7)
    assert check("Pad", X, opset=2, pads=[0, 1, 0, 0, 0, 0], value=5.0)[0, 0].tolist() == [5] * 4
    assert run("Pad", X, opset=1, paddings=[0, 0, 0, 1, 0, 0]).shape == (3, 3, 4)


def test_center_crop_pad() -> None:
    assert run("CenterCropPad", np.arange(5), np.array([2])).tolist() == [1, 2]
    assert run("CenterCropPad", np.arange(2), np.array([5])).tolist() == [0, 0, 1, 0, 0]


def test_reverse_sequence() -> None:
    x = np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.float32)
    lengths = np.array([1, 3])
    assert check("ReverseSequence", x, lengths, batch_axis=0, time_axis=1).tolist() == [[0, 1, 2, 3], [6, 5, 4, 7]]
    check("ReverseSequence", X.transpose(1, 0, 2).copy(), np.array([3, 2]), batch_axis=1, time_axis=0)
