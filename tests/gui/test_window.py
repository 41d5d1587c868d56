"""The real window: one selection in all panes, subgraphs, history, search, broken files, drag and drop, closing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QFileDialog, QToolButton
from pytestqt.qtbot import QtBot

import resources
from engine.errors import ModelFormatError
from engine.graph.ir import Node, Tensor
from gui.errors import explain
from gui.main_window import MainWindow
from gui.models.lines import LineKind
from gui.models.problems import ProblemRow
from gui.panes.initializers import InitializersPane
from gui.panes.order import OrderPane
from gui.panes.problems import ProblemsPane
from gui.panes.properties import PropertiesPane
from gui.panes.shapes import ShapesPane
from gui.panes.tensor_viewer import TensorPane
from gui.settings import STATE_VERSION, Settings
from gui.table_pane import TablePane
from gui.theme import theme_manager
from tests.gui.conftest import Opener

SAMPLE = resources.path(resources.SAMPLE_MODEL)
CONTROL_FLOW = resources.path(resources.CONTROL_FLOW_MODEL)


class Panes:
    """The panes of a window, and what each shows as selected, by name."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.order: OrderPane = window.docks["order"].widget()
        self.initializers: InitializersPane = window.docks["initializers"].widget()
        self.shapes: ShapesPane = window.docks["shapes"].widget()
        self.problems: ProblemsPane = window.docks["problems"].widget()
        self.properties: PropertiesPane = window.docks["properties"].widget()
        self.tensor: TensorPane = window.docks["tensor"].widget()

    def shown(self, pane: TablePane) -> str | None:
        row = pane.view.current_row()
        return getattr(row, "name", None)

    @property
    def title(self) -> str:
        """What the Properties pane is about."""
        (title,) = [line for line in self.properties.list.lines if line.kind is LineKind.TITLE]
        return title.value

    def pick(self, qtbot: QtBot, pane: TablePane, name: str) -> None:
        """Click the row of that name."""
        (row,) = [row for row in pane.model.rows if row.name == name]
        self.window.docks[pane_name(self.window, pane)].raise_()
        index = pane.model.index(pane.model.place_of(row), 0)
        pane.view.scrollTo(index)
        qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.visualRect(index).center())


def pane_name(window: MainWindow, pane: object) -> str:
    return next(name for name, dock in window.docks.items() if dock.widget() is pane)


@pytest.fixture
def panes(window: MainWindow) -> Panes:
    return Panes(window)


@pytest.fixture
def mnist(shared: Path) -> Path:
    return shared / "models/gen/mnist_ts.onnx"


def node_of(window: MainWindow, op_type: str, which: int = 0) -> Node:
    return [node for node in window.document.graph.order if node.op_type == op_type][which]


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
    place, line = next((i, line) for i, line in enumerate(lines.lines) if line.target is relu.inputs[0])
    assert line.value == relu.inputs[0].name
    index = lines.model().index(place, 0)
    qtbot.mouseClick(lines.viewport(), Qt.MouseButton.LeftButton, pos=lines.visualRect(index).center())
    assert window.document.selection is relu.inputs[0]
    assert panes.shown(panes.order) == relu.inputs[0].producer.name


