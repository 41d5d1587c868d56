"""Models in ONNX Runtime's own format open as the graph it saved, and damaged ones say so."""
from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import infer, load
from engine.agreement.values import compare_values
from engine.errors import ModelFormatError
from engine.export import export
from engine.feeds import default_dims, make_feeds
from engine.graph.forms import flatbuffers
from engine.graph.ir import Model
from engine.graph.storage import MemoryStorage
from engine.session import Session

LEVELS = onnxruntime.GraphOptimizationLevel
WEIGHT = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
SHARED = (
    "gen/mnist_dyn", "gen/if_loop_ts", "gen/cond_dyn", "gen/mobilenetv2_qdq_int8", "gen/tagger_lstm_ts",
    "ml/random_forest_zipmap", "ml/label_ordinal", "ops/functions", "ops/unsorted_nodes",
    "real/silero_vad_half",
)  # fmt: skip


def save_ort(model: str | bytes, path: Path, level: LEVELS = LEVELS.ORT_DISABLE_ALL) -> Path:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 4
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return path


def sample() -> onnx.ModelProto:
    """A graph with a large weight and small ones, attributes, branches that capture, and documentation."""
    value = helper.make_tensor_value_info
    branch = [
        helper.make_graph([helper.make_node("Mul", ["h", name], [name + "_out"])], name + "_branch", [],
                          [value(name + "_out", 1, None)], [numpy_helper.from_array(np.float32([factor]), name)])
        for name, factor in (("two", 2.0), ("three", 3.0))
    ]  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], "product", doc_string="the first"),
        helper.make_node("LeakyRelu", ["m"], ["h"], "leaky", alpha=0.5),
        helper.make_node("Transpose", ["h"], ["t"], "turned", perm=[1, 0]),
        helper.make_node("If", ["flag"], ["y"], "choice", then_branch=branch[0], else_branch=branch[1]),
    ]
    graph = helper.make_graph(
        nodes, "g", [value("x", 1, ["N", 40]), value("flag", TensorProto.BOOL, [])],
        [value("y", 1, None), value("t", 1, [40, "N"])], [numpy_helper.from_array(WEIGHT, "w")], "about the graph",
    )  # fmt: skip
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)], producer_name="a test",
                              producer_version="7", doc_string="about the model")  # fmt: skip
    helper.set_model_props(model, {"licence": "none"})
    return model


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return save_ort(sample().SerializeToString(), tmp_path_factory.mktemp("ort") / "m.ort").read_bytes()


def opened(data: bytes, folder: Path) -> Model:
    path = folder / "model.ort"
    path.write_bytes(data)
    return load(path)


def test_the_graph_is_what_was_saved(stored: bytes, tmp_path: Path) -> None:
    model = opened(stored, tmp_path)
    by_name = {node.name: node for node in model.graph.nodes}
    assert {name: node.op_type for name, node in by_name.items()} == {
        "product": "MatMul", "leaky": "LeakyRelu", "turned": "Transpose", "choice": "If"}  # fmt: skip
    assert by_name["product"].doc_string == "the first"
    assert by_name["leaky"].attributes["alpha"] == 0.5
    assert by_name["turned"].attributes["perm"] == [1, 0]
    assert {tensor.name for tensor in by_name["choice"].captures} == {"h"}
    assert [(t.name, str(t.stored_type)) for t in model.graph.inputs] == [("x", "float32[N, 40]"), ("flag", "bool[]")]
    assert [t.name for t in model.graph.outputs] == ["y", "t"]
    assert (model.producer_name, model.doc_string, model.metadata["licence"]) == ("a test", "about the model", "none")
    assert model.opset_imports[""] == 17
    assert (model.form, model.format) == ("ORT format 6", "ORT format 6, ONNX IR 8")
    assert [d.code for d in model.diagnostics] == ["ort-format"]


def test_weights_stay_in_the_file(stored: bytes, tmp_path: Path) -> None:
    data = opened(stored, tmp_path).graph.tensors["w"].data
    assert data is not None
    assert data.location.startswith("in the model file, byte ")
    offset = int(data.location.rpartition(" ")[2].replace(",", ""))
    assert stored[offset : offset + WEIGHT.nbytes] == WEIGHT.tobytes()
    np.testing.assert_array_equal(data.array(), WEIGHT)


