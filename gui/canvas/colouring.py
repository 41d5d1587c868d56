"""Header colours of the boxes in the current colouring, and the legend that explains them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import numpy as np
from PySide6.QtGui import QColor

from engine.dtypes import DType
from engine.graph.ir import Node
from gui.canvas.groups import Group
from gui.canvas.layout.types import Floats, Ints
from gui.canvas.palette import (
    CATEGORIES,
    CHANGE_COLOURS,
    NETRON_OTHER,
    NO_VALUE,
    PROVIDER_COLOURS,
    RAMP,
    SERIES,
    CanvasColours,
    ColourBy,
    netron_colour,
)
from gui.canvas.scene import Box, BoxKind, Scene
from gui.comparing.changes import RANK, strongest

RAMP_STEPS = 32
GROUPS = (BoxKind.GROUP, BoxKind.FRAME)
# Numbers of which a group has the sum of its nodes'; of others, such as errors, it has the largest.
ADDS_UP = re.compile(r"time|latency|duration|cycles|\b[mun]?s\b|macs|flops|bytes|memory|params|count", re.IGNORECASE)
T = TypeVar("T")


@dataclass(slots=True)
class Legend:
    """What the colours mean: entries of (colour, text), or a ramp with the texts at its ends."""

    title: str
    entries: list[tuple[str, str]] = field(default_factory=list)
    ramp: list[str] = field(default_factory=list)
    low: str = ""
    high: str = ""


@dataclass(slots=True)
class Colouring:
    """A table of colours and the index of each box's colour in it, shape (n,)."""

    colours: list[str]
    index: Ints
    legend: Legend | None = None

    def suited(self, colours: CanvasColours) -> Colouring:
        """The same in a theme: nodes without a value step back, and those without a category are seen."""
        own = {NO_VALUE: colours.quiet, NETRON_OTHER: colours.netron_other}
        legend = self.legend
        if legend is not None:
            legend = replace(legend, entries=[(own.get(colour, colour), text) for colour, text in legend.entries])
        return Colouring([own.get(colour, colour) for colour in self.colours], self.index, legend)


def make_colouring(
    scene: Scene, by: ColourBy, values: Mapping[Node, object] | None = None, title: str = "", netron: bool = False
) -> Colouring:
    """The colouring that `GraphPicture.set_colours` asks for; a closed group has the sum, or most, of what is in it."""
    given = values or {}
    match by:
        case ColourBy.CATEGORY:
            return by_netron_category(scene) if netron else by_category(scene)
        case ColourBy.DTYPE:
            return by_dtype(scene)
        case ColourBy.PROVIDER:
            return by_name(scene, "Provider", _names(given))
        case ColourBy.PLAN:
            return by_name(scene, "Provider, as planned", _names(given))
        case ColourBy.CHANGE:
            return by_change(scene, _names(given))
        case ColourBy.TIME:
            return by_number(scene, "Time per node", _numbers(given), unit="ms")
        case ColourBy.ERROR:
            return by_number(scene, "Relative difference from CPU", _numbers(given), combine=_worst, logarithmic=True)
    colours = {node: value.name() for node, value in given.items() if isinstance(value, QColor)}
    if colours:
        return by_colour(scene, title, colours)
    return by_number(scene, title, _numbers(given), combine=sum if ADDS_UP.search(title) else _worst)


def _names(values: Mapping[Node, object]) -> dict[Node, str]:
    return {node: str(value) for node, value in values.items()}


def _numbers(values: Mapping[Node, object]) -> dict[Node, float]:
    if not all(issubclass(kind, int | float | np.number) for kind in set(map(type, values.values()))):
        raise ValueError("this colouring needs a number for each node that has a value")
    return {node: float(cast(float, value)) for node, value in values.items()}


def by_category(scene: Scene) -> Colouring:
    """Every operator in the colour of its category."""
    found, place, index = np.unique(scene.category, return_index=True, return_inverse=True)
    by_place = np.argsort(place)  # as in a table that is filled from the first box on
    return Colouring([CATEGORIES[found[i]].colour for i in by_place], np.argsort(by_place)[index])


def by_netron_category(scene: Scene) -> Colouring:
    """Every operator in the colour that Netron gives it."""
    return _tabled(
        [
            netron_colour(box.item.op_type, box.item.domain) if isinstance(box.item, Node) else box.category.colour
            for box in scene.boxes
        ],
        None,
    )


def by_dtype(scene: Scene) -> Colouring:
    """Every node in the colour of its first output's element type."""
    types = {node: _first_type(node) for node in _all_nodes(scene)}
    return by_name(scene, "Element type", {node: dtype.short for node, dtype in types.items() if dtype is not None})


def _first_type(node: Node) -> DType | None:
    for tensor in node.outputs:
        if tensor is not None:
            return tensor.dtype
    return None


