"""Modules on the canvas: opened and closed in place, with their titles and their place in the minimap."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gui.canvas.canvas import GraphCanvas
from gui.canvas.layout import layout
from gui.canvas.scene import SceneOptions
from gui.canvas.scene_builder import build_scene
from gui.canvas.text import TextMeasure
from gui.look.theme import DARK, LIGHT, Theme
from tests.gui.canvas.driving import LEFT, chain, modules, node, shown, shown_in_modules
from tests.gui.canvas.models import conv_net, scene_of, width


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
    assert column() == [canvas.colours.accent, *header, canvas.colours.accent]
    assert canvas.colours.accent not in (above, *header, below)


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
        assert max(ground.getRgb()[:3]) > max(QColor(canvas.colours.background).getRgb()[:3]) + 40 or not theme.dark


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
