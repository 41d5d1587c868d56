"""Chips: a tensor that is read in many far places is named there instead of being led there by a long line. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gui.canvas.layout.ranking import longest_paths
from gui.canvas.layout.types import Ints
from gui.canvas.scene import Box, BoxKind, Net

if TYPE_CHECKING:
    from gui.canvas.box_content import BoxMaker

MANY_READERS = 16
FAR = 24  # layers between a tensor and its reader


def with_chips(edges: Ints, boxes: list[Box], nets: list[Net], nets_of: dict[int, list[int]], make: BoxMaker) -> Ints:
    """Replace far edges of much-read tensors by chips; boxes and nets grow, the new edges come back.

    Parameters
    ----------
    edges
        Rows of source box, target box and net, shape (e, 3).
    """
    readers = np.bincount(edges[:, 2], minlength=len(nets))
    if not (readers > MANY_READERS).any():
        return edges
    depth = longest_paths(len(boxes), edges[:, 0], edges[:, 1])
    far = (readers[edges[:, 2]] > MANY_READERS) & (depth[edges[:, 1]] - depth[edges[:, 0]] > FAR)
    if not far.any():
        return edges
    kept, gone = edges[~far], edges[far]
    near = set(kept[:, 2].tolist())
    new: list[tuple[int, int, int]] = []
    announced: set[int] = set()
    for source, target, net in gone.tolist():
        old = nets[net]
        boxes.append(make.chip(old.tensor))
        boxes[-1].parent = boxes[target].parent
        nets_of[id(old.tensor)].append(len(nets))
        new.append((len(boxes) - 1, target, len(nets)))
        nets.append(Net(old.tensor, "", False, old.captured))
        if net not in near and net not in announced and boxes[source].kind is BoxKind.NODE:
            announced.add(net)
            boxes.append(make.chip(old.tensor, int(readers[net])))
            boxes[-1].parent = boxes[source].parent
            new.append((source, len(boxes) - 1, net))
    return np.concatenate([kept, np.array(new, np.int64)])
