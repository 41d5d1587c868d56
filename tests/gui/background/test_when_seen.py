"""Panes behind others do nothing until they are seen, and then show what is so now."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QTabWidget, QWidget
from pytestqt.qtbot import QtBot

import resources
from gui.background.turns import Turns
from gui.background.when_seen import WhenSeen
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener


def test_what_is_asked_behind_a_tab_is_done_once_when_the_tab_comes_to_the_front(qtbot: QtBot) -> None:
    tabs, front, back, done = QTabWidget(), QWidget(), QWidget(), []
    turns = Turns(tabs)
    for page in (front, back):
        tabs.addTab(page, "page")
    qtbot.addWidget(tabs)
    seen = WhenSeen(front, lambda: done.append("front"), turns)
    unseen = WhenSeen(back, lambda: done.append("back"), turns)
    tabs.show()
    for _ in range(3):
        seen.ask()
        unseen.ask()
    assert done == []
    qtbot.waitUntil(lambda: turns.idle)
    assert done == ["front"]
    tabs.setCurrentWidget(back)
    qtbot.waitUntil(lambda: done[1:] == ["back"])
    tabs.setCurrentWidget(front)
    tabs.setCurrentWidget(back)
    QCoreApplication.processEvents()
    assert done[2:] == []


def test_panes_show_what_was_selected_while_they_were_behind(
    window: MainWindow, qtbot: QtBot, open_model: Opener
) -> None:
    open_model(resources.path(resources.SAMPLE_MODEL))
    document, properties, tensor = window.document, window.docks["properties"], window.docks["tensor"]
    graph = document.model.graph
    tensor.raise_()
    lines = properties.widget().list.lines
    for node in (graph.nodes[0], graph.nodes[1]):
        document.select(node)
    assert properties.widget().list.lines is lines
    properties.raise_()
    assert properties.widget().list.lines[0].label == graph.nodes[1].op_type
    weight = next(t for t in graph.tensors.values() if t.data is not None and t.data.size > 9)
    document.select(weight)
    qtbot.waitUntil(lambda: document.jobs.active == 0)
    assert tensor.widget().values.rowCount() == 0
    tensor.raise_()
    qtbot.waitUntil(lambda: tensor.widget().values.rowCount() > 0)
    assert str(weight.data.size) in tensor.widget().figures.text() or tensor.widget().histogram.counts.sum() > 9


def test_a_selection_that_is_over_before_its_turn_is_not_shown(
    window: MainWindow, qtbot: QtBot, open_model: Opener
) -> None:
    open_model(resources.path(resources.SAMPLE_MODEL))
    document, properties = window.document, window.docks["properties"].widget()
    titles: list[str] = []
    properties.list.model().modelReset.connect(lambda: titles.append(properties.list.lines[0].value))
    for node in document.graph.nodes[:3]:
        document.select(node)
    assert titles == []
    qtbot.waitUntil(lambda: document.turns.idle)
    assert set(titles) == {document.graph.nodes[2].name}  # again once the costs are known
