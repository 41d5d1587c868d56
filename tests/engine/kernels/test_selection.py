"""Order and choice."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

X = np.array([[3, 1, 3, 2], [0, 5, 5, 5]], np.float32)


@pytest.mark.parametrize(("largest", "values", "indices"), [
    (1, [[3, 3], [5, 5]], [[0, 2], [1, 2]]), (0, [[1, 2], [0, 5]], [[1, 3], [0, 1]]),
])  # fmt: skip
def test_top_k_takes_the_lower_index_of_equals(largest: int, values: list, indices: list) -> None:
    out = check("TopK", X, np.array([2]), largest=largest, outputs=2)
    assert out[0].tolist() == values
    assert out[1].tolist() == indices


def test_top_k_axes_dtypes_versions() -> None:
    check("TopK", X, np.array([1]), axis=0, outputs=2)
    assert run("TopK", np.array([-128, 127], np.int8), np.array([2]), outputs=2)[0].tolist() == [127, -128]
    assert run("TopK", np.array([0, 255], np.uint8), np.array([1]), outputs=2)[1].tolist() == [1]
    assert run("TopK", X, opset=9, k=1, outputs=2)[0].tolist() == [[3], [5]]
    assert run("TopK", X, np.array([0]), outputs=2)[0].shape == (2, 0)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize(("axis", "keepdims"), [(0, 1), (1, 0), (-1, 1)])
def test_arg_extreme(op: str, last: int, axis: int, keepdims: int) -> None:
    check(op, X, axis=axis, keepdims=keepdims, select_last_index=last)


def test_arg_max_by_hand() -> None:
    assert run("ArgMax", X, axis=1, keepdims=0).tolist() == [0, 1]
    assert run("ArgMax", X, axis=1, keepdims=0, select_last_index=1).tolist() == [2, 3]


@pytest.mark.parametrize("sorted_", [0, 1])
def test_unique(sorted_: int) -> None:
    x = np.array([2, 1, 1, 3, 4, 3], np.float32)
    values, first, inverse, counts = check("Unique", x, sorted=sorted_, outputs=4)
    assert values.tolist() == ([1, 2, 3, 4] if sorted_ else [2, 1, 3, 4])
    assert x[first].tolist() == values.tolist()
    assert values[inverse].tolist() == x.tolist()
    assert counts.sum() == 6


def test_unique_rows() -> None:
    x = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert check("Unique", x, axis=0, outputs=4)[0].tolist() == [[0, 1], [1, 0]]
    assert check("Unique", x, axis=1, sorted=0, outputs=4)[0].tolist() == x.tolist()


def test_unique_rows_of_words() -> None:
    x = np.array([["b", "a"], ["b", "a"], ["a", "c"]], object)
    assert check("Unique", x, axis=0, outputs=4)[0].tolist() == [["a", "c"], ["b", "a"]]
    assert check("Unique", x, axis=0, sorted=0, outputs=4)[0].tolist() == [["b", "a"], ["a", "c"]]


@pytest.mark.parametrize(("exclusive", "reverse", "expected"), [
    (0, 0, [1, 3, 6]), (1, 0, [0, 1, 3]), (0, 1, [6, 5, 3]), (1, 1, [5, 3, 0]),
])  # fmt: skip
def test_cum_sum(exclusive: int, reverse: int, expected: list[int]) -> None:
    x = np.array([1, 2, 3], np.int32)
    out = check("CumSum", x, np.array(0), exclusive=exclusive, reverse=reverse)
    assert out.tolist() == expected
    assert run("CumProd", x, np.array(-1), opset=26).tolist() == [1, 2, 6]


BOXES = np.array(
    [[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]],
    np.float32,
)
SCORES = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]], np.float32)


def number(value: float, dtype: type = np.float32) -> np.ndarray:
    return np.array([value], dtype)


def test_non_max_suppression() -> None:
    out = check("NonMaxSuppression", BOXES, SCORES, number(3, np.int64), number(0.5), number(0))
    assert out.tolist() == [[0, 0, 3], [0, 0, 0], [0, 0, 5]]
    assert check("NonMaxSuppression", BOXES, SCORES, number(3, np.int64), number(0.5), number(0.4)).tolist() == [
        [0, 0, 3],
        [0, 0, 0],
    ]
    flipped = BOXES[..., [2, 3, 0, 1]]
    assert check("NonMaxSuppression", flipped, SCORES, number(3, np.int64), number(0.5)).tolist() == out.tolist()


def test_non_max_suppression_without_optional_inputs_keeps_nothing() -> None:
    out = check("NonMaxSuppression", BOXES, SCORES)
    assert (out.dtype, out.shape) == (np.int64, (0, 3))


def test_non_max_suppression_of_random_boxes() -> None:
    rng = np.random.default_rng(5)
    centres = rng.uniform(0, 10, (2, 60, 2))
    boxes = np.concatenate((centres, rng.uniform(0.5, 4, (2, 60, 2))), axis=2).astype(np.float32)
    scores = rng.uniform(size=(2, 3, 60)).astype(np.float32)
    out = check("NonMaxSuppression", boxes, scores, number(20, np.int64), number(0.3), number(0.2), center_point_box=1)
    assert len(out) > 30
