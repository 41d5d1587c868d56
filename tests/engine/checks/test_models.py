"""Whole files: every broken one is told exactly what is wrong with it, healthy ones have nothing wrong."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import helper

from engine.checks import check_model
from engine.diagnostics import Severity
from engine.errors import ModelFormatError
from engine.graph.loader import load, load_model_proto
from engine.graph.message_rules import message_findings
from engine.opening import open_model
from engine.shapes.infer import infer_shapes
from tests.counting import calls

NODES = 5_000

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

BROKEN: dict[str, list[tuple[str, str, str]] | None] = {
    # Both the cycle's nodes and D, which hangs off it, cannot run; none of them is dead code.
    "cycle": [("cycle", "A", ""), ("after-cycle", "D", "")],
    # float32 + int64. Nothing else is wrong: Add takes either type.
    "dtype_clash": [("dtype-clash", "M", "")],
    # B writes what A has written. That B now reaches no output follows from it.
    "duplicate_output": [("duplicate-output", "B", "y")],
    "empty": None,
    # Refused by its path; whether there is such a file is not looked at.
    "external_path_escape": [("external-path", "", "W")],
    # Read as far as it is known; opset and operators are old ones.
    "future_ir": [("future-ir", "", "")],
    # Operators are read by their newest known meaning, and have one.
    "future_opset": [("future-opset", "", "")],
    "git_lfs_pointer": None,
    # The data is [4, 4] and counts; with it the shapes work.
    "init_shape_vs_input": [("initializer-shape-mismatch", "", "W")],
    # 16 floats of which 20 bytes are there. Its dims still serve inference.
    "init_size_lie": [("bad-data", "", "W")],
    # Shapes still follow from the dims.
    "missing_external": [("external-missing", "", "W")],
    # Told at the reader, with the name it asks for.
    "missing_input": [("missing-tensor", "A", "nowhere")],
    "not_protobuf": None,
    # The output's name is wrong. That the node reaches no output follows from it.
    "output_not_produced": [("output-not-produced", "", "y")],
    "self_loop": [("cycle", "S", "")],
    "shape_clash": [("shape-clash", "M", "")],
    "truncated": None,
    # Both, and E behind the second.
    "two_cycles": [("cycle", "A", ""), ("cycle", "C", ""), ("after-cycle", "E", "")],
    # Its domain is imported and not ONNX's, so the standard has no say: only the kernel is missing.
    "unknown_op": [("no-kernel", "A", "")],
    # [9, 9] is declared where [2, 4] is made. It runs.
    "wrong_value_info": [("shape-mismatch", "Relu_0", "m")],
}
"""Every file of shared/models/broken: code, node and tensor of each finding; None for files that are no models."""


def test_the_table_is_complete(shared: Path) -> None:
    assert {file.stem for file in (shared / "models" / "broken").glob("*.onnx")} == BROKEN.keys()


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_have_exactly_these_findings(shared: Path, name: str) -> None:
    path = shared / "models" / "broken" / f"{name}.onnx"
    expected = BROKEN[name]
    if expected is None:
        with pytest.raises(ModelFormatError):
            open_model(path)
        return
    model = open_model(path)
    assert [(d.code, d.node, d.tensor) for d in model.diagnostics] == expected
    assert all(d.hint for d in model.diagnostics)


WARNED = {
    "ops/unsorted_nodes": {"unsorted"},
    "real/ppocr_v4_rec": {"forced-dim"},  # made for lines 48 high, and 33 to 80 work
    "gen/unet_ts": {"divisible-dim"},  # halved twice and doubled again
    "gen/tagger_lstm_dyn": {"divisible-dim", "shape-mismatch"},  # exported at a length of 9, which is baked in
}
"""Healthy models that deserve more than a remark."""


@pytest.mark.parametrize("folder", ["real", "gen", "ml", "ops", "light"])
def test_healthy_models_have_only_remarks(shared: Path, folder: str) -> None:
    files = sorted((LIGHT if folder == "light" else shared / "models" / folder).glob("*.onnx"))
    assert files
    for file in files:
        model = load(file)
        infer_shapes(model)
        check_model(model)
        serious = {d.code for d in model.diagnostics if d.severity is not Severity.INFO}
        assert serious <= WARNED.get(f"{folder}/{file.stem}", set()), file.name


def test_what_exporters_leave_behind_is_told(shared: Path) -> None:
    model = open_model(shared / "models/real/silero_vad_op18_ifless.onnx")
    assert {(d.code, d.tensor) for d in model.diagnostics} >= {
        ("unused-initializer", "val_7"), ("unused-initializer", "val_41"),
    }  # fmt: skip
    model = open_model(shared / "models/gen/mobilenetv2_qdq_int8.onnx")
    (finding,) = model.diagnostics
    assert finding.code == "unused-value-info"
    assert finding.message.startswith("105 entries")  # the float activations that quantisation has replaced


def chain(count: int) -> onnx.ModelProto:
    """Convolutions, sums, transpositions in a chain: attributes, shared weights, several inputs."""
    nodes, last = [], "x"
    for i in range(count):
        name = f"t{i}"
        kind = i % 5
        if kind == 0:
            node = helper.make_node("Conv", [last, "w", "b"], [name], f"n{i}", kernel_shape=[1, 1], strides=[1, 1],
                                    pads=[0, 0, 0, 0], group=1)  # fmt: skip
        elif kind == 1:
            node = helper.make_node("Relu", [last], [name], f"n{i}")
        elif kind == 2:
            node = helper.make_node("Add", [last, f"t{i - 2}"], [name], f"n{i}")
        elif kind == 3:
            node = helper.make_node("LeakyRelu", [last], [name], f"n{i}", alpha=0.1)
        else:
            node = helper.make_node("Transpose", [last], [name], f"n{i}", perm=[0, 1, 2, 3])
        nodes.append(node)
        last = name
    shape = ["N", 4, 8, 8]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", 1, shape)], [helper.make_tensor_value_info(last, 1, shape)],
        [helper.make_tensor("w", 1, [4, 4, 1, 1], [0.1] * 16), helper.make_tensor("b", 1, [4], [0.0] * 4)],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_checks_cost_a_hundred_calls_a_node() -> None:
    """69 of them, 15 µs; whatever looks through all nodes for each node costs far more."""
    proto = chain(NODES)
    model = load_model_proto(proto)
    infer_shapes(model)
    assert calls(lambda: check_model(model)) + calls(lambda: message_findings(proto, model)) < 140 * NODES
    assert model.diagnostics == []


def test_faults_are_all_told_at_little_more_cost() -> None:
    proto = chain(NODES)
    for node in proto.graph.node:
        node.attribute.append(helper.make_attribute("nonsense", 1))
    proto.graph.node.extend(helper.make_node("Neg", ["x"], [f"dead{i}"]) for i in range(NODES))
    model = load_model_proto(proto)
    infer_shapes(model)
    assert calls(lambda: check_model(model)) < 250 * NODES
    codes = [d.code for d in model.diagnostics]
    assert codes.count("unknown-attribute") == NODES
    assert codes.count("unused-node") == NODES
