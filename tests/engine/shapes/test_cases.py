"""Shapes worked out by hand: the cases that other tools get wrong, and each family's corners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.diagnostics import Severity
from engine.graph.ir import Model, Tensor
from engine.graph.types import SequenceType, TensorType, format_shape
from engine.shapes.infer import CODES, infer_shapes
from engine.shapes.origin import shape_origin

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
Dims = Sequence[int | str | None] | None


def value(name: str, dims: Dims, dtype: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, dims)


def infer(
    nodes: list[Any], inputs: list[Any], outputs: list[Any] | None = None, opset: int = 18,
    bindings: dict[str, int] | None = None, **constants: Any,
) -> Model:  # fmt: skip
    """The inferred model of some nodes, with `constants` as initializers."""
    last = nodes[-1].output
    graph = helper.make_graph(
        nodes, "g", inputs, outputs or [helper.make_empty_tensor_value_info(n) for n in last if n],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.acme", 1)]
    model = load_model_proto(helper.make_model(graph, opset_imports=imports, ir_version=8))
    infer_shapes(model, bindings)
    return model


def one(op: str, *dims: Dims, opset: int = 18, dtypes: Sequence[int] = (), outputs: int = 1, **rest: Any) -> list[str]:
    """Shapes that an operator makes of inputs of `dims`; arrays in `rest` are constant inputs after those."""
    constants = {k: v for k, v in rest.items() if isinstance(v, np.ndarray)}
    attributes = {k: v for k, v in rest.items() if k not in constants}
    names = [f"x{i}" for i in range(len(dims))]
    kinds = [*dtypes, *[FLOAT] * (len(dims) - len(dtypes))]
    made = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names + list(constants), made, name="node", **attributes)
    model = infer([node], [value(n, d, k) for n, d, k in zip(names, dims, kinds)], opset=opset, **constants)
    return [shape_of(model, name) for name in made]


def shape_of(model: Model, name: str) -> str:
    return format_shape(tensor(model, name).inferred_shape)


def tensor(model: Model, name: str) -> Tensor:
    found = next((g.tensors[name] for g in model.graph.walk() if name in g.tensors), None)
    assert found is not None
    return found


def codes(model: Model) -> list[str]:
    """Codes of what inference found."""
    return [d.code for d in model.diagnostics if d.code in CODES]


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


@pytest.mark.parametrize(
    ("dims", "target", "allowzero", "expected"),
    [
        (["N", 3, 4], [0, -1], 0, "[N, 12]"),
        (["N", 4], [-1, 2], 0, "[2*N, 2]"),
        ([1, 32, 5, 5], [-1, 2, 4, 4, 5, 5], 1, "[1, 2, 4, 4, 5, 5]"),
        (["N", "S", 64], [0, 0, 8, 8], 0, "[N, S, 8, 8]"),
        (["N", "S", 8, 8], [0, -1, 64], 0, "[N, S, 64]"),
    ],
)
def test_reshape(dims: Dims, target: list[int], allowzero: int, expected: str) -> None:
    assert one("Reshape", dims, allowzero=allowzero, shape=ints(*target)) == [expected]


@pytest.mark.parametrize(
    ("dims", "target", "allowzero"), [([3, 4], [0, -1], 1), ([3, 4], [5, -1], 0), ([0, 10], [0, 1, -1], 0)]
)
def test_reshape_that_means_nothing(dims: list[int], target: list[int], allowzero: int) -> None:
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], allowzero=allowzero)
    model = infer([node], [], x=np.zeros(dims), shape=ints(*target))
    assert (shape_of(model, "y"), codes(model)) == ("[...]", ["shape-clash"])


INT_MAX, INT_MIN = (1 << 63) - 1, -(1 << 63)


@pytest.mark.parametrize(
    ("length", "start", "end", "step", "expected"),
    [
        (4, -1, INT_MIN, -1, "[4]"),
        (4, -1, INT_MAX, -1, "[0]"),
        ("N", 1, -1, 1, "[N - 2]"),
        ("N", 0, 5, 1, "[min(5, N)]"),
        ("N", 0, 1_000_000_000, 1, "[N]"),
        ("N", -1, INT_MAX, 1, "[1]"),
        ("N", -7, INT_MAX, 1, "[min(7, N)]"),
        ("N", -3, -1, 1, "[min(3, N) - 1]"),
        ("N", 0, INT_MAX, 2, "[(N + 1)//2]"),
        ("N", -1, INT_MIN, -1, "[N]"),
        ("N", 3, INT_MAX, 4, "[N//4]"),
        (10, 7, 3, 1, "[0]"),
    ],
)
def test_slice(length: int | str, start: int, end: int, step: int, expected: str) -> None:
    made = one("Slice", [length], starts=ints(start), ends=ints(end), axes=ints(0), steps=ints(step))
    assert made == [expected]


def test_slice_with_attributes() -> None:
    assert one("Slice", ["N", 9, 4], opset=9, starts=[1, 0], ends=[-1, 2], axes=[1, 2]) == ["[N, 7, 2]"]


@pytest.mark.parametrize(
    ("op", "dims", "rest", "expected"),
    [
        ("Concat", [[5, 2], ["N", 2]], {"axis": 0}, "[N + 5, 2]"),
        ("Tile", [["N", 3]], {"repeats": ints(2, 1)}, "[2*N, 3]"),
        ("Conv", [["N", 3, "H", "W"], [8, 3, 3, 3]], {"strides": [2, 2], "pads": [1] * 4},
         "[N, 8, (H + 1)//2, (W + 1)//2]"),
        ("Conv", [["N", 3, "H", 7], [8, 3, 3, 3]], {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
         "[N, 8, (H + 1)//2, 4]"),
        ("Conv", [["N", 3, "L"], [8, 1, 5]], {"group": 3, "dilations": [2]}, "[N, 8, L - 8]"),
        ("ConvTranspose", [[1, 1, 3, 3], [1, 1, 3, 3]],
         {"auto_pad": "SAME_UPPER", "strides": [2, 2], "output_padding": [1, 1]}, "[1, 1, 6, 6]"),
        ("ConvTranspose", [[1, 1, "H", 3], [1, 4, 2, 2]], {"strides": [2, 2], "group": 2}, "[1, 8, 2*H, 6]"),
        ("ConvTranspose", [[1, 1, 5, 5], [1, 1, 3, 3]], {"strides": [2, 2], "output_shape": [10, 10]},
         "[1, 1, 10, 10]"),
        ("MaxPool", [[1, 1, 2, 2]], {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1] * 4, "ceil_mode": 1},
         "[1, 1, 1, 1]"),
        ("AveragePool", [[1, 2, 3, 6, 5]],
         {"kernel_shape": [3] * 3, "strides": [3] * 3, "pads": [1] * 6, "ceil_mode": 1}, "[1, 2, 2, 3, 2]"),
        ("MaxPool", [[1, 1, "H", 8]], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
         "[1, 1, (H + 1)//2, 4]"),
        ("Resize", [[1, 1, 706, "W"]], {"roi": np.zeros(0, np.float32),
                                        "scales": np.array([1, 1, 224 / 706, 2], np.float32)}, "[1, 1, 223, 2*W]"),
        ("Resize", [[1, 1, 7, "W"]], {"roi": np.zeros(0, np.float32),
                                      "scales": np.array([1, 1, 0.5, 0.5], np.float32)}, "[1, 1, 3, W//2]"),
        ("Flatten", [["N", 3, "H"]], {"axis": 0}, "[1, 3*H*N]"),
        ("Transpose", [["N", 3, "H"]], {}, "[H, 3, N]"),
        ("Gather", [["N", 3, 4], ["M", 2]], {"axis": 1, "dtypes": (FLOAT, INT64)}, "[N, M, 2, 4]"),
        ("GatherND", [["N", 3, 4], ["M", 2]], {"dtypes": (FLOAT, INT64)}, "[M, 4]"),
        ("GatherND", [["N", 3, 4], ["N", 1]], {"batch_dims": 1, "dtypes": (FLOAT, INT64)}, "[N, 4]"),
        ("Einsum", [["b", "i", 8], ["b", 8, "k"]], {"equation": "bij,bjk->bik"}, "[b, i, k]"),
        ("Einsum", [["b", "h", "i", 8], ["j", 8]], {"equation": "...ij,kj"}, "[b, h, i, j]"),
        ("MatMul", [["B", 1, "M", 8], [4, 8, "K"]], {}, "[B, 4, M, K]"),
        ("MatMul", [[8], ["B", 8, "K"]], {}, "[B, K]"),
        ("Gemm", [[8, "M"], ["K", 8]], {"transA": 1, "transB": 1}, "[M, K]"),
        ("Add", [["N", 1, 5], [7, 1]], {}, "[N, 7, 5]"),
        ("Add", [["N"], ["M"]], {}, "[max(M, N)]"),
        ("ReduceMean", [["N", "C", 7]], {"axes": ints(-1), "keepdims": 0}, "[N, C]"),
        ("ReduceSum", [["N", 4]], {"axes": ints(), "noop_with_empty_axes": 1}, "[N, 4]"),
        ("Pad", [["N", 4]], {"pads": ints(0, 1, 2, 3)}, "[N + 2, 8]"),
        ("DepthToSpace", [["N", 8, "H", 3]], {"blocksize": 2}, "[N, 2, 2*H, 6]"),
        ("OneHot", [["N"]], {"dtypes": (INT64,), "depth": np.array(10), "values": ints(0, 1)}, "[N, 10]"),
        ("GlobalAveragePool", [["N", 3, "H", "W"]], {}, "[N, 3, 1, 1]"),
        ("ScaledTanh", [["N", 3]], {"alpha": 2.0}, "[N, 3]"),
        ("Crop", [["N", 3, "H", 9]], {"border": [1, 2, 3, 4]}, "[N, 3, H - 6, 5]"),
        ("Crop", [["N", 3, 20, 9]], {"border": [1, 2, 0, 0], "scale": [5, 6]}, "[N, 3, 5, 6]"),
        ("MemcpyToHost", [["N", 3]], {}, "[N, 3]"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_one_node(op: str, dims: list[Dims], rest: dict[str, Any], expected: str) -> None:
    assert one(op, *dims, **rest) == [expected]


@pytest.mark.parametrize(
    ("opset", "rest", "expected"),
    [
        (18, {"num_outputs": 3, "axis": 1}, ["[N, 3]", "[N, 3]", "[N, 1]"]),
        (13, {"split": ints(2, 4, 1), "axis": 1}, ["[N, 2]", "[N, 4]", "[N, 1]"]),
        (11, {"split": [2, 4, 1], "axis": -1}, ["[N, 2]", "[N, 4]", "[N, 1]"]),
    ],
)
def test_split(opset: int, rest: dict[str, Any], expected: list[str]) -> None:
    assert one("Split", ["N", 7], opset=opset, outputs=3, **rest) == expected


def test_lstm_and_top_k_fill_every_slot() -> None:
    assert one("LSTM", ["S", "B", 3], [2, 20, 3], [2, 20, 5], outputs=3, direction="bidirectional", hidden_size=5) == [
        "[S, 2, B, 5]", "[2, B, 5]", "[2, B, 5]",
    ]  # fmt: skip
    assert one("TopK", ["N", 100], k=ints(5), outputs=2) == ["[N, 5]", "[N, 5]"]


# --- values carried along


def test_shape_arithmetic_reaches_a_reshape() -> None:
    """Shape, Gather, Unsqueeze and Concat as exporters write x.view(n, -1, c // 2)."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Gather", ["s", "two"], ["c"]),
        helper.make_node("Div", ["c", "two"], ["half"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Unsqueeze", ["half", "axes"], ["half1"]),
        helper.make_node("Concat", ["n1", "rest", "half1"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    model = infer(nodes, [value("x", ["N", "S", 6])], zero=np.array(0), two=np.array(2), axes=ints(0), rest=ints(-1))
    assert shape_of(model, "y") == "[N, 2*S, 3]"


def test_expand_by_where_equal() -> None:
    """torch's expand(-1, 4): Where picks 1 for what Equal finds to be -1, never for a dim."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Concat", ["minus", "s"], ["wanted"], axis=0),
        helper.make_node("Equal", ["wanted", "minuses"], ["is_minus"]),
        helper.make_node("Where", ["is_minus", "ones", "wanted"], ["target"]),
        helper.make_node("Expand", ["x", "target"], ["y"]),
    ]
    model = infer(nodes, [value("x", ["N"])], minus=ints(-1), minuses=ints(-1, -1), ones=ints(1, 1))
    assert shape_of(model, "y") == "[1, N]"


def test_range_over_a_dim() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], start=0, end=1),
        helper.make_node("Squeeze", ["s"], ["n"]),
        helper.make_node("Range", ["zero", "n", "one"], ["y"]),
    ]
    assert shape_of(infer(nodes, [value("x", ["N"])], zero=np.array(0), one=np.array(1)), "y") == "[N]"


def test_float_detour_of_a_dim() -> None:
    """Upsampling as older exporters write it: Shape, Cast to float, Mul, Floor, Cast back."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Cast", ["s"], ["f"], to=FLOAT),
        helper.make_node("Mul", ["f", "scale"], ["g"]),
        helper.make_node("Floor", ["g"], ["h"]),
        helper.make_node("Cast", ["h"], ["sizes"], to=INT64),
        helper.make_node("Resize", ["x", "", "", "sizes"], ["y"]),
    ]
    model = infer(nodes, [value("x", [1, 3, "H", 5])], scale=np.array([1, 1, 2, 2], np.float32))
    assert shape_of(model, "y") == "[1, 3, 2*H, 10]"


def test_run_time_values_make_named_lengths() -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["where"], name="NonZero_3"),
        helper.make_node("Transpose", ["where"], ["rows"]),
    ]
    model = infer(nodes, [value("x", ["N", 4])])
    assert shape_of(model, "rows") == "[NonZero_3_count, 2]"
    assert "known only at run time" in tensor(model, "where").unknown_because
    assert tensor(model, "rows").unknown_because == ""


# --- inputs


def test_open_dims_become_symbols_of_their_own() -> None:
    a, b = value("a.b", ["?", 0, "N", None]), value("b", ["?", -1, "N"])
    model = infer([helper.make_node("Identity", ["a.b"], ["y"])], [a, b])
    assert format_shape(tensor(model, "a.b").inferred_shape) == "[a_b_dim0, a_b_dim1, N, a_b_dim3]"
    assert format_shape(tensor(model, "b").inferred_shape) == "[b_dim0, b_dim1, N]"


def test_names_made_up_do_not_meet_names_declared() -> None:
    model = infer([helper.make_node("Identity", ["x"], ["y"])], [value("x", [None, "x_dim0"])])
    assert shape_of(model, "x") == "[x_dim0_2, x_dim0]"


def test_sums_of_declared_names_are_sums() -> None:
    mask, ids, past = value("mask", ["past + seq"]), value("ids", ["seq"]), value("kv", ["past"])
    nodes = [
        helper.make_node("Concat", ["kv", "ids"], ["all"], axis=0),
        helper.make_node("Add", ["all", "mask"], ["y"]),
    ]
    assert shape_of(infer(nodes, [mask, ids, past]), "y") == "[past + seq]"


def test_names_become_identifiers() -> None:
    """Whatever a file calls its dims, the text of a shape is Python; one name stays one symbol."""
    inputs = [value("x", ["batch-size", "p2o.Dim.0", "lambda"]), value("z", ["p2o.Dim.0", "batch_size", "min"])]
    nodes = [helper.make_node("Flatten", ["x"], ["y"], axis=0), helper.make_node("Flatten", ["z"], ["w"], axis=0)]
    model = infer(nodes, inputs)
    assert shape_of(model, "y") == "[1, batch_size_2*lambda_2*p2o_Dim_0]"
    assert shape_of(model, "w") == "[1, batch_size*min_2*p2o_Dim_0]"
    assert codes(infer(nodes[:1], inputs[:1], [value("y", [1, "p2o.Dim.0"])])) == ["shape-mismatch"]
    assert codes(infer([helper.make_node("Relu", ["x"], ["y"])], inputs[:1], [value("y", inputs_of(inputs[0]))])) == []


def inputs_of(info: Any) -> list[str]:
    return [d.dim_param for d in info.type.tensor_type.shape.dim]


# --- findings


def test_shape_clash_names_node_and_shapes() -> None:
    model = infer([helper.make_node("MatMul", ["a", "b"], ["y"], name="M")], [value("a", [2, 4]), value("b", [5, 4])])
    (finding,) = model.diagnostics
    assert (finding.code, finding.severity, finding.node) == ("shape-clash", Severity.ERROR, "M")
    assert "[2, 4]" in finding.message and "[5, 4]" in finding.message  # noqa: PT018
    assert tensor(model, "y").unknown_because.startswith("MatMul 'M'")


def test_dtype_clash() -> None:
    model = infer([helper.make_node("Add", ["a", "b"], ["y"])], [value("a", [2]), value("b", [2], INT64)])
    assert codes(model) == ["dtype-clash"]
    assert "int64" in model.diagnostics[0].message


def test_declared_shape_that_is_wrong() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="R")
    model = infer([node], [value("x", [2, 4])], [value("y", [9, 9])])
    (finding,) = model.diagnostics
    assert (finding.code, finding.severity) == ("shape-mismatch", Severity.WARNING)
    assert "[9, 9]" in finding.message and "[2, 4]" in finding.message  # noqa: PT018
    assert shape_of(model, "y") == "[2, 4]"