def test_properties_of_a_node_read_right(window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    conv = node_of(window, "Conv")
    window.document.select(conv)
    pairs = {line.label: line.value for line in panes.properties.list.lines}
    assert pairs["run order"] == f"1 of {len(window.document.graph.order)} (file: 1)"
    assert pairs["opset"] == "ai.onnx 17, since 11"
    assert pairs["kernel_shape"] == "3, 3"
    assert pairs["auto_pad"] == "NOTSET (default)"
    assert pairs["W"] == conv.inputs[1].name


def test_properties_of_the_model_show_without_a_selection(
    window: MainWindow, panes: Panes, open_model: Opener
) -> None:
    open_model(SAMPLE)
    counts = {line.label: line.value for line in panes.properties.list.lines
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
    assert [row.node for row in panes.order.model.rows] == body.order

    inner = body.order[0]
    panes.pick(qtbot, panes.order, inner.name)
    document.back()
    assert (document.graph, document.selection) == (body, None)
    document.back()
    assert document.graph is document.model.graph
    assert [row.node for row in panes.order.model.rows] == document.model.graph.order
    document.forward()
    document.forward()
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
    place = next(i for i, line in enumerate(lines.lines) if line.label == "Relu")
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
    array = weight.data.array()
    assert panes.tensor.values.rowCount() == array.shape[-2]
    assert panes.tensor.histogram.counts.sum() == array.size
    panes.tensor.spinners[0].setValue(3)
    index = panes.tensor.values.index(1, 2)
    assert float(index.data()) == pytest.approx(array[3, 0, 1, 2], rel=1e-5)
    assert f"max {array.max():.4g}" in panes.tensor.figures.text()


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


# Problems and broken files


def test_clicking_a_problem_selects_its_place(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener, shared: Path
) -> None:
    open_model(shared / "models/broken/missing_input.onnx")
    assert window.docks["problems"].windowTitle().startswith("Problems  ")
    rows = [row for row in panes.problems.model.rows if row.item is not None]
    assert rows
    row: ProblemRow = rows[0]
    window.docks["problems"].raise_()
    index = panes.problems.model.index(panes.problems.model.place_of(row), 0)
    qtbot.mouseClick(
        panes.problems.view.viewport(), Qt.MouseButton.LeftButton, pos=panes.problems.view.visualRect(index).center()
    )
    assert window.document.selection is row.item
    window.document.select(None)
    window.document.select(row.item)
    assert panes.problems.view.current_row() is row


def broken_files() -> list[str]:
    return ["empty", "git_lfs_pointer", "not_protobuf", "truncated"]


@pytest.mark.parametrize("name", broken_files())
def test_a_file_that_is_no_model_leaves_the_one_before(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener, shared: Path, name: str
) -> None:
    open_model(SAMPLE)
    conv = node_of(window, "Conv")
    window.document.select(conv)
    with qtbot.waitSignal(window.document.failed):
        window.document.open(shared / f"models/broken/{name}.onnx")
    assert window.message.isVisible()
    assert f"{name}.onnx" in window.message.title.text()
    assert len(window.message.text.text()) > 20
    assert "Unexpected" not in window.message.text.text()
    assert window.document.selection is conv
    assert panes.shown(panes.order) == conv.name
    assert "sample_cnn" in window.windowTitle()


@pytest.mark.parametrize("what", ["missing", "folder", "unreadable"])
def test_a_path_that_cannot_be_read(qtbot: QtBot, window: MainWindow, tmp_path: Path, what: str) -> None:
    path = tmp_path / "model.onnx"
    if what == "folder":
        path.mkdir()
    elif what == "unreadable":
        path.write_bytes(b"x")
        path.chmod(0)
        if path.stat().st_uid == 0:
            pytest.skip("root may read everything")
    with qtbot.waitSignal(window.document.failed):
        window.document.open(path)
    assert window.message.isVisible()
    assert "model.onnx" in window.message.title.text()
    assert "Unexpected" not in window.message.text.text()


def every_broken_model() -> list[str]:
    return [
        "cycle", "dtype_clash", "duplicate_output", "external_path_escape", "future_ir", "future_opset",
        "init_shape_vs_input", "init_size_lie", "missing_external", "missing_input", "output_not_produced", "self_loop",
        "shape_clash", "two_cycles", "unknown_op", "wrong_value_info",
    ]  # fmt: skip


@pytest.mark.parametrize("name", every_broken_model())
def test_a_broken_model_opens_and_names_its_problem(
    window: MainWindow, panes: Panes, open_model: Opener, shared: Path, name: str
) -> None:
    open_model(shared / f"models/broken/{name}.onnx")
    assert panes.problems.model.rowCount() > 0
    assert panes.order.model.rowCount() == len(window.document.graph.nodes)


# Opening


def drop(window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(QPointF(20, 20), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                       Qt.KeyboardModifier.NoModifier)  # fmt: skip
    window.dropEvent(event)


def test_dropping_files(qtbot: QtBot, window: MainWindow) -> None:
    wanted: list[str] = []
    window.window_wanted.connect(wanted.append)
    with qtbot.waitSignal(window.canvas.drawn):
        drop(window, SAMPLE, CONTROL_FLOW)
    assert window.document.path == str(SAMPLE)
    assert wanted == [str(CONTROL_FLOW)]


def test_the_dialog_opens_what_was_chosen(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *args: (str(SAMPLE), ""))
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.keyClick(window, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    assert window.settings.recent == [str(SAMPLE)]
    assert window.settings.folder == str(SAMPLE.parent)


def test_reload_keeps_the_selection_by_name(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener, tmp_path: Path
) -> None:
    path = Path(shutil.copy(SAMPLE, tmp_path))
    open_model(path)
    before = node_of(window, "Conv", 2)
    window.document.select(before)
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    after = window.document.selection
    assert isinstance(after, Node)
    assert after is not before
    assert after.name == before.name
    assert panes.shown(panes.order) == before.name


def test_opening_again_before_the_first_is_done_shows_the_last(qtbot: QtBot, window: MainWindow) -> None:
    window.document.open(CONTROL_FLOW)
    with qtbot.waitSignal(window.document.model_changed):
        window.document.open(SAMPLE)
    qtbot.waitUntil(lambda: not window.document.busy)
    assert window.document.path == str(SAMPLE)


# The window itself


def test_closing_while_loading_leaves_nothing_running(qtbot: QtBot, window: MainWindow, shared: Path) -> None:
    window.document.open(shared / "models/ops/dag_5000.onnx")
    window.close()
    qtbot.waitUntil(lambda: window.document.jobs.active == 0)
    assert window.document.model is None


def test_layout_is_remembered_and_reset(qtbot: QtBot, window: MainWindow, settings: Settings) -> None:
    window.docks["problems"].hide()
    window.close()
    other = MainWindow(settings)
    qtbot.addWidget(other)
    other.show()
    assert not other.docks["problems"].toggleViewAction().isChecked()
    other.reset_layout()
    assert other.docks["problems"].toggleViewAction().isChecked()


def test_state_of_another_version_is_ignored(qtbot: QtBot, window: MainWindow, settings: Settings) -> None:
    window.docks["problems"].hide()
    settings.state = window.saveState(STATE_VERSION + 1)
    other = MainWindow(settings)
    qtbot.addWidget(other)
    other.show()
    assert other.docks["problems"].toggleViewAction().isChecked()


def test_theme_turns_and_is_remembered(window: MainWindow, open_model: Opener, settings: Settings) -> None:
    open_model(SAMPLE)
    try:
        window.set_theme_mode("light")
        light = window.grab().toImage().pixelColor(window.width() // 2, 4).lightness()
        window.toolbar.theme.click()
        dark = window.grab().toImage().pixelColor(window.width() // 2, 4).lightness()
        assert light > 200 > 100 > dark
        assert settings.theme == "dark"
        assert window.actions_by_name["theme_dark"].isChecked()
    finally:
        theme_manager().set_mode("light")


def test_commands_know_when_they_can_be_used(window: MainWindow, open_model: Opener) -> None:
    names = window.actions_by_name
    assert not any(names[name].isEnabled() for name in ("run", "fit", "reload", "back", "copy_name"))
    open_model(SAMPLE)
    assert all(names[name].isEnabled() for name in ("run", "fit", "reload"))
    window.document.select(node_of(window, "Conv"))
    names["copy_name"].trigger()
    assert QGuiApplication.clipboard().text() == "/stem/conv/Conv"
    assert names["back"].isEnabled()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelFormatError("m.onnx is a folder: open one of the models in it: a.onnx …"),
         "m.onnx is a folder: open one of the models in it: a.onnx …"),
        (ModelFormatError("m.onnx is empty (0 bytes): copy or download it again"),
         "m.onnx is empty (0 bytes): copy or download it again."),
        (ModelFormatError("m.onnx is not an ONNX model", 41),
         "m.onnx is not an ONNX model (at byte 41). Get the file again, or choose another one."),
    ],
)  # fmt: skip
def test_what_to_do_is_said_once(error: Exception, told: str) -> None:
    assert explain(error) == told


def test_shortcuts_are_unique(window: MainWindow) -> None:
    sequences = [s.toString() for action in window.actions_by_name.values() for s in action.shortcuts()]
    assert len(sequences) == len(set(sequences))
    assert QKeySequence("F5").toString() in sequences


def test_a_models_own_words_are_never_markup(
    window: MainWindow, panes: Panes, open_model: Opener, tmp_path: Path
) -> None:
    import onnx
    from onnx import TensorProto, helper

    name = "<b>bold</b>&amp;<img src=x>"
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"], name=name)], name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )  # fmt: skip
    path = tmp_path / "markup.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    open_model(path)
    node = window.document.graph.order[0]
    window.document.select(node)
    index = panes.order.model.index(0, 2)
    assert index.data() == name
    assert "<b>" not in index.data(Qt.ItemDataRole.ToolTipRole)
    assert panes.title == name


def test_mouse_events_reach_the_canvas(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    """The filter for the mouse's Back and Forward buttons lets all else pass."""
    open_model(SAMPLE)
    canvas = window.canvas.canvas
    empty = QPointF(canvas.width() - 2, 2)
    window.document.select(node_of(window, "Conv"))
    for kind in (QMouseEvent.Type.MouseButtonPress, QMouseEvent.Type.MouseButtonRelease):
        event = QMouseEvent(kind, empty, canvas.mapToGlobal(empty), Qt.MouseButton.LeftButton,
                            Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)  # fmt: skip
        QGuiApplication.sendEvent(canvas, event)
    assert window.document.selection is None


def test_a_tensor_nobody_reads_can_be_selected(window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    output = window.document.graph.outputs[0]
    assert isinstance(output, Tensor)
    window.document.select(output)
    assert panes.shown(panes.order) == output.producer.name
    assert panes.shown(panes.shapes) == output.name


def test_every_replacement_of_the_file_is_told(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    content = Path(SAMPLE).read_bytes()
    path.write_bytes(content)
    open_model(path)
    for _ in range(2):
        window.message.hide()
        (tmp_path / "new").write_bytes(content)
        (tmp_path / "new").replace(path)
        qtbot.waitUntil(window.message.isVisible)
