"""Two windows on two models that have been compared: what is selected in one is selected in the other, and looked at
from as near.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QTimer, Slot

from engine.graph.ir import Node, Tensor
from gui.window.docks import narrow_sides, set_corners
from gui.window.main_window import MainWindow

FARTHEST = 100  # nodes back to something that both models have
_INPUT = (QEvent.Type.MouseButtonPress, QEvent.Type.Wheel, QEvent.Type.KeyPress, QEvent.Type.NativeGesture)


class SideBySide(QObject):
    """Links the window of a model that is compared with another to a window on that other one.

    The window that the user works in leads, the other one follows. It ends with either window, and with the comparison.
    """

    def __init__(self, shown: MainWindow, other: MainWindow) -> None:
        super().__init__(shown)
        self.shown, self.other = shown, other
        self._leader = shown
        self._following = False
        self._ended = False  # signals may still come until this object is deleted
        shown.document.selection_changed.connect(self._selected_in_shown)
        other.document.selection_changed.connect(self._selected_in_other)
        for window in (shown, other):
            window.canvas.view_changed.connect(self.follow)
            window.canvas.drawn.connect(self.follow)
            window.canvas.canvas.installEventFilter(self)
        other.document.model_changed.connect(self._compare_back)
        shown.closed.connect(self.end)
        other.closed.connect(self.end)
        shown.document.differ.changed.connect(self._comparison_changed)
        self._compare_back()
        self.follow()

    @Slot()
    def end(self) -> None:
        """Let each window be by itself again."""
        self._ended = True
        for window in (self.shown, self.other):
            set_corners(window)
        self.setParent(None)
        self.deleteLater()

    @Slot()
    def _comparison_changed(self) -> None:
        QTimer.singleShot(0, self, self._end_without_comparison)  # a model that is read anew is compared again

    @Slot()
    def _end_without_comparison(self) -> None:
        differ = self.shown.document.differ
        if differ.changes is None and not differ.busy:
            self.end()
        else:
            self.follow()

    @Slot()
    def _compare_back(self) -> None:
        """Colour the other window by the same comparison, seen from its side."""
        document, path = self.other.document, self.shown.document.path
        if path and not self._ended and document.model is not None and document.differ.path != path:
            document.differ.compare_with(path)

    # Who leads

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whose canvas is used leads."""
        if event.type() in _INPUT:
            self._leader = self.shown if watched is self.shown.canvas.canvas else self.other
        return False

    @Slot()
    def _selected_in_shown(self) -> None:
        self._selected(self.shown)

    @Slot()
    def _selected_in_other(self) -> None:
        self._selected(self.other)

    def _selected(self, window: MainWindow) -> None:
        selected = window.document.selection
        if window.isActiveWindow() and not (self._following or selected is None or selected is self._awaited()):
            self._leader = window
        self.follow()

    def _awaited(self) -> Node | Tensor | None:
        """What the leader has selected, as the following window has it: selected there, as when a model has just been
        read, it is nothing that the user did."""
        selected = self._leader.document.selection
        return self._counterpart(selected) if selected is not None else None

    # Following

    @Slot()
    def follow(self) -> None:
        """Select in the other window what is selected in the leading one, and look at it from as near.

        What the other has not selects nothing there; what stands before it is then looked at.
        """
        first, second = self._leader, self.other if self._leader is self.shown else self.shown
        selected = first.document.selection
        if self._following or self._ended or selected is None:
            return
        item, twin = self._in_both(selected)
        if twin is None:
            return
        self._following = True
        try:
            if item is selected:
                second.document.select(twin)
            place = first.canvas.canvas.place_of(item)
            if place is not None:
                second.canvas.canvas.put(twin, place, first.canvas.scale)
        finally:
            self._following = False

    def _in_both(self, item: Node | Tensor) -> tuple[Node | Tensor, Node | Tensor | None]:
        """An item with its counterpart, else the nearest before it that has one; None where there is none at all."""
        here: Node | Tensor | None = item
        seen: set[Node | Tensor] = set()
        while here is not None and here not in seen and len(seen) < FARTHEST:
            twin = self._counterpart(here)
            if twin is not None:
                return here, twin
            seen.add(here)
            node = here.producer if isinstance(here, Tensor) else here
            inputs = node.inputs if node is not None else []
            here = next((t.producer for t in inputs if t is not None and t.producer is not None), None)
        return item, None

    def _counterpart(self, item: Node | Tensor) -> Node | Tensor | None:
        """What an item of one window is in the other one, which has read its file by itself."""
        changes, index = self.shown.document.differ.changes, self.other.document.index
        if changes is None or index is None:
            return None
        if self._leader is self.shown:
            twin = changes.counterpart(item)
            return index.like(twin) if twin is not None else None
        own = changes.index.like(item)
        return changes.counterpart(own) if own is not None else None


def link(shown: MainWindow, other: MainWindow) -> None:
    """Put two windows side by side and link them."""
    for before in shown.findChildren(SideBySide):
        before.end()
    for window, side in ((shown, 0), (other, 1)):
        set_corners(window, narrow=True)
        window.showNormal()
        layout = window.layout()
        assert layout is not None  # main windows bring their own
        layout.activate()  # or the window would not become narrower than it had to be before
        window.setGeometry(_half(shown, side))
        narrow_sides(window, window.docks)
        window.raise_()
    SideBySide(shown, other)


def _half(window: MainWindow, side: int) -> QRect:
    """The inside of a window on the left (0) or right (1) half of the screen, if its frame is like that of `window`."""
    area, inside, outside = window.screen().availableGeometry(), window.geometry(), window.frameGeometry()
    half = QRect(area.x() + side * (area.width() // 2), area.y(), area.width() // 2, area.height())
    return half.adjusted(inside.left() - outside.left(), inside.top() - outside.top(),
                         inside.right() - outside.right(), inside.bottom() - outside.bottom())  # fmt: skip
