"""From files to linked graphs: names, fusion, captures, functions, data and what is wrong with them."""
from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import export, load, load_model_proto
from engine.errors import DataError, ModelFormatError
from engine.graph.ir import Model, Tensor, ValueSource
from tests.counting import calls


def value(name: str, dtype: int = TensorProto.FLOAT, shape: object = ()) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def add_model(ir_version: int, listed: bool, opset: int = 8) -> onnx.ModelProto:
    """y = x + w, with w an initializer that may be listed as an input too."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g",
        [value("x", shape=[2])] + ([value("w", shape=[2])] if listed else []), [value("y", shape=[2])],
        [numpy_helper.from_array(np.array([10, 20], np.float32), "w")],
    )  # fmt: skip
    return helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)])


def codes(model: Model) -> list[str]:
    return [d.code for d in model.diagnostics]


def tensor(model: Model, name: str) -> Tensor:
    found = model.graph.find(name)
    assert found is not None
    return found


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


def test_weights_are_read_only_and_kept(tmp_path: Path) -> None:
    weight = np.arange(4096, dtype=np.uint8)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])], "g", [], [value("y", TensorProto.UINT8, [4096])],
        [numpy_helper.from_array(weight, "w")],
    )  # fmt: skip
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph), path)
    data = tensor(load(path), "w").data
    assert data is not None
    array = data.array()
    np.testing.assert_array_equal(array, weight)
    assert not array.flags.owndata
    assert not array.flags.writeable
    assert data.array() is array


def test_weights_are_aligned_wherever_they_lie_in_the_file(tmp_path: Path) -> None:
    for padding in range(4):  # one of four doc string lengths aligns the payload, the others do not
        graph = helper.make_graph([], "g" * (padding + 1), [], [], [
            numpy_helper.from_array(np.arange(1000, dtype=np.float32), "w")])  # fmt: skip
        path = tmp_path / f"{padding}.onnx"
        onnx.save(helper.make_model(graph), path)
        data = tensor(load(path), "w").data
        assert data is not None
        assert data.array().flags.aligned
        assert data.array() is data.array()
        np.testing.assert_array_equal(data.array(), np.arange(1000, dtype=np.float32))


@pytest.mark.parametrize("code", [c for c in range(1, 29) if c != TensorProto.STRING])
@pytest.mark.parametrize("typed", [False, True])
def test_every_element_type_reads_as_the_standard_reads_it(code: int, typed: bool) -> None:
    dtype = helper.tensor_dtype_to_np_dtype(code)
    values = np.array([0, 1, 0, 1, 1], np.float32).astype(dtype)
    proto = numpy_helper.from_array(values, "w")
    if typed:
        proto = helper.make_tensor("w", code, [5], values.tolist() if code in (14, 15) else values)
    graph = helper.make_graph([], "g", [], [], [proto])
    data = tensor(load_model_proto(helper.make_model(graph)), "w").data
    assert data is not None
    np.testing.assert_array_equal(
        data.array().astype(np.complex128), numpy_helper.to_array(proto).astype(np.complex128)
    )
    assert data.array().dtype == dtype


def test_negative_int4_values_keep_their_sign() -> None:
    proto = helper.make_tensor("w", TensorProto.INT4, [3], [-8, 7, -1])
    data = tensor(load_model_proto(helper.make_model(helper.make_graph([], "g", [], [], [proto]))), "w").data
    assert data is not None
    assert data.array().astype(int).tolist() == [-8, 7, -1]


class TestExternalData:
    """Weights beside the model are read inside its folder and nowhere else (cases 1 to 4 of cases.md)."""

    @staticmethod
    def save(folder: Path, **entries: object) -> Path:
        weight = numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        for key, entry in entries.items():
            weight.external_data.add(key=key, value=str(entry))
        graph = helper.make_graph(
            [helper.make_node("Identity", ["w"], ["y"])], "g", [], [value("y", shape=[4])], [weight]
        )
        path = folder / "m.onnx"
        path.write_bytes(helper.make_model(graph).SerializeToString())
        return path

    def test_reads_a_range(self, tmp_path: Path) -> None:
        (tmp_path / "w.bin").write_bytes(b"\0" * 8 + np.arange(4, dtype=np.float32).tobytes())
        model = load(self.save(tmp_path, location="w.bin", offset=8, length=16))
        assert codes(model) == []
        data = tensor(model, "w").data
        assert data is not None
        assert data.array().tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize(
        ("entries", "code"),
        [
            ({"location": "w.bin", "offset": 100}, "external-range"),
            ({"location": "w.bin", "offset": -4}, "external-range"),
            ({"location": "w.bin", "length": 10**12}, "external-range"),
            ({"location": "w.bin", "length": 8}, "external-range"),
            ({"location": "gone.bin"}, "external-missing"),
            ({"location": "../secret.bin"}, "external-path"),
            ({"location": "sub/../../secret.bin"}, "external-path"),
            ({"location": "/etc/hostname"}, "external-path"),
            ({"location": "link.bin"}, "external-link"),
            ({"location": "pipe"}, "external-path"),
            ({"location": ""}, "external-path"),
            ({"location": "w.bin", "__class__": "x"}, None),
        ],
    )
    def test_refuses_with_one_finding_and_still_shows_the_graph(
        self, tmp_path: Path, entries: dict[str, object], code: str | None
    ) -> None:
        (tmp_path / "secret.bin").write_bytes(b"s" * 64)
        folder = tmp_path / "model"
        folder.mkdir()
        (folder / "w.bin").write_bytes(b"w" * 16)
        (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
        os.mkfifo(folder / "pipe")
        model = load(self.save(folder, **entries))
        assert codes(model) == ([code] if code else [])
        assert len(model.graph.order) == 1
        data = tensor(model, "w").data
        assert data is not None
        if code:
            with pytest.raises(DataError):
                data.array()

    def test_a_model_opened_through_a_link_finds_its_data(self, tmp_path: Path) -> None:
        real = tmp_path / "blobs"
        real.mkdir()
        (real / "w.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
        path = self.save(real, location="w.bin")
        link = tmp_path / "m.onnx"
        link.symlink_to(path)
        assert codes(load(link)) == []

    def test_a_cache_of_links_into_one_folder_of_blobs(self, tmp_path: Path) -> None:
        """As Hugging Face's cache lays it out (rten#1334): model and data are links, the blobs have other names."""
        blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "1"
        blobs.mkdir()
        snapshot.mkdir(parents=True)
        (blobs / "5f").write_bytes(np.arange(4, dtype=np.float32).tobytes())
        self.save(blobs, location="m.onnx_data").rename(blobs / "a0")
        (snapshot / "m.onnx").symlink_to("../../blobs/a0")
        (snapshot / "m.onnx_data").symlink_to("../../blobs/5f")
        model = load(snapshot / "m.onnx")
        assert codes(model) == []
        data = tensor(model, "w").data
        assert data is not None
        assert data.array().tolist() == [0, 1, 2, 3]

    def test_a_link_that_leads_outside_is_followed_only_when_allowed(self, tmp_path: Path) -> None:
        folder = tmp_path / "model"
        folder.mkdir()
        target = tmp_path / "elsewhere.bin"
        target.write_bytes(np.arange(4, dtype=np.float32).tobytes())
        (folder / "w.bin").symlink_to(target)
        path = self.save(folder, location="w.bin")
        (finding,) = load(path).diagnostics
        assert finding.code == "external-link"
        assert str(target) in finding.message
        allowed = load(path, allow_external=True)
        assert codes(allowed) == []
        data = tensor(allowed, "w").data
        assert data is not None
        assert data.array().tolist() == [0, 1, 2, 3]

    def test_permission_to_follow_links_is_none_to_leave_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "secret.bin").write_bytes(b"s" * 16)
        folder = tmp_path / "model"
        folder.mkdir()
        for location in ("../secret.bin", str(tmp_path / "secret.bin")):
            assert codes(load(self.save(folder, location=location), allow_external=True)) == ["external-path"]

    def test_data_that_changes_after_opening_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "w.bin"
        file.write_bytes(bytes(16))
        model = load(self.save(tmp_path, location="w.bin"))
        file.write_bytes(bytes(8))
        data = tensor(model, "w").data
        assert data is not None
        with pytest.raises(DataError, match="changed since"):
            data.array()
        file.unlink()
        with pytest.raises(DataError, match="cannot read"):
            data.array()


