"""Header colours of the boxes in the current colouring, and the legend that explains them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtGui import QColor

from engine.graph.ir import Node
from gui.canvas.geometry import CATEGORIES
from gui.canvas.layout.types import Ints
from gui.canvas.palette import NO_VALUE, PROVIDER_COLORS, RAMP, SERIES, Category
from gui.canvas.scene import BoxKind, Scene

RAMP_STEPS = 32


@dataclass(slots=True)
class Legend:
    """What the colours mean: entries of (colour, text), or a ramp with the texts at its ends."""

    title: str
    entries: list[tuple[str, str]] = field(default_factory=list)
    ramp: list[str] = field(default_factory=list)
    low: str = ""
    high: str = ""


@dataclass(slots=True)
class Coloring:
    """A table of colours and the index of each box's colour in it, shape (n,)."""

    colors: list[str]
    index: Ints
    legend: Legend | None = None


def make_coloring(scene: Scene, mode: str, values: Mapping[Node, object] | None) -> Coloring:
    """The colouring of a mode of `GraphPicture.set_colors`."""
    if mode == "category":
        return by_category(scene)
    if mode == "dtype":
        return by_dtype(scene)
    given = values or {}
    if all(isinstance(value, QColor) for value in given.values()) and given:
        return by_color(scene, mode, {n: v.name() for n, v in given.items() if isinstance(v, QColor)})
    if mode == "provider":
        return by_name(scene, "Provider", {node: str(value) for node, value in given.items()})
    numbers = {node: float(value) for node, value in given.items() if isinstance(value, int | float | np.number)}
    if len(numbers) != len(given):
        raise ValueError(f"colouring by {mode} needs a number for each node")
    if mode == "error":
        return by_number(scene, "Relative difference from CPU", numbers, logarithmic=True)
    return by_number(scene, "Time per node" if mode == "time" else mode, numbers, unit="ms")


def by_category(scene: Scene) -> Coloring:
    """Every operator in the colour of its category."""
    index = np.array([CATEGORIES.index(box.category) for box in scene.boxes], np.int64)
    return Coloring([category.color for category in Category], index)


def by_dtype(scene: Scene) -> Coloring:
    """Every node in the colour of its first output's element type."""
    values: dict[Node, str] = {}
    for box in scene.boxes:
        if isinstance(box.item, Node):
            first = next((t for t in box.item.outputs if t is not None), None)
            if first is not None and first.dtype is not None:
                values[box.item] = first.dtype.short
    return by_name(scene, "Element type", values)


def by_name(scene: Scene, title: str, values: Mapping[Node, str]) -> Coloring:
    """Nodes by a name each, such as the provider's; the most frequent names take the first colours."""
    texts = [values.get(box.item) if isinstance(box.item, Node) else None for box in scene.boxes]
    counts = Counter(text for text in texts if text is not None)
    names = [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    free = iter(SERIES * (len(names) // len(SERIES) + 1))
    color_of = {name: PROVIDER_COLORS.get(name) or next(free) for name in names}
    entries = [(color_of[name], f"{name}  {counts[name]:,}") for name in names]
    return _colored(scene, lambda node: color_of.get(values.get(node, "")), Legend(title, entries))


def by_number(
    scene: Scene, title: str, values: Mapping[Node, float], unit: str = "", logarithmic: bool = False
) -> Coloring:
    """Nodes by a number each, such as a time; a square root or logarithm keeps small differences visible."""
    inside = [values[box.item] for box in scene.boxes if isinstance(box.item, Node) and box.item in values]
    finite = [value for value in inside if math.isfinite(value)]
    if not finite:
        return _colored(scene, lambda node: None, Legend(title, [(NO_VALUE, "no values yet")]))
    positive = [value for value in finite if value > 0]
    low, high = (min(positive, default=0.0), max(finite)) if logarithmic else (0.0, max(finite))
    ramp = _ramp()

    def color(node: Node) -> str | None:
        value = values.get(node)
        if value is None:
            return None
        return ramp[round(_share(value, low, high, logarithmic) * (RAMP_STEPS - 1))]

    legend = Legend(title, ramp=ramp, low=f"{low:.3g} {unit}".strip(), high=f"{high:.3g} {unit}".strip())
    return _colored(scene, color, legend)


def _share(value: float, low: float, high: float, logarithmic: bool) -> float:
    """Where a value lies between low and high, from 0 to 1."""
    if math.isnan(value) or value >= high:
        return 1.0
    if value <= low:
        return 0.0
    if logarithmic:
        return math.log(value / low) / math.log(high / low)
    return math.sqrt((value - low) / (high - low))


def by_color(scene: Scene, title: str, colors: Mapping[Node, str]) -> Coloring:
    """Nodes in given colours (#rrggbb)."""
    return _colored(scene, lambda node: colors.get(node), Legend(title) if title else None)


def _colored(scene: Scene, color: Callable[[Node], str | None], legend: Legend | None) -> Coloring:
    table: dict[str, int] = {Category.IO.color: 0}
    index = []
    for box in scene.boxes:
        if box.kind is BoxKind.NODE and isinstance(box.item, Node):
            index.append(table.setdefault(color(box.item) or NO_VALUE, len(table)))
        else:
            index.append(0)
    return Coloring(list(table), np.array(index, np.int64), legend)


def _ramp() -> list[str]:
    stops = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in RAMP], float)
    at = np.linspace(0, len(stops) - 1, RAMP_STEPS)
    mixed = np.stack([np.interp(at, np.arange(len(stops)), stops[:, c]) for c in range(3)], 1)
    return ["#" + "".join(f"{round(v):02x}" for v in row) for row in mixed.tolist()]