def test_baked_batch_is_found() -> None:
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], name="view_12")
    model = infer([node], [value("x", ["N", 9, 4])], [value("y", ["N", 36])], shape=ints(1, 36))
    (finding,) = model.diagnostics
    assert finding.code == "forced-dim"
    assert finding.message == "N is forced to 1: Reshape 'view_12' has the constant shape [1, 36]"


def requirements(nodes: list[Any], inputs: list[Any], outputs: list[Any] | None = None, **constants: Any) -> list[str]:
    """What inference requires of the inputs' symbols, without the places."""
    model = infer(nodes, inputs, outputs, **constants)
    codes_of_clashes = {"shape-clash", "malformed-node"}
    assert not codes_of_clashes & set(codes(model))
    return [f"{d.code}: {d.message.partition(':')[0]}" for d in model.diagnostics if d.code in CODES]


@pytest.mark.parametrize(
    ("op", "dims", "rest", "expected"),
    [
        ("MatMul", [["N", "K"], [8, 3]], {}, ["forced-dim: K is forced to 8"]),
        ("MatMul", [["N", "K"], ["M", 3]], {}, ["equal-dims: K and M must be equal"]),
        ("MatMul", [["N", 8], [8, "M"]], {}, []),
        ("Gemm", [["K", 4], ["M", 4]], {"transB": 1}, []),
        ("Conv", [[1, "C", "H", "W"], [8, 3, 3, 3]], {"group": 2}, ["forced-dim: C is forced to 6"]),
        ("Concat", [["N", 2], ["M", 2]], {"axis": 1}, ["equal-dims: N and M must be equal"]),
        ("Concat", [["N", 2], ["M", 2]], {"axis": 0}, []),
        ("Add", [["B", "S", 64], [1, 128, 64]], {}, ["forced-dim: S can only be 1 or 128"]),
        ("Add", [["N", 4], ["M", 1]], {}, ["equal-dims: N and M must be equal, or one of them 1"]),
        ("Add", [["N"], [1]], {}, []),
        ("Reshape", [["N", "S", 6]], {"shape": ints(9, -1)}, ["divisible-dim: 2*N*S must be a multiple of 3"]),
        ("Reshape", [["N", "S", 6]], {"shape": ints(2, -1)}, []),
        ("Reshape", [["N", "S"]], {"shape": ints(3, 4)}, ["forced-dim: N*S is forced to 12"]),
        ("Reshape", [["N", 4]], {"shape": ints(0, 2, 2)}, []),
        ("Squeeze", [["N", 4]], {"axes": ints(0)}, ["forced-dim: N is forced to 1"]),
        ("Split", [["N"]], {"split": ints(2, 3), "outputs": 2}, ["forced-dim: N is forced to 5"]),
        ("SpaceToDepth", [["N", 3, "H", 4]], {"blocksize": 2}, ["divisible-dim: H must be a multiple of 2"]),
        ("Einsum", [["b", "i"], ["i2", "k"]], {"equation": "bi,ik->bk"}, ["equal-dims: i and i2 must be equal"]),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_requirements(op: str, dims: list[Dims], rest: dict[str, Any], expected: list[str]) -> None:
    constants = {k: v for k, v in rest.items() if isinstance(v, np.ndarray)}
    attributes = {k: v for k, v in rest.items() if k not in constants and k != "outputs"}
    names = [f"x{i}" for i in range(len(dims))]
    made = [f"y{i}" for i in range(rest.get("outputs", 1))]
    node = helper.make_node(op, names + list(constants), made, name="node", **attributes)
    assert requirements([node], [value(n, d) for n, d in zip(names, dims)], **constants) == expected


def test_a_broadcast_that_only_works_for_one() -> None:
    """x beside itself is 2*N long, and so broadcasts with x for N = 1 only."""
    nodes = [helper.make_node("Concat", ["x", "x"], ["xx"], axis=0), helper.make_node("Add", ["xx", "x"], ["y"])]
    assert requirements(nodes, [value("x", ["N"])]) == ["forced-dim: N is forced to 1"]


def test_what_follows_is_not_said_again() -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["a"], name="first"),
        helper.make_node("Reshape", ["x", "shape"], ["b"], name="second"),
        helper.make_node("Concat", ["x", "z"], ["c"], axis=1),
        helper.make_node("Concat", ["z", "one"], ["d"], axis=1),
    ]
    inputs = [value("x", ["N", 36]), value("z", ["M", 2])]
    found = requirements(nodes, inputs, shape=ints(1, 36), one=np.ones((1, 5), np.float32))
    assert found == ["forced-dim: N is forced to 1", "forced-dim: M is forced to 1"]


