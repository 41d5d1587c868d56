"""PySide6 6.12.0 loses a reference to ``None`` at every void call on Python 3.11, until the process aborts."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPainterPath

CALLS = 500


class _Sender(QObject):
    fired = Signal()


def test_void_calls_keep_references_to_none() -> None:
    path = QPainterPath()
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        path.moveTo(0.0, 0.0)
    assert abs(sys.getrefcount(None) - before) < CALLS // 10


def test_signals_keep_references_to_true() -> None:
    sender = _Sender()
    before = sys.getrefcount(True)
    for _ in range(CALLS):
        sender.fired.emit()
    assert abs(sys.getrefcount(True) - before) < CALLS // 10
