"""Makes the pictures of the guide: the real window, driven and grabbed without a display.

    .venv/bin/python docs/img/make.py [NAME …]

The times in timings.png are those of the machine it is made on; a quiet one is best.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

import onnx  # noqa: E402
from PySide6.QtCore import QEventLoop, QSettings, QTimer  # noqa: E402

from gui.app import Application  # noqa: E402
from gui.measuring.smoke import Waiter  # noqa: E402
from gui.window.main_window import MainWindow  # noqa: E402

SHARED = ROOT.parent / "shared" / "models"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
SETTLE_MS = 900


def resnet50(window: MainWindow) -> None:
    """A node selected, its shapes explained."""
    shown(window, LIGHT / "light_resnet50.onnx")
    select(window, "BatchNormalization")


def silero_vad(window: MainWindow) -> None:
    """Branches opened in place."""
    shown(window, SHARED / "real" / "silero_vad.onnx")
    window.set_theme_mode("dark")
    select(window, "If")
    node = window.document.selection
    again = Waiter()
    window.canvas.drawn.connect(again.done)
    window.canvas.toggle(node)
    again.wait()
    window.canvas.canvas.zoom_to(0.72)


def timings(window: MainWindow) -> None:
    """After a run, coloured by time."""
    shown(window, SHARED / "gen" / "yolo_n_dyn.onnx")
    ran = Waiter()
    pane = window.docks["run"].widget()
    pane.finished.connect(ran.done)
    pane.failed.connect(ran.fail)
    window.document.run_requested.emit()
    failure = ran.wait()
    if failure:
        raise RuntimeError(failure)
    window.set_colour_mode("time")


def shown(window: MainWindow, path: Path) -> None:
    """Open a model and wait until it is drawn."""
    drawn = Waiter()
    window.canvas.drawn.connect(drawn.done)
    window.document.failed.connect(drawn.fail)
    window.document.open(str(path))
    failure = drawn.wait()
    if failure:
        raise RuntimeError(failure)


def select(window: MainWindow, op_type: str) -> None:
    """Select the first node of an operator in the main graph."""
    assert window.document.graph is not None
    window.document.select(next(node for node in window.document.graph.order if node.op_type == op_type))


PICTURES: dict[str, Callable[[MainWindow], None]] = {
    "resnet50": resnet50, "silero_vad": silero_vad, "timings": timings,
}  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        QSettings.setDefaultFormat(QSettings.Format.IniFormat)
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, folder)
        app = Application(["oinfer"])
        for name in sys.argv[1:] or PICTURES:
            QSettings().clear()
            window = app.new_window()
            window.set_theme_mode("light")
            PICTURES[name](window)
            pause = QEventLoop()
            QTimer.singleShot(SETTLE_MS, pause.quit)
            pause.exec()
            window.grab().save(str(HERE / f"{name}.png"))
            window.close()
        app.processEvents()


if __name__ == "__main__":
    main()
