"""The fast mode in the window: chosen in the Run pane, said in the report, and what became of nodes and tensors."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from engine.compare import SAME_PATH
from gui.models.lines import LineKind
from gui.panes.run import RunPane
from gui.panes.timings import TimingsPane
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.running_pane import run, set_counts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """x → conv → act → last → y; the convolution applies the activation in the fast mode."""
    weights = numpy_helper.from_array(np.ones((2, 3, 3, 3), np.float32), "w")
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv"), helper.make_node("Relu", ["c"], ["r"], "act"),
             helper.make_node("Neg", ["r"], ["y"], "last")]  # fmt: skip
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [weights],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def choose(qtbot: QtBot, pane: RunPane, text: str) -> None:
    """Click a mode."""
    (button,) = [button for button in pane.setup.mode.findChildren(QPushButton) if button.text() == text]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def run_fast(qtbot: QtBot, pane: RunPane, open_model: Opener, path: Path) -> None:
    open_model(path)
    set_counts(pane, 0, 3)
    choose(qtbot, pane, "Fast")
    run(qtbot, pane)


def test_a_fast_run_says_so(qtbot: QtBot, open_model: Opener, run_pane: RunPane, path: Path) -> None:
    run_fast(qtbot, run_pane, open_model, path)
    details = run_pane.result.details.text()
    assert details.startswith("CPU 2/2 · made over for speed: 3 nodes became 2 (into-convolutions 1) · ")
    assert run_pane.result.verdict.text().startswith("outputs agree")
    assert re.search(r"speedup -?[\d.]+ %", run_pane.result.headline.text())
    choose(qtbot, run_pane, "Faithful")
    run(qtbot, run_pane)
    assert run_pane.result.details.text().startswith(f"CPU 3/3 · {SAME_PATH}")
    assert run_pane.document.run.made_over is None


def test_the_mode_is_remembered_and_forgotten(
    qtbot: QtBot, open_model: Opener, run_pane: RunPane, path: Path
) -> None:
    run_fast(qtbot, run_pane, open_model, path)
    open_model(path)
    assert run_pane.setup.plan().mode == "fast"
    qtbot.mouseClick(run_pane.reset_button, Qt.MouseButton.LeftButton)
    assert run_pane.setup.plan().mode == "faithful"


def test_a_node_made_of_several_stands_for_them(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, timings: TimingsPane, path: Path
) -> None:
    run_fast(qtbot, run_pane, open_model, path)
    document = window.document
    conv, act, last = document.model.graph.order
    rows = {row.node: row for row in timings.table.model.rows}
    assert rows.keys() == {conv, last} == document.run.node_ms.keys()
    assert rows[conv].parts == (conv, act)
    alone = document.run.comparison.cpu_only.node_seconds
    assert rows[conv].cpu_ms == pytest.approx(np.median(alone[conv]) * 1e3 + np.median(alone[act]) * 1e3)
    assert {entry.operator for entry in document.run.times.operators} == {"Conv + Relu", "Neg"}
    assert document.run.placements.keys() == {conv, act, last}

    timings.table.view.setFocus()
    place = timings.table.model.shown.index(rows[conv])
    index = timings.table.model.index(place, 0)
    assert "conv\nact" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert timings.table.model.index(place, 5).data() == "Conv + Relu"
    qtbot.mouseClick(
        timings.table.view.viewport(), Qt.MouseButton.LeftButton, pos=timings.table.view.visualRect(index).center()
    )
    qtbot.waitUntil(lambda: document.selection is conv)
    properties = window.docks["properties"].widget()
    window.document.turns.finish()
    told = {line.label: line.value for line in properties.list.lines if line.kind is LineKind.PAIR}
    assert told["fast mode"] == "into-convolutions: conv, act became one: the convolution applies Relu"


def test_the_tensor_pane_says_why_a_tensor_is_not_there(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, path: Path
) -> None:
    run_fast(qtbot, run_pane, open_model, path)
    tensors, pane = window.document.model.graph.tensors, window.docks["tensor"].widget()
    window.docks["tensor"].raise_()
    window.document.select(tensors["c"])
    qtbot.waitUntil(lambda: pane.note.text().startswith("This tensor was not made: the run was in the fast mode"))
    assert "conv, act became one" in pane.note.text()
    window.document.select(tensors["r"])
    qtbot.waitUntil(lambda: "1×2×6×6" in pane.note.text())


def test_a_node_placed_by_hand_may_be_gone(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, path: Path
) -> None:
    open_model(path)
    set_counts(run_pane, 0, 1)
    window.document.set_overrides({"node:act": "CPU", "op:Relu": "CPU"})
    choose(qtbot, run_pane, "Fast")
    run(qtbot, run_pane)
    assert run_pane.failure.text() == ""
    assert window.document.run.made_over is not None
