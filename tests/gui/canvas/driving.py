"""A canvas on the screen, and how tests find their way on it."""

from __future__ import annotations

from onnx import helper
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.graph.ir import Model, Node
from gui.canvas.canvas import GraphCanvas
from gui.canvas.groups import GroupTree, group_tree
from gui.canvas.layout import layout
from gui.canvas.scene_builder import build_scene
from tests.gui.canvas.models import load, scene_of, width

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

    names = ["x", *(f"t{i}" for i in range(1, length)), "y"]
    nodes = [helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"n{i}") for i in range(length)]
    return load(nodes, {"x": [4]}, ["y"])


def wheel(canvas: GraphCanvas, pos: QPointF, turn: int) -> None:
    event = QWheelEvent(
        pos, canvas.mapToGlobal(pos), QPoint(), QPoint(0, turn), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(canvas, event)


def close(a: QColor, b: QColor, by: int = 40) -> bool:
    return all(abs(x - y) <= by for x, y in zip(a.getRgb(), b.getRgb(), strict=True))


def modules(count: int = 4, steps: int = 3) -> Model:

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