def test_exported_it_is_an_onnx_model_again(stored: bytes, tmp_path: Path) -> None:
    export(opened(stored, tmp_path), tmp_path / "m.onnx")
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    feeds = {"x": np.eye(3, 40, dtype=np.float32), "flag": np.array(True)}
    before, after = (
        onnxruntime.InferenceSession(m, providers=["CPUExecutionProvider"]).run(None, feeds)
        for m in (sample().SerializeToString(), str(tmp_path / "m.onnx"))
    )
    for left, right in zip(before, after, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", SHARED)
def test_it_gives_what_the_model_gives_that_it_was_made_from(name: str, shared: Path, tmp_path: Path) -> None:
    source = shared / "models" / f"{name}.onnx"
    original, model = load(source), load(save_ort(str(source), tmp_path / "m.ort"))
    infer(original)
    assert {str(t.stored_type) for t in model.graph.inputs} == {str(t.stored_type) for t in original.graph.inputs}
    feeds = make_feeds(original, default_dims(original))
    expected, given = Session(original).run(feeds).outputs, Session(model).run(feeds).outputs
    assert expected.keys() == given.keys()
    words = {key: compare_values(given[key], expected[key]).words for key in expected}
    assert words == dict.fromkeys(expected, "equal")


def test_nodes_that_optimising_added_stand_where_they_run(shared: Path, tmp_path: Path) -> None:
    path = save_ort(str(shared / "models/gen/mnist_ts.onnx"), tmp_path / "m.ort", LEVELS.ORT_ENABLE_EXTENDED)
    model = load(path)
    assert "FusedConv" in {node.op_type for node in model.graph.nodes}
    assert [d.code for d in model.diagnostics] == ["ort-format"]


@pytest.mark.parametrize(
    ("rows", "linear"), [(3, False), (3, True), (300, False), (300, True), (70_000, True)],
    ids=["int8", "linear int8", "int16", "linear int16", "linear int32"],
)  # fmt: skip
def test_sparse_weights_have_their_indices_in_the_smallest_type(rows: int, linear: bool, tmp_path: Path) -> None:
    indices = np.array([1, 5, 4 * rows - 1])
    weight = onnx.SparseTensorProto(dims=[rows, 4])
    weight.values.CopyFrom(numpy_helper.from_array(np.float32([1, 2, 3]), "s"))
    weight.indices.CopyFrom(numpy_helper.from_array(indices if linear else np.stack(np.divmod(indices, 4), 1)))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, 4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "s"], ["y"])], "g", [x], [y], sparse_initializer=[weight])
    source = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    model = load(save_ort(source.SerializeToString(), tmp_path / "m.ort"))
    assert [d.code for d in model.diagnostics] == ["ort-format"]
    result = Session(model).run({"x": np.zeros((rows, 4), np.float32)}).outputs["y"].reshape(-1)
    assert (np.flatnonzero(result).tolist(), result[indices].tolist()) == (indices.tolist(), [1, 2, 3])


def test_cut_short_it_says_so(stored: bytes, tmp_path: Path) -> None:
    for length in (8, 100, len(stored) // 2, len(stored) - 40):
        with pytest.raises(ModelFormatError, match=r"\.ort file, but damaged: .*(byte|graph)"):
            opened(stored[:length], tmp_path)


def test_changed_anywhere_it_opens_or_says_why_not(stored: bytes, tmp_path: Path) -> None:
    weights = stored.index(WEIGHT.tobytes())
    refused = 0
    for at in (*range(8, weights, 7), *range(weights + WEIGHT.nbytes, len(stored), 7)):
        changed = bytearray(stored)
        changed[at] ^= 0xFF
        try:
            opened(bytes(changed), tmp_path)
        except ModelFormatError:
            refused += 1
    assert refused


class TestBombs:
    """Files that are small and describe much, which plain sharing of tables and texts allows."""

    TABLE = struct.pack("<iIHHHH", -8, 12, 6, 8, 4, 0)
    """A table and its vtable after it; its one field leads to what stands behind both."""

    def vector(self, at: int, targets: list[int]) -> bytes:
        """A vector that stands at `at` and leads to `targets`."""
        return struct.pack("<I", len(targets)) + b"".join(
            struct.pack("<I", target - (at + 4 + 4 * i)) for i, target in enumerate(targets)
        )

    def shared_tables(self, levels: int, width: int) -> bytes:
        """Tables with one vector of tables each, all of them the next one."""
        data = bytearray(struct.pack("<I", 4))
        for level in range(levels):
            vector = len(data) + len(self.TABLE)
            following = vector + 4 + 4 * width
            data += self.TABLE + self.vector(vector, [following] * width if level < levels - 1 else [])
        return bytes(data)

    def walk(self, table: flatbuffers.Table) -> int:
        return 1 + sum(self.walk(child) for child in table.tables(0))

    def test_shared_tables(self) -> None:
        small = self.shared_tables(3, 2)
        assert self.walk(flatbuffers.Flatbuffer(MemoryStorage(small)).root()) == 1 + 2 + 4
        with pytest.raises(flatbuffers.FlatbufferError, match="more things than it can hold"):
            self.walk(flatbuffers.Flatbuffer(MemoryStorage(self.shared_tables(30, 4))).root())

    def test_shared_texts(self) -> None:
        data = bytearray(struct.pack("<I", 4) + self.TABLE)
        count = 50_000
        vector = len(data)
        text = vector + 4 + 4 * count
        data += self.vector(vector, [text] * count) + struct.pack("<I", 4000) + b"a" * 4000
        with pytest.raises(flatbuffers.FlatbufferError, match="times its size"):
            flatbuffers.Flatbuffer(MemoryStorage(bytes(data))).root().texts(0)
