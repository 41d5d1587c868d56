"""``make fuzz``: open mutants of real models, and report whatever is not a model or a refusal in words.

    python tests/fuzz/run.py [--seconds 600] [--count N] [--seed TEXT] [--start N] [--workers N]

Each mutant is written into a folder that holds a link out of it, a pipe and weights, with a secret file beside the
folder; then it is opened, inferred, checked, described as JSON and sometimes exported, in a worker process that watches
itself. Faults: an exception that is no `EngineError`, over 5 s of CPU time, over 1 GiB of memory, any file opened
outside the folder, or the end of the process. Mutant N of a seed is always the same; where a run stopped, the next one
goes on (build/fuzz.json).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "models"
STATE = ROOT / "build" / "fuzz.json"

MOST_SECONDS = 5.0  # of CPU time for one mutant
MOST_MEMORY = 1 << 30  # bytes
PATIENCE = 60.0  # seconds without an answer after which a worker is taken to hang
LARGEST_SOURCE = 700_000  # bytes


def corpus() -> list[Path]:
    """The models that are mutated: all small ones there are, small ones of many kinds more often."""
    files = [f for f in sorted(SHARED.glob("*/*.onnx")) if 0 < f.stat().st_size <= LARGEST_SOURCE]
    files += [ROOT / "resources" / "models" / "sample_cnn.onnx", *(ROOT / "tests" / "data").glob("*.ort")]
    return [file for file in files for _ in range(1 if file.stat().st_size > 20_000 else 6)]


# --- the worker


class Watch:
    """Notes every file that is opened outside of what a model may touch."""

    def __init__(self, folder: Path) -> None:
        self.outside: list[str] = []
        self.active = False
        self._allowed = tuple(
            os.path.realpath(p) for p in (folder, ROOT / "engine", sys.prefix, sys.base_prefix, "/proc/meminfo",
                                          "/proc/self", "/sys/devices/system/cpu")
        )  # fmt: skip
        self._temporary = os.path.realpath(tempfile.gettempdir())
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active or event not in ("open", "os.listdir", "os.scandir"):
            return
        path = arguments[0]
        if isinstance(path, int) or path is None:
            return
        real = os.path.realpath(os.fsdecode(path))
        if not real.startswith(self._allowed) and not (real.startswith(self._temporary) and "w" in str(arguments[1:])):
            self.outside.append(real)


def make_folder() -> Path:
    """A folder for mutants with what a hostile model would like to reach."""
    outer = Path(tempfile.mkdtemp(prefix="oinfer-fuzz-"))
    (outer / "secret.bin").write_bytes(b"secret" * 1000)
    folder = outer / "model"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(bytes(4096))
    (folder / "link.bin").symlink_to(outer / "secret.bin")
    os.mkfifo(folder / "pipe")
    return folder


def try_mutant(index: int, seed: str, sources: list[Path], folder: Path, watch: Watch) -> dict[str, Any]:
    """Make and open one mutant; what happened, with a "fault" if it is one."""
    from mutate import mutant

    rng = random.Random(f"{seed}:{index}")
    content, made = mutant(rng, sources)
    path = folder / "m.onnx"
    path.write_bytes(content)
    _forget_peak()
    before, start = _peak(), time.process_time()
    watch.outside.clear()
    watch.active = True
    fault = ""
    try:
        outcome = use(path, export_too=rng.random() < 0.15)
    except BaseException:
        watch.active = False  # to show the lines of a traceback, Python reads them
        outcome, fault = "fault", traceback.format_exc()
    watch.active = False
    seconds, grown = time.process_time() - start, _peak() - before
    if watch.outside:
        fault = f"opened outside the folder: {watch.outside[:3]}"
    elif seconds > MOST_SECONDS:
        fault = f"took {seconds:.1f} s of CPU time"
    elif grown > MOST_MEMORY:
        fault = f"took {grown >> 20} MiB"
    return {"index": index, "made": made, "outcome": outcome, "fault": fault, "seconds": seconds, "grown": grown}


def use(path: Path, export_too: bool) -> str:
    """Do with a model what the program does short of running it."""
    from engine.cli.inspect import as_json
    from engine.errors import EngineError, ModelFormatError
    from engine.export import export
    from engine.opening import open_model

    exec(os.environ.get("OINFER_FUZZ_HARM", ""))  # its own tests check here that faults are noticed
    try:
        model = open_model(path)
    except ModelFormatError:
        return "refused"
    json.dumps(as_json(model))
    for graph in model.graph.walk():
        for tensor in graph.tensors.values():
            with contextlib.suppress(EngineError):
                if tensor.data is not None and tensor.data.size <= 1 << 20:
                    tensor.data.array()
    if export_too:
        with contextlib.suppress(EngineError):
            export(model, path.with_name("out.onnx"))
    return "opened"


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """The most memory the process has held since `_forget_peak`, in bytes."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def work(seed: str) -> None:
    """Take indices from standard input, answer each with a line of JSON."""
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
    import engine.cli.inspect
    import engine.export
    import engine.opening  # noqa: F401

    warnings.simplefilter("error")
    warnings.simplefilter("ignore", DeprecationWarning)  # of protobuf's text format, about strange escapes
    resource.setrlimit(resource.RLIMIT_AS, (4 * MOST_MEMORY, 4 * MOST_MEMORY))
    folder, sources = make_folder(), corpus()
    watch = Watch(folder)
    print("ready", flush=True)
    try:
        for line in sys.stdin:
            print(json.dumps(try_mutant(int(line), seed, sources, folder, watch)), flush=True)
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


