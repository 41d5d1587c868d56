"""The fast mode against the faithful one: on random graphs, on the shared models, and as people call it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from engine.cli import main
from engine.compare import compare
from engine.errors import InputError
from engine.graph.ir import Model
from engine.opening import open_model
from engine.session import Keep, Session, SessionOptions, TimingObserver
from tests.engine.session.models import model_of, value
from tests.engine.test_corpus import FILES, MODELS, needs_corpus, recorded

FAST = SessionOptions(mode="fast")
CONSTANTS = {"one": 1.0, "half": 0.5, "three": 3.0, "six": 6.0, "zero": 0.0, "root": 2**0.5}
UNARY = ["Identity", "Relu", "Sigmoid", "Erf", "Neg", "Dropout", "Tanh"]
BINARY = ["Add", "Mul", "Sub"]


@st.composite
def random_graphs(draw: st.DrawFn) -> Model:
    """Up to a dozen operators that passes know, over [2, 3, 3] and constants, every one reading what came before."""
    names, nodes = ["x"], []
    for index in range(draw(st.integers(1, 12))):
        kind, a = draw(st.integers(0, 5)), draw(st.sampled_from(names))
        if kind == 0:
            node = helper.make_node(draw(st.sampled_from(UNARY)), [a], [f"t{index}"])
        elif kind in (1, 2):
            b = draw(st.sampled_from([*names, *CONSTANTS]))
            node = helper.make_node(draw(st.sampled_from(BINARY)), draw(st.permutations([a, b])), [f"t{index}"])
        elif kind == 3:
            node = helper.make_node("Conv", [a, "w", *draw(st.sampled_from([[], ["c"]]))], [f"t{index}"])
        elif kind == 4:
            node = helper.make_node("BatchNormalization", [a, "c", "c", "c", "v"], [f"t{index}"])
        else:
            node = helper.make_node("Clip", [a, "zero", "six"], [f"t{index}"])
        nodes.append(node)
        names.append(f"t{index}")
    outputs = draw(st.lists(st.sampled_from(names[1:]), min_size=1, max_size=2, unique=True))
    arrays = {name: np.array(number, np.float32) for name, number in CONSTANTS.items()}
    arrays |= {"w": np.float32([[[1], [0], [2]], [[0], [-1], [0]], [[0.5], [0], [1]]]), "c": np.float32([1, 2, -1]),
               "v": np.float32([1, 4, 2])}  # fmt: skip
    return model_of(nodes, [value("x", shape=[2, 3, 3])], [value(name, shape=None) for name in outputs],
                    [numpy_helper.from_array(array, name) for name, array in arrays.items()])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(random_graphs(), st.integers(0, 99))
def test_random_graphs_agree(model: Model, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal((2, 3, 3)).astype(np.float32)
    faithful, fast = Session(model).run({"x": x}), Session(model, options=FAST).run({"x": x})
    for tensor, ours in fast.values.items():
        np.testing.assert_allclose(ours, faithful.values[tensor], rtol=2e-4, atol=1e-4, err_msg=tensor.name)
    assert fast.outputs.keys() == faithful.outputs.keys()


@needs_corpus
@pytest.mark.parametrize("name", FILES)
def test_the_shared_models_agree(name: str) -> None:
    """Every output, and every tensor that is left, within rounding."""
    feeds, _ = recorded(name)
    model = open_model(MODELS / f"{name}.onnx")
    faithful, fast = Session(model).run(feeds), Session(model, options=FAST).run(feeds)
    assert not fast.fallbacks
    both = faithful.values.keys() & fast.values.keys()  # folded constants stand in branches that never ran, too
    assert {t for t in model.graph.outputs if t in faithful.values} <= both
    for tensor in both:
        assert _apart(fast.values[tensor], faithful.values[tensor]) <= 1e-4, tensor.qualified_name
    lean = Session(model, options=FAST).run(feeds, keep=Keep.NONE)
    assert all(_apart(lean.outputs[key], ours) == 0 for key, ours in fast.outputs.items())


def _apart(ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the largest magnitude; of what is no float 0 or 1."""
    if isinstance(ours, list):
        return max((_apart(a, b) for a, b in zip(ours, theirs, strict=True)), default=0.0)
    if not isinstance(ours, np.ndarray) or ours.dtype.kind in "OUSb":
        return float(not np.array_equal(ours, theirs))
    if np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"):
        return 0.0
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(b)
    same_elsewhere = np.array_equal(a[~finite], b[~finite], equal_nan=True)
    scale = np.abs(b[finite]).max(initial=1e-30)
    return float(np.abs(a - b)[finite].max(initial=0) / scale) if same_elsewhere else float("inf")


