"""Shapes through If, Loop, Scan, functions and sequences, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from engine import load_model_proto
from engine.diagnostics import Severity
from engine.graph.types import SequenceType
from engine.shapes.infer import infer_shapes
from tests.engine.shapes.making import (
    BOOL,
    INT64,
    branch,
    codes,
    infer,
    ints,
    shape_of,
    tensor,
    value,
)


def test_if_merges_its_branches() -> None:
    then = branch("then", [helper.make_node("Relu", ["x"], ["a"])], "a")
    other = branch("else", [helper.make_node("Flatten", ["x"], ["b"], axis=0)], "b")
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other, name="If_3")
    model = infer([node], [value("c", [], BOOL), value("x", ["N", 4])])
    assert shape_of(model, "y") == "[?, ?]"
    assert tensor(model, "y").unknown_because == "the branches of 'If_3' differ: [N, 4] and [1, 4*N]"
    assert shape_of(model, "b") == "[1, 4*N]"


def test_if_whose_branches_leave_the_same_open_says_where_that_began() -> None:
    """Two branches that read alike are not said to differ: the If inside the first one is where knowledge ends."""

    def unsure(name: str) -> Any:
        then = branch("then", [helper.make_node("Relu", ["x"], [f"{name}_a"])], f"{name}_a")
        other = branch("else", [helper.make_node("Flatten", ["x"], [f"{name}_b"], axis=0)], f"{name}_b")
        node = helper.make_node("If", ["c"], [name], then_branch=then, else_branch=other, name=name)
        return branch(f"{name}_branch", [node], name)

    node = helper.make_node("If", ["d"], ["y"], then_branch=unsure("p"), else_branch=unsure("q"), name="outer")
    model = infer([node], [value("c", [], BOOL), value("d", [], BOOL), value("x", ["N", 4])])
    assert shape_of(model, "y") == "[?, ?]"
    assert tensor(model, "y").unknown_because == "the branches of 'p' differ: [N, 4] and [1, 4*N]"


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
