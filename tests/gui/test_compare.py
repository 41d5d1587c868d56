"""The Compare pane in the real window: planted errors, tolerances, files, a second opinion, both sides."""
from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

import resources
from engine.feeds import load_arrays
from gui.panes.compare import ComparePane
from gui.panes.run import RunPane
from gui.running.agreement_table import verdict
from gui.running.judging import CPU, OPINION
from gui.widgets.run.agreement_table import ALL, BEYOND, NONFINITE
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.planted import plant

SAMPLE = resources.path(resources.SAMPLE_MODEL)


def shifted(values: np.ndarray) -> np.ndarray:
    return values + np.asarray(1e-2, values.dtype)


def broken(values: np.ndarray) -> np.ndarray:
    changed = values.copy()
    changed.reshape(-1)[3] = np.inf
    changed.reshape(-1)[5] = np.nan
    return changed


def first_conv() -> str:
    """Name of the first convolution of the sample."""
    import engine

    return next(node.name for node in engine.open_model(SAMPLE).graph.order if node.op_type == "Conv")


@pytest.fixture
def planted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A provider that gets the first convolution wrong, by the function that the test names; the node's name."""
    name = first_conv()
    plant(monkeypatch, ["Conv", "Relu"], {name: request.param})
    return name


@pytest.fixture
def pane(planted: str, window: MainWindow) -> ComparePane:
    return window.docks["compare"].widget()


def run(qtbot: QtBot, window: MainWindow, pane: ComparePane) -> None:
    """Run, and wait until every tensor is judged."""
    run_pane: RunPane = window.docks["run"].widget()
    run_pane.setup.warmup.setValue(0)
    run_pane.setup.repeat.setValue(1)
    with qtbot.waitSignal(pane.judged):
        window.document.run_requested.emit()
    qtbot.waitUntil(lambda: not window.document.busy and window.document.turns.idle)
    window.docks["compare"].raise_()


def judged(qtbot: QtBot, pane: ComparePane, act: Callable[[], object]) -> None:
    with qtbot.waitSignal(pane.judged):
        act()


