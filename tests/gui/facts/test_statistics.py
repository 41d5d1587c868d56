"""Statistics of tensor values, against values worked out by hand and NumPy over the whole array."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gui.background.jobs import Cancelled
from gui.facts import statistics
from gui.facts.statistics import is_numeric, summarise


def test_by_hand() -> None:
    s = summarise(np.array([0, 1, 2, 3, np.nan, np.inf, -np.inf, -1], np.float32))
    assert (s.size, s.zeros, s.nans, s.infinities) == (8, 1, 1, 2)
    assert (s.minimum, s.maximum, s.mean) == (-1, 3, 1)
    assert s.deviation == pytest.approx(np.sqrt((1 + 0 + 1 + 4 + 4) / 5))
    assert s.counts.sum() == 5
    assert (s.edges[0], s.edges[-1]) == (-1, 3)


def test_chunks_agree_with_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "CHUNK", 97)
    values = np.random.default_rng(0).normal(1e4, 3, (50, 41))
    s = summarise(values)
    assert s.mean == pytest.approx(values.mean(), rel=1e-12)
    assert s.deviation == pytest.approx(values.std(), rel=1e-9)
    assert s.counts.sum() == values.size


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.float8_e4m3fn, np.float16, np.bool_])
def test_narrow_types(dtype: type) -> None:
    array = np.array([[0, 1], [1, 1]], dtype)
    assert is_numeric(array)
    s = summarise(array)
    assert (s.minimum, s.maximum, s.mean, s.zeros) == (0, 1, 0.75, 1)


def test_small_integers_have_a_bin_each() -> None:
    s = summarise(np.array([3, 3, 5, 7], np.int64))
    assert s.counts.tolist() == [2, 0, 1, 0, 1]
    assert (s.edges[0], s.edges[-1]) == (2.5, 7.5)


@pytest.mark.parametrize("values", [[2.5], [0.0, 0.0], [1e-300, 1e-300], [1.7e308, -1.7e308], [1e30, 1e30]])
def test_degenerate_ranges(values: list[float]) -> None:
    s = summarise(np.array(values))
    assert s.counts.sum() == len(values)
    assert np.all(np.diff(s.edges) > 0)


def test_nothing_finite() -> None:
    s = summarise(np.array([np.nan, np.inf]))
    assert np.isnan(s.mean)
    assert s.counts.size == 0


def test_strings_are_not_numeric() -> None:
    assert not is_numeric(np.array(["a"], object))


def test_stops_between_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "CHUNK", 10)
    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        summarise(np.zeros(1000), check)
    assert len(calls) == 3
