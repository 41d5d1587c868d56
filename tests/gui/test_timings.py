"""The Timings pane: plots, tables and what is exported of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from gui.panes.run import RunPane
from gui.panes.timings import TimingsPane
from gui.widgets.run.plots import NodesPlot
from gui.window.main_window import MainWindow
from tests.gui.conftest import NewWindow, Opener
from tests.gui.planted import plant
from tests.gui.running_pane import SAMPLE, run, run_state, set_counts


class TestTimings:
    def test_operators_stack_their_providers(
        self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, new_window: NewWindow
    ) -> None:
        plant(monkeypatch, ["Relu"], {})
        window = new_window()
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


def test_what_an_axis_is_of_stands_in_its_middle(qtbot: QtBot, window: MainWindow) -> None:
    """In a plot that gets room for more words, too."""
    run_state(qtbot, window)
    plot = NodesPlot()
    qtbot.addWidget(plot)
    plot.resize(200, 200)
    plot.show()
    plot.set_rows(window.document.run.times.nodes)
    axis = plot.getAxis("bottom")
    from_middle = lambda: axis.label.x() + axis.label.boundingRect().width() / 2 - axis.size().width() / 2  # noqa: E731
    qtbot.waitUntil(lambda: abs(from_middle()) < 2)
    plot.resize(400, 200)
    assert axis.labelText.startswith("run order, ticks: CPU only")
    assert abs(from_middle()) < 2
