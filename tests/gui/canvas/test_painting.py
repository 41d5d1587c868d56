"""What the canvas paints: colourings, outlines, themes, levels of detail, and frames kept while it moves."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from gui.canvas.canvas import GraphCanvas
from gui.canvas.layout import layout
from gui.canvas.palette import Category, ColourBy
from gui.canvas.scene import SceneOptions
from gui.look.theme import DARK, LIGHT
from tests.gui.canvas.driving import LEFT, chain, close, node, shown, wheel
from tests.gui.canvas.models import conv_net, cyclic, load, scene_of


def test_every_colouring_paints_and_explains_itself(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    nodes = [n for n in model.graph.nodes if n.op_type != "Constant"]
    conv = node(model, "conv")

    def colour() -> str:
        rect = canvas.node_rect(conv)
        return canvas.grab().toImage().pixelColor(round(rect.center().x()), round(rect.top() + 3)).name()

    assert colour() == Category.LAYER.colour
    assert not canvas._legend.isVisible()

    canvas.set_colours(ColourBy.TIME, {n: float(i) for i, n in enumerate(nodes)})
    cold = colour()
    legend = canvas._legend.legend
    assert legend is not None
    assert (legend.low, legend.high) == ("0 ms", "4 ms")
    canvas.set_colours(ColourBy.TIME, {n: float(-i) for i, n in enumerate(nodes)} | {conv: 9.0})
    assert colour() not in (cold, Category.LAYER.colour)

    canvas.set_colours(ColourBy.PROVIDER, dict.fromkeys(nodes, "CPU") | {conv: "CUDA"})
    assert colour() == "#27775c"
    assert canvas._legend.legend is not None
    assert [text for _, text in canvas._legend.legend.entries] == ["CPU  4", "CUDA  1"]

    canvas.set_colours(ColourBy.ERROR, {conv: float("nan"), nodes[1]: 1e-6, nodes[2]: 1e-3})
    assert colour() == "#c2410c"
    canvas.set_colours(ColourBy.NUMBER, {conv: QColor("#123456")}, "mine")
    assert colour() == "#123456"
    canvas.set_colours(ColourBy.ERROR, {})
    assert colour() == "#6f747e"
    with pytest.raises(ValueError, match="a number"):
        canvas.set_colours(ColourBy.TIME, {conv: "fast"})
    canvas.set_colours(ColourBy.CATEGORY)
    assert not canvas._legend.isVisible()


def test_search_results_are_outlined(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.highlight([node(model, "relu")])
    rect = canvas.node_rect(node(model, "relu"))
    pixel = canvas.grab().toImage().pixelColor(round(rect.center().x()) + 12, round(rect.top() - 2))
    assert close(pixel, QColor(LIGHT.warning))


def test_themes_differ_and_cover_the_whole_widget(qtbot: QtBot) -> None:
    canvas = shown(qtbot, conv_net())
    for theme in (DARK, LIGHT):
        canvas.set_theme(theme)
        image = canvas.grab().toImage()
        corners = [(0, 0), (image.width() - 1, 0), (0, image.height() - 1), (image.width() - 1, image.height() - 1)]
        assert {image.pixelColor(x, y).name() for x, y in corners} == {QColor(theme.canvas).name()}


@pytest.mark.parametrize("scale", [0.06, 0.2, 0.3, 0.45, 0.7, 1.0, 2.7])
@pytest.mark.parametrize("moving", [True, False])
def test_every_level_of_detail_shows_the_nodes(qtbot: QtBot, scale: float, moving: bool) -> None:
    canvas = shown(qtbot, chain(40), (300, 300))
    canvas.zoom_to(scale)
    canvas._moving = moving
    colours = {colour for colour, _ in histogram(canvas.grab().toImage())}
    assert Category.ACTIVATION.colour in colours


def histogram(image: QImage) -> list[tuple[str, int]]:
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    values, counts = np.unique(pixels & 0xFFFFFF, return_counts=True)
    return [(f"#{v:06x}", c) for v, c in zip(values.tolist(), counts.tolist(), strict=True)]


def test_back_edges_are_drawn_in_the_error_colour(qtbot: QtBot) -> None:
    canvas = shown(qtbot, cyclic())
    colours = {colour for colour, _ in histogram(canvas.grab().toImage())}
    assert LIGHT.error in colours
    canvas = shown(qtbot, chain(3))
    assert LIGHT.error not in {colour for colour, _ in histogram(canvas.grab().toImage())}


def test_nothing_shown_takes_every_event(qtbot: QtBot) -> None:
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.show()
    canvas.set_scene(None, None)
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_F, Qt.Key.Key_Plus, Qt.Key.Key_Return):
        qtbot.keyClick(canvas, key)
    qtbot.mouseClick(canvas, LEFT, pos=QPoint(5, 5))
    qtbot.mouseDClick(canvas, LEFT, pos=QPoint(5, 5))
    wheel(canvas, QPointF(5, 5), 120)
    canvas.highlight([])
    canvas.set_colours(ColourBy.TIME, {})
    assert canvas.node_at(5, 5) is None
    assert canvas.node_rect(object()).isEmpty()
    assert not canvas.grab().isNull()


def test_an_empty_graph_paints(qtbot: QtBot) -> None:
    canvas = shown(qtbot, load([], {}, []))
    qtbot.keyClick(canvas, Qt.Key.Key_Home)
    assert not canvas.grab().isNull()


def test_text_is_sharp_at_any_device_ratio(qtbot: QtBot) -> None:
    """The atlas follows the ratio of what is painted on: twice the pixels hold more than twice the ink."""
    model = conv_net()
    canvas = shown(qtbot, model)
    images = []
    for ratio in (1.0, 2.0):
        image = QImage(int(700 * ratio), int(800 * ratio), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        canvas.render(image)
        images.append(dict(histogram(image)))
    white = [image.get("#ffffff", 0) for image in images]
    assert white[1] > 3.5 * white[0]


def image_of(canvas: GraphCanvas) -> np.ndarray:
    image = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)[..., :3].astype(int)


def test_a_panned_frame_equals_one_painted_anew(qtbot: QtBot) -> None:
    """Moving the kept frame and painting strips gives the very picture that painting everything gives."""
    canvas = shown(qtbot, chain(60), (500, 500))
    canvas.settle()
    canvas.grab()
    for dx, dy in ((0, -40), (13, -25), (-30, 8), (2, 60)):
        canvas.pan(dx, dy)
        moved = image_of(canvas)
    canvas._cache.clear()
    canvas.settle()
    assert (np.abs(moved - image_of(canvas)) > 48).mean() < 0.002


def test_a_zoomed_frame_is_the_kept_one_scaled_until_it_rests(qtbot: QtBot) -> None:
    canvas = shown(qtbot, chain(60), (500, 500))
    canvas.settle()
    canvas.grab()
    kept = canvas._cache._pixmap.cacheKey()
    canvas.zoom(1.3)
    canvas.grab()
    assert canvas._cache._pixmap.cacheKey() == kept
    canvas.settle()
    canvas.grab()
    assert canvas._cache._pixmap.cacheKey() != kept


def test_the_flow_may_go_to_the_right(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(900, 400)
    scene = scene_of(model, SceneOptions(horizontal=True))
    canvas.set_scene(scene, layout(scene.layout_input))
    canvas.show()
    conv, relu = (canvas.node_rect(node(model, n)) for n in ("conv", "relu"))
    assert relu.left() > conv.right()
    canvas.select(node(model, "conv"))
    with qtbot.waitSignal(canvas.node_clicked) as signal:
        qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert signal.args == [node(model, "relu")]
    between = QPoint(round((conv.right() + relu.left()) / 2), round(relu.center().y()))
    assert canvas.hit(QPointF(between))[1] >= 0


def test_netron_has_its_own_colours_and_bare_titles(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(500, 600)
    canvas.set_netron(True)
    scene = scene_of(model, SceneOptions(netron=True))
    canvas.set_scene(scene, layout(scene.layout_input))
    canvas.show()
    colours = {colour for colour, _ in histogram(canvas.grab().toImage())}
    assert {"#335588", "#702921", "#333333"} <= colours
    assert {box.note for box in scene.boxes} == {""}
