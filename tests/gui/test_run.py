"""The Run and Timings panes in the real window: set up, run, cancel, read the numbers off the panes."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

import resources
from engine.graph.types import TensorType
from engine.providers import all_providers
from gui.main_window import MainWindow
from gui.panes.order import OrderPane
from gui.panes.run import RunPane
from gui.panes.shapes import ShapesPane
from gui.panes.timings import TimingsPane
from gui.running.plan import RunPlan, default_plan, recall_plan

Opener = Callable[[str | Path], None]
SAMPLE = resources.path(resources.SAMPLE_MODEL)


@pytest.fixture
def run_pane(window: MainWindow) -> RunPane:
    pane = window.docks["run"].widget()
    window.docks["run"].raise_()
    pane.warmup.setValue(1)
    pane.repeat.setValue(3)
    return pane


@pytest.fixture
def timings(window: MainWindow) -> TimingsPane:
    return window.docks["timings"].widget()


def set_counts(pane: RunPane, warmup: int, repeat: int) -> None:
    pane.warmup.setValue(warmup)
    pane.repeat.setValue(repeat)


def run(qtbot: QtBot, pane: RunPane) -> None:
    """Click Run and wait for the end."""
    with qtbot.waitSignal(pane.finished, timeout=30_000):
        qtbot.mouseClick(pane.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not pane.document.busy)


def slow_model(path: Path, products: int = 40, size: int = 700) -> Path:
    """A chain of matrix products, long enough to be stopped on the way."""
    weight = numpy_helper.from_array(np.eye(size, dtype=np.float32), "w")
    steps = enumerate(pairwise(["x", *(f"t{i}" for i in range(products - 1)), "y"]))
    nodes = [helper.make_node("MatMul", [a, "w"], [b], name=f"m{i}") for i, (a, b) in steps]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [size, size])], [weight],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


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
    assert f"speedup {comparison.speedup_pct:.1f} %" in headline
    assert timings.result.verdict.text().startswith("outputs agree: equal to the last bit")
    nodes = len(window.document.model.graph.nodes)
    assert f"CPU {nodes}/{nodes}" in timings.result.details.text()
    assert run_pane.result.headline.text() == headline

    for side, scatter in zip((comparison.mixed, comparison.cpu_only), timings.runs.samples, strict=True):
        np.testing.assert_allclose(np.sort(scatter.getData()[0]), np.sort(side.runs_ms))
    np.testing.assert_allclose(
        timings.runs.bars.opts["width"], [median(comparison.mixed.runs_ms), median(comparison.cpu_only.runs_ms)]
    )
    assert timings.nodes.bars.opts["height"] == [
        pytest.approx(state.node_ms[node]) for node in window.document.graph.order
    ]
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
    (button,) = [b for b in window.toolbar.colors.findChildren(QPushButton) if b.text() == "Time"]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.color_mode == "time"
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
    with qtbot.waitSignal(run_pane.finished, timeout=30_000):
        qtbot.keyClick(window, Qt.Key.Key_F5)
    assert window.document.run is not None


def test_cancel_stops_the_run_and_a_second_one_starts(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    open_model(slow_model(tmp_path / "slow.onnx"))
    set_counts(run_pane, 0, 500)
    reached: list[str] = []
    window.document.busy_changed.connect(lambda text, *_: reached.append(text))
    qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any("m1" in text for text in reached), timeout=10_000)
    assert not run_pane.run_button.isEnabled()
    qtbot.mouseClick(run_pane.cancel_button, Qt.MouseButton.LeftButton)
    assert run_pane.status.text() == "Cancelling…"
    qtbot.waitUntil(lambda: not window.document.busy, timeout=5_000)
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
    window.close()  # the fixture asserts that no job is left


def test_a_model_opened_during_a_run_does_not_get_its_results(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    open_model(slow_model(tmp_path / "slow.onnx", products=8))
    set_counts(run_pane, 0, 10)
    qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(window.document.model_changed, timeout=20_000):
        window.document.open(SAMPLE)
    qtbot.waitUntil(lambda: not window.document.busy, timeout=20_000)
    assert window.document.run is None
    assert run_pane.run_button.isEnabled()


class TestFields:
    def test_a_field_for_each_symbol_and_each_input(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.dims.findChildren(QLineEdit)
        assert run_pane.plan().dims == {field.accessibleName(): 1}
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, "3")
        run(qtbot, run_pane)
        feed = window.document.model.graph.feeds[0]
        assert window.document.run.observed[feed].shape[0] == 3

    def test_an_empty_dim_is_asked_for_at_its_place(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.dims.findChildren(QLineEdit)
        qtbot.waitUntil(field.isVisible)
        field.clear()
        qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
        assert field.accessibleName() in run_pane.status.text()
        assert run_pane.status.property("role") == "error"
        assert field.hasFocus()
        assert not window.document.busy

    @pytest.mark.parametrize(
        ("text", "words"),
        [("nonsense", "says no way"), ("missing.npy", "missing.npy"), ("words:a,b", "words")],
    )
    def test_a_generator_that_cannot_work_is_told(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, text: str, words: str
    ) -> None:
        open_model(SAMPLE)
        (box,) = run_pane.inputs.findChildren(QComboBox)
        box.setEditText(text)
        with qtbot.waitSignal(run_pane.failed) as failure:
            qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
        assert words in failure.args[0]
        assert words in run_pane.status.text()

    def test_an_input_of_wrong_shape_from_a_file(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path
    ) -> None:
        open_model(SAMPLE)
        np.save(tmp_path / "x.npy", np.zeros((1, 2, 3), np.float32))
        (box,) = run_pane.inputs.findChildren(QComboBox)
        box.setEditText(str(tmp_path / "x.npy"))
        with qtbot.waitSignal(run_pane.failed) as failure:
            qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
        assert "[1, 2, 3]" in failure.args[0]

    def test_the_plan_is_remembered_per_model(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        open_model(SAMPLE)
        (box,) = run_pane.inputs.findChildren(QComboBox)
        box.setEditText("ones")
        run_pane.seed.setValue(7)
        run(qtbot, run_pane)
        open_model(resources.path(resources.CONTROL_FLOW_MODEL))
        assert run_pane.seed.value() == 0
        open_model(SAMPLE)
        assert run_pane.seed.value() == 7
        assert list(run_pane.plan().specs.values()) == ["ones"]
        qtbot.mouseClick(run_pane.reset_button, Qt.MouseButton.LeftButton)
        assert run_pane.plan() == default_plan(window.document.model)


class TestProviders:
    def test_each_says_why_it_is_not_available(self, run_pane: RunPane) -> None:
        providers = run_pane.providers
        tips = {providers.item(i).text(): providers.item(i).toolTip() for i in range(providers.count())}
        for provider in all_providers():
            assert provider.available().reason.split(":")[0].split("'")[0] in tips[provider.name]

    def test_the_order_changes_by_keyboard(self, qtbot: QtBot, window: MainWindow, run_pane: RunPane) -> None:
        before = run_pane.providers.order()
        run_pane.providers.setCurrentRow(len(before) - 1)
        qtbot.keyClick(run_pane.providers, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
        assert run_pane.providers.order() == [*before[:-2], before[-1], before[-2]]

    def test_cpu_stays_checked(self, run_pane: RunPane) -> None:
        run_pane.providers.set_plan(["CPU"], [])
        assert "CPU" in run_pane.providers.enabled()
        item = next(run_pane.providers.item(i) for i in range(3) if run_pane.providers.item(i).text() == "CPU")
        assert not item.flags() & Qt.ItemFlag.ItemIsUserCheckable


def test_a_remembered_plan_is_taken_only_as_far_as_it_fits() -> None:
    import engine

    model = engine.open_model(SAMPLE)
    default = default_plan(model)
    assert recall_plan(model, {}) == default
    odd = {"dims": {"nowhere": 3, **dict.fromkeys(default.dims, "x")}, "specs": ["?"], "repeat": "many", "seed": 5,
           "order": ["CPU", "Nobody", 3], "enabled": []}  # fmt: skip
    recalled = recall_plan(model, odd)
    assert (recalled.dims, recalled.specs, recalled.repeat, recalled.seed) == (
        default.dims, default.specs, default.repeat, 5
    )  # fmt: skip
    assert recalled.order == ["CPU", *(name for name in default.order if name != "CPU")]
    assert recall_plan(model, asdict(RunPlan(repeat=77))).repeat == 77
