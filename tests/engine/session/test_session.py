"""Sessions: right values, control flow, observers, cancelling, fallbacks and clear errors."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.errors import CannotRunError, InputError, NodeError, RunCancelled
from engine.graph.ir import Model, Node
from engine.kernels import quantization
from engine.session import (
    CancelToken,
    Observer,
    ObserverGroup,
    ProgressObserver,
    RunResult,
    Session,
    SessionOptions,
    TimingObserver,
    plan,
)
from tests.engine.session.models import ToyProvider, chain, model_of, value

X = np.array([-1.0, 4.0], np.float32)


def test_every_tensor_is_kept() -> None:
    result = Session(chain("Abs", "Neg")).run({"x": X})
    assert {t.name: v.tolist() for t, v in result.values.items()} == {"x": [-1, 4], "t0": [1, 4], "y": [-1, -4]}
    assert result.outputs["y"].tolist() == [-1, -4]
    assert result.seconds > 0


def test_a_word_alone_is_a_tensor_too() -> None:
    """Of an array of objects NumPy gives the object itself."""
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    model = model_of([node], [value("x", TensorProto.STRING, [2])], [value("y", TensorProto.STRING, [])],
                     [numpy_helper.from_array(np.array(1), "i")])  # fmt: skip
    y = Session(model).run({"x": np.array(["a", "b"], object)}).outputs["y"]
    assert (y.dtype, y.shape, y[()]) == (object, (), "b")


def weighted(ir_version: int) -> Model:
    return model_of(
        [helper.make_node("Add", ["x", "w"], ["y"])], [value("x", shape=[2]), value("w", shape=[2])],
        [value("y", shape=[2])], [numpy_helper.from_array(np.array([10, 20], np.float32), "w")], 8, ir_version,
    )  # fmt: skip


def test_an_overridable_initializer_can_be_fed_and_a_constant_one_cannot() -> None:
    x, w = np.array([1, 2], np.float32), np.array([5, 5], np.float32)
    session = Session(weighted(4))
    assert session.run({"x": x}).outputs["y"].tolist() == [11, 22]
    assert session.run({"x": x, "w": w}).outputs["y"].tolist() == [6, 7]
    assert Session(weighted(3)).run({"x": x}).outputs["y"].tolist() == [11, 22]
    with pytest.raises(InputError, match="constant"):
        Session(weighted(3)).run({"x": x, "w": w})


def loop_that_shadows() -> Model:
    """b starts at 10; a body whose own input is also named b adds 1, three times (cases.md, 8)."""
    body = helper.make_graph(
        [helper.make_node("Add", ["b", "one"], ["b_out"]), helper.make_node("Identity", ["go"], ["go_out"])], "body",
        [value("i", TensorProto.INT64), value("go", TensorProto.BOOL), value("b")],
        [value("go_out", TensorProto.BOOL), value("b_out")],
    )  # fmt: skip
    nodes = [helper.make_node("Loop", ["trips", "", "b"], ["y"], name="loop", body=body)]
    constants = [numpy_helper.from_array(np.array(v, t), n) for n, v, t in
                 (("trips", 3, np.int64), ("b", 10, np.float32), ("one", 1, np.float32))]  # fmt: skip
    return model_of(nodes, [], [value("y")], constants)


def test_a_loop_whose_body_shadows_an_outer_name() -> None:
    assert Session(loop_that_shadows()).run({}).outputs["y"] == 13


def test_functions_run() -> None:
    function = helper.make_function("local", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
                                    [helper.make_opsetid("", 17)])  # fmt: skip
    graph = helper.make_graph([helper.make_node("Twice", ["x"], ["t"], domain="local"),
                               helper.make_node("Twice", ["t"], ["y"], domain="local")], "g",
                              [value("x", shape=[2])], [value("y", shape=[2])])  # fmt: skip
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model = load_model_proto(helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=8))
    assert Session(model).run({"x": X}).outputs["y"].tolist() == [-4, 16]


class Recorder(Observer):
    def __init__(self) -> None:
        self.events: list[str] = []

    def before_node(self, node: Node) -> None:
        self.events.append(f"before {node.qualified_name}")

    def node_time(self, node: Node, seconds: float) -> None:
        assert seconds >= 0

    def after_node(self, node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.events.append(f"after {node.qualified_name} {len(inputs)}→{len(outputs)}")


def test_observers_see_every_node_inner_ones_too() -> None:
    recorder = Recorder()
    Session(loop_that_shadows()).run({}, recorder)
    inner = ["before loop/body/Add_0", "after loop/body/Add_0 2→1", "before loop/body/Identity_1",
             "after loop/body/Identity_1 1→1"]  # fmt: skip
    assert recorder.events == ["before loop", *inner * 3, "after loop 3→1"]


def test_timing_has_one_entry_a_run_and_progress_counts_the_main_graph() -> None:
    timing, progress = TimingObserver(), []
    session = Session(chain("Abs", "Neg"))
    for _ in range(3):
        session.run({"x": X}, ObserverGroup(timing, ProgressObserver(lambda *at: progress.append(at[:2]))))
        timing.end_run()
    assert [len(seconds) for seconds in timing.seconds.values()] == [3, 3]
    assert progress == [(0, 2), (1, 2)] * 3


def test_a_stop_ends_the_run_before_the_next_node_and_keeps_what_was_computed() -> None:
    token = CancelToken()

    class CancelAfterFirst(Observer):
        def after_node(self, *_: Any) -> None:
            token.cancel()

    with pytest.raises(RunCancelled, match="Neg_1") as caught:
        Session(chain("Abs", "Neg")).run({"x": X}, ObserverGroup(CancelAfterFirst(), token))
    partial: RunResult = caught.value.partial
    assert {t.name for t in partial.values} == {"x", "t0"}
    assert partial.outputs == {}


def test_a_stop_ends_the_making_of_a_session_too() -> None:
    asked = []

    class StopAtTheSecondNode(Observer):
        def should_stop(self) -> bool:
            asked.append(len(asked))
            return len(asked) == 3  # before placing, before the first node and before the second

    with pytest.raises(RunCancelled, match="session"):
        Session(chain("Abs", "Neg"), observer=StopAtTheSecondNode())
    assert len(asked) == 3


def test_a_failing_node_says_what_it_got() -> None:
    nodes = [helper.make_node("Abs", ["a"], ["t"], name="first"),
             helper.make_node("MatMul", ["t", "b"], ["y"], name="product")]  # fmt: skip
    inputs = [value("a", shape=["M", "K"]), value("b", shape=["L", "N"])]
    model = model_of(nodes, inputs, [value("y", shape=["M", "N"])])
    feeds = {"a": np.ones((2, 4), np.float32), "b": np.ones((5, 4), np.float32)}
    with pytest.raises(NodeError) as caught:
        Session(model).run(feeds)
    for words in ("MatMul", "'product'", "float32[2, 4]", "float32[5, 4]"):
        assert words in str(caught.value)
    assert caught.value.node == "product"
    assert "t" in {t.name for t in caught.value.partial.values}


def test_what_cannot_run_is_told_before_it_starts() -> None:
    graph = helper.make_graph([helper.make_node("FusedThing", ["x"], ["y"], domain="com.acme", name=f"f{i}")
                               for i in range(1)], "g", [value("x", shape=[2])], [value("y", shape=[2])])  # fmt: skip
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("com.acme", 1)]))
    with pytest.raises(CannotRunError, match=r"no kernel for com\.acme::FusedThing"):
        Session(model)
    cyclic = model_of([helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])],
                      [value("x", shape=[2])], [value("b", shape=[2])])  # fmt: skip
    with pytest.raises(CannotRunError, match="cycle"):
        Session(cyclic)


def test_a_tensor_that_cannot_fit_is_refused_before_anything_is_allocated() -> None:
    shape = numpy_helper.from_array(np.array([2**20, 2**20], np.int64), "shape")
    model = model_of([helper.make_node("ConstantOfShape", ["shape"], ["y"], name="fill")], [],
                     [value("y", shape=[None, None])], [shape])  # fmt: skip
    with pytest.raises(CannotRunError, match=r"'fill' would compute 'y' with 4 TiB"):
        Session(model).run({})


def test_a_run_that_cannot_fit_is_refused_before_it_starts() -> None:
    """Three tensors of 80,000 bytes: all of them are too many, two at a time are not."""
    session = Session(chain("Abs", "Neg", "Abs", shape=["N"]), options=SessionOptions(memory_limit=200_000))
    x = {"x": np.ones(20_000, np.float32)}
    with pytest.raises(CannotRunError, match=r"would take 234 KiB, and 195 KiB are free \(the node 'Abs_0'"):
        session.run(x)
    assert session.run(x, keep="none").peak_bytes == 160_000
    assert session.run({"x": np.ones(5_000, np.float32)}).peak_bytes == 60_000


def test_values_of_unknown_size_stay_below_the_limit() -> None:
    model = chain("Abs", "Neg", "Abs", shape=["N"])
    for tensor in model.graph.tensors.values():
        tensor.inferred_type = None
    session = Session(model, options=SessionOptions(memory_limit=100_000))
    session.run({"x": np.ones(5_000, np.float32)})
    with pytest.raises(NodeError, match="Neg_1"):
        session.run({"x": np.ones(20_000, np.float32)})


def test_first_match_wins_and_copies_happen_only_between_devices() -> None:
    session = Session(chain("Neg", "Neg", "Abs", "Neg"), [ToyProvider()])
    placed = {node.name: (p.provider.name if p.provider else "", [r.reason for r in p.refusals])
              for node, p in session.placements.items()}  # fmt: skip
    assert placed["Neg_0"] == ("Toy", [])
    assert placed["Abs_2"] == ("CPU", ["no kernel for Abs"])
    result = session.run({"x": X})
    assert result.outputs["y"].tolist() == [-1, -4]
    assert [(c.tensor.name, c.source, c.target, c.nbytes) for c in result.copies] == [
        ("x", "host", "toy:0", 8), ("t1", "toy:0", "host", 8), ("t2", "host", "toy:0", 8), ("y", "toy:0", "host", 8)
    ]  # fmt: skip


def test_a_device_error_falls_back_to_the_cpu_and_is_told() -> None:
    result = Session(chain("Neg", "Tanh", "Neg"), [ToyProvider()]).run({"x": X})
    np.testing.assert_allclose(result.outputs["y"], -np.tanh(-X), rtol=1e-6)
    assert [(f.node.name, f.provider, f.reason) for f in result.fallbacks] == [
        ("Tanh_1", "Toy", "out of device memory")
    ]


def integer_product_of(w: onnx.TensorProto | None) -> Model:
    inputs = [value("x", TensorProto.UINT8, [1, 2])] + ([] if w else [value("w", TensorProto.UINT8, [2, 1])])
    return model_of(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])], inputs, [value("y", TensorProto.INT32, [1, 1])],
        [w] if w else [],
    )  # fmt: skip


def test_what_kernels_prepare_of_constants_is_made_once_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    original = quantization.integer_matrices
    monkeypatch.setattr(quantization, "integer_matrices", lambda b: [made.append(1), original(b)][1])
    x, w = np.array([[1, 2]], np.uint8), np.array([[3], [4]], np.uint8)
    session = Session(integer_product_of(numpy_helper.from_array(w, "w")))
    assert [session.run({"x": x}).outputs["y"].item() for _ in range(3)] == [11] * 3
    assert made == [1]


def test_nothing_is_prepared_of_what_is_fed() -> None:
    """The caller may change a fed array between two runs."""
    x, w = np.array([[1, 2]], np.uint8), np.array([[3], [4]], np.uint8)
    session = Session(integer_product_of(None))
    assert session.run({"x": x, "w": w}).outputs["y"].item() == 11
    w[:] = 5
    assert session.run({"x": x, "w": w}).outputs["y"].item() == 15


def test_without_room_what_is_prepared_is_made_for_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_ROOM", 7)  # two bytes of weights would take eight
    model = integer_product_of(numpy_helper.from_array(np.array([[3], [4]], np.uint8), "w"))
    made: list[int] = []
    original = quantization.integer_matrices
    monkeypatch.setattr(quantization, "integer_matrices", lambda b: [made.append(1), original(b)][1])
    session = Session(model)
    for _ in range(2):
        assert session.run({"x": np.array([[1, 2]], np.uint8)}).outputs["y"].item() == 11
    assert made == [1, 1]