def swish() -> Model:
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["s"], name="gate"), helper.make_node("Mul", ["x", "s"], ["t"], name="m"),
        helper.make_node("Neg", ["t"], ["y"], name="last"),
    ]  # fmt: skip
    return model_of(nodes, [value("x", shape=["n"])], [value("y", shape=["n"])])


X = {"x": np.float32([-1, 0, 2])}


def test_kept_tensors_are_the_users_own() -> None:
    model = swish()
    result = Session(model, options=FAST).run(X)
    assert {tensor.name for tensor in result.values} == {"x", "t", "y"}
    assert all(tensor.graph is model.graph for tensor in result.values)
    figures = Session(model, options=FAST).run(X, keep=Keep.STATISTICS).statistics
    assert {tensor.name for tensor in figures} == {"x", "t", "y"}


def test_times_name_the_nodes_that_a_fused_one_stands_for() -> None:
    session, timing = Session(swish(), options=FAST), TimingObserver()
    session.run(X, timing)
    timing.end_run()
    assert session.optimised is not None
    told = {tuple(origin.name for origin in session.optimised.origins[node]) for node in timing.seconds}
    assert told == {("gate", "m"), ("last",)}


def test_a_comparison_of_the_fast_mode_with_the_faithful_one() -> None:
    comparison = compare(swish(), X, warmup=0, repeat=1, per_node=True, mode="fast")
    assert comparison.agree
    assert comparison.mixed.placement == {"CPU": 2}
    assert comparison.cpu_only.placement == {"CPU": 3}
    assert not any("same path" in note for note in comparison.notes)
    assert {entry.tensor.name for entry in comparison.nodes or ()} >= {"t", "y"}


@pytest.fixture
def file(tmp_path: Path) -> str:
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["s"], name="gate"), helper.make_node("Mul", ["x", "s"], ["y"], name="m"),
    ]  # fmt: skip
    graph = helper.make_graph(nodes, "g", [value("x", shape=[2])], [value("y", shape=[2])])
    path = tmp_path / "swish.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def test_the_command_lists_what_was_done(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--mode", "fast", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["mode"] == "fast"
    assert report["changes"] == [{"pass": "activations", "nodes": ["gate", "m"], "what": "became one Swish"}]
    assert report["placement"] == {"CPU": 1}
    assert main(["run", file, "--mode", "fast"]) == 0
    assert "made over for speed: 2 nodes became 1 (activations 1)" in capsys.readouterr().out
    assert main(["run", file, "--json"]) == 0
    assert "changes" not in json.loads(capsys.readouterr().out)


def test_the_command_compares_the_fast_mode(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", file, "--mode", "fast", "--repeat", "1"]) == 0
    told = capsys.readouterr().out
    assert "CPU 1/1" in told
    assert "CPU 2/2" in told
    assert "2 nodes became 1" in told


def test_times_and_placements_by_the_users_own_nodes() -> None:
    model = swish()
    gate, product, last = model.graph.order
    comparison = compare(model, X, warmup=0, repeat=3, mode="fast")
    seconds = comparison.mixed.node_seconds
    assert seconds.keys() == {gate, last}
    assert {len(times) for times in seconds.values()} == {3}
    assert comparison.mixed.session.users_placements().keys() == {gate, product, last}


def test_placing_what_is_gone_does_nothing_but_naming_what_never_was_is_refused() -> None:
    session = Session(swish(), options=FAST, overrides={"node:gate": "CPU", "op:Sigmoid": "CPU"})
    assert session.run(X).outputs.keys() == {"y"}
    with pytest.raises(InputError, match="no node 'gates'"):
        Session(swish(), options=FAST, overrides={"node:gates": "CPU"})
