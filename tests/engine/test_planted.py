"""Errors planted at one node of real graphs: the comparison names that node first, and says what is the matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import engine
from engine.compare import Comparison, compare
from engine.feeds import default_dims, make_feeds
from engine.graph.ir import Model, Node
from engine.kernels import library
from engine.kernels.registry import Kernel, KernelRegistry
from engine.providers import CPUProvider, OnnxRuntimeProvider
from tests.engine.providers import corpus

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
Spoil = Callable[[np.ndarray], np.ndarray]


class Spoiling(CPUProvider):
    """The CPU's kernels, one node's result spoilt."""

    name = "Spoiling"

    def __init__(self, node: str, spoil: Spoil) -> None:
        self._node, self._spoil = node, spoil

    def register_kernels(self, registry: KernelRegistry) -> None:
        for kernel in library():
            registry.register(replace(kernel, function=self._spoiling(kernel)))

    def _spoiling(self, kernel: Kernel) -> Callable[..., Any]:
        def function(ctx: Any, *inputs: Any, **attributes: Any) -> Any:
            result = kernel.function(ctx, *inputs, **attributes)
            return self._spoil(result) if ctx.node.qualified_name == self._node else result

        return function


def light(name: str) -> tuple[Model, dict[str, Any]]:
    path = LIGHT / f"light_{name}.onnx"
    if not path.exists():
        pytest.skip(f"this onnx package brings no {path.name}")
    model = engine.open_model(path)
    return model, make_feeds(model, default_dims(model))


def middle(model: Model, op_type: str) -> Node:
    nodes = [node for node in model.graph.order if node.op_type == op_type]
    return nodes[len(nodes) // 2]


def planted(model: Model, feeds: dict[str, Any], node: Node, spoil: Spoil) -> Comparison:
    provider = Spoiling(node.qualified_name, spoil)
    return compare(model, feeds, [provider], warmup=0, repeat=1, per_node=True)


def assert_found(comparison: Comparison, node: Node) -> None:
    first = comparison.first_divergence
    assert first is not None
    assert first.node is node
    assert f"from {node.qualified_name} on" in comparison.verdict


@pytest.mark.parametrize(("name", "op_type"), [("gen/gpt2_kv_dyn", "MatMul"), ("gen/yolo_n_320_nms", "Conv"),
                                               ("gen/resnet18_nofold_ts", "BatchNormalization")])  # fmt: skip
def test_off_by_a_hundredth(shared: Path, name: str, op_type: str) -> None:
    model, feeds = corpus.load(shared, name)
    node = middle(model, op_type)
    assert_found(planted(model, feeds, node, lambda y: y + np.float32(1e-2)), node)
    assert_found(planted(model, feeds, node, lambda y: y * np.float32(1.01)), node)


@pytest.mark.slow
def test_off_by_a_hundredth_in_resnet50() -> None:
    """Its weights are made up and its values grow huge: the error is a hundredth of them."""
    model, feeds = light("resnet50")
    node = middle(model, "Conv")
    assert_found(planted(model, feeds, node, lambda y: y * np.float32(1.01)), node)


def test_one_wrong_element_is_enough(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/resnet18_nofold_ts")
    node = middle(model, "Conv")

    def spoil(y: np.ndarray) -> np.ndarray:
        y.reshape(-1)[y.size // 2] += np.float32(0.5)
        return y

    comparison = planted(model, feeds, node, spoil)
    assert_found(comparison, node)
    assert comparison.first_divergence is not None
    assert comparison.first_divergence.agreement.mismatched == 1


def test_rounding_noise_is_none(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/resnet18_nofold_ts")
    comparison = planted(model, feeds, middle(model, "Conv"), lambda y: y * np.float32(1 + 2e-7))
    assert comparison.agree
    assert comparison.first_divergence is None
    assert comparison.verdict.startswith("within float32 noise (")


def test_noise_of_tf32_is_told_from_an_error(shared: Path) -> None:
    """What a GPU that rounds factors to 10 bits is off by (cases.md, 40)."""
    model, feeds = corpus.load(shared, "gen/resnet18_nofold_ts")
    node = middle(model, "Conv")

    def rounded(y: np.ndarray) -> np.ndarray:
        return (y.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)

    comparison = planted(model, feeds, node, rounded)
    assert_found(comparison, node)
    assert comparison.verdict == f"beyond the tolerance of 1e-04, within TF32 noise, from {node.name} on"
    allowed = compare(model, feeds, [Spoiling(node.qualified_name, rounded)], warmup=0, repeat=1,
                      tolerances={"float32": 2e-3})  # fmt: skip
    assert allowed.agree
    assert allowed.outputs["logits"].tolerance.rtol == 2e-3


def overflowing() -> tuple[Model, dict[str, Any]]:
    """a = x·w in float16, y = a - a (cases.md, 31): 64 · 64 · 64 is beyond 65,504."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "product"),
             helper.make_node("Sub", ["a", "a"], ["y"], "difference")]  # fmt: skip
    half = TensorProto.FLOAT16
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", half, [1, 64])], [info("y", half, [1, 1])],
        [numpy_helper.from_array(np.full((64, 1), 64, np.float16), "w")],
    )  # fmt: skip
    model = engine.load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    engine.infer(model)
    return model, {"x": np.full((1, 64), 64, np.float16)}


