"""Who would compute each node, and what would be copied, before there is a run."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gui.window.main_window import MainWindow
from tests.gui.conftest import NewWindow
from tests.gui.planted import plant
from tests.gui.running_pane import SAMPLE, run, set_counts


@pytest.fixture
def mixed(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, new_window: NewWindow) -> MainWindow:
    """A window on the sample, where a provider with a device of its own takes every Conv."""
    plant(monkeypatch, ["Conv"], {})
    window = new_window()
    with qtbot.waitSignal(window.canvas.drawn):
        window.document.open(SAMPLE)
    qtbot.waitUntil(lambda: not window.document.busy)
    return window


def legend(window: MainWindow) -> tuple[str, list[str]]:
    shown = window.canvas.canvas.colouring.legend
    return shown.title, [text for _, text in shown.entries]


def test_what_is_planned_is_shown_until_a_run_has_shown_better(qtbot: QtBot, mixed: MainWindow) -> None:
    canvas, document = mixed.canvas.canvas, mixed.document
    assert document.forecast.placements == {}, "nobody has asked"
    mixed.set_colour_mode("provider")
    qtbot.waitUntil(lambda: bool(canvas.copies))
    convs = [node for node in document.model.nodes() if node.op_type == "Conv"]
    others = len(list(document.model.nodes())) - len(convs)
    title, entries = legend(mixed)
    assert title == "Provider, as planned"
    assert sorted(entries[:2]) == sorted([f"Planted  {len(convs)}", f"CPU  {others}"])
    assert entries[-1] == f"{len(canvas.copies)} planned copies"
    assert all(edge.count == 0 for edge in canvas.copies)

    tensor = canvas.copies[0].tensor
    pos = canvas.node_rect(tensor).center().toPoint()
    QApplication.sendEvent(canvas, QHelpEvent(QEvent.Type.ToolTip, pos, canvas.mapToGlobal(pos)))
    qtbot.waitUntil(lambda: "planted:0: 1 planned copy" in QToolTip.text())

    planned = {(edge.tensor, edge.source, edge.target) for edge in canvas.copies}
    pane = mixed.docks["run"].widget()
    set_counts(pane, 0, 1)
    run(qtbot, pane)
    assert {(edge.tensor, edge.source, edge.target) for edge in canvas.copies} == planned
    assert all(edge.count for edge in canvas.copies)
    assert legend(mixed)[0] == "Provider"
    assert document.forecast.placements == {}


def test_it_follows_what_the_user_chooses(qtbot: QtBot, mixed: MainWindow) -> None:
    mixed.set_colour_mode("provider")
    qtbot.waitUntil(lambda: bool(mixed.canvas.canvas.copies))
    mixed.document.set_overrides({"op:Conv": "CPU"})
    qtbot.waitUntil(lambda: legend(mixed)[1] == [f"CPU  {len(list(mixed.document.model.nodes()))}"])
    assert mixed.canvas.canvas.copies == ()
    mixed.set_colour_mode("category")
    assert mixed.document.forecast.placements == {}
