"""What a command of the window is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAction, QKeySequence

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow


@dataclass(frozen=True, slots=True)
class Command:
    """A command: `call(window)` does it, `enabled(window)` says whether it can be done now.

    `checked(window)` makes it checkable; commands of one `group` exclude each other.
    """

    name: str
    menu: str
    text: str
    call: Callable[[MainWindow], Any]
    keys: Sequence[QKeySequence.StandardKey | str] = ()
    enabled: Callable[[MainWindow], bool] | None = None
    checked: Callable[[MainWindow], bool] | None = None
    group: str = ""
    separated: bool = False  # by a line from the one before
    role: QAction.MenuRole = QAction.MenuRole.NoRole


def has_model(window: MainWindow) -> bool:
    """Whether a model is open."""
    return window.document.model is not None and not window.document.is_sketched


def has_picture(window: MainWindow) -> bool:
    """Whether a graph is seen, be it of a model that is still being read."""
    return window.canvas.seen.scene is not None
