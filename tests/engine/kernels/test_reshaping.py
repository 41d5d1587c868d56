"""Views: reshapes, axes, broadcasts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(("shape", "expected"), [
    ([0, -1], (2, 12)), ([-1, 2], (12, 2)), ([4, 3, 2], (4, 3, 2)), ([0, 0, 0], (2, 3, 4)), ([1, -1, 1], (1, 24, 1)),
])  # fmt: skip
def test_reshape(shape: list[int], expected: tuple[int, ...]) -> None:
    assert check("Reshape", X, np.array(shape)).shape == expected


def test_reshape_of_empty_tensors() -> None:
    empty = np.zeros((0, 10), np.float32)
    assert check("Reshape", empty, np.array([3, 0]), allowzero=1).shape == (3, 0)
    assert run("Reshape", empty, np.array([5, -1])).shape == (5, 0)


@pytest.mark.parametrize(("x", "shape", "allowzero", "says"), [
    (np.zeros((2, 36), np.float32), [1, 36], 0, "72 elements"),
    (X, [5, -1], 0, "24 elements"),
    (np.zeros((0, 10), np.float32), [0, -1], 1, "allowzero"),
    (np.zeros((0, 10), np.float32), [0, 1, -1], 0, "groups of 0"),
    (X, [-1, -1], 0, "more than one -1"),
])  # fmt: skip
def test_impossible_reshapes_say_why(x: np.ndarray, shape: list[int], allowzero: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        run("Reshape", x, np.array(shape), allowzero=allowzero)


def test_reshape_version_1_holds_the_shape() -> None:
    assert run("Reshape", X, opset=1, shape=[0, -1]).shape == (2, 12)


@pytest.mark.parametrize(("axis", "expected"), [(0, (1, 24)), (1, (2, 12)), (3, (24, 1)), (-1, (6, 4))])
def test_flatten(axis: int, expected: tuple[int, int]) -> None:
    assert check("Flatten", X, axis=axis).shape == expected


def test_squeeze_and_unsqueeze() -> None:
    x = np.zeros((1, 3, 1, 2), np.float32)
    assert check("Squeeze", x).shape == (3, 2)
    assert check("Squeeze", x, np.array([-2])).shape == (1, 3, 2)
    assert check("Squeeze", x, opset=11, axes=[0]).shape == (3, 1, 2)
    assert check("Unsqueeze", x, np.array([5, 0])).shape == (1, 1, 3, 1, 2, 1)
    assert check("Unsqueeze", x, opset=11, axes=[-1, 1]).shape == (1, 1, 3, 1, 2, 1)
    with pytest.raises(ValueError, match="size is 3"):
        run("Squeeze", x, np.array([1]))


def test_views_share_memory() -> None:
    views = [run("Transpose", X), run("Reshape", X, np.array([-1])), run("Flatten", X), run("Split", X, outputs=2)[1]]
    views += [run("Expand", X, np.array([5, 1, 1, 1])), run("Slice", X, np.array([1]), np.array([3]), np.array([2]))]
    for out in views:
        assert np.shares_memory(out, X)


@pytest.mark.parametrize("perm", [None, [0, 2, 1], [2, 0, 1]])
def test_transpose(perm: list[int] | None) -> None:
    check("Transpose", X, **({"perm": perm} if perm else {}))


@pytest.mark.parametrize(
    ("shape", "expected"), [([2, 1, 1, 1], (2, 2, 3, 4)), ([1, 1], (2, 3, 4)), ([3, 4], (2, 3, 4))]
)
def test_expand_broadcasts_both_ways(shape: list[int], expected: tuple[int, ...]) -> None:
    assert check("Expand", X, np.array(shape)).shape == expected


def test_depth_to_space_and_back() -> None:
    x = np.arange(8, dtype=np.float32).reshape(1, 8, 1, 1)
    assert check("DepthToSpace", x, blocksize=2)[0, :, :, :].tolist() == [[[0, 2], [4, 6]], [[1, 3], [5, 7]]]
    assert check("DepthToSpace", x, blocksize=2, mode="CRD")[0].tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    image = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    deep = check("SpaceToDepth", image, blocksize=2)
    np.testing.assert_array_equal(run("DepthToSpace", deep, blocksize=2), image)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, -5, -1, 0, 2, 9])
def test_trilu(upper: int, k: int | None) -> None:
    check("Trilu", X, None if k is None else np.array(k), upper=upper)
