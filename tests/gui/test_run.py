"""Runs in the real window: started, cancelled, failed, step by step, and what the panes show of them."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from engine.compare import SAME_PATH
from engine.graph.types import TensorType
from gui.background.jobs import Progress
from gui.panes.order import OrderPane
from gui.panes.run import RunPane
from gui.panes.shapes import ShapesPane
from gui.panes.timings import TimingsPane
from gui.running.report import BOTH_ON_CPU
from gui.text import ms_text
from gui.widgets.run.spec_field import SpecField
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.running_pane import SAMPLE, run, set_counts, slow_model


def test_a_run_fills_the_panes(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, timings: TimingsPane
) -> None:
    open_model(SAMPLE)
    set_counts(run_pane, 1, 3)
    run(qtbot, run_pane)
    state = window.document.run
    assert state is not None
    comparison = state.comparison
    assert [len(comparison.mixed.runs_ms), len(comparison.cpu_only.runs_ms)] == [3, 3]

    headline = timings.result.headline.text()
    assert f"mixed {comparison.mixed_ms:.2f} ms" in headline or f"mixed {comparison.mixed_ms:.1f} ms" in headline
    assert (BOTH_ON_CPU in headline, "%" in headline) == (True, False)  # what differs is noise
    assert timings.result.verdict.text().startswith("outputs agree: equal to the last bit")
    nodes = len(window.document.model.graph.nodes)
    # Before the figures, so that a line that is cut still says it.
    assert timings.result.details.text().startswith(f"CPU {nodes}/{nodes} · {SAME_PATH} · ")
    assert run_pane.result.headline.text() == headline

    for side, scatter in zip((comparison.mixed, comparison.cpu_only), timings.runs.samples, strict=True):
        np.testing.assert_allclose(np.sort(scatter.getData()[0]), np.sort(side.runs_ms))
    np.testing.assert_allclose(
        timings.runs.bars.opts["width"], [median(comparison.mixed.runs_ms), median(comparison.cpu_only.runs_ms)]
    )
    ((_, mixed), (_, alone)) = timings.runs.getAxis("left")._tickLevels[0]
    assert mixed == f"mixed\n{ms_text(comparison.mixed_ms)} ms"
    assert alone.startswith("CPU only\n")
    longest = max(*comparison.mixed.runs_ms, *comparison.cpu_only.runs_ms)
    assert longest < timings.runs.getViewBox().viewRange()[0][1] < 1.2 * longest  # the bars fill their room
    assert timings.nodes.heights() == {"CPU": [pytest.approx(state.node_ms[n]) for n in window.document.graph.order]}
    assert len(timings.table.model.rows) == nodes

    order: OrderPane = window.docks["order"].widget()
    assert all(row.ms is not None and row.provider == "CPU" for row in order.model.rows)
    shapes: ShapesPane = window.docks["shapes"].widget()
    assert all(isinstance(kind, TensorType) for kind in state.observed.values())
    assert shapes.model.rowCount() > 0


def test_what_a_run_makes_otherwise_than_inferred_is_a_problem(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
) -> None:
    """The inferred shape is planted wrong: the run says so, and the next one, with it mended, no more."""
    open_model(SAMPLE)
    problems = window.docks["problems"].widget()
    before = problems.model.rowCount()
    output = window.document.model.graph.outputs[0]
    right = output.inferred_type
    output.inferred_type = TensorType(output.dtype, (77,))
    run(qtbot, run_pane)
    (found,) = [row for row in problems.model.shown if row.diagnostic.code == "observed-mismatch"]
    assert found.item is output.producer
    assert "[77]" in found.message
    output.inferred_type = right
    run(qtbot, run_pane)
    assert problems.model.rowCount() == before


def test_times_colour_the_canvas(qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane) -> None:
    open_model(SAMPLE)
    run(qtbot, run_pane)
    plain = window.canvas.grab().toImage()
    (button,) = [b for b in window.toolbar.colours.findChildren(QPushButton) if b.text() == "Time"]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.colour_mode == "time"
    qtbot.waitUntil(lambda: window.canvas.grab().toImage() != plain)


def test_a_click_on_a_bar_selects_the_node(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, timings: TimingsPane
) -> None:
    open_model(SAMPLE)
    run(qtbot, run_pane)
    window.docks["timings"].raise_()
    qtbot.waitUntil(timings.nodes.isVisible)
    node = window.document.graph.order[4]
    box = timings.nodes.getViewBox()
    top = box.viewRect().top()
    place = timings.nodes.mapFromScene(box.mapViewToScene(QPointF(5, top)))
    qtbot.mouseClick(timings.nodes.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: window.document.selection is node)


def test_f5_runs(qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane) -> None:
    open_model(SAMPLE)
    with qtbot.waitSignal(run_pane.finished):
        qtbot.keyClick(window, Qt.Key.Key_F5)
    assert window.document.run is not None


def test_cancel_stops_the_run_and_a_second_one_starts(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    open_model(slow_model(tmp_path / "slow.onnx"))
    set_counts(run_pane, 0, 500)
    reached: list[Progress] = []
    window.document.busy_changed.connect(reached.append)
    qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(progress.place == "m1" for progress in reached))
    assert not run_pane.run_button.isEnabled()
    qtbot.mouseClick(run_pane.cancel_button, Qt.MouseButton.LeftButton)
    assert run_pane.status.text() == "Cancelling…"
    qtbot.waitUntil(lambda: not window.document.busy)
    assert run_pane.status.text().startswith("Cancelled")
    assert window.document.run is None
    set_counts(run_pane, 0, 1)
    run(qtbot, run_pane)
    assert window.document.run is not None


def test_closing_during_a_run_leaves_nothing_behind(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    open_model(slow_model(tmp_path / "slow.onnx"))
    set_counts(run_pane, 0, 500)
    qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.document.busy)
    window.close()  # the fixture waits for its end, which without cancelling comes minutes later


def test_a_model_opened_during_a_run_does_not_get_its_results(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    open_model(slow_model(tmp_path / "slow.onnx", products=8))
    set_counts(run_pane, 0, 10)
    qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(window.document.model_changed):
        window.document.open(SAMPLE)
    qtbot.waitUntil(lambda: not window.document.busy)
    assert window.document.run is None
    assert run_pane.run_button.isEnabled()


def test_the_memory_is_estimated_before_the_run(
    qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    """40 products of 700 × 700 float32, on both sides or on one."""
    open_model(slow_model(tmp_path / "slow.onnx"))
    qtbot.waitUntil(lambda: run_pane.status.text().startswith("needs about"))
    expected = 2 * 40 * 700 * 700 * 4 / 2**20
    assert f"needs about {expected:.3g} MiB of" in run_pane.status.text()
    run_pane.setup.per_node.setChecked(False)
    qtbot.waitUntil(lambda: f"about {40 * 700 * 700 * 4 / 2**20:.3g} MiB" in run_pane.status.text())


def counter_model(path: Path) -> Path:
    """A state that grows by one each step: present = past + 1."""
    one = numpy_helper.from_array(np.ones(1, np.float32), "one")
    graph = helper.make_graph(
        [helper.make_node("Add", ["past_state", "one"], ["present_state"], name="add")], "g",
        [helper.make_tensor_value_info("past_state", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("present_state", TensorProto.FLOAT, [1])], [one],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_states_are_fed_back_up_to_a_step(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    open_model(counter_model(tmp_path / "counter.onnx"))
    assert not run_pane.setup.feedback.isEnabled()
    (box,) = run_pane.setup.inputs.findChildren(SpecField)
    box.setText("zeros")
    run_pane.setup.steps.setValue(5)
    assert run_pane.setup.feedback.isEnabled()
    run(qtbot, run_pane)
    assert window.document.run.feeds["past_state"].tolist() == [4.0]
    assert window.document.run.result.outputs["present_state"].tolist() == [5.0]
    run_pane.setup.feedback.setText("nothing=here")
    with qtbot.waitSignal(run_pane.failed) as failure:
        qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
    assert "no input 'here'" in failure.args[0]


def test_a_failing_node_leaves_what_came_before_it(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["n"], name="neg"), helper.make_node("Reshape", ["n", "s"], ["y"], name="bad")],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
              helper.make_tensor_value_info("s", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    open_model(tmp_path / "m.onnx")
    for box in run_pane.setup.inputs.findChildren(SpecField):
        box.setText("5")
    with qtbot.waitSignal(run_pane.failed) as failure:
        qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
    assert "bad" in failure.args[0]
    state = window.document.run
    assert state.partial
    values = {tensor.name: value for tensor, value in state.values.items()}
    np.testing.assert_array_equal(values["n"], -values["x"])
    assert "y" not in values


def test_a_second_run_starts_as_soon_as_the_first_has_ended(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
) -> None:
    open_model(SAMPLE)
    set_counts(run_pane, 0, 1)
    run_pane.start()
    run_pane.start()  # one at a time: this one does nothing
    assert window.document.jobs.active >= 1
    with qtbot.waitSignal(run_pane.finished):
        pass
    first = window.document.run
    qtbot.waitUntil(run_pane.run_button.isEnabled)
    with qtbot.waitSignal(run_pane.finished):
        run_pane.start()
    assert window.document.run is not first
    assert window.docks["compare"].widget().document.run is window.document.run


def test_an_empty_window_fits_a_small_screen(window: MainWindow) -> None:
    assert window.minimumSizeHint().width() <= 1280


def test_the_window_still_fits_a_small_screen_after_a_run(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
) -> None:
    open_model(SAMPLE)
    run(qtbot, run_pane)
    for dock in window.docks.values():
        dock.raise_()
    window.resize(1280, 800)
    window.reset_layout()
    qtbot.waitUntil(lambda: window.canvas.isVisible())
    assert window.minimumSizeHint().width() <= 1280
    assert (window.width(), window.height()) == (1280, 800)
