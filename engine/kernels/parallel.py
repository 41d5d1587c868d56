"""Work shared among threads in pieces that are claimed one by one.

BLAS parts a product evenly among its threads and waits for the slowest: on a machine with other work that is several
times slower than one thread alone. Here a thread claims the next piece when it has finished one, and the caller never
waits for a thread that has not begun. BLAS itself is held to one thread from the first use on.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
import threadpoolctl


@dataclass(frozen=True, slots=True)
class _Crew:
    """As many threads as BLAS would use, the caller's included; `helpers` is None where that is one."""

    workers: int
    helpers: ThreadPoolExecutor | None


@cache
def _crew() -> _Crew:
    libraries = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
    # A BLAS that can't be held to one thread (Accelerate) already uses every core by itself.
    workers = max((library.num_threads or 1 for library in libraries), default=1)
    for library in libraries:
        library.set_num_threads(1)
    helpers = ThreadPoolExecutor(workers - 1, "oinfer-kernel", _ignore_overflow) if workers > 1 else None
    return _Crew(workers, helpers)


def _ignore_overflow() -> None:
    np.seterr(all="ignore")  # as the session does on its own thread: each has this for itself


def workers() -> int:
    """How many threads share work."""
    return _crew().workers


def share(count: int, task: Callable[[int], object]) -> None:
    """Call ``task(0)`` … ``task(count - 1)``, in any order, on the caller's thread and the helpers'.

    The tasks must release the interpreter's lock for most of their time, as large array operations do, and must not
    share work themselves. An exception of a task is raised here, when the pieces under way have ended.
    """
    crew = _crew()
    if crew.helpers is None or count < 2:
        for piece in range(count):
            task(piece)
        return
    claims = itertools.count()

    def work() -> None:
        while (piece := next(claims)) < count:
            task(piece)

    helping = [crew.helpers.submit(work) for _ in range(min(crew.workers, count) - 1)]
    try:
        work()
    finally:
        begun = [future for future in helping if not future.cancel()]
        errors = [error for future in begun if (error := future.exception()) is not None]
    if errors:
        raise errors[0]


def pieces(length: int, work: float, least: int = 1) -> int:
    """In how many pieces to share `length` units that are `work` multiply-adds in all: 1 where sharing costs more.

    Twice as many as threads, so that a slow thread leaves something to the others; none shorter than `least` units.
    """
    if work < _WORTH_SHARING:
        return 1
    return max(1, min(2 * workers(), length // least))


_WORTH_SHARING = 4e6
"""Multiply-adds that take one thread about as long as handing a piece to another, ten times over."""


def piece(index: int, count: int, length: int, unit: int = 1) -> slice:
    """The part of range(length) that belongs to piece `index` of `count`; all cuts lie at multiples of `unit`."""
    units = -(-length // unit)
    return slice(index * units // count * unit, min((index + 1) * units // count * unit, length))
