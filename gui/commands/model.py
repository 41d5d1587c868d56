"""The commands of the File menu that concern the model as a whole: files made from it, Netron beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QFileDialog

from engine.graph.ir import Node, Tensor
from engine.words import counted
from gui.attachment.write import write_attachment
from gui.background.jobs import Task
from gui.canvas.groups import Group
from gui.commands.command import Command, has_model
from gui.errors import explain_unwritten
from gui.output.netron import command as netron_command
from gui.output.region import SavedRegion, save_region, told
from gui.widgets.table_view import TableView

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow


def region_nodes(window: MainWindow) -> list[Node]:
    """The nodes of the graph shown that stand out: what is lit, else the selected module, else the selected node."""
    canvas, graph, selection = window.canvas.canvas, window.document.graph, window.document.selection
    if canvas.lit is not None and canvas.scene is not None:
        items: list[object] = [box.item for box, lit in zip(canvas.scene.boxes, canvas.lit.boxes) if lit]
    else:
        chosen = canvas.selected
        items = [chosen if isinstance(chosen, Group) else selection]
    nodes: list[Node] = []
    for item in items:
        if isinstance(item, Group):
            nodes += _members(item)
        elif isinstance(item, Node):
            nodes.append(item)
        elif isinstance(item, Tensor) and item.producer is not None and canvas.lit is None:
            nodes.append(item.producer)
    return [node for node in dict.fromkeys(nodes) if node.graph is graph]


def _members(group: Group) -> list[Node]:
    """The nodes of a module and of those inside it."""
    own = [member for member in group.members if isinstance(member, Node)]
    return own + [node for inner in group.groups() for node in inner.members if isinstance(node, Node)]


def save_region_dialog(window: MainWindow) -> None:
    """Ask for a file and write the part of the graph that stands out, with its values of the last run."""
    document, nodes = window.document, region_nodes(window)
    model, run = document.model, document.run
    if model is None or not nodes:
        document.failed.emit("There is no region to save", "Select a node or a module, or light a part of the graph "
                             "with Graph ▸ What the Selection Depends On.")  # fmt: skip
        return
    path = _ask(window, f"Save {counted(len(nodes), 'node')} as a model", "region.onnx", "ONNX model (*.onnx)")
    if not path:
        return

    def done(saved: SavedRegion) -> None:
        window.message.show_message("Region saved", told(saved), "info")

    def failed(error: Exception) -> None:
        document.failed.emit("Could not save the region", explain_unwritten(error, path))

    def write(task: Task) -> SavedRegion:
        return save_region(model, nodes, path, run, task.check)

    document.start(f"Writing {Path(path).name}", write, done, failed)


def save_attachment_dialog(window: MainWindow) -> None:
    """Ask for a file and write shapes, times and errors for Netron."""
    document = window.document
    model, run, costs = document.model, document.run, document.costing.table
    stem = Path(document.path or "model").stem
    path = _ask(window, "Save for Netron", f"{stem}.attachment.json", "Netron attachment (*.json)")
    if model is None or not path:
        return

    def failed(error: Exception) -> None:
        document.failed.emit("Could not save the file", explain_unwritten(error, path))

    text = f"Writing {Path(path).name}"
    document.start(text, lambda task: write_attachment(path, model, run, costs, task.check), None, failed)


def front_table(window: MainWindow) -> TableView | None:
    """The table that has the focus, else the one in front at the bottom, else any that is seen."""
    focus = QApplication.focusWidget()
    if isinstance(focus, TableView):
        return focus
    seen = [view for view in window.findChildren(TableView) if not view.visibleRegion().isEmpty()]
    return max(seen, key=lambda view: view.mapTo(window, view.rect().topLeft()).y(), default=None)


def save_table(window: MainWindow) -> None:
    """Write the table in front as CSV."""
    table = front_table(window)
    if table is not None:
        table.save_csv()


def _ask(window: MainWindow, title: str, name: str, kinds: str) -> str:
    path, _ = QFileDialog.getSaveFileName(window, title, str(Path(window.settings.folder) / name), kinds)
    return path


NETRON_COMMAND = Command(
    "open_in_netron", "File", "Open in Ne&tron", lambda w: w.netron.show_model(w.document.path or ""), ["Ctrl+Alt+N"],
    lambda w: bool(w.document.path) and bool(netron_command()),
)  # fmt: skip

SAVE_COMMANDS = (
    Command("save_region", "File", "Save Re&gion as Model…", save_region_dialog, ["Ctrl+Shift+S"], has_model),
    Command("save_table", "File", "Save &Table as CSV…", save_table, ["Ctrl+Shift+T"], has_model),
    Command("save_attachment", "File", "Save for &Netron…", save_attachment_dialog, (), has_model),
)  # fmt: skip