@pytest.mark.parametrize(
    ("values", "indices", "dims"),
    [([1], [9], [4, 2]), ([1, 2], [0, 1, 2], [4, 2]), ([1], [0], [1 << 20, 1 << 20]), ([1], [0], [-1, 2]),
     ([1], [0], [1] * 70)],
)  # fmt: skip
def test_a_sparse_tensor_that_cannot_be_made_dense_is_refused(
    values: list[float], indices: list[int], dims: list[int]
) -> None:
    sparse = onnx.SparseTensorProto(dims=dims)
    sparse.values.CopyFrom(numpy_helper.from_array(np.array(values, np.float32), "s"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array(indices, np.int64)))
    graph = helper.make_graph([], "g", [], [])
    graph.sparse_initializer.append(sparse)
    data = tensor(load_model_proto(helper.make_model(graph)), "s").data
    assert data is not None
    with pytest.raises(DataError, match="'s'"):
        data.array()


@pytest.mark.parametrize("version", [2**31, 2**63 - 1, 0, -1])
def test_opsets_that_no_schema_is_looked_up_by(version: int, tmp_path: Path) -> None:
    empty = helper.make_node("ReduceSum", ["x"], ["y"])
    empty.attribute.add(name="axes", type=onnx.AttributeProto.INTS)
    graph = helper.make_graph([empty], "g", [value("x", shape=[2])], [value("y", shape=[1])])
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)]))
    assert model.opset_imports == {"": version}
    assert ("future-opset" in codes(model)) == (version > 2**30)
    export(model, tmp_path / "m.onnx")  # asks the schema what an empty list is a list of
    assert load(tmp_path / "m.onnx").graph.nodes[0].attributes == {"axes": []}


