"""Copies between devices: planned, made once where they can be, and laid on the edges of the graph."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.graph.ir import Model
from engine.providers import ExecutionProvider
from engine.providers.placement import SHAPES_STAY
from engine.session import PlannedCopy, Session, provider_edges
from tests.engine.session.models import Remote, ToyProvider, chain, model_of, node_named, value

X = np.array([-1.0, 4.0], np.float32)


def told(copies: list[PlannedCopy]) -> list[tuple[str, str, str, bool]]:
    return [(c.tensor.name, c.source, c.target, c.once) for c in copies]


def test_the_plan_predicts_the_copies() -> None:
    session = Session(chain("Neg", "Neg", "Abs", "Neg"), [ToyProvider()])
    planned = session.planned_copies()
    assert told(planned) == [("x", "host", "toy:0", False), ("t1", "toy:0", "host", False),
                             ("t2", "host", "toy:0", False), ("y", "toy:0", "host", False)]  # fmt: skip
    made = session.run({"x": X}).copies
    assert [(c.tensor, c.source, c.target) for c in made] == [(c.tensor, c.source, c.target) for c in planned]


def constants() -> Model:
    """y = -(w + -k), w an initializer and k a Constant, both read on the device."""
    nodes = [helper.make_node("Constant", [], ["k"], "k", value=numpy_helper.from_array(X)),
             helper.make_node("Neg", ["k"], ["a"], "a"), helper.make_node("Neg", ["w"], ["b"], "b"),
             helper.make_node("Add", ["a", "b"], ["c"], "c"),
             helper.make_node("Add", ["c", "x"], ["y"], "y")]  # fmt: skip
    return model_of(nodes, [value("x", shape=[2])], [value("y", shape=[2])], [numpy_helper.from_array(X, "w")])


def test_constants_are_copied_once_a_session() -> None:
    session = Session(constants(), [ToyProvider()])
    first, second = session.run({"x": X}), session.run({"x": X})
    assert [c.tensor.name for c in first.copies if c.target == "toy:0"] == ["k", "w"]
    assert [c.tensor.name for c in second.copies if c.target == "toy:0"] == []
    assert {c.tensor.name for c in session.planned_copies() if c.once} == {"k", "w"}
    np.testing.assert_array_equal(first.outputs["y"], -X)
    assert {"k", "w", "a", "b"} <= {t.name for t in second.values}


def test_a_fed_default_is_copied_and_the_stored_one_stays() -> None:
    model = model_of([helper.make_node("Neg", ["w"], ["y"])], [value("w", shape=[2])], [value("y", shape=[2])],
                     [numpy_helper.from_array(X, "w")])  # fmt: skip
    session = Session(model, [ToyProvider()])
    assert session.run({}).outputs["y"].tolist() == [1, -4]
    assert session.run({"w": 2 * X}).outputs["y"].tolist() == [2, -8]
    assert session.run({}).outputs["y"].tolist() == [1, -4]


def test_edges_carry_their_copies() -> None:
    session = Session(chain("Neg", "Abs", "Neg"), [ToyProvider()])
    before = provider_edges(session.placements, session.planned_copies())
    assert [(e.tensor.name, e.producer and e.producer.name, *(n.name for n in e.consumers)) for e in before] == [
        ("x", None, "Neg_0"), ("t0", "Neg_0", "Abs_1"), ("t1", "Abs_1", "Neg_2"), ("y", "Neg_2")
    ]  # fmt: skip
    assert {e.count for e in before} == {0}
    runs = [session.run({"x": X}) for _ in range(2)]
    after = provider_edges(session.placements, [copy for run in runs for copy in run.copies])
    assert [(e.tensor.name, e.count, e.nbytes) for e in after] == [
        ("x", 2, 16), ("t0", 2, 16), ("t1", 2, 16), ("y", 2, 16)
    ]  # fmt: skip
    assert all(e.seconds >= 0 for e in after)


def test_function_calls_leave_values_where_they_lie() -> None:
    function = helper.make_function("local", "Twice", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["t"]),
                                    helper.make_node("Neg", ["t"], ["b"])], [helper.make_opsetid("", 17)])  # fmt: skip
    graph = helper.make_graph([helper.make_node("Twice", ["x"], ["u"], domain="local"),
                               helper.make_node("Twice", ["u"], ["y"], domain="local")], "g",
                              [value("x", shape=[2])], [value("y", shape=[2])])  # fmt: skip
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model = load_model_proto(helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=8))
    session = Session(model, [ToyProvider()])
    result = session.run({"x": X})
    assert result.outputs["y"].tolist() == X.tolist()
    # x goes up where the first body reads it, under its name there, and comes down as y
    for copies in (result.copies, session.planned_copies()):
        assert [(c.tensor.qualified_name, c.target) for c in copies] == [("Twice_0/function/a", "toy:0"), ("y", "host")]


class Neighbour(ToyProvider):
    """A second device that reaches the first one without the host."""

    name, device = "Neighbour", "toy:1"

    def register_kernels(self, registry: object) -> None:
        from engine.kernels.registry import Kernel, kernel

        kernels: list[Kernel] = []

        @kernel("Abs", 13, into=kernels)
        def absolute(ctx: object, x: np.ndarray) -> np.ndarray:
            assert isinstance(x, Remote)
            return np.abs(x)

        registry.register(kernels[0])  # type: ignore[attr-defined]

    def transfer(self, value: np.ndarray, source: ExecutionProvider) -> np.ndarray:
        self.reached = source.name
        return value if source.device == "toy:0" else super().transfer(value, source)


def test_devices_that_know_a_shorter_way_use_it() -> None:
    neighbour = Neighbour()
    session = Session(chain("Neg", "Abs", "Neg"), [ToyProvider(), neighbour])
    result = session.run({"x": X}, keep="none")
    assert result.outputs["y"].tolist() == [-1, -4]
    assert neighbour.reached == "Toy"
    assert [(c.source, c.target) for c in result.copies] == [
        ("host", "toy:0"), ("toy:0", "toy:1"), ("toy:1", "toy:0"), ("toy:0", "host")
    ]  # fmt: skip


def shapes() -> Model:
    """Reshape x to [its size] by way of Shape, Neg, Neg: arithmetic on shapes alone."""
    nodes = [helper.make_node("Shape", ["x"], ["s"], "s"), helper.make_node("Neg", ["s"], ["n"], "n"),
             helper.make_node("Neg", ["n"], ["p"], "p"), helper.make_node("Neg", ["x"], ["m"], "m"),
             helper.make_node("Reshape", ["m", "p"], ["y"], "y")]  # fmt: skip
    return model_of(nodes, [value("x", TensorProto.FLOAT, [2])], [value("y", TensorProto.FLOAT, [2])])


def test_shapes_are_computed_on_the_host_unless_the_user_says_otherwise() -> None:
    model = shapes()
    placements = Session(model, [ToyProvider()]).placements
    names = {n.name: p.provider.name for n, p in placements.items() if p.provider}
    assert names == {"s": "CPU", "n": "CPU", "p": "CPU", "m": "Toy", "y": "CPU"}
    assert [r.reason for r in placements[node_named(model, "n")].refusals] == [SHAPES_STAY]
    forced = Session(model, [ToyProvider()], overrides={"node:n": "Toy"})
    assert forced.placements[node_named(model, "n")].provider is forced.providers[0]
    assert forced.run({"x": X}).outputs["y"].tolist() == [1, -4]
