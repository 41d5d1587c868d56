"""What depends on what: cones, paths, readers of a tensor, and bookmarks."""

from __future__ import annotations

from onnx import helper
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gui.canvas.canvas import GraphCanvas
from gui.look.theme import LIGHT
from tests.gui.canvas.driving import LEFT, close, header, node, shown
from tests.gui.canvas.models import conv_net, load


def lit_names(canvas: GraphCanvas) -> set[str]:
    assert canvas.lit is not None
    assert canvas.scene is not None
    boxes = zip(canvas.scene.boxes, canvas.lit.boxes, strict=True)
    return {getattr(box.item, "name", "") for box, lit in boxes if lit}


def test_what_depends_on_one_of_several_outputs(qtbot: QtBot) -> None:
    model = load(
        [helper.make_node("Split", ["x"], ["p", "q"], name="split", num_outputs=2),
         helper.make_node("Relu", ["p"], ["pr"], name="left"), helper.make_node("Tanh", ["q"], ["qt"], name="right"),
         helper.make_node("Exp", ["qt"], ["y"], name="end")],
        {"x": [4]}, ["pr", "y"],
    )  # fmt: skip
    canvas = shown(qtbot, model)
    canvas.select(model.graph.tensors["q"])
    qtbot.keyClick(canvas, Qt.Key.Key_D)
    assert lit_names(canvas) == {"split", "right", "end", "y"}
    canvas.select(node(model, "split"))
    qtbot.keyClick(canvas, Qt.Key.Key_D)
    assert lit_names(canvas) == {"split", "left", "pr", "right", "end", "y"}
    canvas.select(model.graph.tensors["q"])
    qtbot.keyClick(canvas, Qt.Key.Key_C)
    assert lit_names(canvas) == {"x", "split", "right", "end", "y"}


def test_what_depends_on_a_constant_are_all_its_readers(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.select(model.graph.tensors["two"])
    qtbot.keyClick(canvas, Qt.Key.Key_D)
    assert lit_names(canvas) == {"mul", "add", "sum", "y"}


def test_paths_by_keyboard_in_either_direction(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    said: list[str] = []
    canvas.said.connect(said.append)
    qtbot.keyClick(canvas, Qt.Key.Key_P)
    assert said == []
    for first, second in (("relu", "add"), ("add", "relu")):
        canvas.select(node(model, first))
        qtbot.keyClick(canvas, Qt.Key.Key_P)
        assert canvas.lit is None
        canvas.select(node(model, second))
        qtbot.keyClick(canvas, Qt.Key.Key_P)
        assert lit_names(canvas) == {"relu", "mul", "add"}
        canvas.light(None)
    assert said == ["Select the other end, then press P again"] * 2


def test_keys_dim_what_does_not_matter_and_escape_lights_all(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    plain = canvas.grab().toImage()
    assert not canvas.light_cone(True, False)
    canvas.select(node(model, "relu"))
    qtbot.keyClick(canvas, Qt.Key.Key_U)
    add = canvas.node_rect(node(model, "add"))
    at = QPoint(round(add.center().x()), round(add.top()) + 4)
    assert canvas.grab().toImage().pixelColor(at).lightness() > plain.pixelColor(at).lightness() + 40
    conv = canvas.node_rect(node(model, "conv"))
    at = QPoint(round(conv.center().x()), round(conv.top()) + 4)
    assert close(canvas.grab().toImage().pixelColor(at), plain.pixelColor(at))
    with qtbot.assertNotEmitted(canvas.background_clicked):
        qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.lit is None
    with qtbot.waitSignal(canvas.background_clicked):
        qtbot.keyClick(canvas, Qt.Key.Key_Escape)


def test_shift_click_shows_the_paths_to_a_second_node(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.select(node(model, "conv"))
    qtbot.mouseClick(canvas, LEFT, Qt.KeyboardModifier.ShiftModifier, header(canvas, node(model, "add")))
    assert canvas.lit is not None
    lit = {b.item.name for b, on in zip(canvas.scene.boxes, canvas.lit.boxes, strict=True) if on}  # type: ignore[union-attr]
    assert lit == {"conv", "relu", "mul", "add"}
    canvas.select(model.graph.tensors["unread"])
    with qtbot.waitSignal(canvas.said):
        assert not canvas.light_path(node(model, "add"))


def test_n_follows_a_tensor_from_reader_to_reader(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.select(model.graph.tensors["c"])
    said: list[str] = []
    canvas.said.connect(said.append)
    for _ in range(3):
        qtbot.keyClick(canvas, Qt.Key.Key_N)
    qtbot.keyClick(canvas, Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert [text.split(" of")[0] for text in said] == ["Reader 1", "Reader 2", "Reader 1", "Reader 2"]


def test_bookmarks_are_drawn_beside_their_nodes(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    plain = canvas.grab().toImage()
    canvas.mark([node(model, "mul")])
    rect = canvas.node_rect(node(model, "mul"))
    at = QPoint(round(rect.left()) - 8, round(rect.top()) + 4)
    assert close(canvas.grab().toImage().pixelColor(at), QColor(LIGHT.accent))
    assert not close(plain.pixelColor(at), QColor(LIGHT.accent))


def test_bookmarks_stand_at_the_border_of_the_minimap(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.zoom_to(4.0)
    minimap = canvas._minimap

    def signs() -> int:
        image = minimap.grab().toImage()
        colours = [image.pixelColor(4, y) for y in range(image.height())]
        return sum(close(colour, QColor(LIGHT.accent)) for colour in colours)

    before = signs()
    canvas.mark([node(model, "mul")])
    assert signs() >= before + 2
