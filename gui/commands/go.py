"""The commands of the Go menu, but for those of a second model: to anything, back and forth, out of subgraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence

from gui.commands.command import Command, has_model
from gui.finding.quick_open import QuickOpen

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

MENU = "Go"
Key = QKeySequence.StandardKey


def _ask(window: MainWindow) -> None:
    """Ask for a name and go there."""
    QuickOpen(window.document, window.actions_by_name.values(), window).open_over(window)


def _show_outer_graph(window: MainWindow) -> None:
    graph = window.document.graph
    if graph is not None and graph.owner is not None:
        window.document.select(graph.owner)


def _show_main_graph(window: MainWindow) -> None:
    if window.document.model is not None:
        window.document.show_graph(window.document.model.graph)


def _show_model_properties(window: MainWindow) -> None:
    """Say again what the file states, as with nothing selected."""
    window.document.select(None)
    window.show_pane("properties")


GO_COMMANDS = (
    Command("quick_open", MENU, "Go to &Anything…", _ask, ["Ctrl+P"], has_model),
    Command("back", MENU, "&Back", lambda w: w.document.back(), [Key.Back, "Backspace"],
            lambda w: w.document.can_go_back, separated=True),
    Command("forward", MENU, "&Forward", lambda w: w.document.forward(), [Key.Forward],
            lambda w: w.document.can_go_forward),
    Command("outer", MENU, "&Enclosing Graph", _show_outer_graph, ["Alt+Up"],
            lambda w: w.document.graph is not None and w.document.graph.parent is not None, separated=True),
    Command("main_graph", MENU, "&Main Graph", _show_main_graph, ["Alt+Home"], has_model),
    Command("model_properties", MENU, "Model &Properties", _show_model_properties, ["Ctrl+Return"], has_model),
)  # fmt: skip
