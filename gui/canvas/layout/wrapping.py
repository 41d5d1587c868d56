"""Very wide rows: many parallel branches between a few hubs stand in several rows, and reach a hub by one bus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gui.canvas.layout.cycles import connected_parts
from gui.canvas.layout.ranking import Ranks
from gui.canvas.layout.types import Floats, Ints, Level

WIDE = 9000.0  # px; rows beyond that wrap
ASPECT = 1.6  # width to height of the wrapped block
CHANNEL = 60.0  # height between two layers, roughly
GAP = 20.0
HUB = 48  # neighbours that make a box a hub
FEWEST = 24  # branches worth wrapping
NARROW = 0.25  # of the wide row; a wider branch stays where it is


@dataclass(slots=True)
class Wrapping:
    """Where wrapped branches go.

    Attributes
    ----------
    least
        Lowest rank each box may have so that its branch stands in its row; -1 for boxes of no such branch, shape (n,).
    room
        Width of each box's branch at its widest, so that branches stand below each other in columns, shape (n,).
    """

    least: Ints
    room: Floats


def rows(level: Level, ranked: Ranks, source: Ints, target: Ints) -> Wrapping | None:
    """How branches wrap; None where nothing needs to."""
    count, rank = len(level.width), ranked.rank
    if np.bincount(rank, level.width + GAP).max() <= WIDE:
        return None
    degree = np.bincount(source, minlength=count) + np.bincount(target, minlength=count)
    inner = (degree[source] < HUB) & (degree[target] < HUB)
    branch = connected_parts(count, source[inner], target[inner])
    branches = int(branch.max()) + 1
    first, last = np.full(branches, count), np.zeros(branches, np.int64)
    np.minimum.at(first, branch, rank)
    np.maximum.at(last, branch, rank)
    width = _widths(level, rank, branch, branches)
    wraps = width <= NARROW * WIDE
    wraps[branch[(degree >= HUB) | (level.pin != 0)]] = False
    least = np.full(count, -1)
    for start in np.unique(first[wraps]).tolist():
        mine = np.flatnonzero(wraps & (first == start))
        if len(mine) < FEWEST or width[mine].sum() <= WIDE:
            continue
        depth = int((last[mine] - first[mine]).max()) + 1
        total = float(width[mine].sum())
        room = max(2400.0, float(np.sqrt(total * depth * CHANNEL * 2 * ASPECT)))
        count_of_rows = int(np.ceil(total / room))
        row_of = np.full(branches, -1)
        row_of[mine] = np.minimum(np.cumsum(width[mine]) * count_of_rows / total, count_of_rows - 1).astype(np.int64)
        inside = row_of[branch] >= 0
        least[inside] = rank[inside] + row_of[branch[inside]] * depth
    if not (least >= 0).any():
        return None
    single = np.bincount(branch, minlength=branches) == last - first + 1  # one box to a layer
    return Wrapping(least, np.where((least >= 0) & single[branch], width[branch] - GAP, 0.0))


def _widths(level: Level, rank: Ints, branch: Ints, branches: int) -> Floats:
    """Width of the widest layer of every branch."""
    layers = int(rank.max()) + 1
    place, which = np.unique(branch * layers + rank, return_inverse=True)
    total = np.bincount(which, level.width + GAP)
    width = np.zeros(branches)
    np.maximum.at(width, place // layers, total)
    return width


def buses(least: Ints, rank: Ints, source: Ints, target: Ints) -> Ints:
    """For each edge the bus it takes into its target, or -1: one for each hub that many wrapped branches reach."""
    wrapped = least[source] >= 0
    readers = np.bincount(target[wrapped], minlength=len(rank))
    hubs = np.flatnonzero(readers >= HUB)
    number = np.full(len(rank), -1)
    number[hubs] = np.arange(len(hubs))
    return np.where(wrapped, number[target], -1)
