"""The Graph menu on the real window: options, modules, subgraphs in place, bookmarks, pictures; remembered."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import helper
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from gui.canvas.scene import BoxKind, Scene
from gui.centre.canvas_view import CanvasView
from gui.document import Document
from gui.settings import Settings
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener


@pytest.fixture
def layered(tmp_path: Path) -> Path:
    """Twelve Relus in four modules of three, inside one module."""
    names = ["x", *(f"t{i}" for i in range(1, 12)), "y"]
    nodes = [helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"/net/layers.{i // 3}/n{i}") for i in range(12)]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "layered", ends[:1], ends[1:])
    path = tmp_path / "layered.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def trigger(qtbot: QtBot, window: MainWindow, name: str) -> Scene:
    """Trigger a command that draws the graph anew; the new scene."""
    with qtbot.waitSignal(window.canvas.drawn):
        window.actions_by_name[name].trigger()
    scene = window.canvas.canvas.scene
    assert scene is not None
    return scene


def count(scene: Scene, kind: BoxKind) -> int:
    return [box.kind for box in scene.boxes].count(kind)


def test_modules_are_shown_opened_level_by_level_and_closed(
    qtbot: QtBot, window: MainWindow, open_model: Opener, layered: Path
) -> None:
    open_model(layered)
    actions = window.actions_by_name
    assert actions["grouped"].isEnabled()
    assert not actions["grouped"].isChecked()
    scene = trigger(qtbot, window, "grouped")
    assert (count(scene, BoxKind.FRAME), count(scene, BoxKind.GROUP)) == (1, 4)
    assert actions["grouped"].isChecked()
    scene = trigger(qtbot, window, "collapse_all")
    assert (count(scene, BoxKind.FRAME), count(scene, BoxKind.GROUP)) == (0, 1)
    scene = trigger(qtbot, window, "expand_all")
    assert (count(scene, BoxKind.FRAME), count(scene, BoxKind.NODE)) == (5, 12)
    scene = trigger(qtbot, window, "level_1")
    assert (count(scene, BoxKind.FRAME), count(scene, BoxKind.GROUP)) == (1, 4)
    scene = trigger(qtbot, window, "grouped")
    assert (count(scene, BoxKind.FRAME), count(scene, BoxKind.NODE)) == (0, 12)


def test_options_change_the_drawing_and_are_remembered(
    qtbot: QtBot, window: MainWindow, open_model: Opener, layered: Path, settings: Settings
) -> None:
    open_model(layered)
    scene = trigger(qtbot, window, "show_names")
    assert [row.name for row in scene.boxes[1].rows] == ["name"]
    scene = trigger(qtbot, window, "show_horizontal")
    assert scene.layout_input.horizontal
    scene = trigger(qtbot, window, "label_both")
    assert scene.nets[0].label.startswith("x")
    assert window.actions_by_name["label_both"].isChecked()
    again = CanvasView(Document(settings=settings))
    assert again.options == window.canvas.options
    settings.view_options = {"label": "nonsense", "horizontal": "yes", "attributes": "all"}
    odd = CanvasView(Document(settings=settings)).options
    assert (odd.label, odd.horizontal, odd.attributes) == ("shape", False, "all")


def test_going_back_to_a_state_draws_nothing_anew(
    qtbot: QtBot, window: MainWindow, open_model: Opener, layered: Path
) -> None:
    open_model(layered)
    first = window.canvas.drawing
    trigger(qtbot, window, "show_names")
    trigger(qtbot, window, "show_names")
    assert window.canvas.drawing is first
    assert not window.document.busy


def test_pictures_are_written_from_the_window(
    qtbot: QtBot, window: MainWindow, open_model: Opener, layered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(layered)
    sizes = {}
    for name in ("export_picture", "export_view"):
        target = tmp_path / f"{name}.png"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, target=target: (str(target), ""))
        window.actions_by_name[name].trigger()
        qtbot.waitUntil(lambda: not window.document.busy)
        image = QImage(str(target))
        sizes[name] = (image.width(), image.height())
    canvas = window.canvas.canvas
    assert sizes["export_picture"][1] == round((window.canvas.drawing.geometry.size[1] + 48) * 2)  # type: ignore[union-attr]
    scale = max(2.0, 2.0 * canvas.view.scale) / canvas.view.scale
    assert sizes["export_view"] == (round(canvas.width() * scale), round(canvas.height() * scale))
