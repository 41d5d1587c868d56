"""ONNX Runtime as a provider: what it claims, that groups are sound, and what happens when it refuses."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.agreement import compare_values
from engine.errors import DeviceError
from engine.graph.ir import Graph, Model, Node
from engine.graph.loader import load_model_proto
from engine.providers import ExecutionProvider, OnnxRuntimeProvider, default_providers, provider_named
from engine.providers.groups import make_group, maximal_groups, ordered_units
from engine.session import Session
from engine.shapes.infer import infer_shapes
from tests.engine.providers import corpus
from tests.engine.providers.test_mixed import TIED

pytest.importorskip("onnxruntime")
X = np.array([-1.0, 0.5], np.float32)
ODD = {"gen/mobilenetv2_qdq_int8", "real/tashkeel_rawi_v2_int8", "gen/yolo_n_320_nms", "real/smart_turn_v3.2_qdq"}
"""Where fusing, or the processor's own way to add up, changes what is rounded to 8 bits, or scores are tied: compared
as it stands, or not at all."""


def model_of(*nodes: Any) -> Model:
    """Nodes as (operator, inputs, outputs), from x to y."""
    made = [helper.make_node(op, i.split(), o.split(), f"{op}_{n}") for n, (op, i, o) in enumerate(nodes)]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(made, "g", info[:1], info[1:])
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    infer_shapes(model)
    return model


DIAMOND = [("Abs", "x", "a"), ("Tanh", "a", "b"), ("Neg", "a", "c"), ("Tanh", "c", "d"), ("Add", "b d", "e"),
           ("Neg", "e", "f"), ("Tanh", "f", "y")]  # fmt: skip


def named(graph: Graph, *names: str) -> list[Node]:
    return [node for node in graph.nodes if node.name in names]


def test_maximal_groups_have_no_way_out_and_back() -> None:
    graph = model_of(*DIAMOND).graph
    wanted = [node for node in graph.nodes if node.op_type != "Neg"]
    groups = maximal_groups(graph, set(wanted))
    assert [[node.name for node in group] for group in groups] == [["Abs_0", "Tanh_1"], ["Tanh_3", "Add_4"], ["Tanh_6"]]
    first = make_group(groups[0])
    assert [t.name for t in first.inputs] == ["x"]
    assert [t.name for t in first.outputs] == ["a", "b"]
    units = ordered_units(graph, {node: g for group in groups for g in [make_group(group)] for node in group})
    told = [unit.name if isinstance(unit, Node) else "+".join(n.name for n in unit.nodes) for unit in units]
    assert told == ["Abs_0+Tanh_1", "Neg_2", "Tanh_3+Add_4", "Neg_5", "Tanh_6"]


def test_a_group_with_a_way_out_and_back_is_refused() -> None:
    graph = model_of(*DIAMOND).graph
    group = make_group(named(graph, "Abs_0", "Tanh_3"))
    with pytest.raises(ValueError, match="wait for each other"):
        ordered_units(graph, dict.fromkeys(group.nodes, group))


def test_it_is_offered_but_never_by_default() -> None:
    assert provider_named("ort").available()
    assert not any(isinstance(provider, OnnxRuntimeProvider) for provider in default_providers())
    assert provider_named("ORT:cpu").name == "ORT"
    absent = provider_named("ort:CoreMLX")
    assert absent.name == "ORT:CoreMLX"
    assert "has no CoreMLX; it has CPU" in absent.available().reason


def test_without_it_the_reason_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert OnnxRuntimeProvider().available().reason == "ONNX Runtime is not installed: pip install 'oinfer[ort]'"


@pytest.mark.parametrize("name", [n for n in corpus.names() if n not in ODD])
def test_whole_models(shared: Path, name: str) -> None:
    """Lean and traced, against the CPU."""
    model, feeds = corpus.load(shared, name)
    session = Session(model, [OnnxRuntimeProvider()])
    for keep in ("none", "all"):
        result = session.run(feeds, keep=keep)
        assert result.fallbacks == []
        for output, value in corpus.on_cpu(shared, name).outputs.items():
            if output in TIED.get(name, {output}):
                agreement = compare_values(result.outputs[output], value)
                assert agreement.agrees, f"{output}: {agreement}"
    assert any(p.provider is session.providers[0] for p in session.placements.values())


def test_products_of_bytes_are_exact_on_any_processor() -> None:
    """On x86 without VNNI ONNX Runtime saturates them, unless told not to."""
    weights = numpy_helper.from_array(np.full((64, 16), 127, np.int8), "w")
    nodes = [helper.make_node("MatMulInteger", ["x", "w"], ["m"]), helper.make_node("Neg", ["m"], ["y"])]
    info = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 64])
    graph = helper.make_graph(nodes, "g", [info], [onnx.ValueInfoProto(name="y")], [weights])
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    infer_shapes(model)
    session = Session(model, [OnnxRuntimeProvider()])
    for keep in ("none", "all"):
        result = session.run({"x": np.full((1, 64), 255, np.uint8)}, keep=keep)
        assert result.fallbacks == []
        assert (result.outputs["y"] == -64 * 255 * 127).all()


def test_traced_it_shows_every_tensor(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/bert_tiny_ts")
    session = Session(model, [OnnxRuntimeProvider()])
    ours = Session(model, []).run(feeds).values
    theirs = session.run(feeds).values
    assert theirs.keys() == ours.keys()
    apart = [t.name for t, value in ours.items() if not compare_values(theirs[t], value).agrees]
    assert apart == []
    assert session.run(feeds, keep="none").values == {}


class Only(OnnxRuntimeProvider):
    """ONNX Runtime that may have only Tanh and Add, and can be told to refuse them."""

    broken = False

    def for_session(self, model: Model) -> ExecutionProvider:
        self._model = model
        return self

    def claim(self, graph: Graph, free: Any) -> list[list[Node]]:
        return super().claim(graph, {node for node in free if node.op_type in ("Tanh", "Add")})

    def compile(self, group: Any, outputs: Any) -> Any:
        if self.broken:
            raise DeviceError("planted")
        return super().compile(group, outputs)


def test_groups_run_between_nodes_of_others() -> None:
    model = model_of(*DIAMOND)
    expected = Session(model, []).run({"x": X})
    session = Session(model, [Only()])
    for keep in ("none", "all"):
        np.testing.assert_allclose(session.run({"x": X}, keep=keep).outputs["y"], expected.outputs["y"], rtol=1e-6)
    assert set(session.run({"x": X}).values) == set(expected.values)
    groups = {placement.group for placement in session.placements.values() if placement.group}
    assert sorted(len(group.nodes) for group in groups) == [1, 3]


def test_a_group_that_fails_runs_node_by_node_on_the_cpu() -> None:
    model, provider = model_of(*DIAMOND), Only()
    provider.broken = True
    result = Session(model, [provider]).run({"x": X})
    np.testing.assert_array_equal(result.outputs["y"], Session(model, []).run({"x": X}).outputs["y"])
    assert [(f.node.name, f.reason) for f in result.fallbacks] == [
        ("Add_4", "planted (its 3 nodes ran one by one instead)"), ("Tanh_6", "planted"),
    ]  # fmt: skip


def test_a_model_that_it_refuses_is_a_fallback() -> None:
    """A value that no NumPy array can hold at the border of a group: its nodes run on the CPU."""
    model = model_of(("Abs", "x", "a"), ("Neg", "a", "y"))
    model.graph.tensors["x"].inferred_type = model.graph.tensors["x"].stored_type = None
    result = Session(model, [OnnxRuntimeProvider()]).run({"x": X})
    assert result.outputs["y"].tolist() == [-1, -0.5]
    assert "the type of 'x', which the region reads, is not known" in result.fallbacks[0].reason


def test_an_override_takes_nodes_out_of_a_group() -> None:
    session = Session(model_of(*DIAMOND), [OnnxRuntimeProvider()], overrides={"op:Neg": "CPU"})
    told = {node.name: p.provider.name for node, p in session.placements.items() if p.provider}
    assert told["Neg_2"] == told["Neg_5"] == "CPU"
    assert {told["Abs_0"], told["Tanh_6"]} == {"ORT"}
    refusals = session.placements[named(session.model.graph, "Neg_2")[0]].refusals
    assert [(r.provider, r.reason) for r in refusals] == [("ORT", "set aside: CPU was chosen for it")]
    assert session.run({"x": X}).outputs["y"].shape == (2,)
