"""Layouts of both sizes come back the same, a large one can be cancelled, and its process serves again."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator

import numpy as np
import pytest

from gui.canvas.layout import LayoutInput, layout
from gui.canvas.layout_process import INLINE_BOXES, LayoutCancelled, LayoutFailed, lay_out, shut_down


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    shut_down()
    yield
    shut_down()
    assert not multiprocessing.active_children()


def chain(boxes: int) -> LayoutInput:
    index = np.arange(boxes - 1)
    return LayoutInput(np.full(boxes, 80.0), np.full(boxes, 24.0), index, index + 1, index, np.zeros(boxes - 1))


@pytest.mark.parametrize("boxes", [10, INLINE_BOXES + 1])
def test_result_equals_a_direct_layout(boxes: int) -> None:
    result, expected = lay_out(chain(boxes)), layout(chain(boxes))
    assert np.array_equal(result.x, expected.x)
    assert np.array_equal(result.segments, expected.segments)


def test_one_process_serves_one_layout_after_the_other() -> None:
    lay_out(chain(INLINE_BOXES + 1))
    first = [child.pid for child in multiprocessing.active_children()]
    lay_out(chain(INLINE_BOXES + 2))
    assert [child.pid for child in multiprocessing.active_children()] == first


def test_a_process_that_died_is_replaced() -> None:
    lay_out(chain(INLINE_BOXES + 1))
    child = multiprocessing.active_children()[0]
    child.kill()
    child.join()
    assert len(lay_out(chain(INLINE_BOXES + 1)).x) == INLINE_BOXES + 1


def test_cancel_ends_the_process() -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with pytest.raises(LayoutCancelled):
        lay_out(chain(200_000), cancelled)
    assert asked == 3
    assert not multiprocessing.active_children()


def test_a_failure_is_told() -> None:
    data = chain(INLINE_BOXES + 1)
    data.net = data.net + 10**6
    with pytest.raises(LayoutFailed, match="does not exist"):
        lay_out(data)