def test_a_claim_of_thousands_of_digits_is_told_in_few() -> None:
    stored = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**31] * 5000, raw_data=b"1234")
    model = load_model_proto(helper.make_model(helper.make_graph([], "g", [], [], [stored])))
    (finding,) = model.diagnostics
    assert finding.code == "bad-data"
    assert len(finding.message) < 300
    data = tensor(model, "w").data
    assert data is not None
    assert data.size < 2**63


@pytest.mark.parametrize("dims", [[1] * 5000, [0, 1 << 62, 1 << 62]])
def test_dims_that_no_array_can_have_are_refused(dims: list[int], tmp_path: Path) -> None:
    stored = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, float_data=[1.0] * (0 not in dims))
    model = load_model_proto(helper.make_model(helper.make_graph([], "g", [], [], [stored])))
    data = tensor(model, "w").data
    assert data is not None
    for read in (data.array, data.fetch, lambda: export(model, tmp_path / "m.onnx")):
        with pytest.raises(DataError, match="'w'"):
            read()


class TestBombs:
    """What a small file can ask for costs calls in proportion to the file, however it is tangled."""

    COUNT = 5_000

    def relus(self, reads: str, writes: str, domain: str = "") -> list[onnx.NodeProto]:
        domains = (domain.format(i) for i in range(self.COUNT))
        return [helper.make_node("Relu", [reads.format(i)], [writes.format(i)], name="n", domain=d)
                for i, d in enumerate(domains)]  # fmt: skip

    def captures(self) -> list[onnx.NodeProto]:
        inner = helper.make_graph(self.relus("o{}", "t{}"), "b", [], [value("t0")])
        return [*self.relus("x", "o{}"), helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)]

    @pytest.mark.parametrize(
        ("kind", "code"),
        [("captures", None), ("one name", "duplicate-output"), ("domains", "undeclared-opset"),
         ("nothing", "missing-tensor"), ("cycle", "cycle"), ("loops", "cycle")],
    )  # fmt: skip
    def test_is_linear(self, kind: str, code: str | None) -> None:
        last = self.COUNT - 1
        nodes = {
            "captures": self.captures,
            "one name": lambda: self.relus("x", "y"),
            "domains": lambda: self.relus("x", "y{}", "d{}"),
            "nothing": lambda: self.relus("m{}", "y{}"),
            "cycle": lambda: [helper.make_node("Relu", [f"y{i or last}"], [f"y{i + 1}"]) for i in range(last)],
            "loops": lambda: self.relus("y{}", "y{}"),
        }[kind]()
        proto = helper.make_model(helper.make_graph(nodes, "g", [value("x")], [value("x")]))
        models: list[Model] = []
        assert calls(lambda: models.append(load_model_proto(proto))) < 300 * self.COUNT  # 57 to 166 a node
        assert code is None or code in codes(models[0])


def test_a_model_written_anew_while_open_is_refused_or_still_read(tmp_path: Path) -> None:
    """A new export over the same path cuts the old file short: reading must say so, where a mapping would crash."""
    weight = np.arange(1000, dtype=np.float32)
    graph = helper.make_graph([], "g", [], [], [numpy_helper.from_array(weight, "w")])
    data = helper.make_model(graph).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    in_place, replaced = (tensor(load(path), "w").data for _ in range(2))
    assert in_place is not None
    assert replaced is not None
    (tmp_path / "new.onnx").write_bytes(data[:100])
    (tmp_path / "new.onnx").rename(path)
    np.testing.assert_array_equal(replaced.array(), weight)  # the old file lives on behind the new one
    path.write_bytes(data)
    model = load(path)
    path.write_bytes(data[:50])
    stale = tensor(model, "w").data
    assert stale is not None
    with pytest.raises(DataError, match="open the model again"):
        stale.array()


