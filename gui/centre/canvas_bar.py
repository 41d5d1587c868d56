"""What stands above the canvas: the way to the graph shown, what there is to say of it, and what is left out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from engine.words import counted
from gui.canvas.groups import Group
from gui.document import Document
from gui.text import one_line
from gui.widgets.bars import Breadcrumb
from gui.widgets.elided_label import ElidedLabel

NOTICE_MS = 4000


class CanvasBar(QWidget):
    """A breadcrumb, a sentence and two buttons that are there when they are needed.

    `layout_wanted()` and `all_wanted()` ask for a layout that was cancelled, and for the nodes that are left out.
    """

    layout_wanted = Signal()
    all_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.breadcrumb = Breadcrumb()
        self.left_out = QPushButton()
        self.left_out.setToolTip("Kinds of nodes that the Graph menu leaves out. Show them again")
        self.left_out.clicked.connect(self.all_wanted)
        self._notice = ElidedLabel(role="muted", width=QSizePolicy.Policy.Maximum)
        self._again = QPushButton("Lay out")
        self._again.clicked.connect(self.layout_wanted)
        self._calm = QTimer(self, singleShot=True, interval=NOTICE_MS)
        self._calm.timeout.connect(self._notice.clear)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 6, 10, 2)
        layout.setSpacing(6)
        layout.addWidget(self.breadcrumb, 1)
        for widget in (self._notice, self._again, self.left_out):
            layout.addWidget(widget)
        self._again.hide()
        self.show_left_out(0)

    @property
    def notice(self) -> str:
        """The sentence."""
        return self._notice.text()

    @Slot(str)
    def say(self, text: str) -> None:
        """Show a sentence for a while."""
        self._notice.setText(text)
        self._calm.start()

    def show_state(self, text: str, again: bool = False) -> None:
        """Show what the canvas is doing until something else is said, and whether it may be asked to lay out."""
        self._calm.stop()
        self._notice.setText(text)
        self._again.setVisible(again)

    def show_left_out(self, count: int) -> None:
        """Show how many nodes are left out, as a button that brings them back."""
        self.left_out.setText(f"{counted(count, 'node')} hidden ✕")
        self.left_out.setVisible(count > 0)


def way_to(document: Document, modules: Sequence[Group]) -> Iterator[tuple[str, object]]:
    """Places from the model over its graphs to the modules around what is selected; None stands for the model."""
    graph = document.graph
    if document.is_sketched:
        yield _file_name(document.opening_path), None
        return
    if graph is None or document.model is None:
        return
    yield _file_name(document.path or "model"), None
    yield "main graph", document.model.graph
    way: list[tuple[str, object]] = []
    while graph is not None and graph.owner is not None:
        way.append((f"{one_line(graph.owner.name, 80)} / {graph.owner_attribute}", graph))
        graph = graph.parent
    yield from reversed(way)
    yield from ((one_line(module.name, 60), module) for module in modules)


def _file_name(path: str) -> str:
    return one_line(path.replace("\\", "/").rsplit("/", 1)[-1], 80)
