"""One selection in all panes: picked, followed, searched, gone back to, in subgraphs too."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from gui.models.lines import LineKind
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.window_panes import CONTROL_FLOW, SAMPLE, Panes, node_of


@pytest.fixture
def mnist(shared: Path) -> Path:
    return shared / "models/gen/mnist_ts.onnx"


def test_selecting_in_each_pane_shows_in_every_other(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener, mnist: Path
) -> None:
    open_model(mnist)
    conv = node_of(window, "Conv", 1)
    made, weight = conv.outputs[0], conv.inputs[1]
    canvas = window.canvas.canvas

    panes.pick(qtbot, panes.order, conv.name)
    assert window.document.selection is conv
    assert canvas.selected is conv
    assert panes.shown(panes.shapes) == made.name
    assert panes.shown(panes.initializers) == weight.name
    assert panes.title == conv.name

    panes.pick(qtbot, panes.initializers, weight.name)
    assert window.document.selection is weight
    assert canvas.selected is weight
    assert panes.shown(panes.order) == conv.name  # who reads it
    assert panes.shown(panes.shapes) == weight.name
    assert panes.title == weight.name

    relu = node_of(window, "Relu", 0)
    panes.pick(qtbot, panes.shapes, relu.outputs[0].name)
    assert window.document.selection is relu.outputs[0]
    assert canvas.selected is relu.outputs[0]
    assert panes.shown(panes.order) == relu.name
    assert panes.shown(panes.initializers) is None
    assert panes.title == relu.outputs[0].name

    center = canvas.node_rect(conv).center().toPoint()
    window.canvas.fit()
    center = canvas.node_rect(conv).center().toPoint()
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(center.x(), int(canvas.node_rect(conv).top()) + 4))
    assert window.document.selection is conv
    assert panes.shown(panes.order) == conv.name
    assert panes.shown(panes.shapes) == made.name
    assert panes.title == conv.name


def test_links_of_the_properties_lead_on(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener
) -> None:
    open_model(SAMPLE)
    relu = node_of(window, "Relu")
    window.document.select(relu)
    lines = panes.properties.list
    place, line = next((i, line) for i, line in enumerate(panes.lines) if line.target is relu.inputs[0])
    assert line.value == relu.inputs[0].name
    index = lines.model().index(place, 0)
    qtbot.mouseClick(lines.viewport(), Qt.MouseButton.LeftButton, pos=lines.visualRect(index).center())
    assert window.document.selection is relu.inputs[0]
    assert panes.shown(panes.order) == relu.inputs[0].producer.name


def test_properties_of_a_node_read_right(window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    conv = node_of(window, "Conv")
    window.document.select(conv)
    pairs = {line.label: line.value for line in panes.lines}
    assert pairs["run order"] == f"1 of {len(window.document.graph.order)} (file: 1)"
    assert pairs["opset"] == "ai.onnx 17, since 11"
    assert pairs["kernel_shape"] == "3, 3"
    assert pairs["auto_pad"] == "NOTSET (default)"
    assert pairs["W"] == conv.inputs[1].name


def test_properties_of_the_model_show_without_a_selection(
    window: MainWindow, panes: Panes, open_model: Opener
) -> None:
    open_model(SAMPLE)
    counts = {line.label: line.value for line in panes.lines
              if line.kind is LineKind.COUNT and line.target.startswith("op:")}  # fmt: skip
    assert counts["Conv"] == "9"
    assert sum(map(int, counts.values())) == len(window.document.graph.nodes)
    assert "33 nodes" in window.statusBar().facts.text()


def test_double_click_opens_a_subgraph_and_back_returns(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener
) -> None:
    open_model(CONTROL_FLOW)
    document, canvas = window.document, window.canvas.canvas
    loop = node_of(window, "Loop")
    canvas.reveal(loop)
    rect = canvas.node_rect(loop)
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(int(rect.center().x()), int(rect.top()) + 4))
    body = loop.subgraphs["body"]
    assert document.graph is body
    assert window.canvas.breadcrumb.texts[1:] == ["main graph", f"{loop.name} / body"]
    document.turns.finish()
    assert [row.node for row in panes.order.model.rows] == body.order

    inner = body.order[0]
    panes.pick(qtbot, panes.order, inner.name)
    document.back()
    assert (document.graph, document.selection) == (body, None)
    document.back()
    assert document.graph is document.model.graph
    document.turns.finish()
    assert [row.node for row in panes.order.model.rows] == document.model.graph.order
    document.forward()
    document.forward()
    document.turns.finish()
    assert document.selection is inner
    assert panes.shown(panes.order) == inner.name
    assert canvas.selected is inner


def test_selecting_inside_another_graph_shows_that_graph(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener
) -> None:
    open_model(CONTROL_FLOW)
    inner = node_of(window, "If").subgraphs["then_branch"].order[0]
    with qtbot.waitSignal(window.canvas.drawn):
        window.document.select(inner)
    assert window.document.graph is inner.graph
    assert window.canvas.canvas.selected is inner
    assert panes.shown(panes.order) == inner.name
    window.actions_by_name["outer"].trigger()
    assert window.document.selection.op_type == "If"


@pytest.mark.parametrize("way", ["keys", "mouse", "buttons"])
def test_ways_of_going_back(qtbot: QtBot, window: MainWindow, open_model: Opener, way: str) -> None:
    open_model(SAMPLE)
    first, second = window.document.graph.order[:2]
    window.document.select(first)
    window.document.select(second)
    viewport = window.docks["order"].widget().view.viewport()
    if way == "keys":
        qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    elif way == "mouse":
        qtbot.mouseClick(viewport, Qt.MouseButton.BackButton)
    else:
        buttons = {b.accessibleName(): b for b in window.toolbar.findChildren(QToolButton)}
        qtbot.mouseClick(buttons["Back"], Qt.MouseButton.LeftButton)
    assert window.document.selection is first
    if way == "mouse":
        qtbot.mouseClick(viewport, Qt.MouseButton.ForwardButton)
        assert window.document.selection is second


def test_search_counts_steps_and_marks(qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.search.edit.hasFocus()
    qtbot.keyClicks(window.search.edit, "op:Conv")
    qtbot.waitUntil(lambda: window.search.count.text() == "9 found")
    qtbot.keyClick(window.search.edit, Qt.Key.Key_Return)
    qtbot.keyClick(window.search.edit, Qt.Key.Key_Return)
    assert window.search.count.text() == "2 of 9"
    assert window.document.selection is node_of(window, "Conv", 1)
    qtbot.keyClick(window, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert window.search.count.text() == "1 of 9"
    assert panes.shown(panes.order) == node_of(window, "Conv", 0).name
    window.search.edit.setText("nothing has this name")
    qtbot.waitUntil(lambda: window.search.count.text() == "no match")


def test_operators_of_the_model_start_a_search(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener
) -> None:
    open_model(SAMPLE)
    lines = panes.properties.list
    place = next(i for i, line in enumerate(panes.lines) if line.label == "Relu")
    index = lines.model().index(place, 0)
    lines.scrollTo(index)
    qtbot.mouseClick(lines.viewport(), Qt.MouseButton.LeftButton, pos=lines.visualRect(index).center())
    assert window.search.edit.text() == "op:Relu"


def test_values_of_a_weight(qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    weight = node_of(window, "Conv").inputs[1]
    window.docks["tensor"].raise_()
    window.document.select(weight)
    qtbot.waitUntil(lambda: panes.tensor.values.rowCount() > 0)
    assert panes.tensor.title.text() == weight.name
    array = weight.data.array()
    assert panes.tensor.values.rowCount() == array.shape[-2]
    assert panes.tensor.histogram.counts.sum() == array.size
    panes.tensor.spinners[0].setValue(3)
    index = panes.tensor.values.index(1, 2)
    assert float(index.data()) == pytest.approx(array[3, 0, 1, 2], rel=1e-5)
    assert f"max {array.max():.4g}" in panes.tensor.figures.text()
    window.document.select(node_of(window, "Conv"))  # of several the choice names the one that is shown
    assert not panes.tensor.title.isVisible()


def test_shapes_filter(qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    total = panes.shapes.model.rowCount()
    window.docks["shapes"].raise_()
    qtbot.keyClicks(panes.shapes.filter, "probabilities")
    qtbot.waitUntil(lambda: panes.shapes.model.rowCount() == 1)
    assert total > 30
    panes.shapes.filter.clear()
    qtbot.waitUntil(lambda: panes.shapes.model.rowCount() == total)


def test_copying_rows_gives_tsv(qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    panes.pick(qtbot, panes.order, "/stem/conv/Conv")
    qtbot.keyClick(panes.order.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "#\toperator\tname\n1\tConv\t/stem/conv/Conv"
