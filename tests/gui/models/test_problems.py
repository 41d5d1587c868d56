"""The rows of the Problems pane: grouped by code, the many counted, all of them reachable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
from onnx import helper
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.diagnostics import CATALOGUE, GROUP_LIMIT, Diagnostic, Severity
from gui.facts.index import ModelIndex
from gui.models.problems import problem_rows
from gui.panes.problems import ProblemsPane
from gui.window.main_window import MainWindow


def finding(code: str, number: int = 0) -> Diagnostic:
    return Diagnostic(code, CATALOGUE[code].severity, f"message {number}")


def test_errors_come_first_and_codes_together() -> None:
    found = map(finding, ["unused-node", "cycle", "unsorted", "unused-node", "cycle"])
    codes = [row.diagnostic.code for row in problem_rows(list(found), ModelIndex())]
    assert codes == ["cycle", "cycle", "unsorted", "unused-node", "unused-node"]


def test_of_very_many_the_first_are_shown_and_the_rest_is_counted() -> None:
    rows = problem_rows([finding("unused-node", i) for i in range(500)], ModelIndex())
    assert [row.beyond for row in rows[:500]] == [False] * GROUP_LIMIT + [True] * 480
    (last,) = rows[500:]
    assert last.more == 480
    assert "480 more" in last.message


def test_one_more_than_the_limit_is_not_worth_a_row_of_its_own() -> None:
    rows = problem_rows([finding("unused-node", i) for i in range(GROUP_LIMIT + 1)], ModelIndex())
    assert not any(row.more or row.beyond for row in rows)


def test_the_pane_lists_the_rest_when_asked_and_says_what_to_do(
    qtbot: QtBot, window: MainWindow, open_model: Callable[[Path], None], tmp_path: Path
) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    nodes += [helper.make_node("Neg", ["x"], [f"dead{i}"], name=f"dead{i}") for i in range(50)]
    values = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", values[:1], values[1:])), path)
    open_model(path)
    pane = window.docks["problems"].widget()
    assert isinstance(pane, ProblemsPane)
    window.docks["problems"].raise_()
    assert pane.model.rowCount() == GROUP_LIMIT + 1
    assert "50 problems" in pane.summary.text()
    pane.filter.setText("dead49")
    qtbot.waitUntil(lambda: pane.model.rowCount() == 1)  # the filter looks at all
    pane.filter.clear()
    qtbot.waitUntil(lambda: pane.model.rowCount() == GROUP_LIMIT + 1)
    last = pane.model.index(GROUP_LIMIT, 0)
    pane.view.scrollTo(last)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.visualRect(last).center())
    qtbot.waitUntil(lambda: pane.model.rowCount() == 50)
    first = pane.model.index(0, 0)
    pane.view.scrollTo(first)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.visualRect(first).center())
    assert window.document.selection is window.document.index.nodes["dead0"]
    assert CATALOGUE["unused-node"].hint in pane.advice.text()
    assert pane.advice.textFormat() is Qt.TextFormat.PlainText


def test_severities_have_a_rank() -> None:
    assert list(Severity) == [Severity.ERROR, Severity.WARNING, Severity.INFO]
