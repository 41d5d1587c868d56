"""`make bench-view`: OInfer's first frame beside Netron's, measured in turns on the same machine and models.

Netron is a server and a headless Chromium of its own for every run, from the start of navigation to two frames after
the graph appears; OInfer is the warm window of `oinfer --smoke`, as Netron's browser and server are up by then.
Where Chromium or netron are missing, Netron's seconds are those of ../shared/reference/netron.md, and the table says
so. NETRON may name the command where it is not on the path. `--write` puts the table into docs/results.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.netron_page import find_browser, find_netron, painted_seconds  # noqa: E402
from tests.bench.report import show_table  # noqa: E402
from tests.bench.view import RUNGS, Rung, model_file, smoke  # noqa: E402

BOUND = 0.25  # of Netron's time
SLOW = 10.0  # seconds of Netron's from which one round does
HEADS = ["model", "nodes", "OInfer, s", "Netron, s", "ratio", "bound"]


def row(rung: Rung, rounds: int, tools: tuple[str, str] | None) -> list[str]:
    """The line of one model: medians of the rounds, the two taking turns."""
    path, ours, theirs = model_file(rung.model), [], []
    nodes = 0
    for _ in range(rounds if (rung.netron or SLOW) < SLOW or tools is None else 1):
        report = smoke(path, flat=True)
        nodes = report["nodes"]
        ours.append(report["first_frame_ms"] / 1e3)
        if tools is not None:
            theirs.append(painted_seconds(*tools, path))
    if tools is None and rung.netron is not None:
        theirs.append(rung.netron)
    line = [rung.model, f"{nodes:,}", f"{median(ours):.2f}"]
    if not theirs:
        return [*line, "–", "–", f"{BOUND:g}×"]
    ratio = median(ours) / median(theirs)
    return [*line, f"{median(theirs):.2f}", f"{ratio:.2f}×{'' if ratio <= BOUND else ' **missed**'}", f"{BOUND:g}×"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="only these")
    parser.add_argument("--rounds", type=int, default=3, help=f"one where Netron takes over {SLOW:g} s")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    netron, browser = find_netron(), find_browser()
    missing = [name for name, found in (("netron", netron), ("Chromium", browser)) if not found]
    where = "measured in turns with OInfer, in headless Chromium"
    if missing:
        where = f"from netron.md, since {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing here"
    print(f"Netron's seconds are {where}.", flush=True)
    tools = (netron, browser) if netron and browser else None
    rungs = [r for r in RUNGS if r.flat and (r.model in args.models if args.models else r.netron is not None)]
    rows = (row(rung, args.rounds, tools) for rung in rungs)
    show_table("beside", HEADS, rows, args.write, f"Netron's seconds are {where}. ")


if __name__ == "__main__":
    main()
