"""Ctrl+C in the terminal closes the program as its window's close button does."""

from __future__ import annotations

import signal
import socket

from PySide6.QtCore import QObject, QSocketNotifier, Slot
from PySide6.QtWidgets import QApplication


class Interrupt(QObject):
    """Closes all windows of `app` on SIGINT.

    Python acts on a signal only when it next runs, which may be never while Qt waits for events; the byte that it
    writes at once to the wake-up socket is such an event.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, lambda *_: self._app.closeAllWindows())

    @Slot()
    def _woken(self) -> None:
        self._reader.recv(64)