def test_equations_of_one_symbol_are_said_by_their_solutions() -> None:
    """Halved and doubled again: only even lengths come back; a third of them must be one."""
    pool = helper.make_node("MaxPool", ["x"], ["half"], kernel_shape=[2], strides=[2])
    up = helper.make_node("Resize", ["half", "", "scales"], ["back"])
    nodes = [pool, up, helper.make_node("Concat", ["x", "back"], ["y"], axis=1)]
    found = requirements(nodes, [value("x", [1, 3, "L"])], scales=np.array([1, 1, 2], np.float32))
    assert found == ["divisible-dim: L must be a multiple of 2"]
    third = helper.make_node("MaxPool", ["x"], ["t"], kernel_shape=[3], strides=[3])
    found = requirements([third, helper.make_node("Squeeze", ["t", "axes"], ["y"])], [value("x", [1, 3, "L"])],
                         axes=ints(2))  # fmt: skip
    assert found == ["forced-dim: L can only be 3 to 5"]


def test_lengths_of_the_run_require_nothing() -> None:
    nodes = [helper.make_node("NonZero", ["x"], ["a"]), helper.make_node("Concat", ["a", "z"], ["y"], axis=0)]
    assert requirements(nodes, [value("x", ["N"]), value("z", [1, "M"], INT64)]) == []


