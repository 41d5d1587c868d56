"""A large model is seen before it is linked, and what is seen gives way to the model without moving."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

import engine.opening
import gui.background.jobs
import gui.document
from engine.graph.ir import Model
from engine.shapes.infer import infer_shapes
from gui.background.jobs import Progress
from gui.canvas.groups import Group
from gui.canvas.scene import BoxKind
from gui.widgets.veil import Veil
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

NODES = 3200


class Gate:
    """Holds openings before shape inference until `open` is called."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def infer(self, model: Model, go_on: Callable[[], object]) -> None:
        if len(model.graph.nodes) >= NODES:
            self._event.wait()
        infer_shapes(model, go_on=go_on)

    def open(self) -> None:
        self._event.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(engine.opening, "infer_shapes", gate.infer)
    yield gate
    gate.open()


def chain(path: Path, module: str) -> Path:
    """A chain of nodes in modules of ten; its inner values have no declared types."""
    names = ["x", *(f"t{i}" for i in range(1, NODES)), "y"]
    nodes = [helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"/{module}.{i // 10}/op_{i}")
             for i in range(NODES)]  # fmt: skip
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, module, ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chain(tmp_path_factory.mktemp("sketch") / "large.onnx", "layers")


def start(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    """Open a model as far as its sketch."""
    with qtbot.waitSignal(window.document.sketched):
        window.document.open(path)
    assert window.document.is_sketched


def finish(qtbot: QtBot, window: MainWindow, gate: Gate) -> None:
    with qtbot.waitSignal(window.canvas.drawn):
        gate.open()
    qtbot.waitUntil(lambda: not window.document.busy)


def titles(window: MainWindow) -> list[str]:
    """What stands in the boxes that are seen."""
    stack = window.canvas.stack
    scene = (stack.sketch if stack.is_covered else window.canvas.canvas).scene
    return [box.title for box in scene.boxes] if scene else []


def test_it_is_seen_while_its_model_is_not_there(qtbot: QtBot, window: MainWindow, gate: Gate, large: Path) -> None:
    start(qtbot, window, large)
    assert window.document.model is None
    assert window.canvas.stack.sketch.isVisible()
    assert titles(window)[1] == "layers.0"
    assert len(titles(window)) == NODES // 10 + 2
    assert window.canvas.breadcrumb.texts == ["large.onnx"]
    assert not window.actions_by_name["find"].isEnabled()
    assert not window.actions_by_name["run"].isEnabled()
    window.actions_by_name["fit"].trigger()
    assert window.toolbar.zoom.text() == f"{window.canvas.stack.sketch.view.scale * 100:.0f} %"
    finish(qtbot, window, gate)
    assert window.canvas.canvas.isVisible()
    assert window.actions_by_name["run"].isEnabled()
    assert len(titles(window)) == NODES // 10 + 2


def test_the_model_takes_over_where_it_was_looked_at_and_what_was_picked(
    qtbot: QtBot, window: MainWindow, gate: Gate, large: Path
) -> None:
    start(qtbot, window, large)
    sketch = window.canvas.stack.sketch
    sketch.zoom(0.7)
    sketch.pan(-40.0, -900.0)
    scene = sketch.scene
    assert scene is not None
    box = next(b for b in scene.boxes if sketch.rect().contains(sketch.node_rect(b.item).toRect()))
    place = sketch.node_rect(box.item)
    qtbot.mouseClick(sketch, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
    assert isinstance(box.item, Group)
    assert sketch.selected is box.item
    assert window.document.selection is None
    finish(qtbot, window, gate)
    canvas = window.canvas.canvas
    group = canvas.selected
    assert isinstance(group, Group)
    assert (group.name, len(group.all_nodes())) == (box.item.name, 10)
    assert canvas.node_rect(group) == place
    assert canvas.view.scale == pytest.approx(0.7)


def test_reading_goes_on_once_it_is_seen(
    qtbot: QtBot, window: MainWindow, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading on would take the interpreter from the window, which is to paint first."""
    monkeypatch.setattr(gui.document, "SHOWN_WITHIN", 60.0)
    went_on, early = threading.Event(), []

    def infer(model: Model, go_on: Callable[[], object]) -> None:
        went_on.set()
        infer_shapes(model, go_on=go_on)

    monkeypatch.setattr(engine.opening, "infer_shapes", infer)
    window.document.sketched.connect(lambda _sketch: early.append(went_on.wait(1.0)))
    window.document.open(large)
    qtbot.waitUntil(lambda: window.document.model is not None and not window.document.busy)
    assert early == [False]
    assert went_on.is_set()


def test_a_double_click_on_the_sketch_opens_nothing(qtbot: QtBot, window: MainWindow, gate: Gate, large: Path) -> None:
    start(qtbot, window, large)
    before, sketch = titles(window), window.canvas.stack.sketch
    qtbot.mouseDClick(sketch, Qt.MouseButton.LeftButton, pos=QPoint(sketch.width() // 2, sketch.height() // 2))
    qtbot.keyClick(sketch, Qt.Key.Key_E)
    window.canvas.set_options(horizontal=True)
    assert titles(window) == before
    assert window.canvas.stack.is_covered
    finish(qtbot, window, gate)
    scene = window.canvas.canvas.scene
    assert scene is not None
    assert scene.layout_input.horizontal


def test_cancelling_brings_back_what_was_there(
    qtbot: QtBot, window: MainWindow, open_model: Opener, gate: Gate, large: Path
) -> None:
    window.open_sample()
    qtbot.waitSignal(window.canvas.drawn).wait()
    qtbot.waitUntil(lambda: not window.document.busy)
    window.canvas.canvas.setFocus()
    model, before = window.document.model, titles(window)
    scale = window.canvas.canvas.view.scale
    start(qtbot, window, large)
    assert window.canvas.stack.sketch.hasFocus()
    properties = window.docks["properties"].widget()
    qtbot.waitUntil(lambda: not properties.isEnabled())  # once the sketch is painted
    assert [veil.geometry() for veil in properties.findChildren(Veil)] == [properties.rect()]
    assert window.windowTitle().startswith("large.onnx")
    window.actions_by_name["cancel"].trigger()
    gate.open()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert window.document.model is model
    assert not window.document.is_sketched
    assert titles(window) == before
    assert window.canvas.canvas.view.scale == scale
    assert window.canvas.canvas.hasFocus()
    qtbot.waitUntil(properties.isEnabled)
    qtbot.waitUntil(lambda: not properties.findChildren(Veil))
    assert window.windowTitle().startswith("sample")


def test_cancelling_the_first_opening_leaves_the_window_empty(
    qtbot: QtBot, window: MainWindow, gate: Gate, large: Path
) -> None:
    start(qtbot, window, large)
    assert not window.empty.isVisible()
    assert window.status.facts.text() == window.document.why_no_model == f"Opening {large.name}…"
    window.document.cancel()
    gate.open()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert window.empty.isVisible()
    assert window.status.facts.text() == window.document.why_no_model == "No model open"


def test_a_failure_after_the_sketch_is_told_and_ends_it(
    qtbot: QtBot, window: MainWindow, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(model: Model, go_on: object) -> None:
        raise MemoryError("too large")

    monkeypatch.setattr(engine.opening, "infer_shapes", fail)
    with qtbot.waitSignal(window.document.failed):
        window.document.open(large)
    qtbot.waitUntil(lambda: not window.document.busy)
    assert not window.document.is_sketched
    assert not window.canvas.stack.is_covered
    assert window.message.isVisible()


def test_another_model_opened_meanwhile_is_what_ends_up_shown(
    qtbot: QtBot, window: MainWindow, gate: Gate, large: Path, tmp_path: Path
) -> None:
    start(qtbot, window, large)
    other = chain(tmp_path / "other.onnx", "blocks")
    with qtbot.waitSignal(window.document.model_changed):
        window.document.open(other)
        assert not window.canvas.stack.is_covered
        gate.open()
    qtbot.waitSignal(window.canvas.drawn).wait()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert titles(window)[1] == "blocks.0"
    assert window.document.model.graph.name == "blocks"  # type: ignore[union-attr]


@pytest.mark.parametrize("phase", ["Reading", "Inferring shapes", "Checking", "Looking for kernels", "Indexing"])
def test_cancelling_works_in_every_phase(
    qtbot: QtBot, window: MainWindow, large: Path, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gui.background.jobs, "REPORTS_PER_SECOND", 1e9)  # every phase is told, however short
    document = window.document

    def cancel(progress: Progress) -> None:
        if progress.text.startswith(phase):
            document.cancel()

    document.busy_changed.connect(cancel)
    with qtbot.assertNotEmitted(document.model_changed):
        document.open(large)
        qtbot.waitUntil(lambda: not document.busy)
    assert window.empty.isVisible()
    assert not document.is_sketched


def test_closing_the_window_meanwhile_stops_it(qtbot: QtBot, window: MainWindow, gate: Gate, large: Path) -> None:
    start(qtbot, window, large)
    gate.open()
    window.close()
    qtbot.waitUntil(lambda: window.document.jobs.idle and window.document.jobs.active == 0)
    assert window.document.model is None


def test_small_models_and_flat_views_have_none(
    qtbot: QtBot, window: MainWindow, open_model: Opener, large: Path
) -> None:
    window.canvas.opens_flat = True
    with qtbot.assertNotEmitted(window.document.sketched):
        open_model(large)
    scene = window.canvas.canvas.scene
    assert scene is not None
    assert BoxKind.GROUP not in {box.kind for box in scene.boxes}
