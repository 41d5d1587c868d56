"""`make bench`, second part: how long opening takes and how much memory, beside onnx.load and ONNX Runtime.

Each reader runs in a process of its own, files in the page cache; the time and the peak of the same process with a tiny
model are subtracted, and the median of the rounds counts. Files are made by large_models.py; weights are holes in them,
which readers that copy weights copy as zeros. `--write` puts the table into docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from large_models import write_external, write_inline, write_many_nodes
from report import write_table

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "resources" / "models" / "sample_cnn.onnx"

FILES: dict[str, Callable[[Path], None]] = {
    "1.5 GiB in one file": lambda path: write_inline(path, 24, 4096, 4096),
    "2.3 GiB in one file": lambda path: write_inline(path, 37, 4096, 4096),
    "3 GiB in a second file": lambda path: write_external(path, 48, 4096, 4096),
    "20,000 nodes": lambda path: write_many_nodes(path, 20_000),
}
READERS = {
    "oinfer inspect --json": "from engine.cli import main; main(['inspect', '--json', sys.argv[1]])",
    "onnx.load": "import onnx; onnx.load(sys.argv[1])",
    "ONNX Runtime session": "import onnxruntime; o = onnxruntime.SessionOptions(); o.log_severity_level = 4; "
    "onnxruntime.InferenceSession(sys.argv[1], o, providers=['CPUExecutionProvider'])",
}
BOUNDS = {"20,000 nodes": ("CPU", 1.5)}
LARGE_BOUND, MEMORY_BOUND = ("wall", 0.3), 150

_PROGRAM = """
import json, re, resource, sys, time
start = time.perf_counter()
{read}
used = resource.getrusage(resource.RUSAGE_SELF)
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
print(json.dumps([time.perf_counter() - start, used.ru_utime + used.ru_stime, peak]), file=sys.stderr)
"""


def once(read: str, path: Path) -> list[float] | str:
    """Seconds, seconds of CPU time and peak MiB of a process that reads `path`; or why it failed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", _PROGRAM.format(read=read), str(path)], cwd=ROOT, env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
    last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.returncode}"
    return list(json.loads(last)) if done.returncode == 0 and last.startswith("[") else last


def over_tiny(read: str, path: Path, rounds: int) -> tuple[float, float, float] | str:
    """What reading `path` takes beyond reading a tiny model: medians of wall and CPU seconds, and of peak MiB."""
    runs: dict[Path, list[list[float]]] = {TINY: [], path: []}
    for _ in range(rounds):
        for file, found in runs.items():
            result = once(read, file)
            if isinstance(result, str):
                return result
            found.append(result)
    more = [median(r[k] for r in runs[path]) - median(r[k] for r in runs[TINY]) for k in range(3)]
    return more[0], more[1], more[2]


def main() -> int:
    """Print the table; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into docs/results.md")
    args = parser.parse_args()
    rows, missed = [], False
    with tempfile.TemporaryDirectory(prefix="oinfer-bench-") as folder:
        for name, write in FILES.items():
            path = Path(folder) / name.replace(" ", "_") / "model.onnx"
            path.parent.mkdir()
            write(path)
            for reader, read in READERS.items():
                ours = reader.startswith("oinfer")
                result = over_tiny(read, path, args.rounds if ours else 1)
                row = [name, reader, *_cells(result)]
                if ours:
                    kind, bound = BOUNDS.get(name, LARGE_BOUND)
                    assert not isinstance(result, str), result
                    holds = result[kind == "CPU"] <= bound and result[2] <= MEMORY_BOUND
                    missed |= not holds
                    row += [f"≤ {bound} s ({kind}), ≤ {MEMORY_BOUND} MiB", "yes" if holds else "**no**"]
                rows.append(row + [""] * (7 - len(row)))
                print("  ".join(f"{cell:24}" for cell in rows[-1]), flush=True)
    if args.write:
        write_table("opening", ["file", "reader", "seconds", "CPU", "peak memory", "bound", "holds"], rows,
                    "Beyond the same process with a tiny model; load average "
                    f"{os.getloadavg()[0]:.1f} at the end.")  # fmt: skip
    return 1 if missed else 0


def _cells(result: tuple[float, float, float] | str) -> list[str]:
    if isinstance(result, str):
        return [result.rpartition(":")[2].strip()[:60] or "failed", "", ""]
    seconds, cpu, peak = result
    return [f"{max(seconds, 0):.2f} s", f"{max(cpu, 0):.2f} s", f"{max(peak, 0):.0f} MiB"]


if __name__ == "__main__":
    sys.exit(main())
