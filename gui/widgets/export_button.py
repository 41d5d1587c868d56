"""A button whose menu writes what a pane shows: figures as CSV and JSON, and its picture."""
from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QToolButton, QWidget

from engine.writing import replacing
from gui.errors import explain_unwritten
from gui.output.spreadsheet import csv_text


class ExportButton(QToolButton):
    """`name` is what the files are called at first."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text=f"{text} ▾", accessibleName=text)
        self._name = name
        self._menu = QMenu(self)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def add(self, text: str, call: Callable[[], Any]) -> None:
        """One more entry of the menu."""
        self._menu.addAction(text).triggered.connect(lambda _checked=False: call())

    def add_csv(self, rows: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """An entry that writes `rows()`, which share their keys, as CSV."""
        self.add("Table as CSV…", lambda: self._write("CSV (*.csv)", ".csv", figures_csv(rows())))

    def add_json(self, figures: Callable[[], dict[str, Any]]) -> None:
        """An entry that writes `figures()` as JSON."""
        self.add("Figures as JSON…", lambda: self._write("JSON (*.json)", ".json", json_text(figures())))

    def add_picture(self, widget: QWidget) -> None:
        """An entry that writes a widget as it looks now, as PNG."""
        self.add("Picture…", lambda: self._grab(widget))

    def _write(self, kinds: str, ending: str, text: str) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save", self._name + ending, kinds)
        if path:
            self._save(path, text.encode(errors="backslashreplace"))

    def _grab(self, widget: QWidget) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save the picture", self._name + ".png", "Images (*.png)")
        if path:
            buffer = QBuffer()
            buffer.open(QIODevice.OpenModeFlag.WriteOnly)
            widget.grab().save(buffer, "PNG")
            self._save(path, bytes(buffer.data().data()))

    def _save(self, path: str, data: bytes) -> None:
        try:
            with replacing(path) as file:
                file.write(data)
        except OSError as error:
            self._complain(explain_unwritten(error, path))

    def _complain(self, why: str) -> None:
        box = QMessageBox(QMessageBox.Icon.Warning, "Not saved", "", QMessageBox.StandardButton.Close, self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(why)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()


def figures_csv(rows: Iterable[dict[str, Any]]) -> str:
    """Rows that share their keys as CSV, with a line of titles; empty for no rows."""
    listed = list(rows)
    return csv_text(list(listed[0]), (row.values() for row in listed)) if listed else ""


def json_text(figures: dict[str, Any]) -> str:
    """Figures as JSON; what JSON cannot say (NaN, infinities) as null."""
    return json.dumps(_sayable(figures), indent=1, ensure_ascii=False) + "\n"


def _sayable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _sayable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_sayable(entry) for entry in value]
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    return value