class TestFunctions:
    def test_a_call_gets_the_body_with_its_attributes(self) -> None:
        body = helper.make_node("LeakyRelu", ["a"], ["b"])
        attribute = body.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT)
        attribute.ref_attr_name = "slope"
        function = helper.make_function(
            "local", "Leaky", ["a"], ["b"], [body], [helper.make_opsetid("", 17)], ["slope"]
        )
        graph = helper.make_graph(
            [helper.make_node("Leaky", ["x"], ["y"], domain="local", name="call", slope=0.25)], "g",
            [value("x", shape=[2])], [value("y", shape=[2])],
        )  # fmt: skip
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        model = load_model_proto(helper.make_model(graph, functions=[function], opset_imports=imports))
        (call,) = model.graph.nodes
        inside = call.subgraphs["function"].nodes[0]
        assert inside.attributes == {"alpha": 0.25}
        assert inside.qualified_name == "call/function/LeakyRelu_0"
        assert codes(model) == []

    @staticmethod
    def chain(*callees: tuple[str, ...]) -> onnx.ModelProto:
        """Functions f0, f1, … where fi calls the names in callees[i]; the graph calls the last."""
        functions = []
        for i, names in enumerate(callees):
            nodes = [helper.make_node(name, ["a"], [f"b{k}"], domain="local") for k, name in enumerate(names)]
            nodes.append(helper.make_node("Relu", ["a"], ["y"]))
            imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
            functions.append(helper.make_function("local", f"f{i}", ["a"], ["y"], nodes, imports))
        graph = helper.make_graph(
            [helper.make_node(f"f{len(callees) - 1}", ["x"], ["y"], domain="local")], "g",
            [value("x", shape=[1])], [value("y", shape=[1])],
        )  # fmt: skip
        return helper.make_model(graph, functions=functions, opset_imports=imports)

    def test_a_function_bomb_is_counted_and_not_expanded(self) -> None:
        model = load_model_proto(self.chain((), *(((f"f{i}", f"f{i}")) for i in range(26))))
        assert sum(len(graph.nodes) for graph in model.graph.walk()) == 1
        assert codes(model) == ["function-too-large"]
        assert "268,435,453" in model.diagnostics[0].message  # s(0) = 1, s(i) = 2 s(i-1) + 3

    def test_a_long_chain_of_calls_is_not_expanded(self) -> None:
        model = load_model_proto(self.chain((), *((f"f{i}",) for i in range(3000))))
        assert codes(model) == ["function-too-large"]
        assert "3,002 levels deep" in model.diagnostics[0].message

    def test_nodes_of_subgraphs_count(self) -> None:
        inner = helper.make_graph([helper.make_node("Relu", ["a"], [f"t{i}"]) for i in range(200)], "b", [],
                                  [value("t0")])  # fmt: skip
        branch = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
        proto = self.chain((), *(((f"f{i}", f"f{i}")) for i in range(8)))
        proto.functions[0].node.append(branch)
        model = load_model_proto(proto)
        assert "function-too-large" in codes(model)

    def test_attributes_reach_the_subgraphs_of_a_body(self) -> None:
        relu = helper.make_node("LeakyRelu", ["a"], ["t"])
        relu.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
        inner = helper.make_graph([relu], "branch", [], [value("t")])
        body = helper.make_node("If", ["c"], ["b"], then_branch=inner, else_branch=inner)
        opset = [helper.make_opsetid("", 17)]
        function = helper.make_function("local", "F", ["c", "a"], ["b"], [body], opset, ["slope"])
        graph = helper.make_graph(
            [helper.make_node("F", ["c", "x"], ["y"], domain="local", slope=0.5)], "g",
            [value("c", TensorProto.BOOL, []), value("x", shape=[2])], [value("y", shape=[2])],
        )  # fmt: skip
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        model = load_model_proto(helper.make_model(graph, functions=[function], opset_imports=imports))
        branch = model.graph.nodes[0].subgraphs["function"].nodes[0].subgraphs["then_branch"]
        assert branch.nodes[0].attributes == {"alpha": 0.5}

    def test_recursive_functions_are_named_as_a_cycle(self) -> None:
        model = load_model_proto(self.chain(("f1",), ("f0",)))
        assert codes(model) == ["recursive-function"]
        assert "f0 → f1 → f0" in model.diagnostics[0].message


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
