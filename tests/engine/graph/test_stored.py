"""Stored data: read in place, of every type, in other files, and refused where it lies."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine import export, load, load_model_proto
from engine.errors import DataError
from tests.engine.graph.making import codes, tensor, value


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