# --- the one that watches


class Worker:
    """A worker process, replaced when it dies or hangs."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self.process = self._start()
        self.index = -1
        self.since = 0.0

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen([sys.executable, __file__, "--work", "--seed", self._seed], cwd=ROOT, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)  # fmt: skip
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the worker does not start")
        return process

    @property
    def out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def give(self, index: int) -> None:
        assert self.process.stdin is not None
        self.index, self.since = index, time.monotonic()
        self.process.stdin.write(f"{index}\n")
        self.process.stdin.flush()

    def replace(self) -> int:
        """End the process and start another; its exit status."""
        self.process.kill()
        status = self.process.wait()
        self.process = self._start()
        return status

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()


def results(seed: str, start: int, workers: int) -> Iterator[dict[str, Any]]:
    """What became of mutant after mutant from `start` on, not always in order; ends never."""
    pool = [Worker(seed) for _ in range(workers)]
    selector, following = selectors.DefaultSelector(), start
    for worker in pool:
        selector.register(worker.out, selectors.EVENT_READ, worker)
        worker.give(following)
        following += 1
    try:
        while True:
            ready = {key.data for key, _ in selector.select(timeout=1)}
            for worker in pool:
                if worker in ready:
                    line = worker.out.readline()
                    if line:
                        yield json.loads(line)
                        worker.give(following)
                        following += 1
                        continue
                elif time.monotonic() - worker.since < PATIENCE:
                    continue
                reason = "the process ended" if worker in ready else "no answer"
                selector.unregister(worker.out)
                status = worker.replace()
                selector.register(worker.out, selectors.EVENT_READ, worker)
                yield {"index": worker.index, "made": "?", "outcome": "fault", "fault": f"{reason} (status {status})",
                       "seconds": 0.0, "grown": 0}  # fmt: skip
                worker.give(following)
                following += 1
    finally:
        for worker in pool:
            worker.stop()


def signature(fault: str) -> str:
    """What faults of one cause have in common: the exception, and the line it came from."""
    lines = [line.strip() for line in fault.strip().splitlines()]
    places = [line for line in lines if line.startswith("File ")]
    return f"{lines[-1][:160]} | {places[-1]}" if places else lines[-1][:160]


def main() -> int:
    """Run for as long as told; 1 if any fault was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--count", type=int, default=10**9, help="stop after so many mutants")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--start", type=int, help="first mutant (default: where the last run of the seed stopped)")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.seed)
        return 0
    state = json.loads(STATE.read_text()) if STATE.exists() else {}
    start = state.get(args.seed, 0) if args.start is None else args.start
    outcomes: Counter[str] = Counter()
    faults: dict[str, list[int]] = {}
    slowest, largest, last = (0.0, -1), (0, -1), time.monotonic() + args.seconds
    done = 0
    for result in results(args.seed, start, args.workers):
        done += 1
        outcomes[result["outcome"]] += 1
        slowest = max(slowest, (result["seconds"], result["index"]))
        largest = max(largest, (result["grown"], result["index"]))
        if result["fault"]:
            found = faults.setdefault(signature(result["fault"]), [])
            found.append(result["index"])
            if len(found) == 1:
                print(f"--- mutant {result['index']}, {result['made']}\n{result['fault']}", flush=True)
        if done >= args.count or time.monotonic() > last:
            break
    if args.start is None:
        STATE.parent.mkdir(exist_ok=True)
        STATE.write_text(json.dumps({**state, args.seed: start + done}))
    print(f"{done:,} mutants from {start:,} of seed {args.seed!r}: "
          + ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common()))  # fmt: skip
    print(f"slowest {slowest[0]:.2f} s of CPU time (mutant {slowest[1]}), largest {largest[0] >> 20} MiB "
          f"(mutant {largest[1]})")  # fmt: skip
    for cause, found in sorted(faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(found):6,} × {cause}  (mutants {', '.join(map(str, found[:5]))})")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
