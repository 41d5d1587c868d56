"""`make bench`: how fast the engine runs and the window opens, beside ONNX Runtime and onnx.reference.

Each engine runs alone in a process of its own, and they take turns: in one process their thread pools slow each other.
Every figure is the median over the rounds of each round's median; what counts is the ratio. `--write` puts the table
into docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oinfer-bench"
THREADS = "2"
RESULTS = ROOT / "docs" / "results.md"
MARKS = "<!-- bench: begin -->", "<!-- bench: end -->"


class Skipped(Exception):
    """A figure cannot be taken here; the message says what is missing."""


class Failed(Exception):
    """What was to be measured failed; the message says how."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: what was measured, in words, and whether the bound holds (None without one)."""

    name: str
    value: str
    bound: str = ""
    holds: bool | None = None


# Engines: each makes a function that runs the model once on the feeds.


def oinfer_engine(path: str, feeds: dict[str, np.ndarray]) -> Callable[[], object]:
    from engine.opening import open_model
    from engine.session import Session

    session = Session(open_model(path))
    return lambda: session.run(feeds)


def fast_engine(path: str, feeds: dict[str, np.ndarray]) -> Callable[[], object]:
    from engine.opening import open_model
    from engine.session import Session, SessionOptions

    session = Session(open_model(path), options=SessionOptions(mode="fast", keep="none"))
    return lambda: session.run(feeds)


def ort_engine(path: str, feeds: dict[str, np.ndarray]) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(THREADS)
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def reference_engine(path: str, feeds: dict[str, np.ndarray]) -> Callable[[], object]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(path)
    return lambda: evaluator.run(None, feeds)


ENGINES = {
    "oinfer": oinfer_engine, "oinfer fast": fast_engine, "onnxruntime": ort_engine, "onnx.reference": reference_engine,
}  # fmt: skip
RNG = np.random.default_rng(0)
FEEDS: dict[str, Callable[[], dict[str, np.ndarray]]] = {
    "resnet18": lambda: {"x": RNG.standard_normal((1, 3, 224, 224)).astype(np.float32)},
    "full_mobilenetv2": lambda: {"x": RNG.standard_normal((1, 3, 224, 224)).astype(np.float32)},
    "mobilenetv2_qop_int8": lambda: {"x": RNG.standard_normal((1, 3, 224, 224)).astype(np.float32)},
    "full_bert_base": lambda: {
        "input_ids": RNG.integers(0, 4000, (1, 128)),
        "attention_mask": np.ones((1, 128), np.int64),
        "token_type_ids": np.zeros((1, 128), np.int64),
    },
}


def worker(engine: str, model: str, path: str, repeat: int) -> None:
    """In a process of its own: print the milliseconds of each run after one to warm up."""
    run = ENGINES[engine](path, FEEDS[model]())
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps(times))


def call(*command: str, timeout: int = 600) -> str:
    """Standard output of a command run at the repository's root with two threads and no display.

    Raises
    ------
    Failed: with the last line that it said.
    """
    environment = {
        **os.environ, "OMP_NUM_THREADS": THREADS, "OPENBLAS_NUM_THREADS": THREADS, "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
    }  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line and "propagateSizeHints" not in line]
        raise Failed(said[-1] if said else f"exit status {done.returncode}")
    return done.stdout


def alternate(engines: dict[str, int], model: str, rounds: int) -> dict[str, float]:
    """Milliseconds per engine, the engines taking turns; `engines` gives the runs of each round.

    Every other round goes the other way: what one engine leaves the machine in (a warm cache, threads that still spin)
    would else always meet the same one.
    """
    path = model_file(model)
    medians: dict[str, list[float]] = {engine: [] for engine in engines}
    for turn in range(rounds):
        for engine, repeat in list(engines.items())[:: -1 if turn % 2 else 1]:
            out = call(sys.executable, __file__, "--worker", engine, model, str(path), str(repeat))
            medians[engine].append(median(json.loads(out)))
    return {engine: median(values) for engine, values in medians.items()}


def model_file(model: str) -> Path:
    """The model of the shared corpus, or the skeleton of that name refilled."""
    stored = SHARED / "models" / "gen" / f"{model}.onnx"
    return stored if stored.exists() else refilled(model)


def refilled(model: str) -> Path:
    """The skeleton with its weights filled in, kept outside the repository."""
    script = SHARED / "models" / "fill_weights.py"
    if not script.exists():
        raise Skipped(f"needs the skeleton models of {SHARED.name}/ beside the repository")
    path = CACHE / f"{model}.onnx"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        call(sys.executable, str(script), model, str(part))
        part.rename(path)
    return path


# Figures.


def beside_onnxruntime(model: str, rounds: int, bound: float | None = None) -> Iterator[Figure]:
    ms = alternate({"oinfer": 7, "oinfer fast": 7, "onnxruntime": 7}, model, rounds)
    ratio = ms["oinfer"] / ms["onnxruntime"]
    told = ("", None) if bound is None else (f"≤ {bound:g}×", ratio <= bound)
    yield Figure(f"{model}: OInfer", f"{ms['oinfer']:.1f} ms")
    yield Figure(f"{model}: OInfer, fast mode", f"{ms['oinfer fast']:.1f} ms")
    yield Figure(f"{model}: ONNX Runtime, 2 threads", f"{ms['onnxruntime']:.1f} ms")
    yield Figure(f"{model}: OInfer / ONNX Runtime", f"{ratio:.2f}×", *told)
    yield Figure(f"{model}: OInfer, fast mode / ONNX Runtime", f"{ms['oinfer fast'] / ms['onnxruntime']:.2f}×")


