"""The module that each node of a graph is drawn in: what its exporter tells, else where its readers are. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from engine.graph.ir import Node
from engine.graph.modules import Path, Told, prefixes, told_by_metadata, told_by_prefix
from gui.canvas.folding import is_folded
from gui.canvas.layout.types import Ints

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class ModulePaths:
    """The modules of some nodes: `paths[number[i]]` is that of the i-th, and `classes` are those of modules by path.

    There are far fewer paths than nodes; the same one can be among them twice.
    """

    number: Ints
    paths: list[Path]
    classes: Mapping[Path, str]


def numbered(keys: Iterable[Key]) -> tuple[list[int], list[Key]]:
    """A number for each key, alike for equal ones, and the key of each number."""
    keys = list(keys)
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return list(map(number.__getitem__, keys)), list(number)


def module_paths(nodes: Sequence[Node]) -> ModulePaths:
    """The modules of the nodes of a graph."""
    number = {node: i for i, node in enumerate(nodes)}

    def readers(i: int) -> set[int]:
        """Those in subgraphs are all -1."""
        consumers = [reader for t in nodes[i].outputs if t is not None for reader, _ in t.consumers]
        return {number.get(reader, -1) for reader in consumers if not is_folded(reader)}

    by_metadata = {i: told for i, node in enumerate(nodes) if (told := told_by_metadata(node.metadata))}
    return settled_paths([node.stored_name for node in nodes], by_metadata, readers, [node.index for node in nodes])


def settled_paths(
    names: Sequence[str], by_metadata: Mapping[int, Told], readers: Callable[[int], set[int]], time: Sequence[int]
) -> ModulePaths:
    """The modules of nodes by what their metadata tells of them, where it does, and else by their names.

    A node of which nothing is told, such as one that an optimiser put in, belongs where its readers do.

    Parameters
    ----------
    readers
        The numbers of the nodes that read what a node makes; -1 for one that has no place here.
    time
        Where each node stands in the run order.
    """
    keys: list[str | Told] = [*prefixes(names)]
    for i, told in by_metadata.items():
        keys[i] = told
    number, distinct = numbered(keys)
    told_of = [told_by_prefix(key) if isinstance(key, str) else key for key in distinct]
    classes: dict[Path, str] = {}
    for one in told_of:
        if one is not None and one[1]:
            classes.update((one[0][: i + 1], kind) for i, kind in enumerate(one[1]) if kind)
    paths = [one[0] if one is not None else None for one in told_of]
    if None in paths:
        _settle_others(number, paths, readers, time)
    return ModulePaths(np.array(number, np.int64), [path or () for path in paths], classes)


def _settle_others(
    number: list[int], paths: list[Path | None], readers: Callable[[int], set[int]], time: Sequence[int]
) -> None:  # fmt: skip
    """Put the nodes whose path is None where their readers are, last ones first."""
    where = {path: i for i, path in enumerate(paths)}
    for i in sorted((i for i, mine in enumerate(number) if paths[mine] is None), key=lambda i: -time[i]):
        around = readers(i)
        known = [path for r in around if r >= 0 and (path := paths[number[r]]) is not None]
        if known and len(known) == len(around):
            number[i] = where.setdefault(path := common(known), len(paths))
            if number[i] == len(paths):
                paths.append(path)


def common(paths: list[Path]) -> Path:
    """The longest beginning that all paths share."""
    low, high = min(paths), max(paths)
    length = 0
    while length < min(len(low), len(high)) and low[length] == high[length]:
        length += 1
    return low[:length]
