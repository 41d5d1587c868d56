"""`make bench-view`: from opening a model to its first frame, frames while moving, memory; beside Netron.

Each model is opened in a process of its own by `oinfer --smoke MODEL --view --json`; figures are medians over the
rounds. Netron's are those of ../shared/reference/netron.md, measured on a quiet machine with the same models, which
../shared/bench/make_models.py makes. `--write` puts the table into docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import onnx

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oinfer-bench" / "view"
sys.path[:0] = [str(ROOT), str(SHARED / "bench")]

from tests.bench.report import show_table  # noqa: E402


@dataclass(frozen=True, slots=True)
class Rung:
    """A model, how it is shown, Netron's seconds where measured, and how many seconds it may take."""

    model: str
    flat: bool
    netron: float | None
    bound: float | None


RUNGS = (
    Rung("light_resnet50", True, 1.81, 0.45),
    Rung("tfm_1k", True, 3.22, 0.8),
    Rung("tfm_3k", True, 7.04, 1.75),
    Rung("tfm_3k_mask", True, 19.1, 2.0),
    Rung("tfm_10k", True, 20.6, 4.0),
    Rung("tfm_20k", True, None, 8.0),
    Rung("tfm_10k", False, 20.6, 4.0),
    Rung("tfm_50k", False, None, 1.0),
    Rung("tfm_50k", True, None, None),
    Rung("wide_2k", True, 12.7, 3.2),
)
HEADS = ["model", "nodes", "boxes", "first frame, s", "of it CPU, s", "opened, s", "bound", "Netron, s", "layout, s",
         "pan fit / 0.4 / 1.0, ms",
         "zoom fit / 0.4 / 1.0, ms", "still, ms", "selection, ms", "hit, ms", "pause, ms",
         "frames p95 opening / layout / run, ms", "cancel opening / run, ms", "peak, MiB"]  # fmt: skip


def model_file(name: str) -> Path:
    """The model, made now if it is not there."""
    target = CACHE / f"{name}.onnx"
    if target.is_file():
        return target
    CACHE.mkdir(parents=True, exist_ok=True)
    if name.startswith("light_"):
        light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
        target.write_bytes((light / f"{name}.onnx").read_bytes())
        return target
    import make_models

    known = make_models.SMALL | {"tfm_50k": lambda: make_models.transformer(50_000)}
    onnx.save(known[name](), target)
    return target


def smoke(path: Path, flat: bool) -> dict[str, Any]:
    """The report of one smoke run."""
    command = [sys.executable, "-m", "engine", "--smoke", str(path), "--view", "--json", *(["--flat"] if flat else [])]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    if not report["ok"]:
        raise RuntimeError(f"{path.name}: {report['reason']}")
    return report


def row(rung: Rung, rounds: int) -> list[str]:
    """The line of one rung in the table."""
    reports = [smoke(model_file(rung.model), rung.flat) for _ in range(rounds)]

    def mid(key: str) -> float:
        return median(float(report[key]) for report in reports)

    def frames(key: str) -> str:
        return " / ".join(f"{median(r[key][scale][0] for r in reports):.1f}" for scale in ("fit", "0.4", "1.0"))

    def worst(key: str) -> str:
        """The 95th percentile; a dash where nothing lasted long enough."""
        found = [report[key][1] for report in reports if report[key] is not None]
        return f"{median(found):.0f}" if found else "–"

    def some(key: str) -> str:
        found = [report[key] for report in reports if report[key] is not None]
        return f"{median(found):.0f}" if found else "–"

    first = mid("first_frame_ms") / 1e3
    verdict = "" if rung.bound is None or first <= rung.bound else " **missed**"
    return [
        rung.model + ("" if rung.flat else " in modules"), f"{reports[0]['nodes']:,}", f"{reports[0]['boxes']:,}",
        f"{first:.2f}{verdict}",
        f"{mid('first_frame_cpu_ms') / 1e3:.2f}", f"{mid('opened_ms') / 1e3:.2f}",
        f"{rung.bound:g}" if rung.bound else "–",
        f"{rung.netron:g}" if rung.netron else "–",
        f"{mid('layout_ms') / 1e3:.2f}", frames("pan_ms"), frames("zoom_ms"), frames("still_ms"),
        f"{mid('selection_ms'):.1f}", f"{mid('hit_test_ms'):.2f}", f"{mid('longest_pause_ms'):.0f}",
        " / ".join(worst(key) for key in ("frames_during_opening", "frames_during_layout", "frames_during_run")),
        " / ".join(some(key) for key in ("cancel_opening_ms", "cancel_run_ms")),
        f"{mid('peak_memory_mib'):.0f}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="only these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rungs = [rung for rung in RUNGS if not args.models or rung.model in args.models]
    show_table("view", HEADS, (row(rung, args.rounds) for rung in rungs), args.write)


if __name__ == "__main__":
    main()
