"""Who comes first: work on other threads stands back for the moment that painting a frame takes. No Qt.

Painting lets go of the interpreter at almost every call, and gets it back only after whoever has it meanwhile is asked
to let go: a frame of 3 ms took 15 beside a thread that computes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 0.05  # seconds that anybody stands back at once

_free = threading.Event()
_free.set()


@contextmanager
def first() -> Iterator[None]:
    """Others stand back meanwhile; for the GUI thread."""
    _free.clear()
    try:
        yield
    finally:
        _free.set()


def stand_back() -> None:
    """Wait while the GUI thread goes first; cheap where it does not. Never call it there."""
    if not _free.is_set():
        _free.wait(LONGEST)
