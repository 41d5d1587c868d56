"""Gathering and scattering."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [0, [1, -1], [[0], [1]], []])
def test_gather(axis: int, indices: object) -> None:
    check("Gather", X, np.array(indices, np.int64), axis=axis)


def test_gather_by_hand() -> None:
    assert run("Gather", np.array(["a", "b"], object), np.array([-1, 0])).tolist() == ["b", "a"]
    with pytest.raises(IndexError):
        run("Gather", X, np.array([2]))


def test_gather_elements() -> None:
    x = np.array([[1, 2], [3, 4]], np.float32)
    assert check("GatherElements", x, np.array([[0, 0], [-1, 0]]), axis=1).tolist() == [[1, 1], [4, 3]]
    check("GatherElements", X, np.array([[[1, 0]], [[0, 1]]]), axis=0)  # smaller than the data on other axes


def test_gather_nd() -> None:
    assert check("GatherND", X, np.array([[1, 2], [0, -1]])).tolist() == [[20, 21, 22, 23], [8, 9, 10, 11]]
    assert check("GatherND", X, np.array([[[1]], [[2]]]), batch_dims=1).tolist() == [[[4, 5, 6, 7]], [[20, 21, 22, 23]]]
    assert check("GatherND", X, np.array([1, 2, 3])).tolist() == 23


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [("none", None), ("add", [6, 2, 3]), ("mul", [6, 2, 3]), ("max", [3, 2, 3]), ("min", [1, 2, 3])],
)
def test_scatter_combines_repeated_indices(reduction: str, expected: list[float] | None) -> None:
    x, indices = np.array([1, 2, 3], np.float32), np.array([0, 0]) if expected else np.array([0, 2])
    updates = np.array([2, 3], np.float32)
    out = check("ScatterElements", x, indices, updates, reduction=reduction)
    assert out.tolist() == (expected or [2, 2, 3])
    again = check("ScatterND", x, indices[:, None], updates, reduction=reduction)
    assert again.tolist() == out.tolist()
    assert x.tolist() == [1, 2, 3]


def test_scatter_axis_and_old_name() -> None:
    indices, updates = np.array([[1, -1]]), np.array([[1.1, 2.1]], np.float32)
    x = np.arange(5, dtype=np.float32).reshape(1, 5)
    wanted = np.array([[0, 1.1, 2, 3, 2.1]], np.float32)
    np.testing.assert_array_equal(check("ScatterElements", x, indices, updates, axis=1), wanted)
    np.testing.assert_array_equal(run("Scatter", x, indices, updates, axis=1, opset=9), wanted)


def test_scatter_nd_writes_slices() -> None:
    out = check("ScatterND", X, np.array([[1], [0]]), np.stack([np.zeros((3, 4)), np.ones((3, 4))]).astype(np.float32))
    assert out[0].min() == 1
    assert out[1].max() == 0


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int) -> None:
    indices, values = np.array([[0, -1], [2, 7]]), np.array([2, 5], np.int32)
    out = run("OneHot", indices, np.array(3), values, axis=axis)
    rows = np.moveaxis(out, axis, -1)
    assert rows.tolist() == [[[5, 2, 2], [2, 2, 5]], [[2, 2, 5], [2, 2, 2]]]
    check("OneHot", indices, np.array([3]), values.astype(np.float32), axis=axis)


def test_one_hot_9_has_no_negative_indices() -> None:
    assert run("OneHot", np.array([-1, 1]), np.array(2), np.array([0, 1]), opset=9).tolist() == [[0, 0], [0, 1]]


def test_non_zero() -> None:
    assert check("NonZero", np.array([[1, 0], [1, 1]], np.int32)).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert check("NonZero", np.zeros((2, 0), np.float32)).shape == (2, 0)


def test_compress() -> None:
    x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    assert check("Compress", x, np.array([False, True]), axis=0).tolist() == [[3, 4]]
    assert check("Compress", x, np.array([False, True, True])).tolist() == [2, 3]


def test_tensor_scatter() -> None:
    cache, update = np.zeros((2, 4, 1), np.float32), np.ones((2, 2, 1), np.float32)
    linear = run("TensorScatter", cache, update, np.array([0, 2]), opset=24)
    assert linear[..., 0].tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]
    ring = run("TensorScatter", cache, update, np.array([3, 1]), mode="circular", opset=24)
    assert ring[..., 0].tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]


def test_one_hot_of_fractions_and_of_narrow_types() -> None:
    values = np.array([0, 1], np.int64)
    hot = run("OneHot", np.array([-1.9, 1.9, -0.5], np.float32), np.array([3.0]), values)
    assert hot.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert run("OneHot", np.array([2, 255], np.uint8), np.array([300]), values).argmax(-1).tolist() == [2, 255]
    assert run("OneHot", np.array([-1], np.int8), np.array([200]), values).argmax(-1).tolist() == [199]
