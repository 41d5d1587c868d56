"""Exported models are valid, hold the same graph when reloaded, and give the same outputs in ONNX Runtime."""
from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import load, load_model_proto
from engine.cli import main
from engine.errors import ExportError, RunCancelled
from engine.export import export, nodes_between, region_of, writer
from engine.feeds import default_dims, make_feeds
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Function, Graph, Model, Node, Tensor
from engine.opening import open_model

MODELS = Path(__file__).resolve().parents[3].parent / "shared" / "models"
FILES = [f"{f}/{p.stem}" for f in ("real", "gen", "ml", "ops") for p in sorted((MODELS / f).glob("*.onnx"))]


def value(name: str, dtype: int = TensorProto.FLOAT, shape: object = ("N", 4)) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


# --- what a graph is, as plain data


def described(content: Any) -> Any:
    """A value of the IR as something that compares: graphs as dicts, data as bytes."""
    if isinstance(content, TensorData):
        array = content.read() if not content.problem else np.empty(0)
        return content.dtype.name, content.dims, array.tolist() if array.dtype == object else array.tobytes()
    if isinstance(content, SparseData):
        return described(content.values), described(content.indices), content.dims
    if isinstance(content, Graph):
        return graph_of(content)
    if isinstance(content, list):
        return [described(item) for item in content]
    return repr(content) if isinstance(content, float) else content


def tensor_of(tensor: Tensor) -> Any:
    return (tensor.name, tensor.source, tensor.stored_type, tensor.denotation, tensor.dim_denotations,
            tensor.doc_string, tensor.metadata, described(tensor.data))  # fmt: skip


def node_of(node: Node) -> Any:
    names = [[t.name if t else "" for t in ends] for ends in (node.inputs, node.outputs)]
    return (node.op_type, node.domain, node.overload, node.stored_name, node.doc_string, node.metadata, names,
            {name: described(v) for name, v in node.attributes.items()}, sorted(node.subgraphs),
            [t.name for t in node.captures])  # fmt: skip


def graph_of(graph: Graph) -> dict[str, Any]:
    return {
        "name": graph.name, "doc": graph.doc_string, "metadata": graph.metadata, "opsets": graph.opset_imports,
        "inputs": [t.name for t in graph.inputs], "outputs": [t.name for t in graph.outputs],
        "nodes": [node_of(node) for node in (graph.order or graph.nodes)],
        "tensors": {name: tensor_of(t) for name, t in graph.tensors.items()}, "quantization": graph.quantization,
    }  # fmt: skip


def function_of(function: Function) -> Any:
    defaults = {name: described(v) for name, v in function.attribute_defaults.items()}
    return (function.name, function.domain, function.overload, function.attributes, defaults, function.opset_imports,
            function.doc_string, function.metadata, graph_of(function.body))  # fmt: skip


def model_of(model: Model) -> dict[str, Any]:
    own = {name: getattr(model, name) for name in (
        "ir_version", "opset_imports", "producer_name", "producer_version", "domain", "model_version", "doc_string",
        "metadata")}  # fmt: skip
    return own | {"graph": graph_of(model.graph), "functions": list(map(function_of, model.functions.values()))}


def assert_same(a: Model, b: Model) -> None:
    one, other = model_of(a), model_of(b)
    assert one.keys() == other.keys()
    for key in one:
        if key != "graph":
            assert one[key] == other[key]
    for key in one["graph"]:
        assert one["graph"][key] == other["graph"][key], key


