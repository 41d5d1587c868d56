"""Whatever form a model comes in it opens as the same graph; what is no model is named, with what to do."""
from __future__ import annotations

import gzip
import io
import json
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf import json_format, text_format
from onnx import TensorProto, helper, numpy_helper

from engine import load
from engine.errors import ModelFormatError
from engine.graph.forms import archives, texts
from engine.graph.ir import Model

WEIGHT = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)


def sample() -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value("x", 1, ["N", 40])], [value("y", 1, ["N", 40])],
                              [numpy_helper.from_array(WEIGHT, "w")])  # fmt: skip
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return out.getvalue()


def assert_is_sample(model: Model) -> None:
    assert [n.op_type for n in model.graph.nodes] == ["MatMul", "Relu"]
    data = model.graph.tensors["w"].data
    assert data is not None
    np.testing.assert_array_equal(data.array(), WEIGHT)
    assert model.opset_imports == {"": 17}


FORMS = {
    "binary": ("", lambda m: m.SerializeToString()),
    "text protobuf": ("protobuf text", lambda m: text_format.MessageToString(m).encode()),
    "JSON": ("protobuf JSON", lambda m: json_format.MessageToJson(m).encode()),
    "JSON with a byte order mark": ("protobuf JSON", lambda m: b"\xef\xbb\xbf" + json_format.MessageToJson(m).encode()),
    "gzip": ("gzip", lambda m: gzip.compress(m.SerializeToString())),
    "gzip of JSON": ("gzip, protobuf JSON", lambda m: gzip.compress(json_format.MessageToJson(m).encode())),
    "zip": ("zip", lambda m: zipped(**{"model.onnx": m.SerializeToString()})),
    "zip with a readme": ("zip", lambda m: zipped(**{"a__README.md": b"hello", "a__m.ONNX": m.SerializeToString()})),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["model.onnx", "model.dat"])
def test_every_form_opens_as_the_same_graph_under_any_name(form: str, name: str, tmp_path: Path) -> None:
    words, write = FORMS[form]
    path = tmp_path / name
    path.write_bytes(write(sample()))
    model = load(path)
    assert_is_sample(model)
    assert not model.diagnostics
    assert (model.form, model.format) == (words, f"{words}, ONNX IR 8".removeprefix(", "))


def test_a_library_of_functions_says_that_it_is_one(tmp_path: Path) -> None:
    body = [helper.make_node("Neg", ["a"], ["b"])]
    library = onnx.ModelProto(ir_version=8, opset_import=[helper.make_opsetid("own", 1)], graph=onnx.GraphProto())
    library.functions.append(helper.make_function("own", "Less", ["a"], ["b"], body, [helper.make_opsetid("", 17)]))
    onnx.save(library, tmp_path / "m.onnx")
    assert load(tmp_path / "m.onnx").format == "functions without a graph, ONNX IR 8"


def test_the_syntax_of_onnx(tmp_path: Path) -> None:
    source = """<ir_version: 8, opset_import: ["": 17]>
        # a comment { ( <
        agraph (float[N,2] x) => (float[N,2] y) <float[2] w = {1.5, -2}> { y = Add(x, w) }"""
    path = tmp_path / "m.onnxtxt"
    path.write_text(source)
    model = load(path)
    assert [n.op_type for n in model.graph.nodes] == ["Add"]
    assert model.form == "ONNX text"
    data = model.graph.tensors["w"].data
    assert data is not None
    assert data.array().tolist() == [1.5, -2]


def test_a_bare_graph_opens_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes(sample().graph.SerializeToString())
    model = load(path)
    assert [n.op_type for n in model.graph.nodes] == ["MatMul", "Relu"]
    data = model.graph.tensors["w"].data
    assert data is not None
    np.testing.assert_array_equal(data.array(), WEIGHT)
    assert [d.code for d in model.diagnostics] == ["bare-graph"]
    assert model.form == "graph without a model"


def test_a_bare_tensor_opens_as_a_constant(tmp_path: Path) -> None:
    path = tmp_path / "input_0.pb"
    path.write_bytes(numpy_helper.from_array(WEIGHT).SerializeToString())
    model = load(path)
    (output,) = model.graph.outputs
    assert (output.name, str(output.stored_type)) == ("tensor", "float32[40, 40]")
    assert output.data is not None
    np.testing.assert_array_equal(output.data.array(), WEIGHT)
    assert [d.code for d in model.diagnostics] == ["bare-tensor"]
    assert model.form == "tensor without a model"


@pytest.mark.parametrize("content", [b"\x10\x01\x4a\xff", b"\x10\x63\x4a\x00"], ids=["cut short", "of no type"])
def test_what_only_looks_like_a_tensor_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "input_0.pb"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=r"tensor|damaged"):
        load(path)


