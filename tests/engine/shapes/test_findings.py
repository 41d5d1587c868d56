"""What inference finds wrong, and what it asks of the inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from engine.diagnostics import Severity
from engine.shapes.infer import CODES, infer_shapes
from tests.engine.shapes.making import (
    BOOL,
    INT64,
    Dims,
    branch,
    codes,
    infer,
    ints,
    shape_of,
    tensor,
    value,
)


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
