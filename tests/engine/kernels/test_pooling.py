"""Pooling against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(21)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("count_include_pad", [0, 1])
def test_average_pool_in_ceil_mode_by_hand(count_include_pad: int) -> None:
    """Case 21: what overhangs the padding is no padding."""
    x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    y = run("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, count_include_pad=count_include_pad)
    np.testing.assert_array_equal(y[0, 0], [[6, 7.5], [12, 13.5]])


FORMS = [
    {"kernel_shape": list(kernel), "strides": list(strides), "ceil_mode": ceil_mode, **padding}
    for kernel, strides, ceil_mode, padding in itertools.product(
        [(3, 3), (2, 3)], [(1, 1), (2, 3)], [0, 1],
        [{}, {"pads": [1, 1, 0, 1]}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"auto_pad": "VALID"}],
    )
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_pools(form: dict[str, object]) -> None:
    x = floats(2, 3, 8, 9)
    check("MaxPool", x, **form)
    check("MaxPool", x, outputs=2, **form)
    check("MaxPool", x, outputs=2, storage_order=1, **form)
    check("AveragePool", x, rtol=1e-5, atol=1e-6, **form)
    check("AveragePool", x, rtol=1e-5, atol=1e-6, count_include_pad=1, **form)
    check("LpPool", x, rtol=1e-5, atol=1e-6, p=3, **form)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_pools_with_dilations(op: str) -> None:
    for ceil_mode in (0, 1):
        options = {"kernel_shape": [3, 2], "dilations": [2, 3], "strides": [2, 1], "ceil_mode": ceil_mode}
        check(op, floats(1, 2, 11, 12), rtol=1e-5, atol=1e-6, **options)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_same_padding_counts_the_dilated_window(op: str) -> None:
    """A window of 5 around each element; ONNX Runtime pads for one of 3, and has fewer windows."""
    y = run(op, np.array([[[1, 2, 4]]], np.float32), kernel_shape=[3], dilations=[2], auto_pad="SAME_UPPER")
    expected = {"MaxPool": [4, 2, 4], "AveragePool": [2.5, 2, 2.5], "LpPool": [17**0.5, 2, 17**0.5]}[op]
    np.testing.assert_allclose(y, [[expected]], rtol=1e-6)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_a_window_longer_than_its_axis_has_no_place(op: str) -> None:
    """floor((1 - 2) / 2) + 1 is 0; ONNX Runtime rounds towards zero, and pools what is not there."""
    assert run(op, np.ones((3, 1, 1), np.float32), kernel_shape=[2], strides=[2]).shape == (3, 1, 0)


def test_pools_in_one_and_three_dimensions() -> None:
    check("MaxPool", floats(2, 3, 8), kernel_shape=[3], outputs=2)
    check("MaxPool", floats(2, 3, 8, 5, 6), kernel_shape=[3, 2, 2], strides=[2, 2, 2], outputs=2)
    check("AveragePool", floats(2, 3, 8, 5, 6), kernel_shape=[3, 2, 2], pads=[1, 0, 1, 0, 1, 0], rtol=1e-5, atol=1e-6)


def test_max_pool_of_integers_keeps_the_padding_out() -> None:
    x = np.full((1, 1, 3, 3), -128, np.int8)
    y, where = run("MaxPool", x, kernel_shape=[2, 2], pads=[1, 1, 1, 1], outputs=2)
    assert (y == -128).all()
    np.testing.assert_array_equal(where[0, 0], [[0, 0, 1, 2], [0, 0, 1, 2], [3, 3, 4, 5], [6, 6, 7, 8]])
    check("MaxPool", rng.integers(-128, 127, (2, 3, 8, 5)).astype(np.int8), kernel_shape=[3, 2], pads=[1] * 4)


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
def test_global_pools(op: str) -> None:
    check(op, floats(2, 3, 4, 5), rtol=1e-5, atol=1e-6, opset=11)
    check(op, floats(2, 3, 7), rtol=1e-5, atol=1e-6, opset=11)


def test_max_unpool_by_hand() -> None:
    x = np.array([[[[1, 2], [3, 4]]]], np.float32)
    where = np.array([[[[5, 7], [13, 15]]]], np.int64)
    small = [[0, 0, 0, 0], [0, 1, 0, 2], [0, 0, 0, 0], [0, 3, 0, 4]]
    np.testing.assert_array_equal(run("MaxUnpool", x, where, kernel_shape=[2, 2], strides=[2, 2])[0, 0], small)
    larger = run("MaxUnpool", x, where, np.array([1, 1, 5, 5]), kernel_shape=[2, 2], strides=[2, 2])
    np.testing.assert_array_equal(larger[0, 0, :4, :4], small)
    assert larger.shape == (1, 1, 5, 5)
    assert not larger[0, 0, 4].any()


def test_nan_wins_with_and_without_indices() -> None:
    x = np.array([[[1, np.nan, 3, -2, -np.inf]]], np.float32)
    np.testing.assert_array_equal(run("MaxPool", x, kernel_shape=[2], opset=17), [[[np.nan, np.nan, 3, -2]]])
    values, places = run("MaxPool", x, kernel_shape=[2], opset=17, outputs=2)
    np.testing.assert_array_equal(values, [[[np.nan, np.nan, 3, -2]]])
    assert places.tolist() == [[[1, 1, 2, 3]]]