class TestDataFile:
    def save(self, folder: Path, name: str, location: str) -> Path:
        onnx.save(sample(), folder / name, save_as_external_data=True, location=location, size_threshold=0)
        return folder / name

    def test_opens_the_model_beside_it(self, tmp_path: Path) -> None:
        path = self.save(tmp_path, "m.onnx", "m.onnx.data")
        onnx.save(sample(), tmp_path / "other.onnx")
        model = load(tmp_path / "m.onnx.data")
        assert_is_sample(model)
        assert model.path == str(path)
        assert [d.code for d in model.diagnostics] == ["opened-beside"]

    def test_of_several_models_is_refused_with_their_names(self, tmp_path: Path) -> None:
        self.save(tmp_path, "a.onnx", "w.bin")
        (tmp_path / "w.bin").unlink()
        self.save(tmp_path, "b.onnx", "w.bin")
        with pytest.raises(ModelFormatError, match=r"a\.onnx, b\.onnx"):
            load(tmp_path / "w.bin")

    def test_without_a_model_is_no_model(self, tmp_path: Path) -> None:
        (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
        onnx.save(sample(), tmp_path / "other.onnx")
        with pytest.raises(ModelFormatError, match="not an ONNX model"):
            load(tmp_path / "w.bin")


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(header).to_bytes(8, "little") + header + b"\0\0\0\0"


def frozen_tensorflow_graph() -> bytes:
    return b"".join(b"\x0a" + bytes([len(node)]) + node for node in (
        b"\x0a\x01x\x12\x0bPlaceholder", b"\x0a\x01y\x12\x04Relu\x1a\x01x"))  # fmt: skip


FOREIGN = {
    "Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "web page": (b"\n <!DOCTYPE html><html>", "web page"),
    "OpenVINO": (b'<?xml version="1.0"?><net name="m" version="11">', "OpenVINO"),
    "nothing in ORT's format": (b"\x18\x00\x00\x00ORTM" + bytes(50), r"\.ort file, but damaged: it holds no graph"),
    "TFLite": (b"\x1c\x00\x00\x00TFL3" + bytes(50), "TensorFlow Lite"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(50), "Keras"),
    "pickle": (pickle.dumps({"a": 1}), "pickle"),
    "old PyTorch": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "PyTorch checkpoint"),
    "PyTorch": (zipped(m__data__pkl=b"", **{"m__data.pkl": b"x"}), "PyTorch checkpoint"),
    "TorchScript": (zipped(**{"m__constants.pkl": b"x", "m__data.pkl": b"x", "m__code__a.py": b""}), "TorchScript"),
    "npz": (zipped(**{"a.npy": b"x", "b.npy": b"y"}), "NumPy arrays"),
    "zip of much": (zipped(**{"a.txt": b"x", "b.txt": b"y"}), "2 files"),
    "zip of two models": (zipped(**{"a.onnx": b"x", "b.onnx": b"y"}), "not of one model"),
    "zip of a file without a name": (zipped(a=b"x").replace(b"a", b"\0"), "not an ONNX model"),
    "broken zip": (b"PK\x03\x04rest", "zip archive"),
    "safetensors": (safetensors(), "safetensors"),
    "GGUF": (b"GGUF\x03\0\0\0", "llama"),
    "npy": (b"\x93NUMPY\x01\0", "NumPy array"),
    "tar": (b"a" + bytes(256) + b"ustar\0" + bytes(300), "tar archive"),
    "JSON of something else": (b'{"model_type": "bert"}', "JSON, but not of an ONNX model.*model_type"),
    "UTF-16": ("ir_version: 8".encode("utf-16"), "UTF-16"),
    "Caffe network": (b'name: "net"\nlayer {\n  name: "data"\n}\n', "Caffe"),
    "frozen TensorFlow graph": (frozen_tensorflow_graph(), "no graph"),
    "Core ML": (b"\x08\x04\x12\x02\x0a\x00\xa2\x1f\x00", "Core ML"),
    "text": (b"hello, this is a text file", "not an ONNX model"),
    "nothing": (b"", "empty"),
    "random bytes": (np.random.default_rng(3).bytes(5000), "not an ONNX model"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_model_is_named(kind: str, tmp_path: Path) -> None:
    content, words = FOREIGN[kind]
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=words) as caught:
        load(path)
    assert str(path) in str(caught.value)


SYNTAX = {
    "JSON": (b'{\n "irVersion": 8,\n "graph": {]\n}', "line 3, column 12"),
    "JSON field": (b'{"irVersion": 8, "graph": {"node": [{"opTyp": "Relu"}]}}', r"opTyp.*ModelProto\.graph\.node\[0\]"),
    "JSON of another shape": (b"{}", "no graph"),
    "text protobuf": (b"ir_version: 8\ngraph {\n  node { op_typ: 'Relu' }\n}", "line 3, column 10"),
    "text value": (b"ir_version: eight\n", "line 1, column 13"),
    "ONNX text": (b'<ir_version: 8, opset_import: ["": 17]>\nagraph (float[N] x) => (float[N] y) {\n y = Add(x x)\n}',
                  "line 3, column 1"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SYNTAX)
def test_errors_in_text_have_a_place(kind: str, tmp_path: Path) -> None:
    content, words = SYNTAX[kind]
    path = tmp_path / "m.txt"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=words):
        load(path)


class TestBombs:
    def test_an_archive_that_grows_too_much_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(archives, "ALWAYS_UNPACKED", 1 << 20)
        monkeypatch.setattr(archives, "KEPT_IN_MEMORY", 1 << 16)
        for content in (gzip.compress(bytes(1 << 24)), zipped(**{"m.onnx": bytes(1 << 24)})):
            path = tmp_path / "bomb"
            path.write_bytes(content)
            with pytest.raises(ModelFormatError, match="unpacks to more than"):
                load(path)

    def test_a_large_archive_goes_through_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(archives, "KEPT_IN_MEMORY", 1 << 10)
        path = tmp_path / "m.onnx.gz"
        path.write_bytes(gzip.compress(sample().SerializeToString()))
        assert_is_sample(load(path))

    def test_nested_archives_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "m.gz"
        path.write_bytes(gzip.compress(gzip.compress(sample().SerializeToString())))
        with pytest.raises(ModelFormatError, match="packed twice"):
            load(path)

    def test_a_cut_archive(self, tmp_path: Path) -> None:
        path = tmp_path / "m.gz"
        path.write_bytes(gzip.compress(sample().SerializeToString())[:-100])
        with pytest.raises(ModelFormatError, match="cut short"):
            load(path)

    @pytest.mark.parametrize("content", [b"<a = " + b"{" * 100_000, b"{" + b'"a":{' * 100_000, b"graph {" * 100_000,
                                         b'{"a":' + b"9" * 10_000 + b"}"])  # fmt: skip
    def test_deep_or_long_text_is_refused(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "m.txt"
        path.write_bytes(content)
        with pytest.raises(ModelFormatError):
            load(path)

    def test_huge_text_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(texts, "MAX_TEXT", 100)
        path = tmp_path / "m.json"
        path.write_bytes(json_format.MessageToJson(sample()).encode())
        with pytest.raises(ModelFormatError, match="over the limit"):
            load(path)


class TestWhatFollowsTheModel:
    def test_garbage_is_left_out_with_a_finding(self, tmp_path: Path) -> None:
        data = sample().SerializeToString()
        for tail in (bytes(7), b"\xff" * 100, b"</html>"):
            path = tmp_path / "m.onnx"
            path.write_bytes(data + tail)
            model = load(path)
            assert_is_sample(model)
            assert [d.code for d in model.diagnostics] == ["trailing-bytes"]
            assert f"from byte {len(data):,} on" in model.diagnostics[0].message

    def test_a_second_model_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "m.onnx"
        path.write_bytes(sample().SerializeToString() * 2)
        found = [d for d in load(path).diagnostics if d.code == "repeated-graph"]
        assert len(found) == 1
        assert re.search(r"2 graphs, the second from byte [\d,]+ on", found[0].message)


def test_a_cut_model_names_byte_and_field(tmp_path: Path) -> None:
    data = sample().SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data[:1000])
    with pytest.raises(ModelFormatError, match=r"graph\.initializer\[0\]\.raw_data") as caught:
        load(path)
    assert caught.value.field == "graph.initializer[0].raw_data"
    assert caught.value.offset is not None


def test_names_that_are_not_utf8_are_escaped(tmp_path: Path) -> None:
    data = sample().SerializeToString().replace(b"\x0a\x01h", b"\x0a\x01\xff").replace(b"\x12\x01h", b"\x12\x01\xff")
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    model = load(path)
    assert model.graph.nodes[0].outputs == model.graph.nodes[1].inputs
    tensor = model.graph.nodes[0].outputs[0]
    assert tensor is not None
    assert tensor.name == "\\xff"
    assert [d.code for d in model.diagnostics] == ["name-not-utf8"]


def test_a_folder_lists_its_models(tmp_path: Path) -> None:
    onnx.save(sample(), tmp_path / "one.onnx")
    with pytest.raises(ModelFormatError, match=r"one\.onnx"):
        load(tmp_path)


def test_typed_values_of_a_wrong_kind_are_told(tmp_path: Path) -> None:
    proto = sample()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.int64_data.extend(range(1600))
    assert tensor.data_type == TensorProto.FLOAT
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    (finding,) = load(path).diagnostics
    assert finding.code == "bad-data"
    assert "int64_data" in finding.message
