"""What a run keeps: values by pattern, figures alone, nothing; and that what it does not keep is gone at once."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.feeds import bound_dims
from engine.graph.ir import Model, Node
from engine.session import Keep, Observer, Session, SessionOptions, ShapeObserver, statistics_of
from engine.session.observers import ProgressObserver
from engine.shapes.observed import check_observed
from tests.engine.providers import corpus
from tests.engine.session.models import ToyProvider, chain, model_of, value

ROOT = Path(__file__).resolve().parents[3]
X = np.array([-1.0, 4.0], np.float32)


def names(result: Any) -> set[str]:
    return {tensor.qualified_name for tensor in result.values}


def test_modes() -> None:
    session = Session(chain("Abs", "Neg", "Abs"), options=SessionOptions(keep="matching", pattern="t[0-9]"))
    assert names(session.run({"x": X})) == {"t0", "t1"}
    assert names(session.run({"x": X}, keep="all")) == {"x", "t0", "t1", "y"}
    for keep in ("none", Keep.STATISTICS):
        result = session.run({"x": X}, keep=keep)
        assert result.values == {}
        assert result.outputs["y"].tolist() == [1, 4]
        assert bool(result.statistics) == (keep == "statistics")
    with pytest.raises(ValueError, match="'some' is not a valid Keep"):
        session.run({"x": X}, keep="some")


def test_figures_worked_out_by_hand() -> None:
    x = np.array([0, -1, np.nan], np.float32)
    result = Session(chain("Abs", "Log", shape=[3])).run({"x": x}, keep="statistics")
    by_name = {tensor.name: figures for tensor, figures in result.statistics.items()}
    assert by_name["x"].nan == by_name["t0"].nan == 1
    assert (by_name["t0"].min, by_name["t0"].max, by_name["t0"].mean, by_name["t0"].zeros) == (0, 1, 0.5, 1)
    assert by_name["t0"].std == 0.5
    assert (by_name["y"].inf, by_name["y"].nan, by_name["y"].max) == (1, 1, 0)
    assert statistics_of(np.zeros((0, 3), np.int8)) is not None
    assert statistics_of(np.array(["a"], object)).min is None  # type: ignore[union-attr]
    assert statistics_of([np.zeros(1)]) is None


def branching() -> Model:
    """y = Loop of 3 times b → |b| + 1; every scope reads t = -x from outside."""
    body = helper.make_graph(
        [helper.make_node("Abs", ["b"], ["c"]), helper.make_node("Add", ["c", "t"], ["d"]),
         helper.make_node("Identity", ["go"], ["go_out"])], "body",
        [value("i", TensorProto.INT64), value("go", TensorProto.BOOL), value("b", shape=[2])],
        [value("go_out", TensorProto.BOOL), value("d", shape=[2])],
    )  # fmt: skip
    nodes = [helper.make_node("Neg", ["x"], ["t"], "negate"),
             helper.make_node("Loop", ["trips", "", "x"], ["u"], "loop", body=body),
             helper.make_node("Abs", ["u"], ["y"], "last")]  # fmt: skip
    return model_of(nodes, [value("x", shape=[2])], [value("y", shape=[2])],
                    [numpy_helper.from_array(np.array(3), "trips")])  # fmt: skip


def test_what_subgraphs_read_lives_as_long_as_they_run() -> None:
    session = Session(branching())
    kept, lean = session.run({"x": X}), session.run({"x": X}, keep="none")
    np.testing.assert_array_equal(lean.outputs["y"], kept.outputs["y"])
    assert {"t", "loop/body/c", "loop/body/d"} <= names(kept)
    assert names(Session(branching(), options=SessionOptions(keep="matching", pattern="*/c")).run({"x": X})) == {
        "loop/body/c"
    }


@pytest.mark.parametrize("name", [n for n in corpus.names() if n.startswith(("ops/", "ml/", "gen/b", "gen/i"))])
def test_letting_go_changes_no_result(shared: Path, name: str) -> None:
    model, feeds = corpus.load(shared, name)
    session = Session(model, [])
    kept = session.run(feeds).outputs
    for output, array in session.run(feeds, keep="none").outputs.items():
        if isinstance(array, np.ndarray):
            np.testing.assert_array_equal(array, kept[output])


def test_nothing_outlives_its_last_use() -> None:
    """Ten tensors of 4 MB in a row: at most three live at once (what is read, what is made, and room for one)."""
    session = Session(chain(*["Abs", "Neg"] * 5, shape=["N"]))
    x = {"x": np.ones(1 << 20, np.float32)}

    def most(keep: str) -> int:
        session.run(x, keep=keep)
        gc.collect()
        tracemalloc.start()
        result = session.run(x, keep=keep)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert result.peak_bytes <= peak + 1
        return peak

    assert most("none") < 3 * (4 << 20)
    assert most("all") > 9 * (4 << 20)


@pytest.mark.parametrize("name", ["gen/resnet18_nofold_ts", "gen/mobilenetv2_ts", "gen/bert_ts", "gen/unet_ts",
                                  "gen/gpt2_kv_dyn", "real/ppocr_v2_cls"])  # fmt: skip
def test_the_estimate_is_what_the_run_takes(shared: Path, name: str) -> None:
    model, feeds = corpus.load(shared, name)
    session = Session(model, [])
    for keep in ("all", "none"):
        estimate = session.estimate_memory(bound_dims(model, feeds), keep)
        assert estimate.nbytes == pytest.approx(session.run(feeds, keep=keep).peak_bytes, rel=0.05)
        assert estimate.unknown == 0


def test_shapes_can_be_had_without_values(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/bert_tiny_ts")
    shapes = ShapeObserver()
    kept = Session(model, []).run(feeds, shapes)
    for tensor, hollow in shapes.values.items():
        assert (hollow.shape, hollow.dtype) == (kept.values[tensor].shape, kept.values[tensor].dtype)
        assert max(hollow.strides, default=0) == 0
    assert check_observed(model, shapes.values, bound_dims(model, feeds)) == []


def test_values_on_a_device_are_brought_only_where_they_are_kept() -> None:
    session = Session(chain("Neg", "Neg", "Neg"), [ToyProvider()])
    lean = session.run({"x": X}, keep="none")
    assert [(c.tensor.name, c.target) for c in lean.copies] == [("x", "toy:0"), ("y", "host")]
    kept = session.run({"x": X})
    assert [(c.tensor.name, c.target) for c in kept.copies] == [("x", "toy:0"), ("y", "host")]
    assert type(kept.values[session.model.graph.tensors["t0"]]) is np.ndarray
    assert session.run({"x": X}, keep="statistics").statistics[session.model.graph.tensors["t1"]].max == 4


def test_progress_is_throttled() -> None:
    told: list[str] = []
    slow = ProgressObserver(lambda done, total, node: told.append(node.name), every=60)
    Session(chain("Abs", "Neg", "Abs")).run({"x": X}, slow)
    assert told == ["Abs_0"]


def test_an_observer_sees_the_values() -> None:
    seen: dict[str, list[Any]] = {}

    class Watch(Observer):
        def after_node(self, node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
            seen[node.name] = [*(v.tolist() for v in inputs), *(v.tolist() for v in outputs)]

    Session(chain("Abs", "Neg")).run({"x": X}, Watch(), keep="none")
    assert seen == {"Abs_0": [[-1, 4], [1, 4]], "Neg_1": [[1, 4], [-1, -4]]}


RUN_MANY = """
import gc, sys
from pathlib import Path
from engine.session import Session
from tests.engine.providers import corpus

def resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096

model, feeds = corpus.load(Path(sys.argv[1]), "gen/mnist_ts")
session = Session(model)
for _ in range(500):
    session.run(feeds)
before, blocks = resident(), sys.getallocatedblocks()
for turn in range(10_000):
    session.run(feeds, keep=("all", "none")[turn % 2])
print(resident() - before, sys.getallocatedblocks() - blocks)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ten_thousand_runs_leave_memory_flat(shared: Path) -> None:
    """In a process of its own: what other tests left behind comes and goes by megabytes.

    Python's own objects are counted exactly; the resident size, which the allocators move by a megabyte or two
    from machine to machine, has a bound that a single kept tensor of 1 KB a run would break.
    """
    ran = subprocess.run([sys.executable, "-c", RUN_MANY, str(shared)], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    resident, objects = map(int, ran.stdout.split())
    assert objects < 1_000
    assert resident < 8 << 20
