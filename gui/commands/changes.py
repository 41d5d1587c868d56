"""The commands that concern a second model: compare with it, go through what differs, look at both."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from engine.providers.ort.optimised import export_optimised
from gui.background.jobs import Task
from gui.commands.command import Command, has_model
from gui.errors import explain_unwritten

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow


def _is_compared(window: MainWindow) -> bool:
    return window.document.differ.changes is not None


def compare_dialog(window: MainWindow) -> None:
    """Ask for another model and show what differs."""
    path = window.ask_for_model("Compare with a model")
    if path:
        window.document.differ.compare_with(path)


def optimised_dialog(window: MainWindow) -> None:
    """Ask for a file, have ONNX Runtime write there what it makes of the model, and show it beside what it was."""
    document = window.document
    model, source = document.model, document.path
    suggested = Path(window.settings.folder) / f"{Path(source or 'model').stem}.onnxruntime.onnx"
    title = "Save ONNX Runtime's graph"
    path, _ = QFileDialog.getSaveFileName(window, title, str(suggested), "ONNX model (*.onnx)")
    if model is None or source is None or not path:
        return

    def done(_result: None) -> None:
        window.comparison_wanted.emit(path, source)

    def failed(error: Exception) -> None:
        document.failed.emit("Could not save ONNX Runtime's graph", explain_unwritten(error, path))

    def write(task: Task) -> None:
        export_optimised(model, path, go_on=task.check)

    document.start("ONNX Runtime optimises the model", write, done, failed)


def show(window: MainWindow) -> None:
    """List what differs and colour by it; when the comparison ends, both end."""
    if _is_compared(window):
        window.show_pane("changes")
        window.set_colour_mode("change")
    elif window.colour_mode == "change":
        window.set_colour_mode("category")
    window.refresh_commands()


def go_to_change(window: MainWindow, direction: int) -> None:
    """Select the next (1) or previous (-1) node that differs, and say how."""
    changes = window.document.differ.changes
    place = changes.step(window.document.selection, direction) if changes is not None else None
    if changes is None or place is None:
        window.canvas.say("No node differs from the other model")
        return
    window.document.select(place)
    window.canvas.say(changes.words(place))


def dim_same(window: MainWindow) -> None:
    """Dim what is the same in both models, until Escape."""
    changes = window.document.differ.changes
    if changes is None or not window.canvas.canvas.light_items(changes.kind):
        window.canvas.say("Nothing in this graph differs from the other model")


def show_other(window: MainWindow, beside: bool = False) -> None:
    """Show the other model in a window of its own, at what is selected."""
    window.document.differ.show_other(window.document.selection, beside)


@cache
def _has_runtime() -> bool:
    """Looked up once: it means reading folders, and commands are refreshed at every selection."""
    return find_spec("onnxruntime") is not None


COMPARE_COMMANDS = (
    Command("compare_with", "File", "Compare &With…", compare_dialog, ["Ctrl+D"], has_model),
    Command("optimised", "File", "Save ONNX R&untime's Graph…", optimised_dialog, ["Ctrl+Alt+O"],
            lambda w: has_model(w) and _has_runtime()),
    Command("side_by_side", "File", "Show Both Side by Side", lambda w: show_other(w, beside=True), ["Ctrl+Alt+D"],
            _is_compared),
    Command("end_comparison", "File", "End Comparison", lambda w: w.document.differ.end(), enabled=_is_compared),
)  # fmt: skip

CHANGE_COMMANDS = (
    Command("next_change", "Go", "Next Change", lambda w: go_to_change(w, 1), ["F7"], _is_compared, separated=True),
    Command("previous_change", "Go", "Previous Change", lambda w: go_to_change(w, -1), ["Shift+F7"], _is_compared),
    Command("dim_same", "Go", "&Dim What Is the Same", dim_same, ["Alt+F7"], _is_compared),
    Command("show_other", "Go", "Selection in the &Other Model", show_other, ["Ctrl+F7"], _is_compared),
)  # fmt: skip
