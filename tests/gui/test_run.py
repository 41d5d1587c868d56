"""The Run and Timings panes in the real window: set up, run, cancel, read the numbers off the panes."""
from __future__ import annotations

import csv
import json
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
from PySide6.QtGui import QAction, QContextMenuEvent, QImage
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QMenu, QPushButton, QWidget
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
from gui.settings import Settings
from tests.gui.planted import plant

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
    with qtbot.waitSignal(pane.finished):
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
    with qtbot.waitSignal(run_pane.finished):
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
    qtbot.waitUntil(lambda: any("m1" in text for text in reached))
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

    def test_a_wrong_dim_is_asked_for_at_its_place(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.dims.findChildren(QLineEdit)
        qtbot.waitUntil(field.isVisible)
        field.setText("many")
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


class TestTimings:
    def test_operators_stack_their_providers(
        self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, settings: Settings
    ) -> None:
        plant(monkeypatch, ["Relu"], {})
        window = MainWindow(settings)
        qtbot.addWidget(window)
        window.show()
        run_state(qtbot, window)
        pane: TimingsPane = window.docks["timings"].widget()
        window.docks["timings"].raise_()
        entries = {entry.operator: entry for entry in window.document.run.times.operators}
        nodes = [n for n in window.document.graph.order if n.op_type == "Relu"]
        assert entries["Relu"].by_provider == {
            "Planted": pytest.approx(sum(window.document.run.node_ms[n] for n in nodes))
        }
        assert all(set(e.by_provider) == {"CPU"} for name, e in entries.items() if name != "Relu")
        assert [e.ms for e in entries.values()] == sorted((e.ms for e in entries.values()), reverse=True)
        assert "Planted" in pane.operators.getAxis("bottom").labelText
        conv = next(row for row in pane.table.model.rows if row.node.op_type == "Conv")
        assert conv.refusals.startswith("Planted: ")
        assert "Conv" in pane.result.details.toolTip()
        edges = pane.copies.model.rows
        assert {edge.target for edge in edges} == {"host", "planted:0"}
        assert sum(edge.count for edge in edges) == len(window.document.run.comparison.mixed.copies)
        assert pane.tabs.isTabVisible(pane.tabs.indexOf(pane.copies))
        window.close()

    def test_a_click_on_an_operator_shows_its_nodes(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, timings: TimingsPane
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, run_pane)
        window.docks["timings"].raise_()
        timings.tabs.setCurrentWidget(timings.operators)
        qtbot.waitUntil(timings.operators.isVisible)
        box = timings.operators.getViewBox()
        left = box.viewRect().left() + box.viewRect().width() * 0.01
        place = timings.operators.mapFromScene(box.mapViewToScene(QPointF(left, -1)))
        qtbot.mouseClick(timings.operators.viewport(), Qt.MouseButton.LeftButton, pos=place)
        entry = timings.operators.shown[1]
        qtbot.waitUntil(lambda: window.document.selection is entry.nodes[0].node)
        assert {row.node.op_type for row in timings.table.model.shown} >= {entry.operator}
        assert len(timings.table.model.shown) < len(timings.table.model.rows)

    def test_the_cold_run_comes_first(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, timings: TimingsPane
    ) -> None:
        open_model(SAMPLE)
        set_counts(run_pane, 2, 3)
        run(qtbot, run_pane)
        side = run_pane.document.run.comparison.mixed
        np.testing.assert_allclose(timings.series.lines[0].getData()[1], [*side.warmup_ms, *side.runs_ms])

    def test_exports(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, timings: TimingsPane, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, run_pane)
        actions = {action.text(): action for action in timings.export.menu().actions()}
        for text, name in (("Table as CSV…", "t.csv"), ("Figures as JSON…", "t.json"), ("Picture…", "t.png")):
            monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, name=name: (str(tmp_path / name), ""))
            actions[text].trigger()
        state = run_pane.document.run
        with open(tmp_path / "t.csv", newline="") as file:
            times = {row["node"]: float(row["ms"]) for row in csv.DictReader(file)}
        assert times == {node.qualified_name: ms for node, ms in state.node_ms.items()}
        figures = json.loads((tmp_path / "t.json").read_text())
        assert figures["comparison"]["mixed_ms"] == state.comparison.mixed_ms
        assert figures["copies"] == []
        assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")

    def test_the_run_itself_is_exported(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        open_model(SAMPLE)
        assert run_pane.export.isHidden()
        run(qtbot, run_pane)
        assert not run_pane.export.isHidden()
        actions = {action.text(): action for action in run_pane.export.menu().actions()}
        for text, name in (("Table as CSV…", "r.csv"), ("Figures as JSON…", "r.json"), ("Picture…", "r.png")):
            monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, name=name: (str(tmp_path / name), ""))
            actions[text].trigger()
        graph = run_pane.document.graph
        with open(tmp_path / "r.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["node"]: row["provider"] for row in rows} == {n.qualified_name: "CPU" for n in graph.order}
        figures = json.loads((tmp_path / "r.json").read_text())
        assert figures["plan"]["dims"] == {"N": 1}
        assert figures["comparison"]["agree"] is True
        assert QImage(str(tmp_path / "r.png")).width() == run_pane.width()


def run_state(qtbot: QtBot, window: MainWindow) -> None:
    """Open the sample in a window of its own and run it."""
    pane: RunPane = window.docks["run"].widget()
    with qtbot.waitSignal(window.canvas.drawn):
        window.document.open(SAMPLE)
    qtbot.waitUntil(lambda: not window.document.busy)
    set_counts(pane, 0, 2)
    run(qtbot, pane)


class TestPlacement:
    def test_a_node_and_an_operator_are_placed_by_hand(
        self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, settings: Settings
    ) -> None:
        plant(monkeypatch, ["Relu", "Conv"], {})
        window = MainWindow(settings)
        qtbot.addWidget(window)
        window.show()
        run_state(qtbot, window)
        pane: RunPane = window.docks["run"].widget()
        graph = window.document.graph
        conv = next(node for node in graph.order if node.op_type == "Conv")
        window.document.select(conv)
        pane.placement.fill()
        choose(pane, f"Run {conv.name} On", "CPU")
        window.document.select(next(node for node in graph.order if node.op_type == "Relu"))
        pane.placement.fill()
        choose(pane, "Run Every Relu On", "CPU")
        assert pane.placement.text() == "Placement: 2 ▾"
        run(qtbot, pane)
        placed = {node: p.provider.name for node, p in window.document.run.placements.items() if p.provider}
        assert placed[conv] == "CPU"
        assert {placed[n] for n in graph.order if n.op_type == "Relu"} == {"CPU"}
        assert {placed[n] for n in graph.order if n.op_type == "Conv" and n is not conv} == {"Planted"}
        pane.placement.fill()
        action(pane.placement.menu(), "Forget All").trigger()
        assert pane.plan().overrides == {}
        window.close()


    @pytest.mark.qt_log_ignore("does not support grabbing", extend=True)
    def test_nodes_are_placed_from_the_canvas_and_from_every_list_of_them(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        """What is chosen at one place is checked at all others, and goes into the plan."""
        open_model(SAMPLE)
        run(qtbot, run_pane)
        document, canvas = window.document, window.canvas.canvas
        conv = document.graph.order[0]
        title = f"Run {conv.name} On"
        document.select(conv)
        spot = canvas.node_rect(conv).center().toPoint()
        QApplication.sendEvent(canvas, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, spot,
                                                         canvas.mapToGlobal(spot)))  # fmt: skip
        action(action(opened(QMenu), title).menu(), "CPU").trigger()
        opened(QMenu).close()
        assert run_pane.plan().overrides == {f"node:{conv.qualified_name}": "CPU"}
        document.finder.search("op:Conv")
        qtbot.waitUntil(lambda: len(document.finder.items) > 1)
        tables = {"order": window.docks["order"].widget(), "find": window.docks["find"].widget(),
                  "timings": window.docks["timings"].widget().table,
                  "compare": window.docks["compare"].widget().table}  # fmt: skip
        for dock, pane in tables.items():
            window.docks[dock].raise_()
            qtbot.waitUntil(pane.view.isVisible)
            pane.view.scrollTo(pane.view.currentIndex())
            place = pane.view.visualRect(pane.view.currentIndex()).center()
            pane.view.customContextMenuRequested.emit(place)
            inner = action(opened(QMenu), title).menu()
            assert [a.text() for a in inner.actions() if a.isChecked()] == ["CPU"], dock
            opened(QMenu).close()
        pane = tables["order"]
        window.docks["order"].raise_()
        pane.view.customContextMenuRequested.emit(pane.view.visualRect(pane.view.currentIndex()).center())
        action(action(opened(QMenu), title).menu(), "As Ordered").trigger()
        opened(QMenu).close()
        assert document.overrides == {}


def opened(kind: type) -> QWidget:
    """The popup that is open."""
    popup = QApplication.activePopupWidget()
    assert isinstance(popup, kind)
    return popup


def choose(pane: RunPane, title: str, provider: str) -> None:
    """Pick a provider in a submenu of the placement button."""
    action(action(pane.placement.menu(), title).menu(), provider).trigger()


def action(menu: QMenu, text: str) -> QAction:
    return next(entry for entry in menu.actions() if entry.text() == text)


class TestErrorsAtTheField:
    def test_a_typed_generator_is_checked_at_once(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path
    ) -> None:
        open_model(SAMPLE)
        (box,) = run_pane.inputs.findChildren(QComboBox)
        name = run_pane.document.model.graph.feeds[0].name
        box.setEditText("nonsense")
        assert "says no way" in run_pane.inputs.error(name)
        assert box.property("invalid") == "true"
        box.setEditText(str(tmp_path / "gone.npy"))
        assert "does not exist" in run_pane.inputs.error(name)
        box.setEditText("arange:0:0.5")
        assert run_pane.inputs.error(name) == ""
        run(qtbot, run_pane)
        feed = run_pane.document.run.feeds[name]
        np.testing.assert_array_equal(feed.reshape(-1)[:4], [0, 0.5, 1, 1.5])

    def test_an_empty_dim_has_its_default(self, qtbot: QtBot, open_model: Opener, run_pane: RunPane) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.dims.findChildren(QLineEdit)
        assert (field.text(), field.placeholderText(), run_pane.document.dims) == ("", "1", {})
        qtbot.keyClicks(field, "3")
        assert (run_pane.plan().dims, run_pane.document.dims) == ({"N": 3}, {"N": 3})
        field.clear()
        assert (run_pane.plan().dims, run_pane.document.dims) == ({"N": 1}, {})

    def test_a_wrong_dim_is_marked(self, qtbot: QtBot, open_model: Opener, run_pane: RunPane) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.dims.findChildren(QLineEdit)
        field.setText("-3")
        assert field.property("invalid") == "true"
        field.setText("2")
        assert field.property("invalid") == "false"


def test_the_memory_is_estimated_before_the_run(
    qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    """40 products of 700 × 700 float32, on both sides or on one."""
    open_model(slow_model(tmp_path / "slow.onnx"))
    qtbot.waitUntil(lambda: run_pane.status.text().startswith("needs about"))
    expected = 2 * 40 * 700 * 700 * 4 / 2**20
    assert f"needs about {expected:.3g} MiB of" in run_pane.status.text()
    run_pane.per_node.setChecked(False)
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
    assert not run_pane.feedback.isEnabled()
    (box,) = run_pane.inputs.findChildren(QComboBox)
    box.setEditText("zeros")
    run_pane.steps.setValue(5)
    assert run_pane.feedback.isEnabled()
    run(qtbot, run_pane)
    assert window.document.run.feeds["past_state"].tolist() == [4.0]
    assert window.document.run.result.outputs["present_state"].tolist() == [5.0]
    run_pane.feedback.setText("nothing=here")
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
    for box in run_pane.inputs.findChildren(QComboBox):
        box.setEditText("5")
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


def test_a_dim_beyond_an_int64_is_no_size(window: MainWindow, open_model: Opener, run_pane: RunPane) -> None:
    open_model(SAMPLE)
    field = run_pane.dims._fields["N"]
    field.setText("9" * 5000)
    assert run_pane.dims.invalid() == "N"
    field.setText("2")
    assert run_pane.dims.dims() == {"N": 2}


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


def test_a_model_with_thousands_of_inputs_shows_some_and_keeps_the_rest(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    count = 2_000
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [f"n{i}"]) for i in range(count)]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x0"], ["y"])], "g", inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n0"])],
    )  # fmt: skip
    path = tmp_path / "wide.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    open_model(path)
    assert 0 < len(run_pane.inputs.findChildren(QComboBox)) <= 100
    assert 0 < len(run_pane.dims.findChildren(QLineEdit)) <= 100
    plan = run_pane.plan()
    assert len(plan.dims) == len(plan.specs) == count
    set_counts(run_pane, 0, 1)
    run(qtbot, run_pane)
    assert window.document.run.comparison.agree
