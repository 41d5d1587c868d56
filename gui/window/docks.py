"""The panes around the canvas: one line each, and how they stand at first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from gui.document import Document
from gui.look.stylesheet import TAB_PADDING
from gui.panes.attached import AttachedPane
from gui.panes.bookmarks import BookmarksPane
from gui.panes.changes import ChangesPane
from gui.panes.compare import ComparePane
from gui.panes.documentation import DocumentationPane
from gui.panes.find import FindPane
from gui.panes.initializers import InitializersPane
from gui.panes.order import OrderPane
from gui.panes.problems import ProblemsPane
from gui.panes.properties import PropertiesPane
from gui.panes.run import RunPane
from gui.panes.shapes import ShapesPane
from gui.panes.tensor_viewer import TensorPane
from gui.panes.timings import TimingsPane
from gui.widgets.bars import DockTitle

LEFT, RIGHT, BOTTOM = (
    Qt.DockWidgetArea.LeftDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.BottomDockWidgetArea,
)
SHARES = {LEFT: 0.26, RIGHT: 0.21, BOTTOM: 0.29}  # of the window's width or height, at first


@dataclass(frozen=True, slots=True)
class PaneSpec:
    """A pane: its name for the saved layout, its title, its first area, and how it is made."""

    name: str
    title: str
    area: Qt.DockWidgetArea
    make: Callable[[Document], QWidget]
    shown: bool = True  # at first; others wait until they have something to say


PANES = (
    PaneSpec("order", "Order", LEFT, OrderPane),
    PaneSpec("initializers", "Initializers", LEFT, InitializersPane),
    PaneSpec("bookmarks", "Bookmarks", LEFT, BookmarksPane),
    PaneSpec("properties", "Properties", RIGHT, PropertiesPane),
    PaneSpec("tensor", "Tensor", RIGHT, TensorPane),
    PaneSpec("documentation", "Operator", RIGHT, DocumentationPane),
    PaneSpec("shapes", "Shapes", BOTTOM, ShapesPane),
    PaneSpec("problems", "Problems", BOTTOM, ProblemsPane),
    PaneSpec("find", "Find", BOTTOM, FindPane),
    PaneSpec("run", "Run", BOTTOM, RunPane),
    PaneSpec("timings", "Timings", BOTTOM, TimingsPane),
    PaneSpec("compare", "Compare", BOTTOM, ComparePane),
    PaneSpec("changes", "Changes", BOTTOM, ChangesPane, shown=False),
    PaneSpec("attached", "Attached", BOTTOM, AttachedPane, shown=False),
)


def add_docks(window: QMainWindow, document: Document) -> dict[str, QDockWidget]:
    """Make every pane in a dock of its own; the docks by their panes' names."""
    docks: dict[str, QDockWidget] = {}
    for spec in PANES:
        dock = QDockWidget(spec.title, window, objectName=spec.name)
        pane = spec.make(document)
        pane.setObjectName("pane")
        pane.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)  # for the line along its top
        if spec.area is not BOTTOM:
            pane.setMinimumWidth(least_width(window, spec.area))
        dock.setWidget(pane)
        title = DockTitle(dock)
        dock.setTitleBarWidget(title)
        dock.visibilityChanged.connect(lambda: refresh_titles(docks))  # those it was among may stand alone now
        dock.dockLocationChanged.connect(title.refresh)
        dock.topLevelChanged.connect(title.refresh)
        docks[spec.name] = dock
    arrange(window, docks)
    return docks


def least_width(window: QMainWindow, area: Qt.DockWidgetArea) -> int:
    """How wide panes at a side are at least: their titles, on tabs beside each other, are read in full."""
    titles = [spec.title for spec in PANES if spec.area is area]
    return sum(window.fontMetrics().horizontalAdvance(title) + 2 * TAB_PADDING + 2 for title in titles)


def arrange(window: QMainWindow, docks: dict[str, QDockWidget]) -> None:
    """Put all docks where they stand at first, tabbed within each area, the first one of each in front."""
    fronts: dict[Qt.DockWidgetArea, QDockWidget] = {}
    for dock in docks.values():  # all of them first: docks side by side would make the window grow
        dock.setFloating(False)
        window.removeDockWidget(dock)
    for spec in PANES:
        dock = docks[spec.name]
        window.addDockWidget(spec.area, dock)
        front = fronts.setdefault(spec.area, dock)
        if front is not dock:
            window.tabifyDockWidget(front, dock)
        dock.setVisible(spec.shown)
    for dock in fronts.values():
        dock.raise_()
    widths = [fronts[LEFT], fronts[RIGHT]]
    window.resizeDocks(widths, [round(window.width() * SHARES[a]) for a in (LEFT, RIGHT)], Qt.Orientation.Horizontal)
    window.resizeDocks([fronts[BOTTOM]], [round(window.height() * SHARES[BOTTOM])], Qt.Orientation.Vertical)
    refresh_titles(docks)


def hide_waiting(docks: dict[str, QDockWidget]) -> None:
    """Hide the panes that wait until they have something to say, whatever was shown when the window was left."""
    for spec in PANES:
        if not spec.shown:
            docks[spec.name].hide()


def set_corners(window: QMainWindow, narrow: bool = False) -> None:
    """Let the panes at the sides reach down to the border; in a narrow window, those at the bottom take its width."""
    window.setCorner(Qt.Corner.BottomLeftCorner, BOTTOM if narrow else LEFT)
    window.setCorner(Qt.Corner.BottomRightCorner, BOTTOM if narrow else RIGHT)


def narrow_sides(window: QMainWindow, docks: dict[str, QDockWidget]) -> None:
    """Leave the canvas as much of a narrow window as the panes at its sides can do without."""
    sides = [dock for dock in docks.values() if window.dockWidgetArea(dock) is not BOTTOM and not dock.isHidden()]
    window.resizeDocks(sides, [dock.widget().minimumWidth() for dock in sides], Qt.Orientation.Horizontal)


def refresh_titles(docks: dict[str, QDockWidget]) -> None:
    """Bring the title bars in line with how the docks stand now."""
    for dock in docks.values():
        title = dock.titleBarWidget()
        if isinstance(title, DockTitle):
            title.refresh()
