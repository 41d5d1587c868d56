"""Copies between devices on the lines of the graph, from runs on a toy device that has Neg alone."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from onnx import helper
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from engine.graph.ir import Model
from engine.session import ProviderEdge, Session, provider_edges
from gui.canvas.canvas import GraphCanvas
from gui.canvas.copies import CopyMarks, copies_text
from gui.canvas.geometry import Geometry
from gui.canvas.groups import group_tree
from gui.canvas.layout import layout
from gui.canvas.palette import canvas_colours
from gui.canvas.scene import Scene, SceneOptions
from gui.canvas.scene_builder import build_scene
from gui.look.theme import DARK, LIGHT
from gui.running.state import RunState
from gui.window.main_window import MainWindow
from resources import SAMPLE_MODEL, path
from tests.engine.session.models import ToyProvider, chain, model_of, value
from tests.gui.canvas.models import scene_of, width
from tests.gui.conftest import Opener

X = np.array([-1.0, 4.0], np.float32)


def copied(model: Model, **feeds: np.ndarray) -> list[ProviderEdge]:
    session = Session(model, [ToyProvider()])
    return provider_edges(session.placements, session.run(feeds or {"x": X}).copies)


def placed(scene: Scene, edges: list[ProviderEdge]) -> tuple[CopyMarks, Geometry]:
    geometry = Geometry.of(scene, layout(scene.layout_input))
    return CopyMarks.of(scene, geometry, edges, width), geometry


def said(scene: Scene, marks: CopyMarks) -> dict[str, str]:
    """What the badges say but for the time, by the title of their box."""
    return {scene.boxes[badge.box].title: badge.text.rpartition(" · ")[0] for badge in marks.badges}


def nets(scene: Scene, marks: CopyMarks, geometry: Geometry) -> set[str]:
    """Names of the tensors whose lines are marked."""
    return {scene.nets[net].tensor.name for net in geometry.segment_net[marks.segments].tolist()}


def test_copies_in_words() -> None:
    edge = ProviderEdge(None, "host", "toy:0", None, (), 2, 1258291, 0.0003)
    assert copies_text([edge]) == "2 copies · 1.2 MiB · 0.30 ms"
    assert copies_text([edge, edge]).startswith("4 copies · 2.4 MiB")
    assert copies_text([ProviderEdge(None, "a", "b", None, (), 1, 8, 0.0)]) == "1 copy · 8 B · 0.00 ms"
    assert copies_text([ProviderEdge(None, "a", "b", None, ())]) == "1 planned copy"


def test_a_badge_at_each_node_that_a_tensor_is_copied_to() -> None:
    """x → Neg (toy) → Abs (host) → y: both lines around Neg are marked, that to the output is not."""
    model = chain("Neg", "Abs")
    scene = scene_of(model)
    marks, geometry = placed(scene, copied(model))
    assert said(scene, marks) == {"Neg": "1 copy · 8 B", "Abs": "1 copy · 8 B"}
    assert nets(scene, marks, geometry) == {"x", "t0"}
    for badge in marks.badges:
        assert badge.y < geometry.y0[badge.box]
        assert not any(
            abs(badge.x - g) < badge.width / 2 and abs(badge.y - h) < 7.5 for g, h in geometry.labels.tolist()
        )


def test_an_output_fetched_from_a_device_is_marked_at_its_pill() -> None:
    model = chain("Abs", "Neg")
    scene = scene_of(model)
    marks, _ = placed(scene, copied(model))
    assert said(scene, marks) == {"Neg": "1 copy · 8 B", "y": "1 copy · 8 B"}


def readers() -> Model:
    """x is read by Abs on the host, twice on the device, and both results meet on the host."""
    nodes = [helper.make_node("Abs", ["x"], ["a"], "abs"), helper.make_node("Neg", ["x"], ["b"], "b"),
             helper.make_node("Neg", ["x"], ["c"], "c"),
             helper.make_node("Sum", ["a", "b", "c"], ["y"], "sum")]  # fmt: skip
    return model_of(nodes, [value("x", shape=[2])], [value("y", shape=[2])])


def test_one_copy_for_two_readers_is_counted_once_and_lines_to_others_stay_plain() -> None:
    model = readers()
    scene = scene_of(model)
    marks, geometry = placed(scene, copied(model))
    texts = [(scene.boxes[badge.box].title, badge.text.rpartition(" · ")[0]) for badge in marks.badges]
    assert sorted(texts) == [("Neg", "1 copy · 8 B"), ("Sum", "2 copies · 16 B")]
    x = scene.nets_of[id(model.graph.tensors["x"])]
    into = {int(box) for box, net in zip(scene.layout_input.target, scene.layout_input.net, strict=True) if net in x}
    tips = geometry.arrows[marks.arrows].tolist()
    marked = {scene.boxes[box].item.name for box in into if any(geometry.box_at(x, y + 3) == box for x, y in tips)}
    assert marked == {"b", "c"}


def test_copies_within_a_closed_module_are_summed_on_it() -> None:
    nodes = [helper.make_node(op, [a], [b], f"/block/{b}") for op, a, b in
             (("Abs", "x", "p"), ("Neg", "p", "q"), ("Abs", "q", "r"), ("Relu", "r", "s"))]  # fmt: skip
    nodes.append(helper.make_node("Neg", ["s"], ["y"], "/head/neg"))
    model = model_of(nodes, [value("x", shape=[2])], [value("y", shape=[2])])
    scene = build_scene(model.graph, width, SceneOptions(), group_tree(model.graph), frozenset())
    marks, _ = placed(scene, copied(model))
    assert said(scene, marks) == {"block": "2 copies · 16 B", "Neg": "1 copy · 8 B", "y": "1 copy · 8 B"}


def test_badges_do_not_cover_each_other() -> None:
    count = 12
    nodes = [helper.make_node("Abs", ["x"], [f"a{i}"], f"a{i}") for i in range(count)]
    nodes += [helper.make_node("Neg", [f"a{i}"], [f"y{i}"], f"n{i}") for i in range(count)]
    outputs = [value(f"y{i}", shape=[2]) for i in range(count)]
    model = model_of(nodes, [value("x", shape=[2])], outputs)
    marks, _ = placed(scene_of(model), copied(model))
    assert len(marks.badges) == 2 * count
    for place, badge in enumerate(marks.badges):
        for other in marks.badges[:place]:
            apart = abs(badge.y - other.y) >= 15 or abs(badge.x - other.x) >= (badge.width + other.width) / 2
            assert apart


def colours_in(image: QImage) -> set[str]:
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 2)}


def runs_of(colour: str, image: QImage, x: int) -> int:
    """How many pieces of a colour there are from top to bottom."""
    column = [image.pixelColor(x, y).name() == colour for y in range(image.height())]
    return sum(here and not above for above, here in pairwise([False, *column]))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("scale", [0.2, 1.0])
def test_marks_are_painted_and_taken_back(qtbot: QtBot, theme: object, scale: float) -> None:
    model = chain("Neg", "Abs")
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(500, 500)
    canvas.set_theme(theme)
    scene = scene_of(model)
    canvas.set_scene(scene, layout(scene.layout_input))
    canvas.zoom_to(scale)
    canvas.settle()
    plain = canvas.grab().toImage()
    pink = QColor(canvas_colours(theme).copied).name()
    assert pink not in colours_in(plain)
    canvas.set_copies(copied(model))
    made = canvas.grab().toImage()
    assert pink in colours_in(made)
    session = Session(model, [ToyProvider()])
    canvas.set_copies(provider_edges(session.placements, session.planned_copies()))
    planned = canvas.grab().toImage()
    assert pink in colours_in(planned)
    at = round(canvas.node_rect(model.graph.nodes[0]).center().x())
    assert scale < 1 or runs_of(pink, planned, at) > runs_of(pink, made, at), "dashes"
    canvas.set_copies(())
    assert canvas.grab().toImage() == plain


def test_the_window_marks_copies_while_it_colours_by_provider(
    qtbot: QtBot, window: MainWindow, open_model: Opener
) -> None:
    open_model(path(SAMPLE_MODEL))
    model = window.document.model
    feed = model.graph.feeds[0]
    edges = [ProviderEdge(feed, "host", "toy:0", None, (feed.consumers[0][0],), 1, 12288, 0.0003)]
    canvas = window.canvas.canvas
    window.document.set_run(RunState(times=SimpleNamespace(copies=edges, report=None, nodes=[], operators=[],
                                                           in_order={})))  # fmt: skip
    assert canvas.copies == ()
    window.set_colour_mode("provider")
    assert canvas.copies == tuple(edges)
    assert canvas.colouring.legend.entries[-1][1] == "1 copy · 12 KiB · 0.30 ms"
    pos = canvas.node_rect(feed).center().toPoint()
    QApplication.sendEvent(canvas, QHelpEvent(QEvent.Type.ToolTip, pos, canvas.mapToGlobal(pos)))
    qtbot.waitUntil(lambda: "host → toy:0: 1 copy · 12 KiB · 0.30 ms" in QToolTip.text())
    window.set_colour_mode("category")
    assert canvas.copies == ()
