"""The canvas widget, driven as a user does: mouse, wheel and keys on a real widget, offscreen."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from engine.graph.ir import Graph, Model, Node, Tensor
from gui.canvas.canvas import GraphCanvas
from gui.canvas.groups import GroupTree, group_tree
from gui.canvas.layout import LayoutInput, layout
from gui.canvas.palette import Category
from gui.canvas.scene import SceneOptions
from gui.canvas.scene_builder import build_scene
from gui.canvas.text import TextMeasure
from gui.theme import DARK, LIGHT, Theme
from tests.gui.canvas.models import control_flow, conv_net, cyclic, load, scene_of, width

LEFT = Qt.MouseButton.LeftButton


def shown(qtbot: QtBot, model: Model, size: tuple[int, int] = (700, 800)) -> GraphCanvas:
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(*size)
    scene = scene_of(model)
    canvas.set_scene(scene, layout(scene.layout_input))
    canvas.show()
    qtbot.waitExposed(canvas)
    return canvas


def node(model: Model, name: str) -> Node:
    return next(n for n in model.graph.nodes if n.name == name)


def header(canvas: GraphCanvas, item: object) -> QPoint:
    rect = canvas.node_rect(item)
    return QPoint(round(rect.center().x()), round(rect.top() + 11 * canvas.view.scale))


def chain(length: int) -> Model:
    from onnx import helper

    names = ["x", *(f"t{i}" for i in range(1, length)), "y"]
    nodes = [helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"n{i}") for i in range(length)]
    return load(nodes, {"x": [4]}, ["y"])


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


def wheel(canvas: GraphCanvas, pos: QPointF, turn: int) -> None:
    event = QWheelEvent(
        pos, canvas.mapToGlobal(pos), QPoint(), QPoint(0, turn), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(canvas, event)


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
    from onnx import helper

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


def close(a: QColor, b: QColor, by: int = 40) -> bool:
    return all(abs(x - y) <= by for x, y in zip(a.getRgb(), b.getRgb(), strict=True))


def test_a_folded_constant_marks_its_rows(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    canvas.select(node(model, "const"))
    rows = canvas._emphasis.rows
    assert canvas._geometry is not None
    assert canvas.scene is not None
    boxes = [canvas.scene.boxes[b].item.name for b in canvas._geometry.rows.box[rows].tolist()]
    assert boxes == ["mul", "add"]
    assert canvas.center_on(node(model, "const"))


def test_center_on_brings_a_far_node_into_sight(qtbot: QtBot) -> None:
    model = chain(200)
    canvas = shown(qtbot, model)
    far = node(model, "n150")
    assert not canvas.rect().intersects(canvas.node_rect(far).toRect())
    assert canvas.center_on(far)
    assert canvas.rect().contains(canvas.node_rect(far).toRect())
    assert canvas.node_at(canvas.node_rect(far).center().x(), canvas.node_rect(far).center().y()) is far
    assert not canvas.center_on(object())


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


def test_every_coloring_paints_and_explains_itself(qtbot: QtBot) -> None:
    model = conv_net()
    canvas = shown(qtbot, model)
    nodes = [n for n in model.graph.nodes if n.op_type != "Constant"]
    conv = node(model, "conv")

    def color() -> str:
        rect = canvas.node_rect(conv)
        return canvas.grab().toImage().pixelColor(round(rect.center().x()), round(rect.top() + 3)).name()

    assert color() == Category.LAYER.color
    assert not canvas._legend.isVisible()

    canvas.set_colors("time", {n: float(i) for i, n in enumerate(nodes)})
    cold = color()
    legend = canvas._legend.legend
    assert legend is not None
    assert (legend.low, legend.high) == ("0 ms", "4 ms")
    canvas.set_colors("time", {n: float(-i) for i, n in enumerate(nodes)} | {conv: 9.0})
    assert color() not in (cold, Category.LAYER.color)

    canvas.set_colors("provider", dict.fromkeys(nodes, "CPU") | {conv: "CUDA"})
    assert color() == "#27775c"
    assert canvas._legend.legend is not None
    assert [text for _, text in canvas._legend.legend.entries] == ["CPU  4", "CUDA  1"]

    canvas.set_colors("error", {conv: float("nan"), nodes[1]: 1e-6, nodes[2]: 1e-3})
    assert color() == "#c2410c"
    canvas.set_colors("mine", {conv: QColor("#123456")})
    assert color() == "#123456"
    canvas.set_colors("error", {})
    assert color() == "#6f747e"
    with pytest.raises(ValueError, match="a number"):
        canvas.set_colors("time", {conv: "fast"})
    canvas.set_colors("category")
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
    colors = {color for color, _ in histogram(canvas.grab().toImage())}
    assert Category.ACTIVATION.color in colors


def histogram(image: QImage) -> list[tuple[str, int]]:
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    values, counts = np.unique(pixels & 0xFFFFFF, return_counts=True)
    return [(f"#{v:06x}", c) for v, c in zip(values.tolist(), counts.tolist(), strict=True)]


def test_back_edges_are_drawn_in_the_error_colour(qtbot: QtBot) -> None:
    canvas = shown(qtbot, cyclic())
    colors = {color for color, _ in histogram(canvas.grab().toImage())}
    assert LIGHT.error in colors
    canvas = shown(qtbot, chain(3))
    assert LIGHT.error not in {color for color, _ in histogram(canvas.grab().toImage())}


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
    canvas.set_colors("time", {})
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


def modules(count: int = 4, steps: int = 3) -> Model:
    from onnx import helper

    length = count * steps
    names = ["x", *(f"t{i}" for i in range(1, length)), "y"]
    nodes = [
        helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"/layers.{i // steps}/n{i}") for i in range(length)
    ]
    return load(nodes, {"x": [4]}, ["y"])


def shown_in_modules(qtbot: QtBot, model: Model) -> tuple[GraphCanvas, GroupTree]:
    tree = group_tree(model.graph)
    assert tree is not None
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(700, 800)
    scene = build_scene(model.graph, width, tree=tree)
    canvas.set_scene(scene, layout(scene.layout_input))
    canvas.show()
    qtbot.waitExposed(canvas)
    return canvas, tree


def test_a_module_opens_by_its_sign_by_double_click_and_by_keys(qtbot: QtBot) -> None:
    canvas, tree = shown_in_modules(qtbot, modules())
    group = next(g for g in tree.root.groups() if g.name == "layers.1")
    rect = canvas._box_rect(canvas.scene.box_of[id(group)])  # type: ignore[union-attr]
    with qtbot.waitSignal(canvas.group_clicked) as signal:
        qtbot.mouseClick(canvas, LEFT, pos=QPoint(round(rect.left()) + 20, round(rect.top()) + 8))
    assert signal.args == [group]
    with qtbot.waitSignal(canvas.toggled) as signal:
        qtbot.mouseClick(canvas, LEFT, pos=QPoint(round(rect.right()) - 10, round(rect.top()) + 8))
    assert signal.args == [group]
    with qtbot.waitSignal(canvas.toggled):
        qtbot.mouseDClick(canvas, LEFT, pos=QPoint(round(rect.left()) + 20, round(rect.top()) + 8))
    canvas.select(group)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_E):
        with qtbot.waitSignal(canvas.toggled) as signal:
            qtbot.keyClick(canvas, key)
        assert signal.args == [group]


def test_what_is_opened_stays_where_it_was(qtbot: QtBot) -> None:
    model = modules()
    canvas, tree = shown_in_modules(qtbot, model)
    group = next(g for g in tree.root.groups() if g.name == "layers.2")
    before = canvas._box_rect(canvas.scene.box_of[id(group)])  # type: ignore[union-attr]
    scene = build_scene(model.graph, width, tree=tree, opened=frozenset({group}))
    canvas.set_scene(scene, layout(scene.layout_input), hold=group)
    after = canvas._box_rect(scene.box_of[id(group)])
    assert abs(after.top() - before.top()) <= 1
    assert abs(after.center().x() - before.center().x()) <= 1


def test_lines_of_the_selection_pass_below_the_title_of_an_opened_module(qtbot: QtBot) -> None:
    model = modules()
    canvas, tree = shown_in_modules(qtbot, model)
    group = next(g for g in tree.root.groups() if g.name == "layers.1")
    scene = build_scene(model.graph, width, tree=tree, opened=frozenset({group}))
    canvas.set_scene(scene, layout(scene.layout_input), hold=group)
    canvas.settle()
    frame = canvas._box_rect(scene.box_of[id(group)])
    inside = next(n for n in model.graph.nodes if tree.group_of[n] is group)
    middle = round(canvas.node_rect(inside).center().x())

    def column() -> list[str]:
        image = canvas.grab().toImage()
        return [image.pixelColor(middle, round(frame.top()) + y).name() for y in (-8, 3, 17, 26)]

    above, *header, below = column()
    canvas.select(inside)
    assert column() == [canvas.colors.accent, *header, canvas.colors.accent]
    assert canvas.colors.accent not in (above, *header, below)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_titles_in_netrons_style_are_whole_and_stand_out(qtbot: QtBot, theme: Theme) -> None:
    model = conv_net()
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(700, 800)
    canvas.set_theme(theme)
    canvas.set_netron(True)
    scene = build_scene(model.graph, TextMeasure(), SceneOptions(netron=True))
    canvas.set_scene(scene, layout(scene.layout_input))
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.zoom_to(2.0)
    for name in ("relu", "sum"):
        canvas.reveal(node(model, name))
        canvas.settle()
        rect = canvas.node_rect(node(model, name))
        image = canvas.grab().toImage()
        ground = image.pixelColor(round(rect.center().x()), round(rect.top()) + 3)
        inked = [x for x in range(round(rect.left()) + 4, round(rect.right()) - 4)
                 for y in range(round(rect.top()) + 6, round(rect.top()) + 38)
                 if image.pixelColor(x, y).lightness() > ground.lightness() + 60]  # fmt: skip
        free = min(inked) - rect.left(), rect.right() - max(inked)
        assert abs(free[0] - free[1]) <= 5, f"{name}: {free} px free at the sides of the title"
        assert max(ground.getRgb()[:3]) > max(QColor(canvas.colors.background).getRgb()[:3]) + 40 or not theme.dark


def test_the_minimap_of_a_drawing_that_lies_lies_too(qtbot: QtBot) -> None:
    model = chain(30)
    canvas = shown(qtbot, model)
    assert canvas._minimap.height() > canvas._minimap.width()
    scene = scene_of(model, SceneOptions(horizontal=True))
    canvas.set_scene(scene, layout(scene.layout_input))
    assert canvas._minimap.width() > canvas._minimap.height()
    assert canvas.rect().contains(canvas._minimap.geometry())


def test_a_node_in_a_closed_module_marks_the_module(qtbot: QtBot) -> None:
    model = modules()
    canvas, tree = shown_in_modules(qtbot, model)
    inside = node(model, "/layers.3/n10")
    canvas.select(inside)
    assert canvas._emphasis.selected.tolist() == [canvas.scene.box_of[id(tree.group_of[inside])]]  # type: ignore[union-attr]
    assert canvas.reveal(inside)


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
        colors = [image.pixelColor(4, y) for y in range(image.height())]
        return sum(close(color, QColor(LIGHT.accent)) for color in colors)

    before = signs()
    canvas.mark([node(model, "mul")])
    assert signs() >= before + 2


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
    kept = canvas._cache._pixmap
    canvas.zoom(1.3)
    canvas.grab()
    assert canvas._cache._pixmap is kept
    canvas.settle()
    canvas.grab()
    assert canvas._cache._pixmap is not kept


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
    colors = {color for color, _ in histogram(canvas.grab().toImage())}
    assert {"#335588", "#702921", "#333333"} <= colors
    assert {box.note for box in scene.boxes} == {""}
