"""Netron beside OInfer: its server on the loopback interface, in a process of its own that ends with the window."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import sys
from functools import cache
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal, Slot

HOST = "127.0.0.1"
STOP_MS = 1500


@cache
def command() -> list[str]:
    """How Netron is started here; empty where it is not installed. Looked up once."""
    program = shutil.which("netron")
    if program:
        return [program]
    is_frozen = getattr(sys, "frozen", False)  # then the executable is ours, and no Python
    if is_frozen or importlib.util.find_spec("netron") is None:
        return []
    return [sys.executable, "-c", "import netron; netron.main()"]  # the package can't be run with -m


class Netron(QObject):
    """Shows models in the browser. `failed(title, message)` says why that did not work."""

    failed = Signal(str, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None
        self._stopping = False

    @property
    def running(self) -> bool:
        """Whether a server of ours is up."""
        return self._process is not None and self._process.state() is not QProcess.ProcessState.NotRunning

    def show_model(self, path: str) -> None:
        """Start Netron on a file, in place of the one before, and let it open the browser."""
        start = command()
        if not start:
            self.failed.emit("Netron is not installed", "Install it with: pip install netron")
            return
        self.stop()
        self._stopping = False
        process = QProcess(self)
        process.errorOccurred.connect(self._not_started)
        process.finished.connect(self._ended)
        self._process = process
        file = str(Path(path).absolute())  # a name that begins with a dash would be taken for an option
        process.start(start[0], [*start[1:], file, "--host", HOST, "--port", str(free_port()), "--browse"])

    def stop(self) -> None:
        """End the server that was started, and wait for it a bounded time."""
        process, self._process = self._process, None
        if process is None:
            return
        self._stopping = True
        if process.state() is not QProcess.ProcessState.NotRunning:
            process.terminate()
            if not process.waitForFinished(STOP_MS):
                process.kill()
                process.waitForFinished(STOP_MS)
        process.deleteLater()

    @Slot(QProcess.ProcessError)
    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and not self._stopping:
            self.failed.emit("Netron did not start", "Check that it runs from a terminal: netron --version")

    @Slot(int, QProcess.ExitStatus)
    def _ended(self, code: int, _status: QProcess.ExitStatus) -> None:
        if self._stopping or self._process is None or not code:
            return
        told = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace").strip()
        self.failed.emit("Netron has stopped", told[-600:] or f"It ended with status {code}.")


def free_port() -> int:
    """A port of the loopback interface that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
