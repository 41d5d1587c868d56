"""The panes of a window, and what each shows as selected."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import resources
from engine.graph.ir import Node
from gui.models.lines import Line, LineKind
from gui.panes.initializers import InitializersPane
from gui.panes.order import OrderPane
from gui.panes.problems import ProblemsPane
from gui.panes.properties import PropertiesPane
from gui.panes.shapes import ShapesPane
from gui.panes.tensor_viewer import TensorPane
from gui.table_pane import TablePane
from gui.window.main_window import MainWindow

SAMPLE = resources.path(resources.SAMPLE_MODEL)
CONTROL_FLOW = resources.path(resources.CONTROL_FLOW_MODEL)


class Panes:
    """The panes of a window, and what each shows as selected, by name."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.order: OrderPane = window.docks["order"].widget()
        self.initializers: InitializersPane = window.docks["initializers"].widget()
        self.shapes: ShapesPane = window.docks["shapes"].widget()
        self.problems: ProblemsPane = window.docks["problems"].widget()
        self.properties: PropertiesPane = window.docks["properties"].widget()
        self.tensor: TensorPane = window.docks["tensor"].widget()

    def shown(self, pane: TablePane) -> str | None:
        self.window.document.turns.finish()
        row = pane.view.current_row()
        return getattr(row, "name", None)

    @property
    def lines(self) -> list[Line]:
        """The lines of the Properties pane, which is filled in a turn of its own."""
        self.window.document.turns.finish()
        return self.properties.list.lines

    @property
    def title(self) -> str:
        """What the Properties pane is about."""
        (title,) = [line for line in self.lines if line.kind is LineKind.TITLE]
        return title.value

    def pick(self, qtbot: QtBot, pane: TablePane, name: str) -> None:
        """Click the row of that name."""
        (row,) = [row for row in pane.model.rows if row.name == name]
        self.window.docks[pane_name(self.window, pane)].raise_()
        index = pane.model.index(pane.model.place_of(row), 0)
        pane.view.scrollTo(index)
        qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.visualRect(index).center())


def pane_name(window: MainWindow, pane: object) -> str:
    return next(name for name, dock in window.docks.items() if dock.widget() is pane)


def node_of(window: MainWindow, op_type: str, which: int = 0) -> Node:
    return [node for node in window.document.graph.order if node.op_type == op_type][which]