def test_branches_require_nothing() -> None:
    then = branch("then", [helper.make_node("Add", ["x", "z"], ["a"])], "a")
    other = branch("else", [helper.make_node("Identity", ["x"], ["b"])], "b")
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    assert requirements([node], [value("c", [], BOOL), value("x", ["N"]), value("z", ["M"])]) == []


def test_sizes_that_never_fit_are_a_clash() -> None:
    nodes = [helper.make_node("Concat", ["x", "one"], ["more"], axis=0),
             helper.make_node("MatMul", ["x", "more"], ["y"])]  # fmt: skip
    model = infer(nodes, [value("x", ["N"])], one=np.ones(1, np.float32))
    assert codes(model) == ["shape-clash"]
    assert "is never" in model.diagnostics[-1].message
    model = infer([helper.make_node("Reshape", ["x", "shape"], ["y"])], [value("x", ["N", 4])], shape=ints(3, 7))
    assert "4*N is never 21, whatever N is" in model.diagnostics[-1].message


def test_dim_declared_dynamic_but_baked_in() -> None:
    node = helper.make_node("Expand", ["one", "shape"], ["y"], name="E")
    use = helper.make_node("Relu", ["x"], ["z"])
    outputs = [value("y", ["N", 3]), value("z", ["N", 3])]
    model = infer([node, use], [value("x", ["N", 3])], outputs, one=np.ones(1, np.float32), shape=ints(4, 3))
    (finding,) = [d for d in model.diagnostics if d.code in CODES]
    assert finding.code == "baked-dim"
    assert finding.message == "the file declares a dim of 'y' as N, but Expand 'E' always makes 4"