def run(path: Path, feeds: dict[str, Any]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


@pytest.mark.parametrize("name", FILES)
def test_a_whole_model_comes_back_the_same(name: str, tmp_path: Path) -> None:
    model = load(MODELS / f"{name}.onnx")
    path = tmp_path / "out.onnx"
    export(model, path)
    again = load(path)
    assert_same(model, again)
    mended = {"unsorted", "unused-value-info"}  # what is not part of the graph is not written
    assert {d.code for d in again.diagnostics} == {d.code for d in model.diagnostics} - mended


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_onnxruntime_gives_the_same_outputs(name: str, tmp_path: Path) -> None:
    source, recorded = MODELS / f"{name}.onnx", MODELS / "expected" / f"{name.replace('/', '__')}.npz"
    if not recorded.exists():
        pytest.skip("ONNX Runtime cannot run it, or its outputs are random")
    model = open_model(source)
    with np.load(recorded) as file:
        feeds = {key.removeprefix("in:"): file[key] for key in file.files if key.startswith("in:")}
    feeds = feeds or make_feeds(model, default_dims(model), seed=0)
    before = run(source, feeds)
    path = tmp_path / "out.onnx"
    export(model, path)
    for a, b in zip(before, run(path, feeds), strict=True):
        np.testing.assert_equal(a, b)


def rich() -> onnx.ModelProto:
    """A model with something on every level of the standard."""
    from onnx import AttributeProto

    body = helper.make_graph(
        [helper.make_node("Add", ["i1", "scale"], ["i2"], name="inner"),
         helper.make_node("Identity", ["c_in"], ["c_out"])], "body",
        [value("it", TensorProto.INT64, []), value("c_in", TensorProto.BOOL, []), value("i1")],
        [value("c_out", TensorProto.BOOL, []), value("i2")],
    )  # fmt: skip
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.add(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="slope")
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    function = helper.make_function("local", "F", ["a"], ["b"], [leaky], imports[:1], [],
                                    [helper.make_attribute("slope", 0.1)], overload="o")  # fmt: skip
    function.metadata_props.add(key="fk", value="fv")
    function.doc_string = "doc of F"
    nodes = [
        helper.make_node("Constant", [], ["trips"], value=numpy_helper.from_array(np.int64(2), "t")),
        helper.make_node("Constant", [], ["big"], value=numpy_helper.from_array(np.ones((1, 2000), np.float32))),
        helper.make_node("Constant", [], ["ints"], value_ints=[1, 2, 3]),
        helper.make_node("F", ["x"], ["f"], domain="local", overload="o", slope=0.25),
        helper.make_node("Loop", ["trips", "", "f"], ["l"], body=body, name="loop"),
        helper.make_node("ReduceSum", ["l"], ["s"], keepdims=1, noop_with_empty_axes=0),
        helper.make_node("MatMul", ["l", "sp"], ["y"]),
    ]
    nodes[-1].metadata_props.add(key="source", value="model.py:12")
    nodes[-1].doc_string = "a product"
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.float32([1, 2]), "sp"), numpy_helper.from_array(np.int64([0, 5]), "sp_i"), [4, 2]
    )
    x = value("x")
    x.type.denotation = "TENSOR"
    x.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    x.metadata_props.add(key="k", value="v")
    strings = helper.make_tensor("strings", TensorProto.STRING, [2], [b"a", b"\xff"])
    scale = numpy_helper.from_array(np.float32([1, 2, 3, 4]), "scale")
    scale.metadata_props.add(key="origin", value="training")
    int4 = helper.make_tensor("int4", TensorProto.INT4, [5], [1, -2, 3, -4, 7])
    graph = helper.make_graph(
        nodes, "g", [x, value("scale", shape=[4])],
        [value("y", shape=["N", 2]), value("s", shape=[1, 1]), value("ints", TensorProto.INT64, [3])],
        [scale, strings, int4], value_info=[value("l", shape=["N", "M"])], sparse_initializer=[sparse],
    )  # fmt: skip
    annotation = graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    graph.metadata_props.add(key="gk", value="gv")
    model = helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=10, doc_string="doc",
                              producer_name="p", producer_version="1", domain="d", model_version=3)  # fmt: skip
    model.metadata_props.add(key="mk", value="mv")
    return model


def test_everything_of_the_standard_survives(tmp_path: Path) -> None:
    model = load_model_proto(rich())
    path = tmp_path / "out.onnx"
    export(model, path)
    onnx.checker.check_model(str(path))
    assert_same(model, load(path))
    assert model.graph.quantization == {"x": {"SCALE_TENSOR": "scale"}}
    assert model.graph.tensors["x"].dim_denotations == ("DATA_BATCH", "")
    assert model.graph.tensors["scale"].metadata == {"origin": "training"}


@pytest.mark.parametrize("code", [c for c in TensorProto.DataType.values() if c])
@pytest.mark.parametrize("count", [5, 3000])
def test_every_element_type_survives_raw_and_typed(code: int, count: int, tmp_path: Path) -> None:
    dtype = helper.tensor_dtype_to_np_dtype(code)
    if code == TensorProto.STRING:
        tensors = [helper.make_tensor("typed", code, [count], [b"x%d" % i for i in range(count)])]
    else:
        array = (np.arange(count) % 2 + (code == TensorProto.FLOAT8E8M0)).astype(dtype)  # which has no zero
        tensors = [numpy_helper.from_array(array, "raw")]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensors.append(helper.make_tensor("typed", code, [count], array))
    expected = [numpy_helper.to_array(t) for t in tensors]
    model = load_model_proto(helper.make_model(helper.make_graph([], "g", [], [], tensors)))
    path = tmp_path / "out.onnx"
    export(model, path)
    for tensor, stored, array in zip(onnx.load(path).graph.initializer, tensors, expected, strict=True):
        assert tensor.name == stored.name
        np.testing.assert_array_equal(numpy_helper.to_array(tensor), array)


