"""Going from pane to pane by keyboard, and what screen readers are told."""

from __future__ import annotations

from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

import resources
from gui.panes.run import RunPane
from gui.window.main_window import MainWindow
from gui.window.pane_focus import is_behind
from tests.gui.conftest import Opener
from tests.gui.running_pane import set_counts

SAMPLE = resources.path(resources.SAMPLE_MODEL)
NAMED_BY_THEIR_OWNER = ("qt_spinbox_lineedit",)


def focused_pane(window: MainWindow) -> str:
    focus = QApplication.focusWidget()
    if focus is window.canvas.canvas:
        return "graph"
    return next((name for name, dock in window.docks.items() if focus and dock.isAncestorOf(focus)), "")


def test_f6_goes_round_all_panes_and_brings_each_forward(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    window.canvas.canvas.setFocus()
    shown = [name for name, dock in window.docks.items() if dock.toggleViewAction().isChecked()]
    for name in [*shown, "graph"]:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
        assert focused_pane(window) == name
        dock = window.docks.get(name)
        qtbot.waitUntil(lambda dock=dock: dock is None or not is_behind(dock))
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert focused_pane(window) == shown[-1]


def test_going_round_ties_no_widget_to_one_that_is_deleted(
    window: MainWindow, open_model: Opener, shared: Path
) -> None:
    """To PySide, what some getters return belongs to the widget that was asked, and becomes invalid with it."""
    open_model(SAMPLE)
    window.docks["problems"].widget().setEnabled(False)  # the cursor finds no place in it
    made_by_qt = [window.menuBar(), window.docks["compare"].widget().tolerance.lineEdit()]
    for _ in range(2 * len(window.docks)):
        window.pane_focus.step(1)
    open_model(shared / "models/ops/loop_scan.onnx")  # the Run pane has other fields then
    assert all(map(shiboken6.isValid, made_by_qt))


def test_a_pane_that_tab_reaches_comes_forward(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    assert is_behind(window.docks["problems"])
    window.docks["problems"].widget().filter.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: not is_behind(window.docks["problems"]))


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_run_moves_the_keyboard_to_no_pane(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, by: str
) -> None:
    """The button is disabled while the model runs, and Qt would go on to the next field, behind another pane."""
    open_model(SAMPLE)
    set_counts(run_pane, 0, 1)
    window.docks["initializers"].raise_()
    qtbot.waitUntil(lambda: is_behind(window.docks["order"]))
    button = window.toolbar.run
    (button if by == "keyboard" else window.canvas.canvas).setFocus(Qt.FocusReason.TabFocusReason)
    with qtbot.waitSignal(run_pane.finished):
        if by == "keyboard":
            qtbot.keyClick(button, Qt.Key.Key_Space)
        else:
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert focused_pane(window) == "graph"
    qtbot.waitUntil(lambda: not window.document.busy)
    assert is_behind(window.docks["order"])


def test_down_goes_from_a_filter_to_the_rows_it_leaves(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    pane = window.docks["order"].widget()
    pane.filter.setFocus()
    qtbot.keyClicks(pane.filter, "Relu")
    qtbot.keyClick(pane.filter, Qt.Key.Key_Down)
    assert QApplication.focusWidget() is pane.view
    relus = [node for node in window.document.graph.order if node.op_type == "Relu"]
    assert window.document.selection is relus[0]
    qtbot.keyClick(pane.view, Qt.Key.Key_Down)
    assert window.document.selection is relus[1]


@pytest.mark.parametrize("place", ["order", "properties", "graph"])
def test_shift_f10_opens_the_menu_of_what_has_the_keyboard(
    qtbot: QtBot, window: MainWindow, open_model: Opener, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    open_model(SAMPLE)
    window.document.select(window.document.graph.order[2])
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _at: menus.append(menu))  # which offscreen cannot
    pane = window.docks[place].widget() if place in window.docks else None
    widget = pane.view if place == "order" else pane.list if pane else window.canvas.canvas
    widget.setFocus()
    if place == "properties":
        widget.setCurrentIndex(widget.model().index(1, 0))
    qtbot.keyClick(widget, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    assert len(menus) == 1
    assert any("Copy" in action.text() for action in menus[0].actions())


def test_the_graph_shows_that_a_key_came_to_it(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    canvas = window.canvas.canvas
    accent = canvas.colours.accent

    def edge() -> str:
        return canvas.grab().toImage().pixelColor(0, canvas.height() // 2).name()

    window.search.edit.setFocus()
    assert edge() != accent
    canvas.setFocus(Qt.FocusReason.TabFocusReason)
    assert edge() == accent
    window.search.edit.setFocus()
    canvas.setFocus(Qt.FocusReason.MouseFocusReason)
    assert edge() != accent


def test_everything_that_takes_the_keyboard_has_a_name(window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    nameless = []
    for widget in window.findChildren(QWidget):
        is_stop = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(window)
        inner = widget.objectName() in NAMED_BY_THEIR_OWNER or widget.focusProxy() is not None
        if is_stop and not inner and not (isinstance(widget, QLineEdit) and widget.parent().focusProxy() is widget):
            interface = QAccessible.queryAccessibleInterface(widget)
            if interface is not None and not interface.text(QAccessible.Text.Name):
                nameless.append(f"{type(widget.parent()).__name__} / {type(widget).__name__}")
    assert nameless == []
