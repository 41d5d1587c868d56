"""Go to anything: a line, and under it the nodes, tensors, graphs and commands whose names come nearest to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtGui import QAction, QCloseEvent, QColor, QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QVBoxLayout, QWidget

from engine.graph.ir import Graph, Model, Node, Tensor
from engine.words import counted
from gui.background.jobs import LatestJob, Task
from gui.document import Document
from gui.finding.fuzzy import best
from gui.models.order import category_colour
from gui.models.table import Column, Style, TableModel
from gui.text import one_line, shape_of_type
from gui.widgets.table_view import TableView

MOST = 60
WIDTH, HEIGHT = 640, 420


@dataclass(slots=True, eq=False)
class Entry:
    """A place to go to, or a command to give."""

    target: Node | Tensor | Graph | QAction
    name: str
    detail: str = ""

    @property
    def colour(self) -> QColor | None:
        return category_colour(self.target) if isinstance(self.target, Node) else None


_COLUMNS = (
    Column("name", lambda e: one_line(e.name), square=lambda e: e.colour),
    Column("what", lambda e: e.detail, Style("muted"), right=True),
)


class QuickOpen(QDialog):
    """Finds fuzzily while one types: ``>`` gives commands, ``:12`` the twelfth node of the run order."""

    def __init__(self, document: Document, actions: Iterable[QAction], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName("Go to anything")
        self.setProperty("popup", "true")
        self._document = document
        self._actions = [action for action in actions if action.isEnabled()]
        self._job = LatestJob()
        self._entries: list[tuple[str, Entry]] | None = None
        self.edit = QLineEdit(placeholderText="Name of a node or tensor;  > command;  :12 node in run order")
        self.edit.setAccessibleName("Go to")
        self.model = TableModel(_COLUMNS, self)
        self.view = TableView(self.model, "Places")
        self.view.horizontalHeader().hide()
        self.view.set_widths(50, 30, stretch=0)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.edit)
        layout.addWidget(self.view, 1)
        self.edit.installEventFilter(self)
        self.edit.textChanged.connect(self._look)
        self.view.clicked.connect(self._go)
        document.model_changed.connect(self._look_anew)
        self._look()

    def open_over(self, window: QWidget) -> None:
        """Show near the top of a window, with the cursor in the line."""
        width = min(WIDTH, window.width() - 40)
        self.resize(width, min(HEIGHT, window.height() - 80))
        self.move(window.mapToGlobal(QPoint((window.width() - width) // 2, 60)))
        self.show()
        self.activateWindow()
        self.edit.setFocus(Qt.FocusReason.PopupFocusReason)

    @Slot()
    def _look_anew(self) -> None:
        """Another model came."""
        self._entries = None
        self._look()

    @Slot()
    def _look(self) -> None:
        text = self.edit.text().strip()
        model, known = self._document.model, self._entries
        actions = self._actions

        def work(task: Task) -> tuple[list[tuple[str, Entry]] | None, list[Entry]]:
            if text.startswith(">"):
                return known, best(text[1:], _commands(actions), MOST, task.check)
            if text.startswith(":"):
                return known, _numbered(model, text[1:])
            entries = known if known is not None else list(_places(model))
            return entries, best(text, entries, MOST, task.check)

        self._job.replace(self._document.jobs.start(work, self._show))

    def _show(self, result: tuple[list[tuple[str, Entry]] | None, list[Entry]]) -> None:
        self._entries, found = result
        self.model.set_rows(found)
        self.view.show_row(found[0] if found else None)

    @Slot()
    def _go(self) -> None:
        entry = self.view.current_row()
        if not isinstance(entry, Entry):
            return
        self.close()
        if isinstance(entry.target, QAction):
            entry.target.trigger()
        elif isinstance(entry.target, Graph):
            self._document.show_graph(entry.target)
        else:
            self._document.select(entry.target)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The keys of the list, while the cursor stays in the line."""
        if watched is self.edit and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = event.key()
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._go()
                return True
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 10, Qt.Key.Key_PageUp: -10}
            if key in steps and self.model.shown:
                place = self.view.currentIndex().row() + steps[Qt.Key(key)]
                self.view.show_row(self.model.shown[max(0, min(place, len(self.model.shown) - 1))])
                return True
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowDeactivate:  # the user went on to something else
            self.close()
        return super().event(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._job.cancel()
        super().closeEvent(event)


def _places(model: Model | None) -> Iterable[tuple[str, Entry]]:
    """Subgraphs and nodes, then tensors: where several match equally well, the earlier ones win."""
    graphs = list(model.graph.walk()) if model is not None else []
    for graph in graphs:
        if graph.owner is not None:
            name = graph.prefix.rstrip("/")
            yield name.casefold(), Entry(graph, name, f"subgraph of {counted(len(graph.nodes), 'node')}")
        for node in graph.nodes:
            yield f"{node.qualified_name} {node.op_type}".casefold(), Entry(node, node.qualified_name, node.op_type)
    for graph in graphs:
        prefix = graph.prefix
        for tensor in graph.tensors.values():
            kind = shape_of_type(tensor.inferred_type or tensor.stored_type)
            yield (prefix + tensor.name).casefold(), Entry(tensor, prefix + tensor.name, f"tensor {kind}")


def _commands(actions: Iterable[QAction]) -> Iterable[tuple[str, Entry]]:
    for action in actions:
        text = action.text().replace("&", "").rstrip("…")
        yield text.casefold(), Entry(action, text, action.shortcut().toString())


def _numbered(model: Model | None, text: str) -> list[Entry]:
    order = model.graph.order if model is not None else []
    try:
        node = order[int(text) - 1] if int(text) > 0 else None
    except (ValueError, IndexError):
        return []
    return [Entry(node, node.qualified_name, node.op_type)] if node is not None else []
