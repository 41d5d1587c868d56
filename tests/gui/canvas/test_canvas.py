"""The canvas widget, driven as a user does: mouse, wheel and keys on a real widget, offscreen."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from engine.graph.ir import Graph, Tensor
from gui.canvas.layout import LayoutInput
from gui.canvas.scene import SceneOptions
from gui.look.theme import LIGHT
from tests.gui.canvas.driving import LEFT, chain, close, header, node, shown, wheel
from tests.gui.canvas.models import control_flow, conv_net, load, scene_of


def test_a_click_on_each_node_says_which(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    for item in model.graph.nodes:
        if item.op_type != "Constant":
            with qtbot.waitSignal(canvas.node_clicked) as signal:
                qtbot.mouseClick(canvas, LEFT, pos=header(canvas, item))
            assert signal.args == [item]


def test_a_click_on_pill_line_and_row_says_which_tensor(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    tensors = model.graph.tensors
    conv, relu, mul = (canvas.node_rect(node(model, n)) for n in ("conv", "relu", "mul"))
    between = QPoint(round(relu.center().x()), round((relu.bottom() + mul.top()) / 2))
    first_row = QPoint(round(conv.left() + 15), round(conv.top() + (22 + 10) * canvas.view.scale))
    for pos, tensor in (
        (header(canvas, tensors["x"]), tensors["x"]),
        (between, tensors["r"]),
        (first_row, tensors["w"]),
    ):
        with qtbot.waitSignal(canvas.tensor_clicked) as signal:
            qtbot.mouseClick(canvas, LEFT, pos=pos)
        assert signal.args == [tensor]


def test_a_click_beside_everything_and_escape_clear(qtbot: QtBot) -> None:
    canvas = shown(qtbot, conv_net())
    with qtbot.waitSignal(canvas.background_clicked):
        qtbot.mouseClick(canvas, LEFT, pos=QPoint(3, 3))
    with qtbot.waitSignal(canvas.background_clicked):
        qtbot.keyClick(canvas, Qt.Key.Key_Escape)


def test_dragging_pans_and_is_no_click(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    start = header(canvas, node(model, "relu"))
    before = canvas.node_rect(node(model, "relu"))
    with qtbot.assertNotEmitted(canvas.node_clicked), qtbot.assertNotEmitted(canvas.background_clicked):
        qtbot.mousePress(canvas, LEFT, pos=start)
        for step in range(1, 6):
            QTest.mouseMove(canvas, start + QPoint(6 * step, 4 * step))
        qtbot.mouseRelease(canvas, LEFT, pos=start + QPoint(30, 20))
    moved = canvas.node_rect(node(model, "relu")).topLeft() - before.topLeft()
    assert (moved.x(), moved.y()) == (30, 20)


def test_dragging_cannot_lose_the_graph(qtbot: QtBot) -> None:
    canvas = shown(qtbot, conv_net())
    for _ in range(20):
        qtbot.mousePress(canvas, LEFT, pos=QPoint(690, 790))
        QTest.mouseMove(canvas, QPoint(10, 10))
        qtbot.mouseRelease(canvas, LEFT, pos=QPoint(10, 10))
    x0, y0, x1, y1 = canvas.view.visible()
    assert x0 < 200 < x1 or y0 < 300 < y1


def test_the_wheel_zooms_at_the_pointer(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    at = canvas.node_rect(node(model, "mul")).center()
    before = canvas.view.to_scene(at.x(), at.y())
    scale = canvas.view.scale
    wheel(canvas, at, 120)
    assert canvas.view.scale == pytest.approx(scale * 1.0015**120)
    assert canvas.view.to_scene(at.x(), at.y()) == pytest.approx(before)


def test_zoom_stays_within_limits(qtbot: QtBot) -> None:
    canvas = shown(qtbot, conv_net())
    for _ in range(60):
        canvas.zoom(2.0)
    assert canvas.view.scale == 40.0
    assert not canvas.grab().isNull()
    for _ in range(60):
        canvas.zoom(0.5)
    assert canvas.view.scale == 0.02


def test_a_small_graph_opens_whole_a_long_one_readable_at_its_input(qtbot: QtBot) -> None:
    small = conv_net()
    canvas = shown(qtbot, small)
    assert all(canvas.rect().contains(canvas.node_rect(n).toRect()) for n in small.graph.nodes if n.index != 1)
    long = chain(200)
    canvas = shown(qtbot, long)
    assert canvas.view.scale == 1.0
    pill = canvas.node_rect(long.graph.inputs[0])
    assert canvas.rect().contains(pill.toRect())
    assert abs(pill.center().x() - canvas.width() / 2) < 2


def test_fit_and_full_size_keys(qtbot: QtBot) -> None:
    model = chain(200)
    canvas = shown(qtbot, model)
    qtbot.keyClick(canvas, Qt.Key.Key_F)
    assert canvas.view.scale < 0.2
    assert canvas.rect().contains(canvas.node_rect(node(model, "n199")).toRect())
    qtbot.keyClick(canvas, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert canvas.view.scale == pytest.approx(1.0)
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.view.scale == pytest.approx(1.25)
    qtbot.keyClick(canvas, Qt.Key.Key_Minus)
    qtbot.keyClick(canvas, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert canvas.view.scale < 0.2


def test_keys_walk_along_producers_consumers_and_siblings(qtbot: QtBot) -> None:

    model = load(
        [
            helper.make_node("Relu", ["x"], ["a"], name="top"),
            helper.make_node("Relu", ["a"], ["b"], name="left"),
            helper.make_node("Relu", ["a"], ["c"], name="right"),
            helper.make_node("Add", ["b", "c"], ["y"], name="join"),
        ],
        {"x": [4]},
        ["y"],
    )
    canvas = shown(qtbot, model)
    seen: list[str] = []
    canvas.node_clicked.connect(lambda item: seen.append(item.name))
    canvas.tensor_clicked.connect(lambda item: seen.append(item.name))
    keys = Qt.Key
    pair = {"left", "right"}
    for key in (keys.Key_Home, keys.Key_Down, keys.Key_Right, keys.Key_Left, keys.Key_Down, keys.Key_Down):
        qtbot.keyClick(canvas, key)
    for key in (keys.Key_Home, keys.Key_Up, keys.Key_End):
        qtbot.keyClick(canvas, key)
    assert seen[0] == "top"
    assert seen[1] in pair
    walked = seen[2:-6] if len(seen) == 9 else seen[2:-5]
    assert set(walked) <= pair
    assert len(walked) >= 1
    assert seen[-5:] == ["join", "y", "top", "x", "join"]


def test_selection_lights_every_branch_of_a_tensor(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    plain = canvas.grab().toImage()
    canvas.select(model.graph.tensors["c"])
    lit = canvas.grab().toImage()
    accent = QColor(LIGHT.accent)
    for name in ("relu", "sum"):
        rect = canvas.node_rect(node(model, name))
        above = [(x, round(rect.top()) - 8) for x in range(round(rect.left()), round(rect.right()))]
        assert not any(close(plain.pixelColor(x, y), accent) for x, y in above)
        assert any(close(lit.pixelColor(x, y), accent) for x, y in above)
    canvas.select(None)
    assert canvas.grab().toImage() == plain


def test_a_folded_constant_marks_its_rows(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.select(node(model, "const"))
    rows = canvas._emphasis.rows
    assert canvas._geometry is not None
    assert canvas.scene is not None
    boxes = [canvas.scene.boxes[b].item.name for b in canvas._geometry.rows.box[rows].tolist()]
    assert boxes == ["mul", "add"]
    assert canvas.centre_on(node(model, "const"))


def test_centre_on_brings_a_far_node_into_sight(qtbot: QtBot) -> None:
    model = chain(200)
    canvas = shown(qtbot, model)
    far = node(model, "n150")
    assert not canvas.rect().intersects(canvas.node_rect(far).toRect())
    assert canvas.centre_on(far)
    assert canvas.rect().contains(canvas.node_rect(far).toRect())
    assert canvas.node_at(canvas.node_rect(far).center().x(), canvas.node_rect(far).center().y()) is far
    assert not canvas.centre_on(object())


@pytest.mark.qt_log_ignore("does not support grabbing the keyboard", extend=True)
def test_double_click_opens_a_subgraph_by_its_row_or_by_a_menu(qtbot: QtBot) -> None:
    model = control_flow()
    canvas = shown(qtbot, model)
    item = node(model, "if")
    rect = canvas.node_rect(item)
    with qtbot.waitSignal(canvas.graph_opened) as signal:
        row = QPoint(round(rect.left() + 20), round(rect.top() + 22 + 10))
        qtbot.mouseDClick(canvas, LEFT, pos=row)
    assert signal.args == [next(iter(item.subgraphs.values()))]

    canvas.select(item)
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    menu = canvas.findChild(QMenu)
    assert menu is not None
    with qtbot.waitSignal(canvas.graph_opened) as signal:
        menu.actions()[1].trigger()
    menu.close()
    assert isinstance(signal.args[0], Graph)
    assert signal.args[0] is list(item.subgraphs.values())[1]


def test_the_minimap_moves_the_view(qtbot: QtBot) -> None:
    model = chain(200)
    canvas = shown(qtbot, model)
    minimap = canvas._minimap
    assert minimap.isVisible()
    qtbot.mouseClick(minimap, LEFT, pos=QPoint(minimap.width() // 2, minimap.height() - 8))
    assert canvas.rect().intersects(canvas.node_rect(node(model, "n199")).toRect())
    canvas.fit()
    assert not minimap.isVisible()


def test_hover_marks_and_the_tooltip_tells_verbatim(qtbot: QtBot) -> None:
    model = conv_net()
    model.graph.tensors["x"].name = "<img src=a>&x"
    canvas = shown(qtbot, model)
    at = header(canvas, model.graph.tensors["x"])
    QTest.mouseMove(canvas, at)
    assert canvas._emphasis.hover_box == 0
    tip = canvas._tooltip(QPointF(at))
    assert "&lt;img src=a&gt;&amp;x" in tip
    assert "N×3×8×8" in tip
    assert canvas._tooltip(QPointF(2, 2)) == ""


def test_layout_input_holds_no_qt(qtbot: QtBot) -> None:
    data = scene_of(conv_net(), SceneOptions()).layout_input
    assert isinstance(data, LayoutInput)
    assert all(isinstance(getattr(data, name), np.ndarray | bool | None) for name in LayoutInput.__dataclass_fields__)


def test_selecting_a_tensor_of_another_graph_is_harmless(qtbot: QtBot) -> None:
    model = control_flow()
    canvas = shown(qtbot, model)
    inner = model.graph.nodes[-1].subgraphs["then_branch"]
    canvas.select(inner.nodes[0])
    canvas.select(Tensor("stray", inner))
    assert not canvas.reveal(inner.nodes[0])


@pytest.mark.qt_log_ignore("does not support grabbing the keyboard", extend=True)
def test_the_context_menu_acts_on_what_is_under_the_pointer(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.select(node(model, "mul"))
    menu = canvas.findChild(QMenu)
    assert menu is not None
    canvas._menu.show_for(node(model, "mul"), canvas.mapToGlobal(QPoint(10, 10)))
    next(a for a in menu.actions() if "Depends On" in a.text()).trigger()
    menu.close()
    assert canvas.lit is not None


def test_keys_move_the_picture(qtbot: QtBot) -> None:
    canvas = shown(qtbot, chain(60))
    canvas.zoom_to(1.0)
    before = canvas.view.dy
    qtbot.keyClick(canvas, Qt.Key.Key_PageDown)
    assert canvas.view.dy == pytest.approx(before - 0.8 * canvas.height())
    qtbot.keyClick(canvas, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.view.dy == pytest.approx(before - 0.675 * canvas.height())
    selected, across = canvas._selected, canvas.view.dx
    qtbot.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.view.dx < across
    assert canvas._selected is selected
