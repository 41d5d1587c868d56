"""Bars: the way to a place stays as it is while nothing but its room changes."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from gui.widgets.bars import Breadcrumb


def test_a_breadcrumb_shortens_its_texts_and_keeps_its_buttons(qtbot: QtBot) -> None:
    breadcrumb = Breadcrumb()
    qtbot.addWidget(breadcrumb)
    breadcrumb.resize(900, 24)
    breadcrumb.set_places([("model.onnx", None), ("a name that takes a lot of room, & more", object())])
    breadcrumb.show()
    buttons = breadcrumb.findChildren(QToolButton)
    assert [button.text() for button in buttons] == ["model.onnx", "a name that takes a lot of room, && more"]

    breadcrumb.resize(300, 24)
    assert "…" in buttons[1].text()
    assert buttons[0].text() == "model.onnx"
    breadcrumb.resize(900, 24)
    assert buttons[1].text() == "a name that takes a lot of room, && more"
    assert breadcrumb.findChildren(QToolButton) == buttons
