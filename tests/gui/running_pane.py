"""The Run pane as tests use it, and a model that runs for long."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import resources
from gui.panes.run import RunPane
from gui.window.main_window import MainWindow

SAMPLE = resources.path(resources.SAMPLE_MODEL)


def set_counts(pane: RunPane, warmup: int, repeat: int) -> None:
    pane.setup.warmup.setValue(warmup)
    pane.setup.repeat.setValue(repeat)


def run(qtbot: QtBot, pane: RunPane) -> None:
    """Click Run and wait for the end."""
    with qtbot.waitSignal(pane.finished):
        qtbot.mouseClick(pane.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not pane.document.busy and pane.document.turns.idle)


def slow_model(path: Path, products: int = 40, size: int = 700) -> Path:
    """A chain of matrix products, long enough to be stopped on the way."""
    weight = numpy_helper.from_array(np.eye(size, dtype=np.float32), "w")
    steps = enumerate(pairwise(["x", *(f"t{i}" for i in range(products - 1)), "y"]))
    nodes = [helper.make_node("MatMul", [a, "w"], [b], name=f"m{i}") for i, (a, b) in steps]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [size, size])], [weight],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def run_state(qtbot: QtBot, window: MainWindow) -> None:
    """Open the sample in a window of its own and run it."""
    pane: RunPane = window.docks["run"].widget()
    with qtbot.waitSignal(window.canvas.drawn):
        window.document.open(SAMPLE)
    qtbot.waitUntil(lambda: not window.document.busy and window.document.turns.idle)
    set_counts(pane, 0, 2)
    run(qtbot, pane)