def beside_reference(rounds: int) -> Iterator[Figure]:
    ms = alternate({"oinfer": 7, "onnx.reference": 1}, "resnet18", max(1, rounds - 1))
    ratio = ms["onnx.reference"] / ms["oinfer"]
    yield Figure("resnet18: onnx.reference", f"{ms['onnx.reference']:.0f} ms")
    yield Figure("resnet18: onnx.reference / OInfer", f"{ratio:.1f}×", "≥ 5×", ratio >= 5)


def opening(name: str, path: Path, bound_s: float, rounds: int) -> Iterator[Figure]:
    """From the start of loading to the first complete frame, by the smoke run's own clock."""
    reports = [smoke(path) for _ in range(rounds)]
    phases = {key: median(report[key] for report in reports) for key in reports[0]}
    seconds = phases.pop("open_to_frame") / 1e3
    parts = ", ".join(f"{key} {value:.0f}" for key, value in phases.items())
    value, bound = f"{seconds:.2f} s ({parts} ms)", f"≤ {bound_s} s"
    yield Figure(f"{name}: loading to first frame", value, bound, seconds <= bound_s)


def smoke(path: Path) -> dict[str, float]:
    """The phases of one smoke run, in ms."""
    report: dict[str, Any] = json.loads(call(sys.executable, "-m", "engine", "--smoke", str(path), "--json"))
    wanted = ("read", "link", "infer", "layout", "first_frame", "open_to_frame")
    return {phase: report["phases_ms"][phase] for phase in wanted if phase in report["phases_ms"]}


def light_resnet50() -> Path:
    import onnx

    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / "light_resnet50.onnx"


def transformer_10k() -> Path:
    script = SHARED / "bench" / "make_models.py"
    if not script.exists():
        raise Skipped(f"needs the model generator of {SHARED.name}/ beside the repository")
    path = CACHE / "tfm_10k.onnx"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        call(sys.executable, str(script), str(CACHE), "--only", "tfm_10k")
    return path


def measure(rounds: int) -> Iterator[Figure]:
    """Every figure, those that cannot be taken here with the reason."""
    parts: dict[str, Callable[[], Iterator[Figure]]] = {
        "resnet18": lambda: beside_onnxruntime("resnet18", rounds, 3),
        "bert_base": lambda: beside_onnxruntime("full_bert_base", rounds, 3),
        "mobilenetv2": lambda: beside_onnxruntime("full_mobilenetv2", rounds),
        "mobilenetv2 in int8": lambda: beside_onnxruntime("mobilenetv2_qop_int8", rounds),
        "resnet18 beside onnx.reference": lambda: beside_reference(rounds),
        "light resnet50": lambda: opening("light resnet50", light_resnet50(), 1.0, rounds),
        "10,000-node transformer": lambda: opening("10,000-node transformer", transformer_10k(), 6.0, 1),
    }
    for name, part in parts.items():
        try:
            yield from part()
        except Skipped as reason:
            yield Figure(name, f"skipped: {reason}")
        except Failed as reason:
            yield Figure(name, f"failed: {reason}", holds=False)


def machine() -> str:
    """The machine in words."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return (
        f"{os.cpu_count()} × {model}, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, load average {os.getloadavg()[0]:.1f} in the minute before"
    )


def as_markdown(figures: list[Figure]) -> str:
    rows = ["| figure | value | bound | holds |", "|---|---|---|---|"]
    for figure in figures:
        verdict = {None: "", True: "yes", False: "**no**"}[figure.holds]
        rows.append(f"| {figure.name} | {figure.value} | {figure.bound} | {verdict} |")
    return "\n".join(rows)


def write_results(figures: list[Figure], where: str) -> None:
    """Put the table between the marks of docs/results.md."""
    text = RESULTS.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    day = time.strftime("%Y-%m-%d")
    table = f"{MARKS[0]}\nMeasured on {day} with `make bench`: {where}.\n\n{as_markdown(figures)}\n{MARKS[1]}"
    RESULTS.write_text(before + table + after, encoding="utf-8")


def main() -> int:
    if sys.argv[1:2] == ["--worker"]:
        engine, model, path, repeat = sys.argv[2:]
        worker(engine, model, path, int(repeat))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="turns that each engine takes (default 3)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results.md")
    args = parser.parse_args()
    where = machine()
    print(where)
    figures = []
    for figure in measure(args.rounds):
        verdict = {None: "", True: "holds", False: "MISSED"}[figure.holds]
        print(f"{figure.name:45} {figure.value:60} {figure.bound:8} {verdict}", flush=True)
        figures.append(figure)
    if args.write:
        write_results(figures, where)
    return 1 if any(figure.holds is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
