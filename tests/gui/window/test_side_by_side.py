"""The other model of a comparison in a window of its own: opened at a node, and linked side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import NodeProto, TensorProto, helper
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.window.main_window import MainWindow
from gui.window.side_by_side import SideBySide
from gui.window.windows import Windows

Pair = tuple[MainWindow, MainWindow]
SCREEN = 1200  # px in all, of a small one


def save(path: Path, operators: str, name: Callable[[int, str], str]) -> Path:
    nodes: list[NodeProto] = []
    words = operators.split()
    for i, op in enumerate(words):
        output = "y" if i == len(words) - 1 else f"{path.stem}_{i}"
        nodes.append(helper.make_node(op, [nodes[-1].output[0] if nodes else "x"], [output], name=name(i, op)))
    ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, [4]) for end in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def compared(qtbot: QtBot, windows: Windows, tmp_path: Path) -> MainWindow:
    """A window on a model that lacks the third node of the other one; all its names are others."""
    new = save(tmp_path / "new.onnx", "Relu Tanh Sigmoid Elu Exp Neg", lambda i, op: f"n{i}")
    old = save(tmp_path / "old.onnx", "Relu Tanh Abs Sigmoid Elu Exp Neg", lambda i, op: f"block/{op.lower()}")
    window = windows.new_window(str(new))
    settled(qtbot, window)
    window.document.differ.compare_with(old)
    qtbot.waitUntil(lambda: window.document.differ.changes is not None)
    return window


def settled(qtbot: QtBot, window: MainWindow) -> None:
    ready = lambda: window.canvas.canvas.scene is not None and not window.document.busy  # noqa: E731
    qtbot.waitUntil(ready)


def node(window: MainWindow, op: str) -> object:
    return next(n for n in window.document.graph.nodes if n.op_type == op)


def other_of(qtbot: QtBot, windows: Windows) -> MainWindow:
    assert len(windows.all) == 2
    settled(qtbot, windows.all[1])
    return windows.all[1]


def test_a_removed_node_is_shown_in_the_other_model(
    qtbot: QtBot, windows: Windows, compared: MainWindow
) -> None:
    pane = compared.docks["changes"].widget()
    place = next(i for i, row in enumerate(pane.model.shown) if row.kind == "removed")
    pane.view.setCurrentIndex(pane.model.index(place, 0))
    qtbot.mouseClick(pane.there, Qt.MouseButton.LeftButton)
    other = other_of(qtbot, windows)
    qtbot.waitUntil(lambda: other.document.selection is not None)
    assert other.document.selection.name == "block/abs"


def test_the_selections_counterpart_is_shown_in_the_window_that_is_open_already(
    qtbot: QtBot, windows: Windows, compared: MainWindow
) -> None:
    compared.actions_by_name["show_other"].trigger()
    other = other_of(qtbot, windows)
    compared.document.select(node(compared, "Elu"))
    compared.actions_by_name["show_other"].trigger()
    assert len(windows.all) == 2
    assert other.document.selection is node(other, "Elu")


@pytest.fixture
def pair(qtbot: QtBot, windows: Windows, compared: MainWindow) -> Pair:
    compared.document.select(node(compared, "Sigmoid"))
    compared.actions_by_name["side_by_side"].trigger()
    other = other_of(qtbot, windows)
    qtbot.waitUntil(lambda: other.document.differ.changes is not None)
    settled(qtbot, other)
    return compared, other


def place(window: MainWindow) -> object:
    """Where the selection is seen, to a few px, since drawings stand on whole ones; and how large."""
    at = window.canvas.canvas.place_of(window.document.selection)
    return pytest.approx((at.x(), at.y(), 100 * window.canvas.scale), abs=3)


def seen(window: MainWindow) -> tuple[float, float, float]:
    at = window.canvas.canvas.place_of(window.document.selection)
    return at.x(), at.y(), 100 * window.canvas.scale


def test_windows_side_by_side_share_the_screen_and_the_colours(qtbot: QtBot, pair: Pair) -> None:
    shown, other = pair
    assert shown.x() < other.x()
    assert shown.minimumSizeHint().width() + other.minimumSizeHint().width() <= SCREEN
    assert shown.y() == other.y()
    legends = [[text for _, text in window.canvas.canvas.colouring.legend.entries] for window in pair]
    assert legends == [["Removed here  1", "The same  5"], ["Only here  1", "The same  6"]]


def test_a_selection_in_either_window_leads_the_other(qtbot: QtBot, pair: Pair) -> None:
    shown, other = pair
    assert other.document.selection is node(other, "Sigmoid")
    for window, following, op in ((shown, other, "Exp"), (other, shown, "Relu"), (shown, other, "Neg")):
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        window.document.select(node(window, op))
        assert following.document.selection is node(following, op)
        assert seen(following) == place(window)
    tensor = node(shown, "Tanh").outputs[0]
    shown.document.select(tensor)
    assert other.document.selection is node(other, "Tanh").outputs[0]
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    other.document.select(node(other, "Abs"))
    assert shown.document.selection is tensor, "what the other lacks selects nothing there"
    before, there = (window.canvas.canvas.place_of(node(window, "Tanh")) for window in (other, shown))
    assert (before.x(), before.y()) == pytest.approx((there.x(), there.y()), abs=3)


def wheel(window: MainWindow, turns: int) -> None:
    """Turn the wheel over what is selected, which stays in its place."""
    canvas = window.canvas.canvas
    at = canvas.place_of(window.document.selection)
    none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, canvas.mapToGlobal(at), QPoint(), QPoint(0, 120 * turns), none[0], none[1], none[2], False)
    QApplication.sendEvent(canvas, event)


def test_both_are_looked_at_from_as_near(qtbot: QtBot, pair: Pair) -> None:
    shown, other = pair
    shown.canvas.canvas.centre_on(shown.document.selection)  # where neither drawing ends near
    for window, following, turns in ((shown, other, -2), (other, shown, 3)):
        before = window.canvas.scale
        wheel(window, turns)
        assert window.canvas.scale != before
        assert seen(following) == place(window)


def test_a_model_that_arrives_in_the_active_window_does_not_lead(qtbot: QtBot, pair: Pair) -> None:
    shown, other = pair
    wheel(shown, -2)
    scale, drawn = shown.canvas.scale, other.canvas.canvas.scene
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    other.document.reload()
    qtbot.waitUntil(lambda: other.canvas.canvas.scene not in (None, drawn))
    settled(qtbot, other)
    assert (shown.canvas.scale, other.canvas.scale) == (scale, scale)


def test_the_link_ends_with_the_comparison_but_not_when_a_model_is_read_anew(qtbot: QtBot, pair: Pair) -> None:
    shown, other = pair
    first = shown.document.differ.changes
    shown.document.reload()
    qtbot.waitUntil(lambda: shown.document.differ.changes not in (None, first))
    settled(qtbot, shown)
    assert shown.findChildren(SideBySide)
    with qtbot.waitActive(shown):
        shown.activateWindow()  # the other one, which has come last, leads until then
    shown.document.select(node(shown, "Exp"))
    assert other.document.selection is node(other, "Exp")
    shown.actions_by_name["end_comparison"].trigger()
    qtbot.waitUntil(lambda: not shown.findChildren(SideBySide))
    shown.document.select(node(shown, "Neg"))
    assert other.document.selection is node(other, "Exp")


def test_closing_one_window_leaves_the_other_alone(qtbot: QtBot, pair: Pair) -> None:
    shown, other = pair
    other.close()
    assert not shown.findChildren(SideBySide)
    shown.document.select(node(shown, "Neg"))
    wheel(shown, 1)
