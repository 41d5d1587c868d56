"""Finding in the real window: the list of matches, stepping, mistakes in the query, and going to anything."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import gui.finding.fields
import resources
from engine.graph.ir import Node
from gui.centre.canvas_view import FEW_FOUND
from gui.finding.quick_open import QuickOpen
from gui.panes.find import FindPane
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

SAMPLE = resources.path(resources.SAMPLE_MODEL)


def search(qtbot: QtBot, window: MainWindow, query: str) -> None:
    with qtbot.waitSignal(window.document.finder.found):
        window.search.edit.setText(query)


def test_all_matches_are_listed_and_lead_there(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    search(qtbot, window, "op:Conv")
    pane = window.docks["find"].widget()
    assert isinstance(pane, FindPane)
    assert [row.kind for row in pane.model.shown] == ["Conv"] * 9
    assert window.docks["find"].windowTitle() == "Find  9"
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert pane.isVisible()
    index = pane.model.index(3, 1)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.visualRect(index).center())
    assert window.document.selection is pane.model.shown[3].item
    assert window.search.count.text() == "4 of 9"
    window.search.next()
    assert window.document.selection is pane.model.shown[4].item
    window.document.turns.finish()
    assert pane.view.current_row() is pane.model.shown[4]


def test_a_mistake_is_said_and_marked(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    search(qtbot, window, "time:fast")
    pane = window.docks["find"].widget()
    assert isinstance(pane, FindPane)
    assert window.search.count.text() == "?"
    assert window.search.edit.property("invalid")
    assert "wants a number" in pane.summary.text()
    search(qtbot, window, "op:Conv")
    assert not window.search.edit.property("invalid")


def test_an_endless_pattern_is_told_like_a_mistake(
    qtbot: QtBot, window: MainWindow, open_model: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    monkeypatch.setattr(gui.finding.fields, "MATCH_LIMIT", 0.01)
    monkeypatch.setattr(window.document.model.graph.order[-1], "name", "a" * 60 + "!")
    search(qtbot, window, "/(a|aa)+$/")
    assert window.search.count.text() == "?"
    assert "takes too long" in window.search.edit.accessibleDescription()
    search(qtbot, window, "op:Conv")
    assert window.search.count.text() == "9 found"


def test_enter_right_after_typing_goes_to_the_first(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    window.search.edit.setText("op:Softmax")
    qtbot.keyClick(window.search.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.search.count.text() == "1 of 1")
    assert isinstance(window.document.selection, Node)
    assert window.document.selection.op_type == "Softmax"


def popup(qtbot: QtBot, window: MainWindow) -> QuickOpen:
    qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    (found,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, QuickOpen) and w.isVisible()]
    return found


def test_going_to_a_node_by_a_few_letters(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    asked = popup(qtbot, window)
    qtbot.keyClicks(asked.edit, "softmax")
    qtbot.waitUntil(lambda: bool(asked.model.shown) and "softmax" in asked.model.shown[0].name.lower())
    qtbot.keyClick(asked.edit, Qt.Key.Key_Return)
    assert isinstance(window.document.selection, Node)
    assert window.document.selection.op_type == "Softmax"


def test_going_to_a_place_in_the_run_order(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    asked = popup(qtbot, window)
    asked.edit.setText(":3")
    third = window.document.graph.order[2]
    qtbot.waitUntil(lambda: [entry.target for entry in asked.model.shown] == [third])
    qtbot.keyClick(asked.edit, Qt.Key.Key_Return)
    assert window.document.selection is third


def test_giving_a_command_by_name(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    asked = popup(qtbot, window)
    asked.edit.setText("> colour by element")
    qtbot.waitUntil(lambda: bool(asked.model.shown) and asked.model.shown[0].name == "Colour by Element Type")
    qtbot.keyClick(asked.edit, Qt.Key.Key_Return)
    assert window.colour_mode == "dtype"


def test_thousands_of_matches_are_outlined_and_taken_back(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    """Their boxes are looked up by a job, which must not outline those of a search before it."""
    count = FEW_FOUND + 100
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"x{i + 1}"], name=f"relu{i}") for i in range(count)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x0", f"x{count}")]
    model = helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:]), ir_version=8)
    onnx.save(model, tmp_path / "relus.onnx")
    open_model(tmp_path / "relus.onnx")
    canvas = window.canvas.canvas
    search(qtbot, window, "op:Relu")
    qtbot.waitUntil(lambda: canvas._emphasis.found.size == count)
    search(qtbot, window, "op:Relu -name:relu7")
    search(qtbot, window, "op:Relu /^relu7$/")
    assert canvas._emphasis.found.tolist() == [canvas.scene.box_of[id(window.document.graph.order[7])]]
    qtbot.waitUntil(lambda: not window.document.jobs.active)
    assert canvas._emphasis.found.size == 1
