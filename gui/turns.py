"""Work parted over turns of the event loop, so that the window answers in between."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def next_turn(owner: QObject, call: Callable[[], object]) -> None:
    """Call something once what is under way, and what it has posted, is done; never where `owner` is gone by then.

    `QTimer.singleShot(0, …)` posts an event, which Qt sends in the same go as those before it.
    """
    timer = QTimer(owner, singleShot=True, interval=0)
    timer.timeout.connect(call)
    timer.timeout.connect(timer.deleteLater)
    timer.start()
