"""What lies inside closed modules: marked by their boxes, and opened to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.canvas.groups import Group
from gui.finding.quick_open import QuickOpen
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

INSIDE = "It is inside this module (Ctrl+E opens it)"
Visit = Callable[[str], None]


@pytest.fixture
def layered(tmp_path: Path) -> Path:
    """Two modules of a MatMul and a Relu each, with a weight each."""
    nodes = []
    for i in range(2):
        nodes.append(helper.make_node("MatMul", [f"t{i}", f"w{i}"], [f"m{i}"], name=f"/layers.{i}/MatMul"))
        nodes.append(helper.make_node("Relu", [f"m{i}"], [f"t{i + 1}"], name=f"/layers.{i}/Relu"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("t0", "t2")]
    weights = [numpy_helper.from_array(np.eye(4, dtype=np.float32), f"w{i}") for i in range(2)]
    graph = helper.make_graph(nodes, "layered", ends[:1], ends[1:], weights)
    path = tmp_path / "layered.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def visit(qtbot: QtBot, window: MainWindow, open_model: Opener, layered: Path) -> Visit:
    """Goes to a name by Go to Anything, in the model shown as closed modules."""
    open_model(layered)
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.keyClick(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)

    def go(name: str) -> None:
        qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
        (box,) = window.findChildren(QuickOpen)
        qtbot.keyClicks(box.edit, name)
        qtbot.waitUntil(lambda: bool(box.model.shown) and box.model.shown[0].name == name)
        qtbot.keyClick(box.edit, Qt.Key.Key_Return)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)

    return go


def marked(window: MainWindow) -> list[str]:
    """The names of the modules that stand out."""
    canvas = window.canvas.canvas
    boxes = [canvas.scene.boxes[box].item for box in canvas._emphasis.selected.tolist()]
    return [box.name for box in boxes if isinstance(box, Group)]


@pytest.mark.parametrize("name", ["w1", "m1", "/layers.1/Relu"])
def test_what_is_inside_a_closed_module_is_marked_by_it_and_opened_to(
    qtbot: QtBot, window: MainWindow, visit: Visit, name: str
) -> None:
    visit(name)
    assert window.document.selection.name == name
    assert marked(window) == ["layers.1"]
    assert window.canvas.notice == INSIDE
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    canvas = window.canvas.canvas
    assert not canvas.scene.conceals(window.document.selection)
    assert marked(window) == []
    assert len(canvas._emphasis.rows) == (name == "w1")


def test_what_passes_between_closed_modules_is_seen_itself(window: MainWindow, visit: Visit) -> None:
    visit("t1")
    assert window.document.selection.name == "t1"
    assert window.canvas.notice != INSIDE
    assert len(window.canvas.canvas._emphasis.nets) == 1
