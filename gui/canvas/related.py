"""The picture of a graph that can show what belongs together: cones, paths, what was found, readers one by one."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from engine.graph.ir import Node, Tensor
from gui.canvas import navigation
from gui.canvas.labels import clean
from gui.canvas.links import Links
from gui.canvas.picture import GraphPicture


class RelatedPicture(GraphPicture):
    """Dims all but what is asked for, starting from the selection.

    Signals
    -------
    said(str)
        Something the user should know, such as that there is no path.
    """

    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._links: tuple[object, Links] | None = None  # with the scene they are of
        self._reader = -1  # which reader of the selected tensor is looked at
        self._path_end: object = None  # what the ways from or to were asked for

    def _link(self) -> Links:
        assert self._scene is not None
        assert self._geometry is not None
        if self._links is None or self._links[0] is not self._scene:
            self._links = (self._scene, Links(self._scene, self._geometry))
        return self._links[1]

    def light_cone(self, upstream: bool, downstream: bool) -> bool:
        """Dim all that the selection does not depend on, or that does not depend on it; False without a selection."""
        boxes = self._scene.locate(self._selected) if self._scene else []
        if not boxes or self._scene is None:
            return False
        if isinstance(self._selected, Tensor):
            constant = self._scene.readers.get(id(self._selected))
            nets = self._scene.nets_of.get(id(self._selected), ())
            self.light(self._link().cone(constant or boxes[:1], upstream, downstream, nets))
        else:
            self.light(self._link().cone(boxes[:1], upstream, downstream))
        return True

    def light_items(self, items: Iterable[object]) -> bool:
        """Dim all but some items and the lines between them; False where none of them is shown."""
        boxes = [box for item in items for box in self._scene.locate(item)] if self._scene else []
        if boxes:
            self.light(self._link().only(boxes))
        return bool(boxes)

    def light_path(self, other: object) -> bool:
        """Dim all but the ways between the selection and another item; False, and said so, where there are none."""
        first, second = (self._scene.locate(item) if self._scene else [] for item in (self._selected, other))
        lit = self._link().paths(first[0], second[0]) if first and second else None
        if lit is None:
            self.said.emit("There is no path between the two")
            return False
        self.light(lit)
        return True

    def path_key(self) -> bool:
        """Remember the selection as one end of a path, or light the ways between that and what is selected now."""
        other, self._path_end = self._path_end, None
        if self._selected is None:
            return False
        if other is None or other is self._selected or not (self._scene and self._scene.locate(other)):
            self._path_end = self._selected
            self.said.emit("Select the other end, then press P again")
        else:
            self.light_path(other)
        return True

    def follow(self, direction: int) -> bool:
        """Look at the next or previous reader of the selected tensor, or of the selected node's first output."""
        tensor = self._selected
        if isinstance(tensor, Node):
            tensor = next((t for t in tensor.outputs if t is not None), None)
        found = navigation.readers(self._scene, tensor) if self._scene and isinstance(tensor, Tensor) else []
        if not found or not isinstance(tensor, Tensor):
            return False
        self._reader = (self._reader + direction) % len(found) if self._reader >= 0 or direction < 0 else 0
        self._bring(found[self._reader])
        self.said.emit(f"Reader {self._reader + 1:,} of {len(found):,} of {clean(tensor.name, 60)}")
        return True
