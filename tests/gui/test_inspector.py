"""The inspector in the real window: terms and costs of the model, documentation, pictures of values, saving."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

import resources
from engine.graph.ir import Node
from gui.models.lines import Line, LineKind
from gui.panes.documentation import DocumentationPane
from gui.panes.properties import PropertiesPane
from gui.panes.tensor_viewer import TensorPane
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.running_pane import run

SAMPLE = resources.path(resources.SAMPLE_MODEL)


def lines(window: MainWindow) -> list[Line]:
    pane = window.docks["properties"].widget()
    assert isinstance(pane, PropertiesPane)
    window.document.turns.finish()
    return pane.list.lines


def values(window: MainWindow) -> dict[str, str]:
    return {line.label: line.value for line in lines(window) if line.kind is LineKind.PAIR}


def test_the_model_in_figures(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    assert [line.label for line in lines(window)][:2] == ["Model", "licence"]
    assert values(window)["licence"] == "Apache-2.0"
    qtbot.waitUntil(lambda: "FLOPs" in values(window))
    table = window.document.costing.table
    assert table is not None
    assert table.total.macs == sum(table.by_op[op].macs for op in table.by_op)
    stored = next(line for line in lines(window) if line.label == "float32")
    assert stored.value == "223 KiB"
    assert stored.target == "is:constant dtype:float32"
    assert any(line.kind is LineKind.TEXT and "N = 1" in line.value for line in lines(window))


def test_dims_change_the_cost(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    costing = window.document.costing
    qtbot.waitUntil(lambda: costing.table is not None)
    once = costing.table.total.macs
    with qtbot.waitSignal(costing.changed):
        window.document.set_dims({"N": 3})
    assert costing.table.total.macs == 3 * once


def test_modules_and_what_they_cost(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    costing = window.document.costing
    qtbot.waitUntil(lambda: costing.table is not None)
    modules = [line for line in lines(window) if str(line.target).startswith("module:")]
    assert [line.label for line in modules] == ["layer1", "layer2", "layer3", "stem", "fc", "pool"]
    assert modules[0].tip.endswith("FLOPs")
    assert modules[0].value == "2.4 M FLOPs"
    window.document.set_dims({"N": 3})
    qtbot.waitUntil(lambda: "7.21 M FLOPs" in {line.value for line in lines(window)})


def test_shapes_in_the_properties_follow_the_dims(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    feed = window.document.graph.feeds[0]
    assert next(line for line in lines(window) if line.target is feed).value.startswith("f32 N×")
    window.document.set_dims({"N": 3})
    assert next(line for line in lines(window) if line.target is feed).value.startswith("f32 3×")
    window.document.select(feed)
    assert values(window)["bound"].startswith("f32 3×")
    window.document.select(feed.consumers[0][0])
    assert next(line for line in lines(window) if line.target is feed).detail.startswith("f32 3×")
    window.document.set_dims({})
    assert next(line for line in lines(window) if line.target is feed).detail.startswith("f32 N×")


def test_a_node_in_the_words_of_its_operator(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    conv = window.document.graph.order[0]
    window.document.select(conv)
    dilations = next(line for line in lines(window) if line.label == "dilations")
    assert "dilation value along each spatial axis" in dilations.tip
    assert values(window)["module"] == "stem/conv"
    window.docks["documentation"].raise_()
    pane = window.docks["documentation"].widget()
    assert isinstance(pane, DocumentationPane)
    qtbot.waitUntil(lambda: pane.view.toPlainText().startswith("Conv   ai.onnx, since version 11"))
    window.document.select(next(n for n in window.document.graph.order if n.op_type == "Softmax").outputs[0])
    qtbot.waitUntil(lambda: pane.view.toPlainText().startswith("Softmax"))


def test_where_a_node_comes_from(window: MainWindow, open_model: Opener, shared: Path) -> None:
    open_model(shared / "models/gen/mobilenetv3ish_dyn.onnx")
    window.document.select(next(n for n in window.document.graph.order if n.name == "node_relu"))
    source = next(line for line in lines(window) if line.label == "source")
    assert (source.value, source.detail) == ("gen_torch.py:57 in forward", "y = s.pre(x)")


def test_copying_takes_the_value_and_no_more(window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    window.document.select(window.document.graph.order[0])
    pane = window.docks["properties"].widget()
    assert isinstance(pane, PropertiesPane)
    row = next(i for i, line in enumerate(lines(window)) if line.label == "kernel_shape")
    pane.list.setCurrentIndex(pane.list.model().index(row, 0))
    pane.list._copy_value()
    assert QGuiApplication.clipboard().text() == "3, 3"


@pytest.fixture
def weight(qtbot: QtBot, window: MainWindow, open_model: Opener) -> TensorPane:
    """The Tensor pane on the first weight of the sample, 16×3×3×3."""
    open_model(SAMPLE)
    conv = window.document.graph.order[0]
    assert isinstance(conv, Node)
    window.document.select(conv.inputs[1])
    window.docks["tensor"].raise_()
    pane = window.docks["tensor"].widget()
    assert isinstance(pane, TensorPane)
    qtbot.waitUntil(lambda: pane.values.rowCount() == 3)
    return pane


def test_any_two_axes(weight: TensorPane, window: MainWindow) -> None:
    array = window.document.graph.order[0].inputs[1].data.array()
    weight.slices.rows.setCurrentIndex(0)
    weight.slices.rows.activated.emit(0)
    assert (weight.values.rowCount(), weight.values.columnCount()) == (16, 3)
    weight.spinners[0].setValue(1)
    assert weight.values.index(5, 2).data() == f"{array[5, 1, 0, 2]:.6g}"


def test_a_picture(qtbot: QtBot, weight: TensorPane) -> None:
    button = next(b for key, b in weight.form._buttons.items() if key == "picture")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert weight.heat_map.isVisible()
    assert weight.heat_map.picture.shape == (3, 3, 3)
    before = weight.heat_map.picture.copy()
    weight.spinners[0].setValue(4)
    assert not np.array_equal(weight.heat_map.picture, before)
    assert weight.rgb.isVisible()
    weight.rgb.setChecked(True)
    assert weight.heat_map.text_at(0, 0).count(",") == 3  # a place, and three channels
    assert weight.heat_map.text_at(9, 0) == ""


def test_saving(qtbot: QtBot, window: MainWindow, weight: TensorPane, tmp_path: Path,
                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    target = tmp_path / "w.npy"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    qtbot.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: target.exists() and not window.document.busy)
    assert np.array_equal(np.load(target), window.document.graph.order[0].inputs[1].data.array())


def test_a_folder_that_cannot_be_written(qtbot: QtBot, window: MainWindow, weight: TensorPane, tmp_path: Path,
                                         monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "none" / "w.npy"), ""))
    with qtbot.waitSignal(window.document.failed) as caught:
        weight.save()
    assert caught.args[0] == "Could not save the values"


def test_strings(qtbot: QtBot, window: MainWindow, open_model: Opener, shared: Path) -> None:
    open_model(shared / "models/real/nani_enc.onnx")
    graph = window.document.graph
    encoder = next(n for n in graph.order if n.op_type == "OneHotEncoder")
    window.document.select(encoder)
    assert any(line.label == "cats_strings" for line in lines(window))


def test_a_run_tells_how_often_a_loop_went_round_and_which_branch_was_taken(
    qtbot: QtBot, window: MainWindow, open_model: Opener
) -> None:
    open_model(resources.path(resources.CONTROL_FLOW_MODEL))
    document = window.document
    loop, branch = (next(n for n in document.graph.nodes if n.op_type == op) for op in ("Loop", "If"))

    def told(node: Node) -> list[str]:
        document.select(node)
        return [line.detail for line in lines(window) if line.label in node.subgraphs]

    assert not any("run" in text or "ran" in text for text in told(loop) + told(branch))
    run(qtbot, window.docks["run"].widget())
    steps = int(document.run.values[loop.subgraphs["body"].inputs[0]]) + 1
    assert [text.split(", ", 1)[1] for text in told(loop)] == [f"ran, {steps} passes"]
    assert sorted(text.split(", ", 1)[1] for text in told(branch)) == ["not run", "ran"]