class TestLarge:
    @pytest.fixture
    def saved(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(writer, "EXTERNAL_ABOVE", 10_000)
        rng = np.random.default_rng(0)
        weights = [numpy_helper.from_array(rng.standard_normal((30, 30 + i)).astype(np.float32), f"w{i}")
                   for i in range(5)]  # fmt: skip
        constant = helper.make_node("Constant", [], ["c"], value=weights.pop())
        graph = helper.make_graph([constant], "g", [], [value("c", shape=[30, 34])], weights)
        path = tmp_path / "in.onnx"
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path)
        return path

    def test_weights_go_into_a_second_file(self, saved: Path, tmp_path: Path) -> None:
        path = tmp_path / "out.onnx"
        written = export(load(saved), path)
        assert written.data_path == str(path) + ".data"
        assert written.nbytes == path.stat().st_size < 10_000
        assert written.data_nbytes == (tmp_path / "out.onnx.data").stat().st_size
        onnx.checker.check_model(str(path))
        before, after = onnx.load(saved), onnx.load(path)
        for a, b in zip(before.graph.initializer, after.graph.initializer, strict=True):
            np.testing.assert_array_equal(numpy_helper.to_array(a), numpy_helper.to_array(b))
        assert_same(load(saved), load(path))
        np.testing.assert_equal(run(saved, {}), run(path, {}))

    def test_an_export_that_fails_leaves_nothing(self, saved: Path, tmp_path: Path) -> None:
        model = load(saved)
        saved.write_bytes(b"")
        folder = tmp_path / "new"
        folder.mkdir()
        with pytest.raises(Exception, match="changed since"):
            export(model, folder / "out.onnx")
        assert not list(folder.iterdir())

    @pytest.mark.parametrize("above", [10_000, 1 << 30], ids=["two files", "one file"])
    def test_stopped_anywhere_it_leaves_nothing(
        self, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: int
    ) -> None:
        monkeypatch.setattr(writer, "EXTERNAL_ABOVE", above)
        model, folder, asked = load(saved), tmp_path / "new", []
        folder.mkdir()
        export(model, tmp_path / "out.onnx", go_on=lambda: asked.append(1))
        assert len(asked) > 2  # nodes and pieces

        for last in range(len(asked)):
            left = iter(range(last))

            def go_on(left: Iterator[int] = left) -> None:
                if next(left, None) is None:
                    raise RunCancelled

            with pytest.raises(RunCancelled):
                export(model, folder / "out.onnx", go_on=go_on)
            assert not list(folder.iterdir())


def test_the_model_itself_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(rich(), path)
    before = path.read_bytes()
    with pytest.raises(ExportError, match="the model itself"):
        export(load(path), path)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no_such_folder"):
        export(load_model_proto(rich()), tmp_path / "no_such_folder" / "m.onnx")


