"""Choosing the columns of tables, in the real window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from gui.panes.run import RunPane
from gui.settings import Settings
from gui.table_pane import TablePane
from gui.window.main_window import MainWindow
from resources import CONTROL_FLOW_MODEL, SAMPLE_MODEL, path
from tests.gui.conftest import NewWindow, Opener
from tests.gui.running_pane import run

pytestmark = pytest.mark.qt_log_ignore("does not support grabbing", extend=True)


def titles(pane: TablePane) -> list[str]:
    """Of the columns that are shown."""
    columns = pane.model.columns
    return [column.title for place, column in enumerate(columns) if not pane.view.isColumnHidden(place)]


def choose(pane: TablePane, entry: str) -> None:
    """Pick an entry of the header's menu."""
    pane.view.horizontalHeader().customContextMenuRequested.emit(QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == entry).trigger()
    menu.close()


def column(pane: TablePane, title: str) -> list[str]:
    place = next(i for i, c in enumerate(pane.model.columns) if c.title == title)
    return [pane.model.index(row, place).data() for row in range(pane.model.rowCount())]


def test_columns_are_chosen_kept_and_taken_back(
    window: MainWindow, open_model: Opener, settings: Settings, new_window: NewWindow
) -> None:
    open_model(path(SAMPLE_MODEL))
    order: TablePane = window.docks["order"].widget()
    first = titles(order)
    assert first == ["#", "operator", "name"]
    choose(order, "FLOPs")
    choose(order, "#")
    assert titles(order) == ["operator", "name", "FLOPs"]
    assert settings.columns_of("Run order") == {"FLOPs": True, "#": False}
    other = new_window()
    assert titles(other.docks["order"].widget()) == ["operator", "name", "FLOPs"]
    assert titles(other.docks["shapes"].widget()) == titles(window.docks["shapes"].widget())
    choose(order, "FLOPs")
    assert settings.columns_of("Run order") == {"#": False}
    choose(order, "As at First")
    assert titles(order) == first
    assert settings.columns_of("Run order") == {}


def test_the_last_column_stays(window: MainWindow, open_model: Opener) -> None:
    open_model(path(SAMPLE_MODEL))
    order: TablePane = window.docks["order"].widget()
    choose(order, "#")
    choose(order, "operator")
    choose(order, "name")
    assert titles(order) == ["name"]


def test_what_the_user_hid_stays_hidden_though_it_has_something_to_say(window: MainWindow, open_model: Opener) -> None:
    open_model(path(SAMPLE_MODEL))
    order: TablePane = window.docks["order"].widget()
    order._file_order.setChecked(True)
    assert "file" in titles(order)
    choose(order, "file")
    order._file_order.setChecked(False)
    order._file_order.setChecked(True)
    assert "file" not in titles(order)


def test_the_menu_of_a_row_has_the_columns_too(window: MainWindow, open_model: Opener) -> None:
    """For those who have no mouse to point at a header with."""
    open_model(path(SAMPLE_MODEL))
    order: TablePane = window.docks["order"].widget()
    order.view.setCurrentIndex(order.model.index(0, 0))
    order.view.customContextMenuRequested.emit(order.view.visualRect(order.model.index(0, 0)).center())
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    inner = next(action.menu() for action in menu.actions() if action.text() == "C&olumns")
    next(action for action in inner.actions() if action.text() == "MACs").trigger()
    menu.close()
    assert "MACs" in titles(order)


def test_costs_of_nodes_follow_the_dims_and_sort(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    """The first convolution: 16×3×3×3 weights over 32×32 places are 442,368 multiply-accumulates."""
    open_model(path(SAMPLE_MODEL))
    order: TablePane = window.docks["order"].widget()
    qtbot.waitUntil(lambda: column(order, "MACs")[0] != "")
    assert (column(order, "MACs")[0], column(order, "FLOPs")[0]) == ("442 k", "885 k")
    assert column(order, "params")[0] == "432"
    assert column(order, "traffic")[0] == "77.7 KiB"  # 4 bytes each of 3·32·32 + 432 in and 16·32·32 out
    for title in ("MACs", "FLOPs"):
        choose(order, title)
    flops = next(i for i, c in enumerate(order.model.columns) if c.title == "FLOPs")
    order.view.horizontalHeader().sectionClicked.emit(flops)
    order.view.horizontalHeader().sectionClicked.emit(flops)
    counts = [row.cost.flops for row in order.model.shown]
    assert counts == sorted(counts, reverse=True)
    before = column(order, "FLOPs")[0]
    window.document.set_dims({"N": 3})
    qtbot.waitUntil(lambda: column(order, "FLOPs")[0] != before)
    assert [row.cost.flops for row in order.model.shown] == sorted((3 * c for c in counts), reverse=True)


def test_shapes_has_a_column_only_where_there_is_something_to_say(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
) -> None:
    """So that why a shape is unknown stands in sight, not behind empty columns."""
    always = ["name", "dtype", "stored", "inferred", "bytes"]
    shapes: TablePane = window.docks["shapes"].widget()
    open_model(path(SAMPLE_MODEL))
    assert titles(shapes) == always
    window.document.set_dims({"N": 2})
    assert titles(shapes) == [*always[:4], "bound", "bytes"]
    window.document.set_dims({})
    run(qtbot, run_pane)
    assert titles(shapes) == [*always, "observed"]
    open_model(path(CONTROL_FLOW_MODEL))
    unknown = any(tensor.unknown_because for tensor in window.document.graph.tensors.values())
    assert titles(shapes) == always + ["why"] * unknown


def test_sizes_of_weights_are_in_sight_at_the_first_size_of_the_window(window: MainWindow, open_model: Opener) -> None:
    open_model(path(SAMPLE_MODEL))
    window.docks["initializers"].raise_()
    pane: TablePane = window.docks["initializers"].widget()
    size = next(i for i, c in enumerate(pane.model.columns) if c.title == "size")
    right = pane.view.columnViewportPosition(size) + pane.view.columnWidth(size)
    assert right <= pane.view.viewport().width()
