"""What arrives, or is chosen, after something else has been asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.centre import canvas_drawings
from gui.finding.quick_open import QuickOpen
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.window_panes import CONTROL_FLOW, SAMPLE

Hold = Callable[[], tuple[threading.Event, threading.Event]]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hold]:
    """Holds what is drawn from now on: an event that tells of the beginning, and one that lets it end."""
    begun, go_on = threading.Event(), threading.Event()
    draw = canvas_drawings.draw

    def slow_draw(graph: Any, grouping: Any, options: Any, measure: Any, _cancelled: Any, flat: bool) -> Any:
        begun.set()
        go_on.wait()
        return draw(graph, grouping, options, measure, lambda: False, flat)

    def hold() -> tuple[threading.Event, threading.Event]:
        monkeypatch.setattr(canvas_drawings, "draw", slow_draw)
        return begun, go_on

    yield hold
    go_on.set()


def test_a_drawing_that_is_not_wanted_any_more_is_not_shown(
    qtbot: QtBot, window: MainWindow, open_model: Opener, held: Hold
) -> None:
    open_model(SAMPLE)
    canvas = window.canvas
    scene = canvas.canvas.scene
    begun, go_on = held()
    canvas.set_options(weights=not canvas.options.weights)
    qtbot.waitUntil(begun.is_set)
    canvas.set_options(weights=not canvas.options.weights)
    assert canvas.canvas.scene is scene, "it was kept"
    go_on.set()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert canvas.canvas.scene is scene


def test_an_item_of_a_model_that_is_gone_is_not_selected(window: MainWindow, open_model: Opener) -> None:
    open_model(CONTROL_FLOW)
    document = window.document
    gone = document.graph.nodes[0]
    inner = next(graph for graph in document.model.graph.walk() if graph.owner is not None)
    open_model(SAMPLE)
    document.select(gone)
    document.show_graph(inner)
    assert (document.graph, document.selection) == (document.model.graph, None)


def test_a_list_of_places_that_is_open_when_a_model_arrives_shows_its_places(
    qtbot: QtBot, window: MainWindow, open_model: Opener
) -> None:
    open_model(CONTROL_FLOW)
    qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    (box,) = window.findChildren(QuickOpen)
    qtbot.waitUntil(lambda: bool(box.model.shown))
    open_model(SAMPLE)
    nodes = set(window.document.graph.nodes)
    qtbot.waitUntil(lambda: bool(box.model.shown) and box.model.shown[0].target in nodes)
    qtbot.keyClick(box.edit, Qt.Key.Key_Return)
    assert window.document.selection in nodes


def test_a_model_that_is_there_is_not_denied(window: MainWindow, open_model: Opener) -> None:
    """Properties are filled in a turn of their own, after the window has been painted with the model."""
    told: list[str] = []
    properties = window.docks["properties"].widget().list
    assert properties.nothing() == "No model open"
    window.document.opening_changed.connect(lambda: told.append(properties.nothing()))
    open_model(SAMPLE)
    assert told == ["Opening sample_cnn.onnx…", ""]
