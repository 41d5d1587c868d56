"""A table of many rows: filtered, sorted and copied by jobs, the row looked at kept."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gui.background.jobs import JobRunner
from gui.models.arrangement import Arrangement
from gui.models.table import FEW, Column, TableModel
from gui.widgets.table_view import TableView

MANY = 50 * FEW


class Row:
    def __init__(self, number: int) -> None:
        self.number = number
        self.name = f"row {number}"


COLUMNS = (
    Column("name", lambda r: r.name),
    Column("half", lambda r: str(r.number // 2), right=True, key=lambda r: r.number // 2),
)


class AskedModel(TableModel):
    """Counts how often Qt asks what can be done with a cell."""

    asked = 0

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        self.asked += 1
        return super().flags(index)


@pytest.fixture
def view(qtbot: QtBot) -> TableView:
    runner = JobRunner()
    model = AskedModel(COLUMNS, jobs=runner)
    runner.setParent(model)
    view = TableView(model, "Rows")
    model.setParent(view)
    qtbot.addWidget(view)
    view.resize(300, 400)
    view.show()
    model.set_rows([Row(number) for number in range(MANY)])
    return view


def numbers(model: Any) -> list[int]:
    return [row.number for row in model.shown]


def test_arrangement_filters_then_sorts_and_keeps_equals_in_order() -> None:
    rows = [Row(number) for number in (4, 2, 12, 3, 5)]
    texts = [column.text for column in COLUMNS]
    assert Arrangement(texts).of(rows) == rows
    assert [r.number for r in Arrangement(texts, ("row", "2")).of(rows)] == [4, 2, 12, 5]  # 4 and 5 by their half
    by_half = Arrangement(texts, key=COLUMNS[1].key)
    assert [r.number for r in by_half.of(rows)] == [2, 3, 4, 5, 12]
    down = Arrangement(texts, accepts=lambda r: r.number < 12, key=COLUMNS[1].key, reverse=True)
    assert [r.number for r in down.of(rows)] == [4, 5, 2, 3]


def test_arrangement_can_be_stopped_while_it_filters_and_while_it_sorts() -> None:
    rows = [Row(number) for number in range(2000)]
    for arrangement in (Arrangement(accepts=lambda _row: True), Arrangement(key=lambda row: row.number)):
        asked = 0

        def check() -> None:
            nonlocal asked
            asked += 1

        arrangement.of(rows, check)
        assert asked >= 8


def test_many_rows_are_filtered_and_sorted_by_a_job(view: TableView, qtbot: QtBot) -> None:
    model = view.model()
    with qtbot.waitSignal(model.modelReset):
        model.set_filter("99")
        assert len(model.shown) == MANY  # what was shown stays until the answer is there
    assert numbers(model) == [n for n in range(MANY) if "99" in f"row {n} {n // 2}"]
    with qtbot.waitSignal(model.modelReset):
        model.sort(1, Qt.SortOrder.DescendingOrder)
    assert numbers(model)[:2] == [MANY - 2, MANY - 1]


def test_only_the_last_of_several_filters_is_shown(view: TableView, qtbot: QtBot) -> None:
    model, resets = view.model(), []
    model.modelReset.connect(lambda: resets.append(len(model.shown)))
    for text in ("1", "12", "123"):
        model.set_filter(text)
    qtbot.waitUntil(lambda: len(resets) == 1)
    assert numbers(model) == [n for n in range(MANY) if "123" in f"row {n} {n // 2}"]


def test_rows_of_another_model_never_stand_under_the_filter_of_the_one_before(view: TableView, qtbot: QtBot) -> None:
    model = view.model()
    with qtbot.waitSignal(model.modelReset):
        model.set_filter("77")
    others = [Row(number) for number in range(MANY, 2 * MANY)]
    model.set_rows(others)
    assert model.shown == []
    qtbot.waitUntil(lambda: bool(model.shown))
    assert set(model.shown) <= set(others)


def test_the_current_row_stays_current_while_it_is_shown(view: TableView, qtbot: QtBot) -> None:
    model = view.model()
    row, picked = model.rows[1234], []
    view.show_row(row)
    view.picked.connect(picked.append)
    with qtbot.waitSignal(model.modelReset):
        view.horizontalHeader().sectionClicked.emit(1)
    assert view.current_row() is row
    with qtbot.waitSignal(model.modelReset):
        model.set_filter("1234")
    assert view.current_row() is row
    with qtbot.waitSignal(model.modelReset):
        model.set_filter("nothing like it")
    assert view.current_row() is None
    assert picked == []  # nobody went anywhere


def test_all_rows_are_selected_and_copied_without_asking_for_each(view: TableView, qtbot: QtBot) -> None:
    model = view.model()
    view.selectAll()
    view.viewport().repaint()
    view.horizontalHeader().viewport().repaint()
    assert model.asked < FEW
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("")
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bool(clipboard.text()))
    lines = clipboard.text().split("\n")
    assert len(lines) == MANY + 1
    assert lines[:2] + lines[-1:] == ["name\thalf", "row 0\t0", f"row {MANY - 1}\t{(MANY - 1) // 2}"]
