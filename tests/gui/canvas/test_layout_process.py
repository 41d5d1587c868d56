"""Layouts of both sizes come back the same, and a large one can be cancelled."""

from __future__ import annotations

import multiprocessing
import time

import numpy as np
import pytest

from gui.canvas.layout import LayoutInput, layout
from gui.canvas.layout_process import INLINE_BOXES, LayoutCancelled, LayoutFailed, LayoutTask


def chain(boxes: int) -> LayoutInput:
    index = np.arange(boxes - 1)
    return LayoutInput(np.full(boxes, 80.0), np.full(boxes, 24.0), index, index + 1, index, np.zeros(boxes - 1))


@pytest.mark.parametrize("boxes", [10, INLINE_BOXES + 1])
def test_result_equals_a_direct_layout(boxes: int) -> None:
    result, expected = LayoutTask(chain(boxes)).run(), layout(chain(boxes))
    assert np.array_equal(result.x, expected.x)
    assert np.array_equal(result.segments, expected.segments)
    assert not multiprocessing.active_children()


def test_cancel_ends_the_process() -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    started = time.perf_counter()
    with pytest.raises(LayoutCancelled):
        LayoutTask(chain(200_000)).run(cancelled)
    assert time.perf_counter() - started < 2.0
    assert not multiprocessing.active_children()


def test_a_failure_is_told() -> None:
    data = chain(INLINE_BOXES + 1)
    data.net = data.net + 10**6
    with pytest.raises(LayoutFailed, match="does not exist"):
        LayoutTask(data).run()