def test_declared_names_that_contradict() -> None:
    node = helper.make_node("Transpose", ["x"], ["y"], name="T")
    model = infer([node], [value("x", ["N", "M"])], [value("y", ["N", "M"])])
    assert codes(model) == ["shape-mismatch"]
    elsewhere = infer([node], [value("x", ["N", "M"])], [value("y", ["a", "b"])])
    assert codes(elsewhere) == []


def test_no_rule_falls_back_on_the_file() -> None:
    nodes = [
        helper.make_node("FusedThing", ["x"], ["t"], domain="com.acme", name="A"),
        helper.make_node("Relu", ["t"], ["y"]),
    ]
    model = infer(nodes, [value("x", [2])])
    assert tensor(model, "y").unknown_because == "no shape rule for com.acme::FusedThing (node 'A')"
    declared = infer(nodes[:1], [value("x", [2])], [value("t", [7, None])])
    assert shape_of(declared, "t") == "[7, ?]"
    assert tensor(declared, "t").unknown_because.startswith("as the file declares it: no shape rule")


def test_missing_tensor_and_cycle_have_reasons() -> None:
    missing = infer([helper.make_node("Relu", ["nowhere"], ["y"])], [])
    assert "nothing in the file defines 'nowhere'" in tensor(missing, "y").unknown_because
    cyclic = infer([helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])],
                   [value("x", [2])])  # fmt: skip
    assert "cycle" in tensor(cyclic, "b").unknown_because


