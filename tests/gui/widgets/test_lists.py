"""What lists say where they have nothing to show, and how they make room for what they do."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFontMetrics, QImage
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

import resources
from gui.models.order import OPERATOR
from gui.models.properties.parts import pair, sentence
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.line_list import LineList
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

SAMPLE = resources.path(resources.SAMPLE_MODEL)


def ink(image: QImage) -> int:
    """Pixels in the middle third that are not of the ground."""
    ground = image.pixel(2, 2)
    high, wide = image.height(), image.width()
    return sum(image.pixel(x, y) != ground for y in range(high // 3, 2 * high // 3) for x in range(0, wide, 2))


def test_empty_lists_say_why(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    order = window.docks["order"].widget()
    assert order.view.nothing() == "No model open"
    assert ink(order.view.viewport().grab().toImage()) > 20
    open_model(SAMPLE)
    order.filter.setText("no node is called so")
    order.apply_filter()
    assert order.view.nothing() == "Nothing passes the filter"
    bar = order.view.horizontalScrollBar()
    order.view.set_widths(300, 300)
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    assert not bar.isVisible()  # nothing to scroll
    order.filter.clear()
    order.apply_filter()
    qtbot.waitUntil(bar.isVisible)
    window.docks["problems"].raise_()
    assert window.docks["problems"].widget().view.nothing() == "No problems found"
    assert "Ctrl+F" in window.docks["find"].widget().view.nothing()
    assert "Compare With" in window.docks["changes"].widget().view.nothing()


def test_operators_are_read_in_full(window: MainWindow, open_model: Opener) -> None:
    open_model(SAMPLE)
    pane = window.docks["order"].widget()
    metrics = QFontMetrics(pane.view.font())
    widest = max(metrics.horizontalAdvance(row.node.op_type) for row in pane.model.rows)
    assert pane.view.columnWidth(OPERATOR) >= widest + 15


def test_a_label_stays_beside_its_field(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = FlowLayout(page, spacing=4)
    fields = [(QLabel(f"axis {i}"), QComboBox()) for i in range(4)]
    for label, box in fields:
        box.addItem("0: 1024")
        label.setBuddy(box)
        layout.addWidget(label)
        layout.addWidget(box)
    one = fields[0][0].sizeHint().width() + 4 + fields[0][1].sizeHint().width()
    page.resize(round(1.6 * one), 300)
    page.show()
    places = [(label.geometry().center().y(), box.geometry().center().y()) for label, box in fields]
    assert all(abs(a - b) <= 1 for a, b in places), places
    assert len({a for a, _ in places}) == 4
    assert fields[1][0].mapTo(page, QPoint(0, 0)).x() == 0


def test_a_line_to_type_in_takes_what_its_line_has_left(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = FlowLayout(page, spacing=4)
    first, line, last = QComboBox(), QLineEdit(), QComboBox()
    for widget in (first, line, last):
        layout.addWidget(widget)
    page.resize(900, 100)
    page.show()
    assert first.width() == first.sizeHint().width()
    assert last.geometry().right() == page.rect().right()
    page.resize(line.sizeHint().width() + 10, 300)
    assert line.width() == page.width()
    assert line.y() > first.y()


def test_columns_sort_from_the_menu_too(
    window: MainWindow, open_model: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _at: menus.append(menu))  # which offscreen cannot
    view = window.docks["order"].widget().view
    view.selectRow(0)

    def sort_by(title: str) -> list[str]:
        view.customContextMenuRequested.emit(view.visualRect(view.currentIndex()).center())
        submenu = next(a.menu() for a in menus[-1].actions() if a.text() == "So&rt by")
        next(a for a in submenu.actions() if a.text().startswith(title)).trigger()
        return [row.node.op_type for row in view.model().shown]

    first = [row.node.op_type for row in view.model().shown]
    assert sort_by("operator") == sorted(first)
    assert sort_by("operator") == sorted(first, reverse=True)
    assert sort_by("operator") == first


def test_a_sentence_beside_a_label_is_read_to_its_end(qtbot: QtBot) -> None:
    """It takes the lines it needs in a narrow list, and one where there is room."""
    view = LineList("Properties")
    qtbot.addWidget(view)
    words = "activations: node_Sigmoid_1 and node_Mul_2 are computed as one SiLU"
    view.set_lines([sentence("fast mode", words), pair("name", words)])
    view.resize(240, 300)
    view.show()
    wrapped, cut = (view.visualRect(view.model().index(row, 0)) for row in range(2))
    assert wrapped.height() > 3 * cut.height()
    last = wrapped.adjusted(0, wrapped.height() - cut.height(), 0, 0)
    assert ink(view.viewport().grab(last).toImage()) > 20
    view.resize(1200, 300)
    qtbot.waitUntil(lambda: view.visualRect(view.model().index(0, 0)).height() < 1.5 * cut.height())
