"""Comparison: two sides on equal feeds, planted errors found at the right node, values from a file, stopping."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.compare import SAME_PATH, Comparison, compare, run_order
from engine.compare.nonfinite import nonfinite_outputs
from engine.errors import InputError, RunCancelled
from engine.graph.ir import Model, Node
from engine.graph.loader import load_model_proto
from engine.kernels.registry import Kernel, KernelContext, KernelRegistry, kernel
from engine.providers import AccelerateProvider, CPUProvider, CUDAProvider, ExecutionProvider
from engine.session import CancelToken, Observer
from tests.engine.providers.fake_cupy import FakeCuPy

RNG = np.random.default_rng(5)
FEEDS = {"x": RNG.standard_normal((4, 8)).astype(np.float32)}


def chain() -> Model:
    """x → MatMul → Relu (mid) → MatMul → Relu (y), and Exp(mid) → z."""
    weights = [numpy_helper.from_array(RNG.standard_normal((8, 8)).astype(np.float32), n) for n in ("w1", "w2")]
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["mid"], "second"),
        helper.make_node("MatMul", ["mid", "w2"], ["b"], "third"),
        helper.make_node("Relu", ["b"], ["y"], "fourth"),
        helper.make_node("Exp", ["mid"], ["z"], "fifth"),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "chain", [info("x", TensorProto.FLOAT, [4, 8])],
        [info("y", TensorProto.FLOAT, [4, 8]), info("z", TensorProto.FLOAT, [4, 8])], weights,
    )  # fmt: skip
    return load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


class Toy(ExecutionProvider):
    """A provider of one kernel: Relu, with `spoil` applied to what it computes for the node of a name."""

    name = "Toy"

    def __init__(self, node: str = "", spoil: Any = None) -> None:
        self._node, self._spoil = node, spoil

    def available(self) -> Any:
        return CPUProvider().available()

    def create_allocator(self) -> Any:
        return CPUProvider().create_allocator()

    def register_kernels(self, registry: KernelRegistry) -> None:
        kernels: list[Kernel] = []

        @kernel("Relu", 13, 14, into=kernels)
        def relu(ctx: KernelContext, x: np.ndarray) -> np.ndarray:
            y = np.maximum(x, 0)
            return self._spoil(y) if ctx.node.name == self._node else y

        for k in kernels:
            registry.register(k)


def test_all_on_cpu_is_compared_honestly() -> None:
    result = compare(chain(), FEEDS, [CPUProvider()], warmup=1, repeat=3)
    assert result.notes == [SAME_PATH]
    assert len(result.mixed.runs_ms) == len(result.cpu_only.runs_ms) == 3
    assert len(result.mixed.warmup_ms) == 1
    assert result.mixed_ms == sorted(result.mixed.runs_ms)[1] > 0
    assert result.speedup_pct == pytest.approx((result.cpu_only_ms - result.mixed_ms) / result.cpu_only_ms * 100)
    assert result.agree
    assert [a.max_abs for a in result.outputs.values()] == [0, 0]
    assert result.nodes is None
    assert {len(times) for times in result.mixed.node_seconds.values()} == {3}
    assert len(result.mixed.node_seconds) == 5


def test_json_keys() -> None:
    report = compare(chain(), FEEDS, [Toy()], repeat=2, per_node=True).to_json()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert {"mixed_ms", "cpu_only_ms", "speedup_pct", "agree", "outputs", "mixed", "cpu_only", "nodes",
            "first_divergence"} <= report.keys()  # fmt: skip
    for side in ("mixed", "cpu_only"):
        assert {"runs_ms", "placement", "copies"} <= report[side].keys()
    assert report["mixed"]["placement"] == {"Toy": 2, "CPU": 3}
    assert report["cpu_only"]["placement"] == {"CPU": 5}
    assert report["first_divergence"] is None
    assert [entry["node"] for entry in report["nodes"]] == ["first", "second", "third", "fourth", "fifth"]
    plain = compare(chain(), FEEDS, [Toy()], repeat=1).to_json()
    assert "nodes" not in plain
    assert "first_divergence" not in plain


@pytest.mark.parametrize(("node", "tensor"), [("second", "mid"), ("fourth", "y")])
def test_a_planted_error_is_found_at_its_node(node: str, tensor: str) -> None:
    result = compare(chain(), FEEDS, [Toy(node, lambda y: y + np.float32(1e-2))], repeat=1, per_node=True)
    assert not result.agree
    found = result.first_divergence
    assert found
    assert found.node
    assert (found.node.name, found.tensor.name) == (node, tensor)
    assert found.agreement.max_abs == pytest.approx(1e-2, rel=1e-3)


def test_noise_is_not_a_divergence() -> None:
    result = compare(chain(), FEEDS, [Toy("second", lambda y: y * np.float32(1 + 1e-6))], repeat=1, per_node=True)
    assert result.agree
    assert result.first_divergence is None
    assert result.outputs["y"].max_abs is not None


def test_the_first_non_finite_value_is_found_where_it_is_made() -> None:
    def spoil(y: np.ndarray) -> np.ndarray:
        y[0, 1], y[2, 2] = np.nan, np.inf
        return y

    result = compare(chain(), FEEDS, [Toy("second", spoil)], repeat=1, per_node=True)
    found = result.first_nonfinite
    assert found
    assert (found.node.name, found.nan, found.inf) == ("second", 1, 1)
    assert result.to_json()["first_nonfinite"]["tensor"] == "mid"
    assert compare(chain(), FEEDS, [Toy()], repeat=1, per_node=True).first_nonfinite is None


def test_outputs_that_agree_on_nan_are_told_from_good_ones() -> None:
    feeds = {"x": np.full((4, 8), np.nan, np.float32)}
    result = compare(chain(), feeds, [CPUProvider()], repeat=1)
    assert result.agree
    assert result.verdict == "equal to the last bit; y holds 32 NaN, z holds 32 NaN"
    assert compare(chain(), FEEDS, [CPUProvider()], repeat=1).verdict == "equal to the last bit"


def test_of_many_outputs_with_nan_the_first_are_named() -> None:
    held = {name: np.array([np.nan, 1, np.inf], np.float32) for name in "abcd"}
    made = "holds 1 NaN and 1 infinite"
    assert nonfinite_outputs(held) == f"a {made}, b {made}, so do 2 other outputs"
    assert nonfinite_outputs({"a": np.ones(3, np.float32), "b": np.array(["nan"], object)}) == ""


def test_sides_take_turns_and_progress_is_told() -> None:
    turns: list[str] = []

    class Watch(Observer):
        def before_node(self, node: Node) -> None:
            if node.name == "first":
                turns.append("run")

    told: list[tuple[int, int]] = []
    compare(chain(), FEEDS, [Toy()], warmup=1, repeat=2, observer=Watch(), on_run=lambda *a: told.append(a))

    assert len(turns) == 7  # the last keeps every tensor of the mixed side
    assert told == [(done, 7) for done in range(8)]


def test_it_can_be_stopped() -> None:
    token = CancelToken()

    def stop_in_the_third(done: int, total: int) -> None:
        if done == 2:
            token.cancel()

    with pytest.raises(RunCancelled):
        compare(chain(), FEEDS, [Toy()], observer=token, on_run=stop_in_the_third)


def test_against_a_file() -> None:
    model = chain()
    right = compare(model, FEEDS, [CPUProvider()], repeat=1, per_node=True).mixed.result
    values = {tensor.name: value for tensor, value in right.values.items()}
    good = {"out:y": values["y"], "every3:out:z": values["z"].reshape(-1)[::3], "mid": values["mid"], "in:x": None}
    result = compare(model, FEEDS, [CPUProvider()], repeat=1, against=good)
    assert result.agree
    assert [entry.tensor.name for entry in result.against or ()] == ["mid", "y", "z"]  # in run order
    bad = {"y": values["y"] + np.float32(0.5), "mid": values["mid"]}
    result = compare(model, FEEDS, [CPUProvider()], repeat=1, against=bad)
    assert not result.agree
    assert result.first_divergence
    assert result.first_divergence.tensor.name == "y"
    assert result.to_json()["first_divergence"]["node"] == "fourth"
    assert all(agreement.agrees for agreement in result.outputs.values())


@pytest.mark.parametrize(
    ("against", "message"),
    [({"nonsense": np.zeros(1)}, "'nonsense', and the model has no such tensor"), ({}, "holds no tensor of the model")],
)
def test_a_file_that_does_not_fit(against: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(chain(), FEEDS, [CPUProvider()], against=against)


def test_bad_counts_and_feeds() -> None:
    with pytest.raises(InputError, match="repeat must be at least 1"):
        compare(chain(), FEEDS, [CPUProvider()], repeat=0)
    with pytest.raises(InputError):
        compare(chain(), {}, [CPUProvider()])


def test_device_copies_and_fallbacks_are_reported() -> None:
    cupy = FakeCuPy()
    cupy.fail("exp", times=100)
    result = compare(chain(), FEEDS, [CUDAProvider(cupy)], warmup=0, repeat=1)
    assert result.agree
    assert [(f.node.name, f.provider) for f in result.mixed.fallbacks] == [("fifth", "CUDA")]
    assert "cudaErrorIllegalAddress" in result.to_json()["mixed"]["fallbacks"][0]["reason"]
    uploaded = {c.tensor.name for c in result.mixed.copies if c.target == "cuda:0"}
    assert uploaded == {"x", "w1", "w2"}
    assert result.cpu_only.copies == []


def test_nodes_of_subgraphs_come_before_their_owner() -> None:
    then = helper.make_graph(
        [helper.make_node("Exp", ["x"], ["t"], "inner")], "then", [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, [4, 8])],
    )  # fmt: skip
    otherwise = onnx.GraphProto.FromString(then.SerializeToString())
    nodes = [helper.make_node("If", ["c"], ["y"], "outer", then_branch=then, else_branch=otherwise)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 8]),
                     helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])],
    )  # fmt: skip
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    assert [n.name for n in run_order(model.graph)] == ["inner", "inner", "outer"]


def test_unavailable_providers_are_left_aside() -> None:
    result: Comparison = compare(chain(), FEEDS, [AccelerateProvider(), CPUProvider()], warmup=0, repeat=1)
    assert result.agree
    assert result.mixed.providers == ["Accelerate", "CPU"]
