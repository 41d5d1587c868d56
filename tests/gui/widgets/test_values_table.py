"""The table of values: what it paints, read off its pixels, and how wide its numbers of rows are."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, QRect
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gui.look.theme import theme_manager
from gui.models.values import ValuesModel
from gui.widgets.values_table import ValuesTable


@pytest.fixture
def table(qtbot: QtBot) -> ValuesTable:
    table = ValuesTable(ValuesModel())
    qtbot.addWidget(table)
    table.resize(900, 300)
    table.show()
    return table


def inked(table: ValuesTable, area: QRect) -> bool:
    """Whether something is written in an area."""
    image, paper = table.viewport().grab().toImage(), theme_manager().theme.colour("window")
    places = ((x, y) for x in range(area.left(), area.right() + 1) for y in range(area.top(), area.bottom() + 1))
    return any(image.pixelColor(x, y) != paper for x, y in places)


def cell(table: ValuesTable, row: int, column: int) -> QRect:
    return table.visualRect(table.model().index(row, column))


def test_values_stand_at_the_right_of_their_cells(table: ValuesTable) -> None:
    table.set_plane(np.array([[0, 123456789], [2, 3]]))
    room = cell(table, 0, 0)
    half = room.width() // 2
    assert inked(table, room.adjusted(half, 0, 0, 0))
    assert not inked(table, room.adjusted(0, 0, -half, 0))
    assert inked(table, cell(table, 1, 1))


def test_a_short_last_line_and_nothing_at_all(table: ValuesTable) -> None:
    table.set_plane(np.ones(10, np.float32))
    assert inked(table, cell(table, 1, 1))
    assert not inked(table, cell(table, 1, 2))
    table.set_plane(None)
    assert not inked(table, table.viewport().rect())


def test_a_long_text_ends_in_its_cell(table: ValuesTable) -> None:
    table.set_plane(np.array([["W" * 5000, ""]], object))
    assert inked(table, cell(table, 0, 0))
    assert not inked(table, cell(table, 0, 1))


def test_cells_that_are_selected_are_marked(table: ValuesTable) -> None:
    table.set_plane(np.zeros((3, 3)))
    table.selectionModel().select(table.model().index(1, 1), QItemSelectionModel.SelectionFlag.Select)
    image, marked = table.viewport().grab().toImage(), theme_manager().theme.colour("selection")

    def colour(row: int, column: int) -> QColor:
        room = cell(table, row, column)
        return image.pixelColor(room.left() + 2, room.top() + 2)

    assert [(r, c) for r in range(3) for c in range(3) if colour(r, c) == marked] == [(1, 1)]


def test_numbers_of_rows_have_room_for_the_last(qtbot: QtBot, table: ValuesTable) -> None:
    header = table.verticalHeader()
    for count in (5, 100_000):
        table.set_plane(np.zeros((count, 1), np.int8))
        needed = header.fontMetrics().horizontalAdvance(str(count - 1))
        qtbot.waitUntil(lambda needed=needed: needed < header.width() < needed + 40)
