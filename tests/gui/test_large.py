"""A large model does not stop the window from answering, and opens in modules."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from gui.canvas.scene import BoxKind
from gui.panes.order import OrderPane
from gui.window.main_window import MainWindow
from tests.counting import CallCounter
from tests.gui.conftest import Opener

NODES = 4000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of 4,000 nodes in 400 modules of ten."""
    names = ["x", *(f"t{i}" for i in range(1, NODES)), "y"]
    nodes = [
        helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"/layers.{i // 10}/op_{i}") for i in range(NODES)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:])
    path = tmp_path_factory.mktemp("large") / "large.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_it_opens_in_modules_and_its_tables_fill(
    qtbot: QtBot, window: MainWindow, open_model: Opener, large: Path
) -> None:
    open_model(large)
    scene = window.canvas.canvas.scene
    assert scene is not None
    assert [box.kind for box in scene.boxes].count(BoxKind.GROUP) == 400
    pane = window.docks["order"].widget()
    assert isinstance(pane, OrderPane)
    qtbot.waitUntil(lambda: len(pane.model.rows) == NODES)
    node = window.document.model.graph.nodes[1234]  # type: ignore[union-attr]
    window.document.select(node)
    window.document.turns.finish()
    assert pane.view.current_row().node is node
    assert window.canvas.canvas.selected is node
    group = window.canvas.modules.grouping.tree.group_of[node]  # type: ignore[union-attr]
    assert scene.locate(node) == [scene.box_of[id(group)]]
    assert window.canvas.breadcrumb.texts[-1] == "layers.123"
    with qtbot.waitSignal(window.canvas.drawn):
        window.actions_by_name["reveal_hidden"].trigger()
    shown = window.canvas.canvas.scene
    assert shown is not None
    assert shown.boxes[shown.box_of[id(node)]].item is node
    assert window.canvas.canvas.rect().contains(window.canvas.canvas.node_rect(node).toRect())


def test_the_window_answers_while_it_arrives(qtbot: QtBot, window: MainWindow, open_model: Opener, large: Path) -> None:
    """How many calls the GUI thread makes between two beats; `make bench-view` has the times."""
    open_model(large)
    beats = [0]
    pulse = QTimer(interval=0)
    with CallCounter() as counter:
        pulse.timeout.connect(lambda: beats.append(counter.counted))
        pulse.start()
        open_model(large)
        qtbot.waitUntil(lambda: window.document.jobs.active == 0)
        pulse.stop()
    assert max(after - before for before, after in pairwise(beats)) < 100_000  # 40,000; inference alone makes 360,000


def test_a_node_of_very_many_inputs_leaves_the_window_as_it_is(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    """Words about each input would make the panes as high as all of them, and their tables paint thousands of rows."""
    count = 1_000
    names = [f"input_{i}" for i in range(count)]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in names]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [count, 3])
    graph = helper.make_graph([helper.make_node("Concat", names, ["y"], axis=0)], "wide", values, [output])
    path = tmp_path / "wide.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    open_model(path)
    size = window.size()
    shapes, tensor = window.docks["shapes"].widget(), window.docks["tensor"].widget()
    window.document.select(window.document.model.graph.nodes[0])  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: "by the rule of Concat" in shapes.origin.text())
    assert "…" in shapes.origin.text()
    assert shapes.view.viewport().height() < 1000
    assert window.size() == size
    assert tensor._choice.count() <= 401