def test_inferring_twice_reports_once() -> None:
    model = infer([helper.make_node("MatMul", ["a", "b"], ["y"])], [value("a", [2, 4]), value("b", [5, 4])])
    infer_shapes(model)
    assert codes(model) == ["shape-clash"]


# --- where a shape comes from


def test_origin_names_rule_inputs_and_constants() -> None:
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], name="view_12", allowzero=0)
    model = infer([node], [value("x", ["N", 4])], shape=ints(0, 2, 2))
    assert shape_origin(tensor(model, "y")).splitlines() == [
        "by the rule of Reshape, version 14, in 'view_12'",
        "  input 0: 'x' float32[N, 4]",
        "  input 1: 'shape' int64[3] = [0, 2, 2]",
        "  allowzero = 0",
    ]
    assert shape_origin(tensor(model, "x")) == "an input, as the file declares it; open dims got names"
    assert shape_origin(tensor(model, "shape")) == "stored in the file: int64[3]"


def test_origin_of_the_unknown_names_where_knowledge_ends() -> None:
    nodes = [helper.make_node("Nope", ["x"], ["t"], domain="com.acme", name="A"),
             helper.make_node("Relu", ["t"], ["y"], name="R")]  # fmt: skip
    lines = shape_origin(tensor(infer(nodes, [value("x", [2])]), "y")).splitlines()
    assert lines[0] == "by the rule of Relu, version 14, in 'R'"
    assert lines[-1] == "not known: no shape rule for com.acme::Nope (node 'A')"


# --- control flow


def branch(name: str, nodes: list[Any], output: str) -> Any:
    return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(output)])


def test_if_merges_its_branches() -> None:
    then = branch("then", [helper.make_node("Relu", ["x"], ["a"])], "a")
    other = branch("else", [helper.make_node("Flatten", ["x"], ["b"], axis=0)], "b")
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other, name="If_3")
    model = infer([node], [value("c", [], BOOL), value("x", ["N", 4])])
    assert shape_of(model, "y") == "[?, ?]"
    assert tensor(model, "y").unknown_because == "the branches of 'If_3' differ: [N, 4] and [1, 4*N]"
    assert shape_of(model, "b") == "[1, 4*N]"


def squeeze_if_one() -> Any:
    then = branch("then", [helper.make_node("Squeeze", ["x", "axes"], ["a"])], "a")
    other = branch("else", [helper.make_node("Identity", ["x"], ["b"])], "b")
    return [
        helper.make_node("Shape", ["x"], ["s"], start=1, end=2),
        helper.make_node("Equal", ["s", "one"], ["c"]),
        helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
    ]