class TestRegion:
    def model(self) -> Model:
        """x → Relu a → Mul b (w) → Add d (c, a) → Neg e; c is a Constant's."""
        nodes = [
            helper.make_node("Relu", ["x"], ["a"], name="relu"),
            helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.float32(2))),
            helper.make_node("Mul", ["a", "w"], ["b"], name="mul"),
            helper.make_node("Add", ["b", "c"], ["t"], name="add"),
            helper.make_node("Sub", ["t", "a"], ["d"], name="sub"),
            helper.make_node("Neg", ["d"], ["e"], name="neg"),
        ]
        graph = helper.make_graph(nodes, "g", [value("x")], [value("e")],
                                  [numpy_helper.from_array(np.float32([1, 2, 3, 4]), "w")])  # fmt: skip
        model = load_model_proto(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]))
        from engine import infer

        infer(model)
        return model

    def nodes(self, model: Model, *names: str) -> list[Node]:
        return [n for n in model.graph.nodes if n.name in names]

    def test_what_crosses_the_border_is_input_and_output(self, tmp_path: Path) -> None:
        model = self.model()
        chosen = self.nodes(model, "mul", "add", "sub")
        region = region_of(chosen)
        assert [t.name for t in region.inputs] == ["a"]
        assert [t.name for t in region.outputs] == ["d"]
        path = tmp_path / "r.onnx"
        export(model, path, chosen)
        onnx.checker.check_model(str(path), full_check=True)
        proto = onnx.load(path)
        assert [t.name for t in proto.graph.initializer] == ["w", "c"]
        assert proto.graph.input[0] == value("a")
        a = np.float32([[1, 2, 3, 4]])
        np.testing.assert_array_equal(run(path, {"a": a})[0], a * [1, 2, 3, 4] + 2 - a)

    def test_a_region_may_have_holes(self, tmp_path: Path) -> None:
        model = self.model()
        path = tmp_path / "r.onnx"
        export(model, path, self.nodes(model, "relu", "neg"))
        proto = onnx.load(path)
        assert [t.name for t in proto.graph.input] == ["x", "d"]
        assert [t.name for t in proto.graph.output] == ["a", "e"]

    def test_nodes_between_tensors(self) -> None:
        model = self.model()
        tensors = model.graph.tensors

        def names(sources: str, targets: str) -> list[str]:
            found = nodes_between(model.graph, [tensors[s] for s in sources], [tensors[t] for t in targets])
            return [n.name for n in found if n.op_type != "Constant"]

        assert names("b", "d") == ["relu", "add", "sub"]
        assert names("ab", "d") == ["add", "sub"]
        assert names("", "b") == ["relu", "mul"]
        assert names("t", "") == ["sub", "neg"]
        with pytest.raises(ExportError, match="no node"):
            nodes_between(model.graph, [tensors["e"]], [])

    def test_a_region_of_a_subgraph_with_what_it_captures(self, tmp_path: Path) -> None:
        model = load_model_proto(rich())
        from engine import infer

        infer(model)
        loop = next(n for n in model.graph.nodes if n.name == "loop")
        path = tmp_path / "r.onnx"
        export(model, path, loop.subgraphs["body"].nodes[:1])
        proto = onnx.load(path)
        onnx.checker.check_model(proto)
        assert [t.name for t in proto.graph.input] == ["i1"]
        assert [t.name for t in proto.graph.initializer] == ["scale"]

    def test_functions_come_along_when_called(self, tmp_path: Path) -> None:
        model = load_model_proto(rich())
        path = tmp_path / "r.onnx"
        export(model, path, [n for n in model.graph.nodes if n.op_type == "F"])
        proto = onnx.load(path)
        assert [f.name for f in proto.functions] == ["F"]
        export(model, path, [n for n in model.graph.nodes if n.op_type == "MatMul"])
        assert not onnx.load(path).functions

    def test_nodes_of_two_graphs_are_refused(self, tmp_path: Path) -> None:
        model = load_model_proto(rich())
        with pytest.raises(ExportError, match="several graphs"):
            export(model, tmp_path / "r.onnx", model.nodes())
        with pytest.raises(ExportError, match="none"):
            export(model, tmp_path / "r.onnx", [])

    def test_an_input_without_a_type_is_refused_by_name(self, tmp_path: Path) -> None:
        nodes = [helper.make_node("Foo", ["x"], ["a"], domain="acme"), helper.make_node("Relu", ["a"], ["y"])]
        graph = helper.make_graph(nodes, "g", [value("x")], [value("y")])
        model = load_model_proto(helper.make_model(graph))
        with pytest.raises(ExportError, match="'a'"):
            export(model, tmp_path / "r.onnx", model.graph.nodes[1:])


@pytest.mark.parametrize("name", ["gen/yolo_n_dyn", "real/silero_vad", "gen/gpt2_kv_dyn", "gen/if_loop_ts"])
def test_halves_of_real_models_run_to_the_same_outputs(name: str, tmp_path: Path) -> None:
    if not MODELS.is_dir():
        pytest.skip("needs shared/models beside the repository")
    source = MODELS / f"{name}.onnx"
    model = open_model(source)
    order = model.graph.order
    feeds = make_feeds(model, default_dims(model), seed=0)
    whole = dict(zip((t.name for t in model.graph.outputs), run(source, feeds)))
    first, second = (region_of(nodes) for nodes in (order[: len(order) // 2], order[len(order) // 2 :]))
    values = dict(feeds)
    for half, region in enumerate((first, second)):
        path = tmp_path / f"{half}.onnx"
        export(model, path, region.nodes)
        onnx.checker.check_model(str(path))
        given = {t.name: values[t.name] for t in region.inputs}
        values |= dict(zip((t.name for t in region.outputs), run(path, given)))
    for output, expected in whole.items():
        np.testing.assert_allclose(values[output], expected, rtol=1e-4, atol=1e-5)


class TestCommand:
    def test_writes_a_region_and_says_so(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        source, path = tmp_path / "m.onnx", tmp_path / "r.onnx"
        onnx.save(rich(), source)
        assert main(["export", str(source), str(path), "--from", "f", "--to", "y", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["inputs"] == ["f"]
        assert told["outputs"] == ["l", "y"]  # ReduceSum, outside, reads l
        assert told["nbytes"] == path.stat().st_size
        assert main(["export", str(source), str(path), "--nodes", "loop"]) == 0
        assert "1 node" in capsys.readouterr().out

    def test_a_name_that_is_not_there(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        source = tmp_path / "m.onnx"
        onnx.save(rich(), source)
        assert main(["export", str(source), str(tmp_path / "r.onnx"), "--nodes", "nobody"]) == 2
        assert "no node 'nobody'" in capsys.readouterr().err
