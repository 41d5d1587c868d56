"""The picture of a large model while it is still being linked, and how it gives way to the model's own.

The canvas of the document stays as it is below; where the opening is cancelled, it comes back. The sketch can be moved
and zoomed, and what is picked on it is selected once the model is there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QStackedWidget

from engine.errors import EngineError
from engine.graph.ir import Node, Tensor
from engine.graph.reader import ModelFile
from gui.background.jobs import Cancelled, Task
from gui.canvas.canvas import GraphCanvas
from gui.canvas.drawing import GROUPED_FROM, Drawing, Grouping, draw
from gui.canvas.geometry import Geometry
from gui.canvas.groups import Group
from gui.canvas.layout_process import LayoutCancelled, LayoutFailed
from gui.canvas.outline import outline_of
from gui.canvas.scene import Measure, Scene, SceneOptions
from gui.canvas.view import View
from gui.facts.index import ModelIndex
from gui.look.theme import Theme

STILL_READING = "Still being read: what stands here opens in a moment"


def sketch_of(file: ModelFile, options: SceneOptions, measure: Measure, task: Task) -> Drawing | None:
    """The drawing of a large model in closed modules; None where it has to wait for the linked model.

    Raises
    ------
    Cancelled
        If the task was cancelled.
    """
    if len(file.proto.graph.node) <= GROUPED_FROM or options.leaves_out:
        return None
    try:
        outline = outline_of(file)
        task.check()
        if outline is None:
            return None
        return draw(outline.graph, Grouping(outline.tree, True, outline.opened), options, measure, task.cancelled)
    except LayoutCancelled as error:
        raise Cancelled from error
    except (EngineError, LayoutFailed):  # the model itself will say what is wrong
        return None


class SketchedCanvas(QStackedWidget):
    """The document's canvas, covered by a sketch while there is one. `said(text)` is for the user."""

    said = Signal(str)

    def __init__(self, canvas: GraphCanvas) -> None:
        super().__init__()
        self._canvas, self.sketch = canvas, GraphCanvas()
        self._drawing: Drawing | None = None
        self.addWidget(canvas)
        self.addWidget(self.sketch)
        for clicked in (self.sketch.node_clicked, self.sketch.tensor_clicked, self.sketch.group_clicked):
            clicked.connect(self._pick)
        for opened in (self.sketch.toggled, self.sketch.graph_opened):
            opened.connect(self._wait)
        self.sketch.background_clicked.connect(self._unpick)
        self.sketch.said.connect(self.said)

    @property
    def is_covered(self) -> bool:
        """Whether the sketch is what is seen."""
        return self._drawing is not None

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.sketch.set_theme(theme)

    def cover(self, drawing: Drawing, netron: bool) -> None:
        """Show a sketch, which takes the keyboard where the document's canvas had it."""
        had_focus = self._canvas.hasFocus()
        self._drawing = drawing
        self.sketch.set_netron(netron)
        self.sketch.set_scene(drawing.scene, drawing.layout, drawing.geometry)
        self.setCurrentWidget(self.sketch)
        if had_focus:
            self.sketch.setFocus()

    def uncover(self) -> None:
        """Show the document's canvas again, which takes the keyboard where the sketch had it."""
        had_focus = self.sketch.hasFocus()
        self._drawing = None
        self.setCurrentWidget(self._canvas)
        self.sketch.set_scene(None, None)
        if had_focus:
            self._canvas.setFocus()

    def hand_over(self, drawing: Drawing, index: ModelIndex) -> Node | Tensor | Group | None:
        """Show the model's own drawing, which is on the canvas, as the sketch was looked at; what was picked on it."""
        if self._drawing is None:
            return None
        before, view, picked = self._drawing, replace(self.sketch.view), self.sketch.selected
        self.uncover()
        if _is_alike(before.scene, drawing.scene):
            old, new = before.geometry, drawing.geometry
            box = (before.scene.locate(picked) or [_middle(view, old)])[0]
            view.dx += float((old.x0 + old.x1 - new.x0 - new.x1)[box]) / 2 * view.scale  # inferred labels take room
            view.dy += float(old.y0[box] - new.y0[box]) * view.scale
            self._canvas.look(view)
        return _counterpart(picked, drawing, index)

    @Slot(object)
    def _pick(self, item: object) -> None:
        self.sketch.select(item)
        self.said.emit(STILL_READING)

    @Slot()
    def _unpick(self) -> None:
        self.sketch.select(None)

    @Slot(object)
    def _wait(self) -> None:
        self.said.emit(STILL_READING)


def _is_alike(one: Scene, other: Scene) -> bool:
    """Whether two scenes have the same boxes, so that one can stand for the other."""
    return [(box.kind, box.title) for box in one.boxes] == [(box.kind, box.title) for box in other.boxes]


def _middle(view: View, geometry: Geometry) -> int:
    """The box nearest to the middle of what is seen."""
    x, y = view.to_scene(view.width / 2, view.height / 2)
    away = np.hypot((geometry.x0 + geometry.x1) / 2 - x, (geometry.y0 + geometry.y1) / 2 - y)
    return int(np.argmin(away))


def _counterpart(item: object, drawing: Drawing, index: ModelIndex) -> Node | Tensor | Group | None:
    """What an item of the sketch is in the model."""
    if isinstance(item, Node):
        return index.nodes.get(item.name)
    if isinstance(item, Tensor):
        return index.tensors.get(item.name)
    if isinstance(item, Group) and drawing.grouping.tree is not None:
        groups = drawing.grouping.tree.root.groups()
        return next((group for group in groups if (group.path, group.part) == (item.path, item.part)), None)
    return None
