"""Ctrl+C in the terminal that started the window."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import resources

ROOT = Path(__file__).resolve().parents[2]

# The real program; it says when its event loop runs, and then nothing happens until the signal.
PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from gui import app
shown = app.MainWindow.showEvent
def show_event(self, event):
    shown(self, event)
    QTimer.singleShot(0, lambda: print("ready", flush=True))
app.MainWindow.showEvent = show_event
sys.exit(app.main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_closes_the_window() -> None:
    command = [sys.executable, "-c", PROGRAM, str(resources.path(resources.SAMPLE_MODEL))]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
        finally:
            process.kill()
    assert process.returncode == 0, told
    assert "Traceback" not in told
