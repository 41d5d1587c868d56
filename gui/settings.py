"""What the program remembers between two starts: typed, with every key named once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

STATE_VERSION = 4  # of the dock layout; raise it when docks are added or renamed
MAX_RECENT = 10
MAX_REMEMBERED = 50  # models whose inputs are remembered
MAX_REMEMBERED_CHARS = 100_000  # of one model: all are read and written as one, and names can be of any length


class Settings:
    """Typed access to the user's settings. Unreadable values count as unset."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store or QSettings()

    # Window

    @property
    def geometry(self) -> QByteArray:
        return self._bytes("window/geometry")

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._store.setValue("window/geometry", value)

    @property
    def state(self) -> QByteArray:
        return self._bytes("window/state")

    @state.setter
    def state(self, value: QByteArray) -> None:
        self._store.setValue("window/state", value)

    @property
    def theme(self) -> str:
        return str(self._store.value("window/theme", "system"))

    @theme.setter
    def theme(self, value: str) -> None:
        self._store.setValue("window/theme", value)

    @property
    def view_options(self) -> dict[str, Any]:
        """How the graph is drawn, by the names of `SceneOptions`."""
        options: dict[str, Any] = self._json("window/view_options", {})
        return options

    @view_options.setter
    def view_options(self, value: dict[str, Any]) -> None:
        self._store.setValue("window/view_options", json.dumps(value))

    @property
    def wheel_moves(self) -> bool:
        """Whether the mouse wheel moves the graph, and zooms with Shift or Ctrl alone."""
        return bool(self._json("window/wheel_moves", False))

    @wheel_moves.setter
    def wheel_moves(self, value: bool) -> None:
        self._store.setValue("window/wheel_moves", json.dumps(value))

    def columns_of(self, table: str) -> dict[str, bool]:
        """The columns of a table that the user chose to show or to hide, by title."""
        chosen = self._json("window/columns", {}).get(table, {})
        return {k: v for k, v in chosen.items() if isinstance(v, bool)} if isinstance(chosen, dict) else {}

    def remember_columns(self, table: str, choices: dict[str, bool]) -> None:
        self._store.setValue("window/columns", json.dumps(self._json("window/columns", {}) | {table: choices}))

    # Files

    @property
    def recent(self) -> list[str]:
        """Paths opened lately, newest first."""
        return [path for path in self._json("files/recent", []) if isinstance(path, str)]

    def add_recent(self, path: str) -> None:
        path = str(Path(path).absolute())
        recent = [path, *(other for other in self.recent if other != path)]
        self._store.setValue("files/recent", json.dumps(recent[:MAX_RECENT]))

    def clear_recent(self) -> None:
        self._store.remove("files/recent")

    @property
    def folder(self) -> str:
        """Where the last file was opened."""
        return str(self._store.value("files/folder", ""))

    @folder.setter
    def folder(self, value: str) -> None:
        self._store.setValue("files/folder", value)

    # Runs

    @property
    def providers(self) -> list[str]:
        """The provider order last chosen; empty for the default one."""
        return [name for name in self._json("run/providers", []) if isinstance(name, str)]

    @providers.setter
    def providers(self, value: list[str]) -> None:
        self._store.setValue("run/providers", json.dumps(value))

    def bookmarks_of(self, path: str, fingerprint: str) -> list[dict[str, str]]:
        """What was bookmarked in a model: in the file at `path`, else in one that is the same elsewhere."""
        path, records = str(Path(path).absolute()), self._bookmark_records()
        same = [r for r in records if r.get("path") == path] or [r for r in records if r.get("model") == fingerprint]
        marks = same[-1].get("marks") if same else []
        return [mark for mark in marks if isinstance(mark, dict)] if isinstance(marks, list) else []

    def remember_bookmarks(self, path: str, fingerprint: str, marks: list[dict[str, str]]) -> None:
        """Remember the bookmarks of a model, for the most recent models."""
        path = str(Path(path).absolute())
        records = [record for record in self._bookmark_records() if record.get("path") != path]
        records.append({"path": path, "model": fingerprint, "marks": _fitting(marks)})
        self._store.setValue("files/marks", json.dumps(records[-MAX_REMEMBERED:]))

    def _bookmark_records(self) -> list[dict[str, Any]]:
        return [record for record in self._json("files/marks", []) if isinstance(record, dict)]

    def inputs_of(self, path: str) -> dict[str, Any]:
        """How the inputs of a model were made last; empty for a model not run yet."""
        found = self._json("run/inputs", {}).get(path, {})
        return found if isinstance(found, dict) else {}

    def remember_inputs(self, path: str, inputs: dict[str, Any]) -> None:
        """Remember JSON-able facts about a model's inputs, for the most recent models."""
        remembered = self._json("run/inputs", {})
        remembered.pop(path, None)
        if len(json.dumps(inputs)) <= MAX_REMEMBERED_CHARS:
            remembered[path] = inputs
        kept = dict(list(remembered.items())[-MAX_REMEMBERED:])
        self._store.setValue("run/inputs", json.dumps(kept))

    def _bytes(self, key: str) -> QByteArray:
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def _json(self, key: str, default: Any) -> Any:
        """The stored value if it is of the default's type."""
        try:
            value = json.loads(str(self._store.value(key, "")))
        except (ValueError, RecursionError):
            return default
        return value if isinstance(value, type(default)) else default


def _fitting(marks: list[dict[str, str]]) -> list[dict[str, str]]:
    """The marks that may be remembered of one model, the newest ones first if not all may."""
    kept, room = [], MAX_REMEMBERED_CHARS
    for mark in reversed(marks):
        size = len(json.dumps(mark))
        if size <= room:
            kept.append(mark)
            room -= size
    return kept[::-1]