def test_a_float16_overflow_is_found_with_what_led_to_it() -> None:
    model, feeds = overflowing()
    found = compare(model, feeds, [CPUProvider()], warmup=0, repeat=1, per_node=True).first_nonfinite
    assert found is not None
    assert (found.node.name, found.inf, found.limit) == ("product", 1, 65504)
    assert [(peak.tensor.name, peak.max_abs) for peak in found.inputs] == [("x", 64), ("w", 64)]
    assert found.words == "product makes 1 infinite of finite inputs (x up to 64, w up to 64); its type ends at 65504"
    assert not found.hidden


def test_a_planted_overflow_is_told_as_the_mixed_sides_own(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/mobilenetv2_fp16")
    node = middle(model, "Conv")

    def spoil(y: np.ndarray) -> np.ndarray:
        y.reshape(-1)[7] = np.inf
        return y

    comparison = planted(model, feeds, node, spoil)
    assert_found(comparison, node)
    found = comparison.first_nonfinite
    assert found is not None
    assert (found.node, found.inf, found.hidden) == (node, 1, True)
    assert "the CPU's values are finite there" in found.words
    assert "wrong (inf at" in comparison.verdict


def test_values_close_to_the_limit_are_listed() -> None:
    model, feeds = overflowing()
    x = model.graph.tensors["x"]
    feeds["x"] = np.full((1, 64), 8, np.float16)  # 8 · 64 · 64 = 32,768
    feeds["x"][0, 0] = np.float16(65504)
    nearly = compare(model, feeds, [CPUProvider()], warmup=0, repeat=1, per_node=True).first_nonfinite
    assert nearly is not None
    assert nearly.inputs[0].tensor is x
    assert nearly.inputs[0].max_abs == nearly.inputs[0].limit == 65504


def test_a_cast_out_of_range_is_the_standards_to_answer_for() -> None:
    """Implementations differ and all are right (cases.md, 28)."""
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Cast", ["x"], ["y"], "cast", to=TensorProto.UINT8)]
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, [4])], [info("y", TensorProto.UINT8, [4])])
    model = engine.load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    engine.infer(model)
    feeds = {"x": np.float32([-1.5, 255.9, 300, np.nan])}
    spoil: Spoil = lambda y: y + np.uint8(1)  # noqa: E731
    comparison = compare(model, feeds, [Spoiling("cast", spoil)], warmup=0, repeat=1, per_node=True)
    assert comparison.first_divergence is not None
    assert comparison.first_divergence.note.startswith("undefined by the standard: Cast")
    feeds = {"x": np.float32([0, 1, 2, 255])}
    inside = compare(model, feeds, [Spoiling("cast", spoil)], warmup=0, repeat=1, per_node=True)
    assert inside.first_divergence is not None
    assert inside.first_divergence.note == ""


def test_quantisation_steps_are_counted(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/mobilenetv2_qdq_int8")
    node = middle(model, "QuantizeLinear")

    def spoil(y: np.ndarray) -> np.ndarray:
        y.reshape(-1)[:3] += y.dtype.type(1)
        return y

    comparison = planted(model, feeds, node, spoil)
    entry = next(e for e in comparison.nodes or () if e.node is node)
    assert (entry.agreement.agrees, entry.agreement.words) == (True, "off by 1 quantisation step")
    assert comparison.first_divergence is not None
    assert comparison.verdict.endswith(f", after {node.name}, which is off by 1 quantisation step")


def test_a_second_opinion_says_who_is_right(shared: Path) -> None:
    pytest.importorskip("onnxruntime")
    model, feeds = corpus.load(shared, "gen/resnet18_nofold_ts")
    node = middle(model, "Conv")
    spoiling = Spoiling(node.qualified_name, lambda y: y + np.float32(1e-2))
    ort = OnnxRuntimeProvider()
    comparison = compare(model, feeds, [spoiling], warmup=0, repeat=1, per_node=True, second_opinion=ort)
    opinion = comparison.second_opinion
    assert opinion is not None
    assert opinion.words == f"ORT agrees with CPU only alone; first apart at {node.name}"
    assert len(opinion.entries) == len(comparison.nodes or ())
    assert comparison.to_json()["second_opinion"]["entries"][0]["cpu_only"]["agrees"]
    honest = compare(model, feeds, [CPUProvider()], warmup=0, repeat=1, second_opinion=OnnxRuntimeProvider())
    assert honest.second_opinion is not None
    assert honest.second_opinion.words == "ORT agrees with both sides"


def test_threads_that_stay_busy_make_the_sides_run_in_blocks() -> None:
    model, feeds = overflowing()
    order: list[str] = []

    class Spins(CPUProvider):
        name, spins = "Spins", True

        def run_start(self) -> None:
            order.append("mixed")

    compare(model, feeds, [Spins()], warmup=1, repeat=2, values=False, on_run=lambda done, total: order.append("next"))
    assert order == [*["next", "mixed"] * 3, *["next"] * 4]
    in_turns: list[str] = []

    class Quiet(Spins):
        name, spins = "Quiet", False

        def run_start(self) -> None:
            in_turns.append("mixed")

    result = compare(model, feeds, [Quiet()], warmup=1, repeat=1, values=False,
                     on_run=lambda done, total: in_turns.append("next"))  # fmt: skip
    assert in_turns == ["next", "mixed", "next", "next", "next", "mixed", "next"]
    assert result.mixed.cold_ms == result.mixed.warmup_ms[0]
