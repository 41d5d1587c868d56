"""Nodes put on providers by hand, from the Run pane and the panes that show it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from gui.panes.run import RunPane
from gui.window.main_window import MainWindow
from tests.gui.conftest import NewWindow, Opener
from tests.gui.planted import plant
from tests.gui.running_pane import SAMPLE, run, run_state


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


class TestPlacement:
    def test_a_node_and_an_operator_are_placed_by_hand(
        self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, new_window: NewWindow
    ) -> None:
        plant(monkeypatch, ["Relu", "Conv"], {})
        window = new_window()
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
        assert pane.setup.plan().overrides == {}
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
        header = canvas.node_rect(conv).adjusted(0, 4, 0, 0)  # its rows have menus of their own
        spot = QPointF(header.center().x(), header.top()).toPoint()
        QApplication.sendEvent(canvas, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, spot,
                                                         canvas.mapToGlobal(spot)))  # fmt: skip
        action(action(opened(QMenu), title).menu(), "CPU").trigger()
        opened(QMenu).close()
        assert run_pane.setup.plan().overrides == {f"node:{conv.qualified_name}": "CPU"}
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
