"""How long the GUI thread works without answering: a timer beats in its event loop, and the longest gap counts."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer

BEAT_MS = 5


class Heartbeat(QObject):
    """Measures the GUI thread's own processor time between beats, so that other work on the machine does not count."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_ms = 0.0
        self.span = (0.0, 0.0)  # of the longest, in seconds of the thread's clock
        self._last = time.thread_time()
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Forget what was measured and beat."""
        self.longest_ms, self.span, self._last = 0.0, (0.0, 0.0), time.thread_time()
        self._timer.start()

    def stop(self) -> None:
        """Beat once more and no further."""
        self._beat()
        self._timer.stop()

    def _beat(self) -> None:
        now = time.thread_time()
        gap = (now - self._last) * 1e3
        if gap > self.longest_ms:
            self.longest_ms, self.span = gap, (self._last, now)
        self._last = now
