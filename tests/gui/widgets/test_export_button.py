"""Writing what a pane shows: any name will do, and a place that will not is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from gui.widgets.export_button import ExportButton


@pytest.fixture
def button(qtbot: QtBot) -> ExportButton:
    """With an entry for each kind of file."""
    button = ExportButton("Export", "figures")
    qtbot.addWidget(button)
    label = QLabel("a picture", button)
    button.add_csv(lambda: [{"name": "a\ud800", "ms": 1.0}])
    button.add_json(lambda: {"name": "a\ud800"})
    button.add_picture(label)
    return button


@pytest.mark.parametrize(("entry", "start"), [(0, b"name,ms"), (1, b"{"), (2, b"\x89PNG")])
def test_a_name_without_ending(
    button: ExportButton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: int, start: bytes
) -> None:
    path = tmp_path / "as it is"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    button.menu().actions()[entry].trigger()
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("entry", [0, 1, 2])
def test_a_place_that_cannot_be_written_is_told(
    button: ExportButton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: int
) -> None:
    path = str(tmp_path / "none" / "x.png")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (path, ""))
    button.menu().actions()[entry].trigger()
    (box,) = button.findChildren(QMessageBox)
    assert box.text() == f"No such file or directory: {path}. Choose another place."
    box.close()
