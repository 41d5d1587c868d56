"""A graph ready to be shown: scene, layout and geometry, made away from the GUI thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.graph.ir import Graph
from gui.canvas.geometry import Geometry
from gui.canvas.groups import GroupTree, group_tree
from gui.canvas.layout.types import Layout
from gui.canvas.layout_process import lay_out
from gui.canvas.scene import Measure, Opened, Scene, SceneOptions
from gui.canvas.scene_builder import build_scene
from gui.canvas.view import View

GROUPED_FROM = 3000  # nodes; a graph of more opens in modules


@dataclass(slots=True)
class Grouping:
    """How the modules of one graph are shown.

    Attributes
    ----------
    tree
        The modules, or None where the graph tells of none.
    shown
        Whether modules are boxes at all, or every node stands by itself.
    opened
        The modules that are open, and the nodes whose subgraphs are shown in place.
    """

    tree: GroupTree | None
    shown: bool
    opened: Opened = frozenset()

    @classmethod
    def at_first(cls, graph: Graph, flat: bool = False) -> Grouping:
        """Modules for large graphs, single nodes for the others, and for all if `flat`."""
        tree = group_tree(graph)
        shown = tree is not None and len(graph.nodes) > GROUPED_FROM and not flat
        return cls(tree, shown, tree.opening() if tree is not None else frozenset())

    @property
    def key(self) -> object:
        """What tells one state from another."""
        return self.shown, self.opened


@dataclass(slots=True)
class Drawing:
    """One graph as shown, and where the user was looking when it was left."""

    scene: Scene
    layout: Layout
    geometry: Geometry
    grouping: Grouping
    seconds: float
    view: View | None = None


def let_go(drawings: list[Drawing], between: Callable[[], object]) -> None:
    """Free drawings that the caller alone has left, bit by bit, calling `between` at each; for another thread.

    Freed at once, the boxes and nets of 50,000 nodes hold the interpreter for a twentieth of a second.
    """
    parts = [part for drawing in drawings for kept in (drawing.scene.boxes, drawing.scene.nets) for part in kept]
    drawings.clear()
    while parts:
        parts.pop()
        between()


def draw(
    graph: Graph, grouping: Grouping | None, options: SceneOptions, measure: Measure,
    cancelled: Callable[[], bool] = lambda: False, flat: bool = False,
) -> Drawing:  # fmt: skip
    """Make the drawing of a graph; in the grouping it has at first where none is given, without one if `flat`.

    Raises
    ------
    LayoutCancelled
        If `cancelled` became true.
    LayoutFailed
        If the layout could not be made.
    """
    start = time.perf_counter()
    grouping = grouping or Grouping.at_first(graph, flat)
    opened = grouping.opened
    scene = build_scene(graph, measure, options, grouping.tree if grouping.shown else None, opened)
    layout = lay_out(scene.layout_input, cancelled)
    geometry = Geometry.of(scene, layout)
    return Drawing(scene, layout, geometry, grouping, time.perf_counter() - start)
