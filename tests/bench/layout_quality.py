"""Quality of the layout on the graphs of ../shared/bench/layout_graphs.py: what must not be, and how good the rest is.

    .venv/bin/python tests/bench/layout_quality.py [GRAPH ...] [--write]

No box may overlap another and no line pass through a box. Crossings are counted exactly between the drawn lines of
different tensors. Beside each figure stands that of the layout measured in ../shared/reference/canvas.md, taken by
the same script from ../shared/prototypes where it is there. `--write` puts the table into docs/results.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
for folder in (ROOT, SHARED / "bench", SHARED / "prototypes"):
    sys.path.insert(0, str(folder))

import layered_layout  # noqa: E402
import layout_graphs  # noqa: E402

from gui.canvas.layout import LayoutInput, layout  # noqa: E402
from gui.canvas.layout.types import Floats, Ints  # noqa: E402
from tests.bench.report import write_table  # noqa: E402

GRAPHS = ("resnet50", "densenet121", "inception_v2", "bert1k", "unet", "fan500", "wide2000", "tf3k", "bert10k", "tf10k")
CHUNK = 512


@dataclass(slots=True)
class Quality:
    """Figures of one drawing; lengths in px."""

    seconds: float
    overlaps: int
    through: int
    crossings: int
    length: float
    width: float
    height: float


def measure(x: Floats, y: Floats, w: Floats, h: Floats, segments: Floats, net: Ints, seconds: float) -> Quality:
    """The figures of a drawing given as arrays."""
    segments = np.where((segments[:, 1] <= segments[:, 3])[:, None], segments, segments[:, [2, 3, 0, 1]])
    order = np.argsort(segments[:, 1], kind="stable")
    segments, net = segments[order], net[order]
    ends = np.concatenate([segments[:, 0], segments[:, 2], x, x + w]), np.concatenate([segments[:, 3], y + h])
    return Quality(
        seconds=seconds,
        overlaps=overlaps(x, y, w, h),
        through=through(x, y, w, h, segments),
        crossings=crossings(segments, net),
        length=float(np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1]).sum()),
        width=float(ends[0].max() - ends[0].min()),
        height=float(ends[1].max()),
    )


def overlaps(x: Floats, y: Floats, w: Floats, h: Floats) -> int:
    """Pairs of boxes that overlap by more than half a pixel."""
    found = 0
    for i in range(0, len(x), CHUNK):
        a = slice(i, i + CHUNK)
        meet = (x[a, None] + 0.5 < x + w) & (x + 0.5 < (x + w)[a, None])
        meet &= (y[a, None] + 0.5 < y + h) & (y + 0.5 < (y + h)[a, None])
        found += int(meet.sum())
    return (found - len(x)) // 2


def through(x: Floats, y: Floats, w: Floats, h: Floats, segments: Floats) -> int:
    """Segments that pass through the inside of a box, more than a pixel deep."""
    found = 0
    for i in range(0, len(segments), CHUNK):
        x0, y0, x1, y1 = (column[:, None] for column in segments[i : i + CHUNK].T)
        top, bottom = np.maximum(y0, y + 1), np.minimum(y1, y + h - 1)
        near = np.nonzero((top < bottom) & (np.minimum(x0, x1) < x + w - 1) & (np.maximum(x0, x1) > x + 1))
        line, box = near
        slope = ((x1 - x0) / np.maximum(y1 - y0, 1e-9))[line, 0]
        at = [x0[line, 0] + (edge[near] - y0[line, 0]) * slope for edge in (top, bottom)]
        low, high = np.minimum(*at), np.maximum(*at)
        found += int(((high > x[box] + 1) & (low < x[box] + w[box] - 1)).sum())
    return found


def crossings(segments: Floats, net: Ints) -> int:
    """Pairs of segments of different nets that cross properly; segments are sorted by their upper end."""
    found = 0
    for i in range(0, len(segments), CHUNK):
        mine = segments[i : i + CHUNK]
        end = int(np.searchsorted(segments[:, 1], mine[:, 3].max()))
        others = segments[i:end]
        later = np.arange(i, end) > np.arange(i, i + len(mine))[:, None]
        pair = later & (net[i : i + len(mine), None] != net[i:end]) & (others[:, 1] < mine[:, 3, None])
        a, b = np.nonzero(pair)
        found += int(_cross(mine[a], others[b]).sum())
    return found


def _cross(a: Floats, b: Floats) -> Floats:
    def side(line: Floats, px: Floats, py: Floats) -> Floats:
        cross = (line[:, 2] - line[:, 0]) * (py - line[:, 1]) - (line[:, 3] - line[:, 1]) * (px - line[:, 0])
        return np.sign(np.where(np.abs(cross) < 1e-6, 0.0, cross))

    return (side(a, b[:, 0], b[:, 1]) * side(a, b[:, 2], b[:, 3]) < 0) & (
        side(b, a[:, 0], a[:, 1]) * side(b, a[:, 2], a[:, 3]) < 0
    )


def ours(g: Any) -> Quality:
    data = LayoutInput(
        g.w, g.h, g.src.astype(np.int64), g.dst.astype(np.int64), g.net.astype(np.int64), np.zeros(g.nnets)
    )
    start = time.process_time()
    result = layout(data)
    spent = time.process_time() - start
    return measure(result.x, result.y, result.width, result.height, result.segments, result.segment_net, spent)


def before(g: Any) -> Quality:
    start = time.process_time()
    found = layered_layout.layout(g)
    spent = time.process_time() - start
    w, h = found["w"], found["h"]
    return measure(found["x"] - w / 2, found["y"] - h / 2, w, h, found["seg"], found["seg_net"], spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = []
    for name in args.graphs:
        g = layout_graphs.BY_NAME[name]()
        a, b = ours(g), before(g)
        rows.append(
            [f"{name} ({g.n:,})", str(a.overlaps), str(a.through), f"{a.crossings:,} ({b.crossings:,})",
             f"{a.length / 1e3:,.0f} ({b.length / 1e3:,.0f})", f"{a.width:,.0f} ({b.width:,.0f})",
             f"{a.seconds:.2f} ({b.seconds:.2f})"]
        )  # fmt: skip
        print("  ".join(rows[-1]), f" height {a.height:,.0f} ({b.height:,.0f}), theirs through {b.through}", flush=True)
    if args.write:
        heads = ["graph (nodes)", "overlaps", "lines through boxes", "crossings", "length, k px", "width, px", "CPU s"]
        write_table("layout", heads, rows)


if __name__ == "__main__":
    main()