def test_if_with_a_known_condition_takes_its_branch() -> None:
    model = infer(squeeze_if_one(), [value("x", ["N", 4])], axes=ints(1), one=ints(1))
    assert shape_of(model, "y") == "[N, 4]"
    assert codes(model) == []  # of the Squeeze that cannot run, and never does


def test_clash_in_a_branch_that_may_run_is_a_warning() -> None:
    then = branch("then", [helper.make_node("Squeeze", ["x", "axes"], ["a"])], "a")
    other = branch("else", [helper.make_node("Identity", ["x"], ["b"])], "b")
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    model = infer([node], [value("c", [], BOOL), value("x", ["N", 4])], axes=ints(1))
    assert [(d.code, d.severity) for d in model.diagnostics] == [("shape-clash", Severity.WARNING)]


def test_bindings_decide_branches() -> None:
    inputs, constants = [value("x", ["N", "M"])], {"axes": ints(1), "one": ints(1)}
    assert shape_of(infer(squeeze_if_one(), inputs, **constants), "y") == "[...]"
    assert shape_of(infer(squeeze_if_one(), inputs, bindings={"M": 1}, **constants), "y") == "[N]"


def loop_body(nodes: list[Any], outputs: list[str]) -> Any:
    inputs = [value("i", [], INT64), value("go", [], BOOL), helper.make_empty_tensor_value_info("h")]
    return helper.make_graph(nodes, "body", inputs, [helper.make_empty_tensor_value_info(o) for o in outputs])


@pytest.mark.parametrize(("trips", "expected"), [(3, "[3, 2, 3]"), (0, "[0, 2, 3]")])
def test_loop_stacks_its_scans(trips: int, expected: str) -> None:
    body = loop_body([helper.make_node("Identity", ["go"], ["again"]), helper.make_node("Relu", ["h"], ["h2"]),
                      helper.make_node("Neg", ["h"], ["s"])], ["again", "h2", "s"])  # fmt: skip
    node = helper.make_node("Loop", ["trips", "", "h0"], ["h_end", "scan"], body=body)
    model = infer([node], [value("h0", [2, 3])], trips=np.array(trips))
    assert (shape_of(model, "h_end"), shape_of(model, "scan")) == ("[2, 3]", expected)


def test_loop_that_grows_its_state() -> None:
    body = loop_body([helper.make_node("Identity", ["go"], ["again"]),
                      helper.make_node("Concat", ["h", "x"], ["h2"], axis=0),
                      helper.make_node("Greater", ["i", "i"], ["unused"])], ["again", "h2"])  # fmt: skip
    node = helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body, name="L")
    model = infer([node], [value("x", [2, "W"])], trips=np.array(5))
    assert shape_of(model, "y") == "[?, W]"
    assert tensor(model, "y").unknown_because == "it changes from round to round of 'L'"


def test_loop_that_may_stop_early_has_a_named_length() -> None:
    body = loop_body([helper.make_node("ReduceSum", ["h"], ["sum"], keepdims=0),
                      helper.make_node("Less", ["sum", "limit"], ["again"]),
                      helper.make_node("Relu", ["h"], ["h2"]), helper.make_node("Neg", ["h"], ["s"])],
                     ["again", "h2", "s"])  # fmt: skip
    node = helper.make_node("Loop", ["trips", "", "h0"], ["h_end", "scan"], body=body, name="L")
    model = infer([node], [value("h0", ["N"])], trips=np.array(5), limit=np.float32(3))
    assert shape_of(model, "scan") == "[L_trips, N]"


def test_loop_over_rows() -> None:
    """The body cuts row i out of x: one row each time, whatever i is; what depends on i does not leave the loop."""
    nodes = [
        helper.make_node("Identity", ["go"], ["again"]),
        helper.make_node("Unsqueeze", ["i", "zero"], ["start"]),
        helper.make_node("Add", ["start", "one"], ["end"]),
        helper.make_node("Slice", ["x", "start", "end"], ["row"]),
        helper.make_node("Add", ["h", "row"], ["h2"]),
        helper.make_node("Slice", ["x", "zero", "end"], ["rows"]),
    ]
    node = helper.make_node("Loop", ["trips", "", "h0"], ["h_end", "all", "ragged"], name="L",
                            body=loop_body(nodes, ["again", "h2", "row", "rows"]))  # fmt: skip
    model = infer([node], [value("h0", [1, 4]), value("x", [5, 4])], trips=np.array(5), zero=ints(0), one=ints(1))
    assert shape_of(model, "h_end") == "[1, 4]"
    assert shape_of(model, "all") == "[5, 1, 4]"
    assert shape_of(model, "rows") == "[min(5, L_round + 1), 4]"
    assert shape_of(model, "ragged") == "[5, ?, 4]"
    assert tensor(model, "ragged").unknown_because == "it depends on the round of 'L'"


