"""What a screen reader is told: names of all that takes the keyboard, plain words, and the selection on the canvas."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QComboBox, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """Two nodes; the names have what Qt takes for markup."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in ("<b>x</b>", "y"))
    nodes = [
        helper.make_node("Relu", ["<b>x</b>"], ["<i>h</i>"], name="first <b>"),
        helper.make_node("Exp", ["<i>h</i>"], ["y"], name="second"),
    ]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)])
    path = tmp_path / "chain.onnx"
    onnx.save(model, path)
    return path


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is announced."""
    heard: list[str] = []

    def hear(event: object) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            heard.append(event.message())

    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    return heard


def described(widget: QWidget, text: QAccessible.Text) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(text) if interface is not None else ""


def test_all_that_takes_the_keyboard_has_a_name(window: MainWindow, open_model: Opener, chain: Path) -> None:
    open_model(chain)
    reached = [w for w in window.findChildren(QWidget) if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isEnabled()]
    widgets = [w for w in reached if not w.isHidden()]  # such as the count of problems where there are none
    nameless = [
        f"{type(w).__name__} in {type(w.parentWidget()).__name__}"
        for w in widgets
        if not (w.focusProxy() or isinstance(w.parentWidget().parentWidget(), QComboBox))  # a box's own list
        and not described(w, QAccessible.Text.Name)
    ]
    assert len(widgets) > 40
    assert nameless == []


def test_no_description_is_markup(window: MainWindow, open_model: Opener, chain: Path) -> None:
    open_model(chain)
    told = {described(widget, QAccessible.Text.Description) for widget in window.findChildren(QWidget)}
    assert [text for text in told if "<div" in text or "&lt;" in text] == []
    assert any("<b>x</b>" in text for text in told)  # the name of an input, as it is


def test_the_buttons_that_clear_have_a_name(window: MainWindow) -> None:
    clear = window.search.edit.findChildren(QToolButton)
    assert [button.accessibleName() for button in clear] == ["Clear"]


def test_the_selection_on_the_canvas_is_said(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path, said: list[str]
) -> None:
    open_model(chain)
    canvas = window.canvas.canvas
    canvas.setFocus()
    qtbot.waitUntil(canvas.hasFocus)
    nodes = window.document.model.graph.nodes
    window.document.select(nodes[0])
    qtbot.keyClick(canvas, Qt.Key.Key_Down)
    assert window.document.selection is nodes[0].outputs[0] or window.document.selection is nodes[1]
    assert said[0].startswith("first <b>, Relu")
    assert len(said) == 2
    assert canvas.accessibleDescription() == said[-1]


def test_a_selection_made_elsewhere_is_not_said_twice(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path, said: list[str]
) -> None:
    """The list that has the keyboard tells its rows itself."""
    open_model(chain)
    order = window.docks["order"].widget().view
    order.setFocus()
    qtbot.waitUntil(order.hasFocus)
    window.document.select(window.document.model.graph.nodes[1])
    assert said == []
    assert window.canvas.canvas.accessibleDescription().startswith("second, Exp")
