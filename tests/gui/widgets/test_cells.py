"""What tables paint, read off their pixels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.look.theme import theme_manager
from gui.models.table import Column, Style, TableModel
from gui.widgets.table_view import TableView

COLUMNS = (
    Column("name", lambda row: row, square=lambda row: QColor("#ff00ff") if row == "squared" else None),
    Column("share", lambda _row: "", bar=lambda row: 1.0 if row == "squared" else 0.0),
    Column("length", lambda row: str(len(row)), Style("error"), right=True),
)
ROWS = ["squared", "plain", "x" * 1_000_000]


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TableView]:
    model = TableModel(COLUMNS)
    view = TableView(model, "Cells")
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    model.set_rows(ROWS)
    yield view
    view.setModel(None)


def pixels(view: TableView) -> QImage:
    return view.viewport().grab().toImage()


def cell(view: TableView, row: int, column: int) -> QRect:
    return view.visualRect(view.model().index(row, column))


def holds(image: QImage, area: QRect, colour: QColor) -> bool:
    """Whether a pixel of an area has a colour."""
    return any(
        image.pixelColor(x, y) == colour
        for x in range(area.left(), area.right() + 1)
        for y in range(area.top(), area.bottom() + 1)
    )


def test_squares_bars_and_texts_stand_in_their_cells(view: TableView) -> None:
    image, magenta = pixels(view), QColor("#ff00ff")
    assert holds(image, cell(view, 0, 0), magenta)
    assert not holds(image, cell(view, 1, 0), magenta)
    window, red = theme_manager().theme.colour("window"), theme_manager().theme.colour("error")
    middle = cell(view, 0, 1).center()
    assert image.pixelColor(middle) != window
    assert image.pixelColor(cell(view, 1, 1).center()) == window
    length = cell(view, 1, 2)
    assert holds(image, length.adjusted(length.width() // 2, 0, 0, 0), red)
    assert not holds(image, length.adjusted(0, 0, -length.width() // 2, 0), red)


def test_a_name_of_a_million_characters_ends_in_its_cell(view: TableView) -> None:
    room = cell(view, 2, 0)
    text = theme_manager().theme.colour("text")
    assert holds(pixels(view), room, text)
    assert not holds(pixels(view), cell(view, 2, 1), text)


def test_rows_that_are_selected_are_marked_over_all_columns(view: TableView) -> None:
    view.selectRow(1)
    image, marked = pixels(view), theme_manager().theme.colour("selection")
    for column in range(3):
        inside = cell(view, 1, column).topRight() + QPoint(-1, 1)
        assert image.pixelColor(inside) == marked
        assert image.pixelColor(inside - QPoint(0, cell(view, 1, 0).height())) != marked


def test_a_part_alone_can_be_painted_anew(view: TableView) -> None:
    """As Qt asks for where rows scroll into view."""
    whole, area = pixels(view), cell(view, 1, 2)
    assert view.viewport().grab(area).toImage() == whole.copy(area)


def test_a_double_click_beside_a_title_fits_the_column(view: TableView) -> None:
    view.setColumnWidth(2, 200)
    header = view.horizontalHeader()
    at = QPointF(header.sectionViewportPosition(2) + 199, header.height() / 2)
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
        event = QMouseEvent(
            kind, at, header.viewport().mapToGlobal(at), Qt.MouseButton.LeftButton, Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QApplication.sendEvent(header.viewport(), event)
    wanted = view.fontMetrics().horizontalAdvance("1000000")
    assert wanted < view.columnWidth(2) < 200