def test_scan_along_other_axes() -> None:
    inputs = [helper.make_empty_tensor_value_info(n) for n in ("s", "e")]
    nodes = [helper.make_node("Add", ["s", "e"], ["s2"]), helper.make_node("Identity", ["s2"], ["o"])]
    outputs = [helper.make_empty_tensor_value_info(n) for n in ("s2", "o")]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    node = helper.make_node("Scan", ["s0", "x"], ["end", "y"], body=body, num_scan_inputs=1,
                            scan_input_axes=[1], scan_output_axes=[-1])  # fmt: skip
    model = infer([node], [value("s0", ["B"]), value("x", ["B", "T"])])
    assert (shape_of(model, "end"), shape_of(model, "y")) == ("[B]", "[B, T]")


def test_functions_are_inferred_for_each_call() -> None:
    half = helper.make_function(
        "com.acme", "Half", ["x"], ["y"],
        [helper.make_node("Slice", ["x", "zero", "two"], ["y"]),], [helper.make_opsetid("", 18)],
    )  # fmt: skip
    half.node.insert(0, helper.make_node("Constant", [], ["zero"], value_ints=[0]))
    half.node.insert(1, helper.make_node("Constant", [], ["two"], value_ints=[2]))
    nodes = [helper.make_node("Half", ["a"], ["b"], domain="com.acme"),
             helper.make_node("Half", ["c"], ["d"], domain="com.acme")]  # fmt: skip
    graph = helper.make_graph(nodes, "g", [value("a", ["N", 5]), value("c", [9])],
                              [helper.make_empty_tensor_value_info(n) for n in "bd"])  # fmt: skip
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("com.acme", 1)]
    proto = helper.make_model(graph, opset_imports=imports, functions=[half], ir_version=8)
    model = load_model_proto(proto)
    infer_shapes(model)
    assert (shape_of(model, "b"), shape_of(model, "d")) == ("[min(2, N), 5]", "[2]")


def test_sequences() -> None:
    nodes = [
        helper.make_node("SplitToSequence", ["x", "one"], ["seq"], axis=1),
        helper.make_node("SequenceAt", ["seq", "one"], ["part"]),
        helper.make_node("ConcatFromSequence", ["seq"], ["all"], axis=0, name="Cat"),
    ]
    model = infer(nodes, [value("x", ["N", 3])], one=np.array(1))
    assert shape_of(model, "part") == "[N, 1]"
    assert shape_of(model, "all") == "[Cat_dim0, 1]"
    assert isinstance(tensor(model, "seq").inferred_type, SequenceType)


# --- hostile nodes


HOSTILE: list[dict[str, Any]] = [
    {}, {"axis": 1 << 40}, {"axis": "x"}, {"axes": [1 << 62, -5]}, {"kernel_shape": [0, -1], "strides": [0, 0]},
    {"kernel_shape": [3.5]}, {"to": -1}, {"perm": [0, 0]}, {"shape": [1 << 62] * 20}, {"pads": [-(1 << 62)] * 4},
    {"equation": "....,->"}, {"blocksize": 0}, {"num_heads": 0}, {"split": [-1]}, {"hidden_size": -4},
    {"scales": [float("nan"), float("inf")]}, {"dilations": [0, 0], "group": -1}, {"num_scan_inputs": 99},
    {"ngram_indexes": [-9]}, {"starts": [0], "ends": [1, 2]}, {"N": "many"}, {"k": -1}, {"keepdims": 7},
]  # fmt: skip


@pytest.mark.parametrize("attributes", HOSTILE, ids=str)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_no_node_raises(attributes: dict[str, Any], count: int) -> None:
    """Every operator with a rule, with inputs and attributes that make no sense, gives findings and no exception."""
    from engine.shapes.registry import ruled_operators

    inputs = [value("x0", ["N", 0, 1 << 60]), value("x1", [2], INT64), value("x2", None, BOOL)]
    nodes = []
    for n, (domain, op) in enumerate(sorted(ruled_operators())):
        names = [f"x{i}" for i in range(count)]
        node = helper.make_node(op, names, [f"a{n}", f"b{n}"], domain=domain, **attributes)
        nodes.append(node)
        late = helper.make_node(op, ["huge", "nan", "big"][:count], [f"c{n}"], domain=domain, **attributes)
        nodes.append(late)
    huge = np.array([INT_MAX, INT_MIN, -1, 0], np.int64)
    model = infer(nodes, inputs, huge=huge, nan=np.array([np.nan, np.inf], np.float32), big=huge[:1])
    for made in model.graph.tensors.values():
        shape = made.inferred_shape or ()
        assert all(not isinstance(d, int) or d >= 0 for d in shape)
        if isinstance(made.inferred_type, TensorType) and (made.inferred_shape is None or None in shape):
            assert made.unknown_because


def test_attributes_of_graph_kind_do_not_confuse() -> None:
    node = helper.make_node("Flatten", ["x"], ["y"])
    attribute = AttributeProto(name="axis", type=AttributeProto.GRAPH)
    node.attribute.append(attribute)
    model = infer([node], [value("x", [2, 3])])
    assert codes(model) == ["shape-clash"]
