"""What inference carries along: small values, names of dims, and where a shape comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from engine.graph.types import format_shape
from engine.shapes.origin import shape_origin
from tests.engine.shapes.making import (
    FLOAT,
    INT64,
    codes,
    infer,
    ints,
    shape_of,
    tensor,
    value,
)


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


def test_origin_names_some_of_very_many_inputs() -> None:
    names = [f"x{i}" for i in range(1000)]
    model = infer([helper.make_node("Concat", names, ["y"], axis=0)], [value(name, [2]) for name in names])
    lines = shape_origin(tensor(model, "y")).splitlines()
    assert [line for line in lines if line.startswith("  input 0:")] == ["  input 0: 'x0' float32[2]"]
    assert "  and 968 more inputs" in lines
    assert len(lines) < 40


def test_origin_of_the_unknown_names_where_knowledge_ends() -> None:
    nodes = [helper.make_node("Nope", ["x"], ["t"], domain="com.acme", name="A"),
             helper.make_node("Relu", ["t"], ["y"], name="R")]  # fmt: skip
    lines = shape_origin(tensor(infer(nodes, [value("x", [2])]), "y")).splitlines()
    assert lines[0] == "by the rule of Relu, version 14, in 'R'"
    assert lines[-1] == "not known: no shape rule for com.acme::Nope (node 'A')"
