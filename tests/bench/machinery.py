"""What watching, keeping and comparing cost: the figures of docs/results.md under "Providers and comparison".

The kinds of run take turns in one process. Both clocks are told: wall time, which other work on the machine stretches,
and processor time, which it hardly does.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine import open_model  # noqa: E402
from engine.feeds import default_dims, make_feeds  # noqa: E402
from engine.session import Session, TimingObserver  # noqa: E402

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def ratios(path: Path, rounds: int) -> None:
    """A plain run against an observed one and against one that keeps every tensor."""
    model = open_model(path)
    feeds = make_feeds(model, default_dims(model))
    session = Session(model)
    runs: dict[str, Callable[[], object]] = {
        "plain": lambda: session.run(feeds, keep="none"),
        "observed": lambda: session.run(feeds, TimingObserver(), keep="none"),
        "keeping all": lambda: session.run(feeds, keep="all"),
    }
    for run in runs.values():
        run()
    wall: dict[str, list[float]] = {name: [] for name in runs}
    cpu: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for turn in range(rounds):
        for name in names[turn % 3 :] + names[: turn % 3]:
            start, used = time.perf_counter(), time.process_time()
            runs[name]()
            wall[name].append((time.perf_counter() - start) * 1e3)
            cpu[name].append((time.process_time() - used) * 1e3)
    for name in names:
        told = [f"{path.stem:16} {name:12}"]
        for clock, taken in (("wall", wall), ("processor", cpu)):
            ms = median(taken[name])
            told.append(f"{clock} {ms:7.1f} ms ×{ms / median(taken['plain']):.3f}")
        print("   ".join(told))


def command_line(rounds: int) -> None:
    """A network of 24 nodes compared node by node, from start to answer."""
    rng, nodes, weights, last = np.random.default_rng(0), [], [], "x"
    for i in range(12):
        filters = rng.standard_normal((16, 16 if i else 3, 3, 3)).astype(np.float32) * 0.1
        weights.append(numpy_helper.from_array(filters, f"w{i}"))
        nodes.append(helper.make_node("Conv", [last, f"w{i}"], [f"c{i}"], f"Conv_{i}", pads=[1] * 4))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"Relu_{i}"))
        last = f"r{i}"
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, [1, 3, 64, 64])],
                              [info(last, TensorProto.FLOAT, [1, 16, 64, 64])], weights)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        for options in ([], ["--second-opinion", "ORT"]):
            wall, cpu = [], []
            for _ in range(rounds):
                start, used = time.perf_counter(), _children()
                command = [sys.executable, "-m", "engine", "compare", str(path), "--per-node", *options]
                subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
                wall.append(time.perf_counter() - start)
                cpu.append(_children() - used)
            told = " ".join(["compare --per-node", *options])
            print(f"{told:44} wall {median(wall):.2f} s   processor {median(cpu):.2f} s")


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    for name in ("light_resnet50", "light_squeezenet"):
        ratios(LIGHT / f"{name}.onnx", rounds)
    command_line(3)