def by_name(scene: Scene, title: str, values: Mapping[Node, str]) -> Colouring:
    """Nodes by a name each, such as the provider's; the most frequent names take the first colours."""
    texts = _of_boxes(scene, values, lambda names: Counter(names).most_common(1)[0][0])
    counts = Counter(values[node] for node in _all_nodes(scene) if node in values)
    names = [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    free = iter(SERIES * (len(names) // len(SERIES) + 1))
    colour_of = {name: PROVIDER_COLOURS.get(name) or next(free) for name in names}
    entries = [(colour_of[name], f"{name}  {counts[name]:,}") for name in names]
    return _coloured(scene, [colour_of[text] if text is not None else None for text in texts], Legend(title, entries))


def by_change(scene: Scene, kinds: Mapping[Node, str]) -> Colouring:
    """Nodes by how they differ from another model's, groups by the strongest of what is in them."""
    found = _of_boxes(scene, kinds, strongest)
    counts = Counter(kinds.get(node, "") for node in _all_nodes(scene))
    entries = [(CHANGE_COLOURS[kind], f"{kind}  {counts[kind]:,}") for kind in RANK if counts[kind]]
    legend = Legend("Compared with the other model", [*entries, (NO_VALUE, f"The same  {counts['']:,}")])
    return _coloured(scene, [CHANGE_COLOURS[kind] if kind is not None else None for kind in found], legend)


def by_number(
    scene: Scene,
    title: str,
    values: Mapping[Node, float],
    combine: Callable[[list[float]], float] = sum,
    unit: str = "",
    logarithmic: bool = False,
) -> Colouring:
    """Nodes by a number each, such as a time; a square root or logarithm keeps small differences visible."""
    numbers = _of_boxes(scene, values, combine)
    finite = [value for value in numbers if value is not None and math.isfinite(value)]
    if not finite:
        return _coloured(scene, [None] * len(numbers), Legend(title, [(NO_VALUE, "no values yet")]))
    positive = [value for value in finite if value > 0]
    low, high = (min(positive, default=0.0), max(finite)) if logarithmic else (min(0.0, *finite), max(finite))
    ramp = _ramp()
    steps = _steps(np.array([0.0 if value is None else value for value in numbers]), low, high, logarithmic)
    colours = [None if value is None else ramp[step] for value, step in zip(numbers, steps, strict=True)]
    if not any(finite):
        return _coloured(scene, colours, Legend(title, [(ramp[0], f"0 {unit}".strip() + " everywhere")]))
    legend = Legend(title, ramp=ramp, low=f"{low:.3g} {unit}".strip(), high=f"{high:.3g} {unit}".strip())
    return _coloured(scene, colours, legend)


def by_colour(scene: Scene, title: str, colours: Mapping[Node, str]) -> Colouring:
    """Nodes in given colours (#rrggbb)."""
    first = _of_boxes(scene, colours, lambda found: found[0])
    return _coloured(scene, first, Legend(title) if title else None)


def _worst(values: list[float]) -> float:
    return max(values, key=lambda value: math.inf if math.isnan(value) else value)


def _all_nodes(scene: Scene) -> Iterator[Node]:
    """The nodes that all boxes stand for."""
    for box in scene.boxes:
        if isinstance(box.item, Node):
            yield box.item
        elif box.kind is BoxKind.GROUP:
            yield from _inside(box)


def _inside(box: Box) -> list[Node]:
    """The nodes in a closed group."""
    return box.item.all_nodes() if isinstance(box.item, Group) else []


def _of_boxes(scene: Scene, values: Mapping[Node, T], combine: Callable[[list[T]], T]) -> list[T | None]:
    """The value of every box: its node's, or those of its nodes combined; None where there is none."""
    found: list[T | None] = []
    for box in scene.boxes:
        if isinstance(box.item, Node):
            found.append(values.get(box.item))
        elif box.kind is BoxKind.GROUP:
            inside = [values[node] for node in _inside(box) if node in values]
            found.append(inside[0] if len(inside) == 1 else combine(inside) if inside else None)
        else:
            found.append(None)
    return found


def _steps(values: Floats, low: float, high: float, logarithmic: bool) -> list[int]:
    """The steps of the ramp at which values between `low` and `high` lie, shape (n,)."""
    low_end, high_end = values <= (0.0 if logarithmic else low), np.isnan(values) | (values >= high)
    between = ~(low_end | high_end) & (values > low)  # what is no more than `low` is no difference at all
    shares = np.where(high_end & ~low_end, 1.0, 0.0)
    if between.any():
        inner = values[between]
        # In halves, as high - low may be more than a float holds.
        shares[between] = (
            (np.log(inner) - math.log(low)) / (math.log(high) - math.log(low))
            if logarithmic
            else np.sqrt((inner / 2 - low / 2) / (high / 2 - low / 2))
        )
    return [int(step) for step in np.rint(shares * (RAMP_STEPS - 1))]


def _coloured(scene: Scene, colours: list[str | None], legend: Legend | None) -> Colouring:
    """Nodes and groups in the given colours or the one for no value, as frames have; all else as by category."""
    return _tabled(
        [
            (colour or NO_VALUE) if isinstance(box.item, Node) or box.kind in GROUPS else box.category.colour
            for box, colour in zip(scene.boxes, colours, strict=True)
        ],
        legend,
    )


def _tabled(colours: list[str], legend: Legend | None) -> Colouring:
    table: dict[str, int] = {}
    index = [table.setdefault(colour, len(table)) for colour in colours]
    return Colouring(list(table), np.array(index, np.int64), legend)


def _ramp() -> list[str]:
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in RAMP], float)
    at = np.linspace(0, len(stops) - 1, RAMP_STEPS)
    mixed = np.stack([np.interp(at, np.arange(len(stops)), stops[:, c]) for c in range(3)], 1)
    return ["#" + "".join(f"{round(v):02x}" for v in row) for row in mixed.tolist()]
