"""A small screen: the window fits it, whatever the model's names are, and what has no room is scrolled or cut."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QLabel, QTabBar
from pytestqt.qtbot import QtBot

from gui.look.stylesheet import TAB_PADDING
from gui.panes.run import RunPane
from gui.widgets.sideways import SidewaysScroll
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.running_pane import run, set_counts
from tests.gui.window_panes import SAMPLE

SCREEN = 1024, 700


@pytest.fixture
def wordy(tmp_path: Path) -> Path:
    """A model of many inputs, dims and long names."""
    inputs, nodes = [], []
    for i in range(8):
        dims = [f"a_rather_long_batch_size_{i}", f"another_long_name_{i}"]
        inputs.append(helper.make_tensor_value_info(f"past_key_values.{i}.of_the_decoder", TensorProto.FLOAT, dims))
        name = f"/model/decoder/layers.{i}/self_attention/activation/Relu"
        nodes.append(helper.make_node("Relu", [inputs[-1].name], [f"y{i}"], name=name))
    outputs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None) for i in range(8)]
    graph = helper.make_graph(nodes, "wordy", inputs, outputs)
    path = tmp_path / ("a_long_name_of_a_model_" * 4 + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_the_window_fits_a_small_screen(
    qtbot: QtBot, window: MainWindow, run_pane: RunPane, open_model: Opener, wordy: Path
) -> None:
    def fits() -> bool:
        return window.minimumSizeHint().width() <= SCREEN[0] and window.minimumSizeHint().height() <= SCREEN[1]

    window.resize(*SCREEN)
    open_model(wordy)
    qtbot.waitUntil(fits)
    run(qtbot, run_pane)
    window.document.set_dims({f"a_rather_long_batch_size_{i}": 1234567 for i in range(8)})
    window.canvas.say("A sentence that is much longer than there is room for above the graph, as some are. " * 3)
    window.message.show_message("Could not open " + wordy.name * 3, "Why that is so. " * 40)
    for dock in window.docks.values():
        dock.show()
        dock.raise_()
        qtbot.waitUntil(dock.widget().isVisible)
    qtbot.waitUntil(fits)
    window.resize(*SCREEN)
    assert window.width() == SCREEN[0]


def test_titles_of_the_panes_are_read_in_full(
    qtbot: QtBot, window: MainWindow, run_pane: RunPane, open_model: Opener
) -> None:
    window.resize(*SCREEN)
    open_model(SAMPLE)
    for name in ("order", "properties"):
        dock = window.docks[name]
        width = dock.widget().minimumWidth()
        window.resizeDocks([dock], [width], Qt.Orientation.Horizontal)
        qtbot.waitUntil(lambda dock=dock, width=width: dock.width() == width)
    shown = [bar for bar in window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
             if bar.isVisible() and bar.count() > 1]  # fmt: skip
    assert {bar.tabText(0) for bar in shown} == {"Order", "Properties", "Shapes"}
    for bar in shown:
        assert sum(bar.tabRect(place).width() for place in range(bar.count())) == bar.sizeHint().width()


def test_the_canvas_keeps_its_height_when_results_come(
    qtbot: QtBot, window: MainWindow, run_pane: RunPane, open_model: Opener
) -> None:
    open_model(SAMPLE)
    window.docks["timings"].raise_()
    qtbot.waitUntil(window.docks["timings"].widget().isVisible)
    before = window.canvas.height()
    set_counts(run_pane, 0, 1)
    run(qtbot, run_pane)
    qtbot.waitUntil(window.docks["timings"].widget().result.isVisible)
    assert window.canvas.height() == before


def test_the_controls_of_a_comparison_leave_room_for_its_table(
    qtbot: QtBot, window: MainWindow, run_pane: RunPane, open_model: Opener
) -> None:
    """What is said and what can be done about it stand in one line, at any width."""
    open_model(SAMPLE)
    set_counts(run_pane, 0, 1)
    run(qtbot, run_pane)
    pane = window.docks["compare"].widget()
    window.docks["compare"].raise_()
    window.document.select(window.document.model.graph.order[0])
    qtbot.waitUntil(pane.pair.pages.isVisible)
    pane.verdict.setText("a verdict of many words " * 9)
    QCoreApplication.processEvents()  # laid out anew
    assert pane.verdict.width() < pane.verdict.sizeHint().width()
    assert abs(pane.verdict.geometry().center().y() - pane.save.geometry().center().y()) <= 2
    assert not pane.first.isVisible()


def test_titles_within_the_timings_are_read_in_full(
    qtbot: QtBot, window: MainWindow, run_pane: RunPane, open_model: Opener
) -> None:
    window.resize(*SCREEN)
    open_model(SAMPLE)
    set_counts(run_pane, 0, 1)
    run(qtbot, run_pane)
    pane = window.docks["timings"].widget()
    qtbot.waitUntil(pane.tabs.isVisible)
    tabs = pane.tabs.tabBar()
    shown = [place for place in range(tabs.count()) if tabs.isTabVisible(place)]
    assert tabs.tabRect(shown[-1]).right() < tabs.parent().width()
    for place in shown:
        title = tabs.fontMetrics().horizontalAdvance(tabs.tabText(place))
        assert tabs.tabRect(place).width() >= title + 2 * TAB_PADDING
    assert pane.nodes.getAxis("bottom").labelText == "run order"
    window.resize(1600, 900)
    qtbot.waitUntil(lambda: "CPU only" in pane.nodes.getAxis("bottom").labelText)


def test_what_the_run_pane_has_no_room_for_is_scrolled_to(
    qtbot: QtBot, window: MainWindow, open_model: Opener, wordy: Path
) -> None:
    window.resize(*SCREEN)
    open_model(wordy)
    pane = window.docks["run"].widget()
    window.docks["run"].raise_()
    (scroll,) = pane.findChildren(SidewaysScroll)
    qtbot.waitUntil(lambda: scroll.horizontalScrollBar().maximum() > 0)
    scroll.ensureWidgetVisible(pane.setup.feedback)
    at = pane.setup.feedback.mapTo(scroll.viewport(), pane.setup.feedback.rect().center())
    assert scroll.viewport().rect().contains(at)
    window.resize(1600, 900)
    qtbot.waitUntil(lambda: scroll.horizontalScrollBar().maximum() == 0)


def test_names_keep_their_width_in_a_narrow_table(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    """They are scrolled to then; in a wide table they take what is left."""
    window.resize(*SCREEN)
    open_model(SAMPLE)
    pane = window.docks["order"].widget()
    header = pane.view.horizontalHeader()
    assert header.sectionSize(2) >= pane.fontMetrics().averageCharWidth() * 16
    window.resize(1600, 900)
    window.resizeDocks([window.docks["order"]], [700], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: pane.view.viewport().width() > 600)
    qtbot.waitUntil(lambda: header.length() == pane.view.viewport().width())


def test_a_pane_has_its_title_when_those_it_was_among_are_closed(qtbot: QtBot, window: MainWindow) -> None:
    title = window.docks["order"].titleBarWidget().findChild(QLabel)
    assert title.isHidden(), "it has a tab"
    for name in ("initializers", "bookmarks"):
        window.docks[name].close()
    qtbot.waitUntil(lambda: not title.isHidden())
    assert title.text() == "Order"
    window.docks["bookmarks"].show()
    qtbot.waitUntil(title.isHidden)
