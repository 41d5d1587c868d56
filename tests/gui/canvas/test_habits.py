"""What hands that know other viewers try on the canvas: right clicks, wheel, touchpad, Ctrl+C, arrows on a line."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from engine.graph.ir import Model
from gui.canvas.canvas import GraphCanvas
from tests.gui.canvas.driving import chain, header, node, shown
from tests.gui.canvas.models import conv_net

NO_KEYS = Qt.KeyboardModifier.NoModifier


def turn(
    canvas: GraphCanvas, keys: Qt.KeyboardModifier = NO_KEYS, phase: Qt.ScrollPhase = Qt.ScrollPhase.NoScrollPhase
) -> None:
    """Turn the wheel by a notch, or, in a phase of scrolling, move two fingers by as much."""
    pos = QPointF(200, 200)
    pixels = QPoint(-30, -40) if phase is not Qt.ScrollPhase.NoScrollPhase else QPoint()
    event = QWheelEvent(
        pos, canvas.mapToGlobal(pos), pixels, QPoint(0, -120), Qt.MouseButton.NoButton, keys, phase, False
    )
    QApplication.sendEvent(canvas, event)


def offers(canvas: GraphCanvas, pos: QPoint) -> list[str]:
    """What the menu at a point offers."""
    QApplication.sendEvent(canvas, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, pos, canvas.mapToGlobal(pos)))
    menu = canvas.findChild(QMenu)
    assert menu is not None
    menu.close()
    return [action.text() for action in menu.actions()]


def line(canvas: GraphCanvas, model: Model) -> QPoint:
    """A point on the line from relu to mul."""
    relu, mul = (canvas.node_rect(node(model, name)) for name in ("relu", "mul"))
    return QPoint(round(relu.center().x()), round((relu.bottom() + mul.top()) / 2))


@pytest.mark.qt_log_ignore("does not support grabbing the keyboard", extend=True)
def test_a_right_click_on_a_line_or_a_row_is_about_its_tensor(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    conv = canvas.node_rect(node(model, "conv"))
    row = QPoint(round(conv.left() + 15), round(conv.top() + (22 + 10) * canvas.view.scale))
    for pos, name in ((line(canvas, model), "r"), (row, "w")):
        with qtbot.waitSignal(canvas.tensor_clicked) as clicked:
            assert any(text.startswith("Copy Name") for text in offers(canvas, pos))
        assert clicked.args == [model.graph.tensors[name]]
    with qtbot.waitSignal(canvas.node_clicked) as clicked:
        offers(canvas, header(canvas, node(model, "relu")))
    assert clicked.args == [node(model, "relu")]


@pytest.mark.qt_log_ignore("does not support grabbing the keyboard", extend=True)
def test_a_right_click_beside_everything_selects_nothing(qtbot: QtBot) -> None:
    canvas = shown(qtbot, conv_net())
    with qtbot.assertNotEmitted(canvas.node_clicked), qtbot.assertNotEmitted(canvas.tensor_clicked):
        assert not any("Copy Name" in text for text in offers(canvas, QPoint(3, 3)))


def test_arrows_on_a_line_go_to_its_own_ends(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    for key, name in ((Qt.Key.Key_Up, "relu"), (Qt.Key.Key_Down, "mul")):
        canvas.select(model.graph.tensors["r"])
        with qtbot.waitSignal(canvas.node_clicked) as clicked:
            qtbot.keyClick(canvas, key)
        assert clicked.args == [node(model, name)]


def test_an_arrow_on_the_row_of_a_weight_goes_to_the_node_that_reads_it(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
        canvas.select(model.graph.tensors["w"])
        with qtbot.waitSignal(canvas.node_clicked) as clicked:
            qtbot.keyClick(canvas, key)
        assert clicked.args == [node(model, "conv")]


def test_ctrl_c_copies_the_name_of_what_is_selected(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.select(model.graph.tensors["r"])
    qtbot.keyClick(canvas, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "r"
    assert canvas.lit is None


def test_shift_and_backspace_show_it_at_full_size(qtbot: QtBot) -> None:
    canvas = shown(qtbot, chain(60))
    canvas.fit()
    assert canvas.view.scale < 1.0
    qtbot.keyClick(canvas, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.view.scale == 1.0


def test_the_wheel_moves_the_picture_where_it_shall(qtbot: QtBot) -> None:
    canvas = shown(qtbot, chain(60))
    canvas.zoom_to(1.0)
    place = canvas.view.dy
    canvas.wheel_moves = True
    turn(canvas)
    assert (canvas.view.scale, canvas.view.dy) == (1.0, place - 60)
    for key in (Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier):
        scale = canvas.view.scale
        turn(canvas, key)
        assert canvas.view.scale < scale


def test_two_fingers_on_a_touchpad_move_the_picture(qtbot: QtBot) -> None:
    canvas = shown(qtbot, chain(60))
    canvas.zoom_to(1.0)
    place = canvas.view.dx, canvas.view.dy
    turn(canvas, phase=Qt.ScrollPhase.ScrollUpdate)
    assert (canvas.view.scale, canvas.view.dx, canvas.view.dy) == (1.0, place[0] - 30, place[1] - 40)
    turn(canvas, Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.ScrollUpdate)
    assert canvas.view.scale < 1.0
