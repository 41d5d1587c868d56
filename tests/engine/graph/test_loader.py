"""From files to linked graphs: names, fusion, captures, what is no model, and what is wrong with one."""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import load, load_model_proto
from engine.errors import ModelFormatError
from engine.graph.ir import ValueSource
from tests.engine.graph.making import add_model, codes, tensor, value


@pytest.mark.parametrize(
    ("ir_version", "listed", "source", "findings"),
    [
        (3, True, ValueSource.CONSTANT, []),
        (3, False, ValueSource.IMPLICIT_CONSTANT, ["initializer-not-in-inputs"]),
        (4, True, ValueSource.OVERRIDABLE, []),
        (8, False, ValueSource.IMPLICIT_CONSTANT, []),
    ],
)
def test_fusion_of_initializers_and_inputs(
    ir_version: int, listed: bool, source: ValueSource, findings: list[str]
) -> None:
    model = load_model_proto(add_model(ir_version, listed))
    assert tensor(model, "w").source is source
    assert [t.name for t in model.graph.feeds] == ["x"]
    assert codes(model) == findings


def test_stored_data_decides_over_a_declaration() -> None:
    proto = add_model(8, listed=True)
    proto.graph.input[1].type.tensor_type.shape.dim[0].dim_value = 9
    model = load_model_proto(proto)
    assert codes(model) == ["initializer-shape-mismatch"]
    data = tensor(model, "w").data
    assert data is not None
    assert data.array().tolist() == [10, 20]


def test_links_run_both_ways() -> None:
    model = load_model_proto(add_model(8, listed=False))
    (node,) = model.graph.nodes
    x, w, y = (tensor(model, name) for name in "xwy")
    assert node.inputs == [x, w]
    assert node.outputs == [y]
    assert x.consumers == [(node, 0)]
    assert w.consumers == [(node, 1)]
    assert (y.producer, y.producer_slot) == (node, 0)
    assert node.since_version == 7


def test_captured_values_count_as_inputs_of_the_owner() -> None:
    """If's branch reads `late`, which a node behind it in the file computes (FunASR#1566)."""
    inner = helper.make_graph([helper.make_node("Neg", ["late"], ["t"])], "then", [], [value("t", shape=[1])])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "else", [], [value("e", shape=[1])])
    nodes = [
        helper.make_node("If", ["c"], ["y"], name="choose", then_branch=inner, else_branch=other),
        helper.make_node("Relu", ["x"], ["late"], name="produce"),
    ]
    graph = helper.make_graph(
        nodes, "g", [value("c", TensorProto.BOOL), value("x", shape=[1])], [value("y", shape=[1])]
    )
    model = load_model_proto(helper.make_model(graph))
    choose, produce = model.graph.nodes
    assert {t.name for t in choose.captures} == {"late", "x"}
    assert model.graph.order == [produce, choose]
    assert [(d.code, d.node) for d in model.diagnostics] == [("unsorted", "choose")]
    negate = choose.subgraphs["then_branch"].nodes[0]
    assert negate.inputs[0] is tensor(model, "late")
    assert negate.qualified_name == "choose/then_branch/Neg_0"
    assert negate.outputs[0] is not None
    assert negate.outputs[0].qualified_name == "choose/then_branch/t"


def test_names_are_made_up_and_unique() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["b"], name="n"),
             helper.make_node("Neg", ["b"], ["y"], name="n")]  # fmt: skip
    model = load_model_proto(helper.make_model(helper.make_graph(nodes, "g", [value("x")], [value("y")])))
    assert [n.name for n in model.graph.nodes] == ["Relu_0", "n", "n#2"]
    assert [n.stored_name for n in model.graph.nodes] == ["", "n", "n"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x18\x00\x00\x00ORTMrest", ".ort"),
        (b"hello, this is a text file", "not an ONNX model"),
        (b"\x08\x07", "no graph"),
    ],
)
def test_what_is_no_model_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=words):
        load(path)


def test_paths_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="no such file"):
        load(tmp_path / "gone.onnx")
    with pytest.raises(ModelFormatError, match="is a folder"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFormatError, match="not a regular file"):
        load(tmp_path / "pipe")


EXPECTED_FINDINGS = {
    "cycle": ["cycle", "after-cycle"],
    "dtype_clash": [],  # found by shape inference
    "duplicate_output": ["duplicate-output"],
    "external_path_escape": ["external-path"],
    "future_ir": ["future-ir"],
    "future_opset": ["future-opset"],
    "init_shape_vs_input": ["initializer-shape-mismatch"],
    "init_size_lie": ["bad-data"],
    "missing_external": ["external-missing"],
    "missing_input": ["missing-tensor"],
    "output_not_produced": ["output-not-produced"],
    "self_loop": ["cycle"],
    "shape_clash": [],  # found by shape inference
    "two_cycles": ["cycle", "cycle", "after-cycle"],
    "unknown_op": [],  # found when kernels are looked for
    "wrong_value_info": [],  # found by shape inference
}


@pytest.mark.parametrize("name", EXPECTED_FINDINGS)
def test_broken_files_open_with_their_findings(shared: Path, name: str) -> None:
    assert codes(load(shared / "models" / "broken" / f"{name}.onnx")) == EXPECTED_FINDINGS[name]


def test_healthy_files_open_without_errors_and_sorted(shared: Path) -> None:
    files = [f for folder in ("real", "gen", "ml", "ops") for f in sorted((shared / "models" / folder).glob("*.onnx"))]
    assert len(files) > 80
    for file in files:
        model = load(file)
        assert [d for d in model.diagnostics if d.severity == "error"] == [], file.name
        for graph in model.graph.walk():
            assert len(graph.order) == len(graph.nodes), file.name


def test_weights_equal_those_of_the_standard_reader(shared: Path) -> None:
    for file in sorted((shared / "models" / "gen").glob("*.onnx")):
        model = load(file)
        for proto in onnx.load(file).graph.initializer:
            data = tensor(model, proto.name).data
            assert data is not None
            assert data.array().tobytes() == numpy_helper.to_array(proto).tobytes(), (file.name, proto.name)
