"""Each pass of the optimiser on graphs small enough to work out by hand, and on those where it must not act."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.errors import CannotRunError
from engine.graph.ir import Model
from engine.opening import open_model
from engine.optimiser import PASSES, optimise
from engine.providers import provider_named
from engine.session import Session, SessionOptions
from tests.engine.session.models import chain, model_of, value

make = helper.make_node
rng = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def graph(
    nodes: list[onnx.NodeProto], shape: Sequence[int | str], constants: dict[str, Any], outputs: Sequence[str] = ("y",),
    opset: int = 17, dtype: int = TensorProto.FLOAT, made: int | None = None,
) -> Model:  # fmt: skip
    """x → nodes → outputs, with constants by name."""
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    results = [value(name, made or dtype, None) for name in outputs]
    return model_of(nodes, [value("x", dtype, shape)], results, initializers, opset)


def operators(model: Model, *passes: str) -> list[str]:
    """The operators that are left after some passes and the removal of dead code, in run order."""
    return [node.op_type for node in optimise(model, {*passes, "dead-code"}).model.graph.order]


def agrees(model: Model, x: np.ndarray, exact: bool = False) -> None:
    """Assert that the fast mode gives what the faithful one gives: every output, and every tensor that is left."""
    faithful, fast = Session(model).run({"x": x}), Session(model, options=FAST).run({"x": x})
    assert fast.outputs.keys() == faithful.outputs.keys()
    pairs = [(fast.outputs[name], theirs) for name, theirs in faithful.outputs.items()]
    pairs += [(fast.values[tensor], faithful.values[tensor]) for tensor in fast.values.keys() & faithful.values.keys()]
    for ours, theirs in pairs:
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=0 if exact else 1e-5, atol=0 if exact else 1e-5)


FAST = SessionOptions(mode="fast")


# Dead code


def test_what_nobody_reads_goes() -> None:
    model = graph([make("Abs", ["x"], ["y"]), make("Neg", ["x"], ["a"]), make("Exp", ["a"], ["b"])], [2], {})
    optimised = optimise(model)
    assert [node.op_type for node in optimised.model.graph.order] == ["Abs"]
    assert [change.nodes for change in optimised.changes] == [("Exp_2",), ("Neg_1",)]


def test_a_node_with_one_output_read_stays() -> None:
    model = graph([make("TopK", ["x", "k"], ["v", "i"]), make("Abs", ["v"], ["y"])], [4], {"k": np.array([2])})
    assert operators(model) == ["TopK", "Abs"]


def test_what_a_branch_reads_stays() -> None:
    branch = helper.make_graph([make("Neg", ["t"], ["b"])], "g", [], [value("b", shape=[2])])
    nodes = [make("Abs", ["x"], ["t"]), make("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
    model = graph(nodes, [2], {"c": np.array(True)})
    assert operators(model, *PASSES) == ["Abs", "If"]
    agrees(model, floats(2), exact=True)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_dead_node_goes_with_all_its_subgraphs(depth: int) -> None:
    nodes = [make("Neg", ["x"], ["b0"])]
    for level in range(1, depth + 1):
        dead = make("Exp", ["x"], [f"dead{level}"])
        branch = helper.make_graph([*nodes, dead], "g", [], [value(f"b{level - 1}", shape=[2])])
        nodes = [make("If", ["c"], [f"b{level}"], then_branch=branch, else_branch=branch)]
    model = graph([*nodes, make("Abs", ["x"], ["y"])], [2], {"c": np.array(True)})
    assert operators(model) == ["Abs"]
    agrees(model, floats(2), exact=True)


# The user's graph


def test_the_users_graph_stays_as_it_is() -> None:
    model = chain("Identity", "Relu", "Identity")
    before = [(node, list(node.inputs), list(node.outputs), node.index) for node in model.graph.nodes]
    readers = {tensor: list(tensor.consumers) for tensor in model.graph.tensors.values()}
    optimised = optimise(model)
    assert [(node, list(node.inputs), list(node.outputs), node.index) for node in model.graph.nodes] == before
    assert {tensor: list(tensor.consumers) for tensor in model.graph.tensors.values()} == readers
    assert not set(optimised.model.graph.nodes) & set(model.graph.nodes)


def test_every_node_knows_the_nodes_it_stands_for() -> None:
    optimised = optimise(graph([make("Sigmoid", ["x"], ["s"]), make("Mul", ["x", "s"], ["y"])], [2], {}))
    (node,) = optimised.model.graph.order
    assert [origin.name for origin in optimised.origins[node]] == ["Sigmoid_0", "Mul_1"]
    assert str(optimised.changes[0]) == "activations: Sigmoid_0, Mul_1 became one Swish"


def test_cycles_are_refused_as_ever() -> None:
    model = model_of([make("Add", ["x", "b"], ["a"]), make("Neg", ["a"], ["b"])], [value("x", shape=[1])],
                     [value("b", shape=[1])])  # fmt: skip
    with pytest.raises(CannotRunError, match="cycle"):
        Session(model, options=FAST)


# No-ops


@pytest.mark.parametrize(("nodes", "left"), [
    ([make("Identity", ["x"], ["a"]), make("Abs", ["a"], ["y"])], ["Abs"]),
    ([make("Identity", ["x"], ["y"])], ["Identity"]),  # its name is the graph's output
    ([make("Dropout", ["x"], ["a"]), make("Abs", ["a"], ["y"])], ["Abs"]),
    ([make("Dropout", ["x", "", "yes"], ["a"]), make("Abs", ["a"], ["y"])], ["Dropout", "Abs"]),
    ([make("Dropout", ["x", "", "no"], ["a"]), make("Abs", ["a"], ["y"])], ["Abs"]),
    ([make("Dropout", ["x"], ["a", "m"]), make("Where", ["m", "a", "x"], ["y"])], ["Dropout", "Where"]),
    ([make("Transpose", ["x"], ["a"], perm=[1, 2, 0]), make("Transpose", ["a"], ["b"], perm=[2, 0, 1]),
      make("Abs", ["b"], ["y"])], ["Abs"]),
    ([make("Transpose", ["x"], ["a"], perm=[1, 2, 0]), make("Transpose", ["a"], ["b"], perm=[1, 2, 0]),
      make("Abs", ["b"], ["y"])], ["Transpose", "Transpose", "Abs"]),
    ([make("Transpose", ["x"], ["a"], perm=[0, 1, 2]), make("Abs", ["a"], ["y"])], ["Abs"]),
    ([make("Transpose", ["x"], ["a"]), make("Transpose", ["a"], ["b"]), make("Abs", ["b"], ["y"])], ["Abs"]),
    ([make("Cast", ["x"], ["a"], to=TensorProto.FLOAT), make("Abs", ["a"], ["y"])], ["Abs"]),
    ([make("Cast", ["x"], ["a"], to=TensorProto.DOUBLE), make("Cast", ["a"], ["b"], to=TensorProto.FLOAT),
      make("Abs", ["b"], ["y"])], ["Abs"]),
    ([make("Cast", ["x"], ["a"], to=TensorProto.FLOAT16), make("Cast", ["a"], ["b"], to=TensorProto.FLOAT),
      make("Abs", ["b"], ["y"])], ["Cast", "Cast", "Abs"]),
    ([make("Cast", ["x"], ["a"], to=TensorProto.INT64), make("Cast", ["a"], ["b"], to=TensorProto.FLOAT),
      make("Abs", ["b"], ["y"])], ["Cast", "Cast", "Abs"]),
])  # fmt: skip
def test_no_ops(nodes: list[onnx.NodeProto], left: list[str]) -> None:
    model = graph(nodes, [2, 3, 4], {"yes": np.array(True), "no": np.array(False)})
    assert operators(model, "no-ops") == left
    if "yes" not in nodes[0].input:
        agrees(model, floats(2, 3, 4), exact=True)


@pytest.mark.parametrize(("narrow", "through", "gone"), [
    (TensorProto.INT32, TensorProto.INT64, True), (TensorProto.UINT8, TensorProto.INT16, True),
    (TensorProto.INT32, TensorProto.UINT64, False), (TensorProto.INT64, TensorProto.DOUBLE, False),
    (TensorProto.INT32, TensorProto.INT16, False),
])  # fmt: skip
def test_casts_there_and_back_go_where_they_are_exact(narrow: int, through: int, gone: bool) -> None:
    nodes = [make("Cast", ["x"], ["a"], to=through), make("Cast", ["a"], ["b"], to=narrow),
             make("Add", ["b", "b"], ["y"])]  # fmt: skip
    model = graph(nodes, [3], {}, dtype=narrow)
    assert operators(model, "no-ops") == (["Add"] if gone else ["Cast", "Cast", "Add"])


def test_a_no_op_that_a_branch_reads() -> None:
    """The branch, and the node that owns it, then read what the no-op read."""
    branch = helper.make_graph([make("Neg", ["t"], ["b"])], "g", [], [value("b", shape=[2])])
    nodes = [make("Identity", ["x"], ["t"]), make("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
    model = graph(nodes, [2], {"c": np.array(True)})
    optimised = optimise(model)
    (owner,) = optimised.model.graph.order
    assert [tensor.name for tensor in owner.captures] == ["x"]
    agrees(model, floats(2), exact=True)


# Constant folding


def test_what_depends_on_constants_alone_is_computed_once() -> None:
    nodes = [make("Add", ["a", "b"], ["c"]), make("Neg", ["c"], ["d"]), make("Mul", ["x", "d"], ["y"])]
    model = graph(nodes, [2], {"a": np.float32([1, 2]), "b": np.float32([3, 4])})
    optimised = optimise(model)
    (mul,) = optimised.model.graph.order
    folded = mul.inputs[1]
    assert folded is not None
    assert folded.data is not None
    assert folded.data.array().tolist() == [-4, -6]
    agrees(model, floats(2), exact=True)


def test_fixed_shapes_are_constants_and_open_ones_are_not() -> None:
    nodes = [make("Shape", ["x"], ["s"]), make("Reshape", ["x", "s"], ["y"])]
    assert operators(graph(nodes, [2, 3], {}), "constant-folding") == ["Reshape"]
    assert operators(graph(nodes, ["batch", 3], {}), "constant-folding") == ["Shape", "Reshape"]


@pytest.mark.parametrize(("operator", "constants"), [
    ("Add", {"a": np.float32([1]), "b": np.float32([1])}),  # an output of the graph keeps its node
    ("Div", {"a": np.array([1]), "b": np.array(["text"])}),  # cannot be computed: the run says so
])  # fmt: skip
def test_what_is_not_folded(operator: str, constants: dict[str, Any]) -> None:
    model = graph([make(operator, ["a", "b"], ["y"])], [1], constants)
    assert operators(model, "constant-folding") == [operator]


def test_large_values_and_random_ones_are_not_folded() -> None:
    nodes = [make("ConstantOfShape", ["s"], ["big"]), make("RandomNormalLike", ["one"], ["r"]),
             make("Bernoulli", ["one"], ["c"]), make("Sum", ["x", "big", "r", "c"], ["y"])]  # fmt: skip
    model = graph(nodes, [1], {"s": np.array([1 << 13, 1 << 13]), "one": np.float32([1])})
    assert operators(model, "constant-folding") == ["ConstantOfShape", "RandomNormalLike", "Bernoulli", "Sum"]


def test_what_an_input_overrides_is_not_constant() -> None:
    nodes = [make("Neg", ["w"], ["n"]), make("Add", ["x", "n"], ["y"])]
    model = model_of(nodes, [value("x", shape=[1]), value("w", shape=[1])], [value("y", shape=[1])],
                     [numpy_helper.from_array(np.float32([2]), "w")])  # fmt: skip
    fast = Session(model, options=FAST)
    assert fast.run({"x": np.float32([1])}).outputs["y"].tolist() == [-1]
    assert fast.run({"x": np.float32([1]), "w": np.float32([5])}).outputs["y"].tolist() == [-4]


# Batch normalisation and biases


NORM = {"s": np.float32([2, 4]), "b": np.float32([1, -1]), "m": np.float32([3, 0]), "v": np.float32([4, 1])}


def normalised(layer: onnx.NodeProto, shape: Sequence[int], weights: dict[str, Any], **attributes: Any) -> Model:
    norm = make("BatchNormalization", ["t", *NORM], ["y"], epsilon=0.0, **attributes)
    return graph([layer, norm], shape, {**weights, **NORM})


def test_a_normalisation_becomes_weights_and_bias_by_hand() -> None:
    layer = make("Conv", ["x", "w", "c"], ["t"])
    weights = {"w": np.float32([[[[1]]], [[[2]]]]), "c": np.float32([10, 20])}
    optimised = optimise(normalised(layer, [1, 1, 2, 2], weights))
    (conv,) = optimised.model.graph.order
    new_weights, new_bias = (t.data.array() for t in conv.inputs[1:] if t is not None and t.data is not None)
    assert new_weights.reshape(-1).tolist() == [1, 8]  # times 2/sqrt(4) and 4/sqrt(1)
    assert new_bias.tolist() == [10 + 1 - 3, 20 * 4 - 1]


@pytest.mark.parametrize(("layer", "shape", "weights"), [
    (make("Conv", ["x", "w"], ["t"], group=2, pads=[1, 1, 1, 1]), [2, 4, 5, 6], {"w": floats(2, 2, 3, 3)}),
    (make("Conv", ["x", "w", "c"], ["t"]), [1, 3, 7], {"w": floats(2, 3, 2), "c": floats(2)}),
    (make("ConvTranspose", ["x", "w", "c"], ["t"], strides=[2, 2]), [1, 3, 4, 5],
     {"w": floats(3, 2, 2, 2), "c": floats(2)}),
    (make("Gemm", ["x", "w", "c"], ["t"]), [5, 3], {"w": floats(3, 2), "c": floats(2)}),
    (make("Gemm", ["x", "w"], ["t"], transB=1), [5, 3], {"w": floats(2, 3)}),
])  # fmt: skip
def test_normalisations_of_every_layer(layer: onnx.NodeProto, shape: list[int], weights: dict[str, Any]) -> None:
    model = normalised(layer, shape, weights)
    assert operators(model, "batch-norm") == [layer.op_type]
    agrees(model, floats(*shape))


@pytest.mark.parametrize(("layer", "shape", "weights", "attributes"), [
    (make("Conv", ["x", "w"], ["t"]), [1, 2, 4], {"w": floats(2, 2, 1)}, {"training_mode": 1}),
    (make("ConvTranspose", ["x", "w"], ["t"], group=2), [1, 4, 4], {"w": floats(4, 1, 2)}, {}),
    (make("Gemm", ["x", "w", "c"], ["t"], alpha=0.5), [5, 3], {"w": floats(3, 2), "c": floats(2)}, {}),
    (make("Gemm", ["x", "w", "c"], ["t"]), [5, 3], {"w": floats(3, 2), "c": floats(5, 1)}, {}),
    (make("Add", ["x", "w"], ["t"]), [5, 2], {"w": floats(2)}, {}),
])  # fmt: skip
def test_normalisations_that_stay(
    layer: onnx.NodeProto, shape: list[int], weights: dict[str, Any], attributes: dict[str, Any]
) -> None:
    model = normalised(layer, shape, weights, **attributes)
    assert operators(model, "batch-norm") == [layer.op_type, "BatchNormalization"]
    agrees(model, floats(*shape))


def test_a_convolution_that_others_read_keeps_its_weights() -> None:
    norm = make("BatchNormalization", ["t", *NORM], ["n"])
    nodes = [make("Conv", ["x", "w"], ["t"]), norm, make("Sum", ["t", "n"], ["y"])]
    model = graph(nodes, [1, 2, 4], {"w": floats(2, 2, 1), **NORM})
    assert operators(model, *PASSES) == ["Conv", "BatchNormalization", "Sum"]


def test_what_the_caller_reads_keeps_its_node() -> None:
    norm = make("BatchNormalization", ["t", *NORM], ["n"])
    nodes = [make("Conv", ["x", "w"], ["t"]), norm, make("Relu", ["n"], ["y"])]
    model = graph(nodes, [1, 2, 4], {"w": floats(2, 2, 1), **NORM}, outputs=["t", "y"])
    assert operators(model, *PASSES) == ["Conv", "BatchNormalization", "Relu"]
    agrees(model, floats(1, 2, 4), exact=True)
    gated = graph([make("Sigmoid", ["x"], ["s"]), make("Mul", ["x", "s"], ["y"])], [3], {}, outputs=["s", "y"])
    assert operators(gated, *PASSES) == ["Sigmoid", "Mul"]


@pytest.mark.parametrize(("shape", "folds"), [((2, 1), True), ((1, 2, 1), True), ((1,), False), ((1, 2, 4), False)])
def test_what_is_added_to_each_channel_is_a_bias(shape: tuple[int, ...], folds: bool) -> None:
    nodes = [make("Conv", ["x", "w"], ["t"]), make("Add", ["t", "c"], ["y"])]
    model = graph(nodes, [1, 3, 4], {"w": floats(2, 3, 1), "c": floats(*shape)})
    assert operators(model, "channel-additions") == (["Conv"] if folds else ["Conv", "Add"])
    agrees(model, floats(1, 3, 4))


# Activations


def number(x: float) -> np.ndarray:
    return np.array(x, np.float32)


GELU = {"root": number(2**0.5), "inverse": number(0.5**0.5), "one": number(1), "half": number(0.5)}
ERF = [make("Div", ["x", "root"], ["d"]), make("Erf", ["d"], ["e"]), make("Add", ["e", "one"], ["p"])]
HARD = {"three": number(3), "zero": number(0), "six": number(6), "sixth": number(1 / 6)}
CLIPPED = [make("Add", ["x", "three"], ["a"]), make("Clip", ["a", "zero", "six"], ["c"])]


@pytest.mark.parametrize(("nodes", "left"), [
    ([*ERF, make("Mul", ["x", "p"], ["m"]), make("Mul", ["m", "half"], ["y"])], ["Gelu"]),
    ([*ERF, make("Mul", ["p", "half"], ["m"]), make("Mul", ["x", "m"], ["y"])], ["Gelu"]),
    ([*ERF, make("Mul", ["half", "x"], ["h"]), make("Mul", ["h", "p"], ["y"])], ["Gelu"]),
    ([make("Mul", ["x", "inverse"], ["d"]), *ERF[1:], make("Mul", ["x", "p"], ["m"]),
      make("Mul", ["m", "half"], ["y"])], ["Gelu"]),
    ([*ERF, make("Mul", ["x", "p"], ["m"]), make("Mul", ["m", "root"], ["y"])], ["Div", "Erf", "Add", "Mul", "Mul"]),
    ([*ERF, make("Mul", ["x", "p"], ["m"]), make("Mul", ["m", "half"], ["h"]), make("Add", ["h", "e"], ["y"])],
     ["Div", "Erf", "Add", "Mul", "Mul", "Add"]),
    ([make("Sigmoid", ["x"], ["s"]), make("Mul", ["s", "x"], ["y"])], ["QuickGelu"]),
    ([make("Sigmoid", ["x"], ["s"]), make("Mul", ["s", "one"], ["y"])], ["Sigmoid", "Mul"]),
    ([*CLIPPED, make("Mul", ["x", "c"], ["m"]), make("Div", ["m", "six"], ["y"])], ["HardSwish"]),
    ([*CLIPPED, make("Div", ["c", "six"], ["m"]), make("Mul", ["x", "m"], ["y"])], ["HardSwish"]),
    ([*CLIPPED, make("Mul", ["c", "sixth"], ["m"]), make("Mul", ["m", "x"], ["y"])], ["HardSwish"]),
    ([*CLIPPED, make("Mul", ["x", "c"], ["m"]), make("Div", ["m", "three"], ["y"])], ["Add", "Clip", "Mul", "Div"]),
])  # fmt: skip
def test_activations_written_out(nodes: list[onnx.NodeProto], left: list[str]) -> None:
    model = graph(nodes, [3, 5], {**GELU, **HARD})
    assert operators(model, "activations") == left
    agrees(model, floats(3, 5) * 4)


@pytest.mark.parametrize("last", [
    [make("Mul", ["x", "c"], ["m"]), make("Div", ["m", "six"], ["y"])],
    [make("Div", ["c", "six"], ["m"]), make("Mul", ["x", "m"], ["y"])],
])  # fmt: skip
def test_before_hard_swish_was_an_operator_its_gate_is_one(last: list[onnx.NodeProto]) -> None:
    model = graph([*CLIPPED, *last], [3, 5], {**GELU, **HARD}, opset=12)
    assert operators(model, "activations") == ["HardSigmoid", "Mul"]
    agrees(model, floats(3, 5) * 4)


@pytest.mark.parametrize(("activation", "constants"), [
    (make("Relu", ["t"], ["y"]), {}), (make("Sigmoid", ["t"], ["y"]), {}), (make("Tanh", ["t"], ["y"]), {}),
    (make("LeakyRelu", ["t"], ["y"]), {}), (make("LeakyRelu", ["t"], ["y"], alpha=0.3), {}),
    (make("HardSigmoid", ["t"], ["y"]), {}), (make("Clip", ["t", "zero", "six"], ["y"]), HARD),
    (make("Clip", ["t", "", "six"], ["y"]), HARD), (make("Clip", ["t", "zero"], ["y"]), HARD),
])  # fmt: skip
@pytest.mark.parametrize("group", [1, 4])
def test_activations_behind_a_convolution(activation: onnx.NodeProto, constants: dict[str, Any], group: int) -> None:
    conv = make("Conv", ["x", "w", "b"], ["t"], pads=[1, 1, 1, 1], group=group)
    model = graph([conv, activation], [2, 4, 6, 5], {"w": floats(4, 4 // group, 3, 3), "b": floats(4), **constants})
    assert operators(model, "into-convolutions") == ["FusedConv"]
    agrees(model, floats(2, 4, 6, 5) * 3)


def residual(other: str, last: str = "Relu") -> Model:
    """A Conv whose result is added to another tensor, as in a residual network."""
    nodes = [make("Conv", ["x", "w"], ["t"]), make("Conv", ["x", "v"], ["z"]), make("Add", [other, "t"], ["s"]),
             make(last, ["s"], ["y"])]  # fmt: skip
    return graph(nodes, [1, 3, 4, 4], {"w": floats(3, 3, 1, 1), "v": floats(3, 3, 1, 1), "r": floats(4)})


def test_a_residual_is_added_by_the_convolution() -> None:
    """The convolution then runs after what it adds, though the file has it before."""
    model = residual("z")
    assert operators(model, "into-convolutions") == ["Conv", "FusedConv"]
    agrees(model, floats(1, 3, 4, 4))
    agrees(residual("x"), floats(1, 3, 4, 4))


def test_what_is_added_to_a_convolution_must_have_its_shape() -> None:
    assert operators(residual("r"), "into-convolutions") == ["Conv", "Add", "Relu"]
    assert operators(residual("z", "Exp"), "into-convolutions") == ["Conv", "Conv", "Add", "Exp"]


@pytest.mark.parametrize(("inputs", "shape"), [(["x", "b"], [2, 3, 8]), (["b", "x"], ["n", 300, 96])])
def test_a_gelu_adds_the_bias(inputs: list[str], shape: list[int | str]) -> None:
    """To the last bit; the second is large enough to be shared among threads."""
    nodes = [make("Add", inputs, ["a"]), make("Gelu", ["a"], ["y"])]
    model = graph(nodes, shape, {"b": floats(int(shape[-1]))}, opset=20)
    assert operators(model, "activations") == ["BiasGelu"]
    agrees(model, floats(*(2 if dim == "n" else int(dim) for dim in shape)), exact=True)


@pytest.mark.parametrize(("bias", "attributes", "outputs"), [
    (floats(3, 8), {}, ("y",)),  # no vector along the last axis
    (floats(1), {}, ("y",)),
    (floats(8), {"approximate": "tanh"}, ("y",)),
    (floats(8), {}, ("y", "a")),  # the caller reads the sum
])  # fmt: skip
def test_additions_that_a_gelu_leaves(bias: np.ndarray, attributes: dict[str, Any], outputs: tuple[str, ...]) -> None:
    nodes = [make("Add", ["x", "b"], ["a"]), make("Gelu", ["a"], ["y"], **attributes)]
    model = graph(nodes, [2, 3, 8], {"b": bias}, outputs, opset=20)
    assert operators(model, "activations") == ["Add", "Gelu"]
    agrees(model, floats(2, 3, 8))


@pytest.mark.parametrize("name", ["real/ppocr_v2_cls", "real/silero_vad", "gen/bert_ts"])
def test_other_providers_take_what_the_passes_make(name: str, shared: Path) -> None:
    """ONNX Runtime is given the nodes as a file of their own, with the opsets that they need."""
    pytest.importorskip("onnxruntime")
    with np.load(shared / "models" / "expected" / f"{name.replace('/', '__')}.npz") as recorded:
        feeds = {key.removeprefix("in:"): recorded[key] for key in recorded.files if key.startswith("in:")}
    model = open_model(shared / "models" / f"{name}.onnx")
    result = Session(model, [provider_named("ORT")], FAST).run(feeds, keep="none")
    assert not result.fallbacks
    for output, theirs in Session(model).run(feeds, keep="none").outputs.items():
        np.testing.assert_allclose(result.outputs[output], theirs, rtol=1e-3, atol=1e-4 * np.abs(theirs).max())