@pytest.mark.parametrize("planted", [shifted], indirect=True)
class TestPlantedError:
    def test_the_right_node_is_named_first(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane, planted: str
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)
        assert f"from {planted} on" in pane.verdict.text()
        places = [row.place for row in pane.rows]
        assert places == sorted(places)
        assert len(pane.rows) == sum(len(node.outputs) for node in window.document.model.graph.order)
        window.document.select(None)
        qtbot.mouseClick(pane.first, Qt.MouseButton.LeftButton)
        assert window.document.selection.producer.name == planted
        row = pane.table.view.current_row()
        assert row.agreement.max_abs == pytest.approx(1e-2, rel=1e-3)

    def test_f8_goes_there_through_any_filter(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane, planted: str
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)
        pane.table.filter.setText("no such tensor")
        pane.table.apply_filter()
        assert pane.table.model.rowCount() == 0
        window.document.select(None)
        qtbot.keyClick(window, Qt.Key.Key_F8)
        assert window.document.selection.producer.name == planted
        assert pane.table.filter.text() == ""

    def test_only_what_needs_a_look(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)
        pane.table.show_only.setCurrentText(BEYOND)
        wrong = [row for row in pane.rows if not row.agreement.agrees]
        assert pane.table.model.shown == wrong
        assert len(wrong) > 0
        pane.table.show_only.setCurrentText(NONFINITE)
        assert pane.table.model.shown == []
        pane.table.show_only.setCurrentText(ALL)
        assert pane.table.model.shown == pane.rows

    def test_a_wider_tolerance_lets_it_pass_and_nonsense_is_told(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)

        def type_in(text: str) -> None:
            pane.tolerance.lineEdit().setFocus()
            pane.tolerance.lineEdit().selectAll()
            qtbot.keyClicks(pane.tolerance.lineEdit(), text)
            qtbot.keyClick(pane.tolerance.lineEdit(), Qt.Key.Key_Return)

        judged(qtbot, pane, lambda: type_in("1e3"))
        assert all(row.agreement.agrees for row in pane.rows)
        assert pane.first.isHidden()
        type_in("wide")
        assert "'wide' is no number" in pane.verdict.text()
        assert pane.tolerance.lineEdit().property("invalid") == "true"
        judged(qtbot, pane, lambda: type_in("by type"))
        assert not pane.first.isHidden()

    def test_both_sides_at_the_worst_element(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)
        pane.show_first()
        window.document.turns.finish()
        row, pair = pane.table.view.current_row(), pane.pair
        worst = row.agreement.worst
        assert tuple(spinner.value() for spinner in pair.spinners) == worst[:-2]
        shown = [float(table.currentIndex().data()) for table in pair.tables.tables]
        assert shown == pytest.approx([row.actual[worst], row.expected[worst]], rel=1e-5)
        qtbot.waitUntil(lambda: pair.histogram.counts.size > 0)
        assert pair.histogram.counts.sum() == row.actual.size
        fixed = worst[:-2]
        image = pair.pictures.pictures[2].image.image
        np.testing.assert_allclose(image, np.abs(row.actual[fixed] - row.expected[fixed]), atol=1e-6)

    def test_saved_tensors_are_a_reference_of_their_own(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane, tmp_path: Path
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)
        path = tmp_path / "run.npz"
        pane.save_tensors(str(path))
        qtbot.waitUntil(lambda: pane.verdict.text().startswith("saved"))
        saved = load_arrays(path)
        for row in pane.rows:
            np.testing.assert_array_equal(saved[row.name], row.actual)
        judged(qtbot, pane, lambda: pane.compare_with_file(str(path)))
        assert "equal to the last bit" in pane.verdict.text()
        assert pane.against.currentText() == "run.npz"
        run(qtbot, window, pane)  # the file stays the reference of the next run
        assert pane.against.currentText() == "run.npz"
        open_model(SAMPLE)  # but not of another model
        run(qtbot, window, pane)
        assert pane.against.currentText() == CPU

    def test_a_file_that_does_not_fit_is_told(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane, tmp_path: Path
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)
        np.savez(tmp_path / "other.npz", nowhere=np.zeros(3))
        pane.compare_with_file(str(tmp_path / "other.npz"))
        qtbot.waitUntil(lambda: "no such tensor" in pane.verdict.text())
        assert pane.against.currentText() == CPU

    def test_onnx_runtime_sides_with_the_cpu(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane, planted: str
    ) -> None:
        pytest.importorskip("onnxruntime")
        open_model(SAMPLE)
        run(qtbot, window, pane)
        judged(qtbot, pane, pane.ask_second_opinion)
        assert pane.against.currentText() == OPINION
        assert f"from {planted} on" in pane.verdict.text()

    def test_exports(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane, planted: str, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        open_model(SAMPLE)
        run(qtbot, window, pane)
        actions = {action.text(): action for action in pane.save.menu().actions()}
        for text, name in (("Table as CSV…", "t.csv"), ("Figures as JSON…", "t.json"), ("Picture…", "t.png")):
            monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, name=name: (str(tmp_path / name), ""))
            actions[text].trigger()
        rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
        assert [row["tensor"] for row in rows] == [row.name for row in pane.rows]
        wrong = next(row for row in rows if row["agrees"] == "False")
        assert wrong["node"] == planted
        assert float(wrong["max_abs"]) == pytest.approx(1e-2, rel=1e-3)
        figures = json.loads((tmp_path / "t.json").read_text())
        assert (figures["against"], len(figures["tensors"])) == (CPU, len(rows))
        assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("planted", [broken], indirect=True)
def test_the_first_nan_is_found(
    qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane, planted: str
) -> None:
    open_model(SAMPLE)
    run(qtbot, window, pane)
    assert "1 NaN and 1 infinite of finite inputs" in pane.verdict.text()
    window.document.select(None)
    qtbot.mouseClick(pane.nonfinite, Qt.MouseButton.LeftButton)
    assert window.document.selection.producer.name == planted
    row = pane.table.view.current_row()
    assert (row.nan, row.inf) == (1, 1)
    pane.table.show_only.setCurrentText(NONFINITE)
    assert pane.table.model.shown[0] is row


def test_nan_in_the_outputs_is_no_good_news(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    """Both sides make it, so they agree."""
    nodes = [helper.make_node("Log", ["c"], ["logs"], "log"), helper.make_node("Add", ["x", "logs"], ["y"], "add")]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy"]
    below_0 = onnx.numpy_helper.from_array(np.full(4, -1, np.float32), "c")
    graph = helper.make_graph(nodes, "logs", ends[:1], ends[1:], [below_0])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "log.onnx")
    open_model(tmp_path / "log.onnx")
    pane: ComparePane = window.docks["compare"].widget()
    run(qtbot, window, pane)
    result = window.docks["run"].widget().result
    assert result.verdict.text() == "outputs agree: equal to the last bit; y holds 4 NaN"
    assert result.verdict.property("role") == "warning"
    assert pane.verdict.property("role") == "warning"
    assert [verdict(row) for row in pane.rows] == ["equal; 4 NaN"] * 2


@pytest.mark.parametrize("planted", [shifted], indirect=True)
def test_a_model_opened_while_judging_gets_no_rows(
    qtbot: QtBot, window: MainWindow, open_model: Opener, pane: ComparePane
) -> None:
    open_model(SAMPLE)
    run(qtbot, window, pane)
    pane._judge()
    open_model(resources.path(resources.CONTROL_FLOW_MODEL))
    assert pane.rows == []
    assert window.document.run is None
