"""Differences of two arrays against values worked out by hand."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gui.running.difference import BINS, PIXELS, comparable, planes_of, spread_of


def test_the_spread_of_a_few_numbers() -> None:
    actual = np.array([1.0, 2.5, 3.0, np.nan, np.inf, np.nan], np.float32)
    expected = np.array([1.0, 2.0, 4.0, np.nan, 0.0, 1.0], np.float32)
    spread = spread_of(actual, expected)
    assert (spread.size, spread.equal, spread.apart, spread.largest) == (6, 2, 2, 1.0)
    assert spread.edges[0] == -1.0
    assert spread.edges[-1] == 1.0
    assert spread.counts[0] == 1  # 3 − 4
    assert spread.counts[BINS // 2] == 4  # the equal ones and those that are not finite
    assert spread.counts.sum() == 6


def test_equal_arrays_stand_in_the_middle() -> None:
    spread = spread_of(np.ones((3, 4), np.int8), np.ones((3, 4), np.int8))
    assert (spread.equal, spread.largest) == (12, 0.0)
    assert spread.counts[BINS // 2] == 12


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 3, 4, 5)])
def test_planes_of_any_rank(shape: tuple[int, ...]) -> None:
    actual = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    fixed = (1, 2)[: max(len(shape) - 2, 0)]
    planes = planes_of(actual, actual + 1, fixed)
    numbers = planes.difference[np.isfinite(planes.difference)]
    assert (numbers[numbers > 0] == 1).all()
    assert (numbers == 1).sum() == actual[fixed].size
    if len(shape) >= 2:
        np.testing.assert_array_equal(planes.actual, actual[fixed])


def test_a_lone_difference_survives_in_a_large_plane() -> None:
    expected = np.zeros((4 * PIXELS + 3, PIXELS // 2), np.float32)
    actual = expected.copy()
    actual[-2, 17] = 3
    planes = planes_of(actual, expected)
    assert max(planes.difference.shape) <= PIXELS
    assert planes.difference.max() == 3


def test_infinity_against_a_number_is_infinitely_far() -> None:
    planes = planes_of(np.array([[np.inf, np.nan, np.inf]]), np.array([[1.0, np.nan, np.inf]]))
    assert planes.difference.tolist() == [[np.inf, 0.0, 0.0]]


def test_what_can_be_subtracted() -> None:
    numbers = np.zeros(3, np.float16)
    assert comparable(numbers, numbers)
    assert comparable(numbers.astype(ml_dtypes.bfloat16), numbers.astype(ml_dtypes.bfloat16))
    assert not comparable(numbers, np.zeros(4, np.float16))
    assert not comparable(np.array(["a"], object), np.array(["a"], object))
    assert not comparable([numbers], [numbers])
    assert not comparable(numbers.astype(complex), numbers.astype(complex))
