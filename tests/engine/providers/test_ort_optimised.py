"""The graph that ONNX Runtime makes of a model, as a file that opens and gives the same."""

from __future__ import annotations

import multiprocessing
import os
import threading
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.cli import main
from engine.diff import diff
from engine.errors import ExportError, RunCancelled
from engine.export import export, writer
from engine.graph.loader import load
from engine.opening import open_model
from engine.providers.ort.optimised import export_optimised
from engine.session import Session

pytest.importorskip("onnxruntime")
X = np.random.default_rng(0).standard_normal((1, 2, 5, 5)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A convolution with an activation, which are fused, and an Identity, which is removed."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Identity", ["r"], ["i"], "same"),
        helper.make_node("Neg", ["i"], ["y"], "neg"),
    ]
    weight = numpy_helper.from_array(np.tile(X[:, :, :3, :3], (32, 1, 1, 1)), "w")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
    ends[0].type.tensor_type.shape.CopyFrom(helper.make_tensor_type_proto(1, [1, 2, 5, 5]).tensor_type.shape)
    model = helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], [weight]), ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])  # fmt: skip
    onnx.save(model, tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_levels_do_what_they_say(path: Path, tmp_path: Path) -> None:
    model = load(path)
    expected = Session(model).run({"x": X}).outputs["y"]
    made = {level: tmp_path / f"{level}.onnx" for level in ("basic", "extended")}
    for level, target in made.items():
        written, graph = export_optimised(model, target, level)
        assert len(graph.nodes) == len(load(target).graph.nodes)
        assert (written.path, written.nbytes) == (str(target), target.stat().st_size)
        np.testing.assert_allclose(Session(load(target)).run({"x": X}).outputs["y"], expected, rtol=1e-6)
    assert [node.op_type for node in load(made["basic"]).graph.nodes] == ["Conv", "Relu", "Neg"]
    assert [node.op_type for node in load(made["extended"]).graph.nodes] == ["FusedConv", "Neg"]
    found = diff(open_model(path), open_model(made["extended"]))
    assert [node.name for node in found.removed] == ["relu", "same"]
    assert [(pair.before.name, pair.after.op_type) for pair in found.changed] == [("conv", "FusedConv")]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["basic.onnx", "extended.onnx", "m.onnx"]


def test_large_weights_go_beside_it(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "EXTERNAL_ABOVE", 10)
    target = tmp_path / "out.onnx"
    written, _ = export_optimised(load(path), target, "basic")
    assert written.data_path == str(tmp_path / "out.onnx.data")
    assert Session(load(target)).run({"x": X}).outputs["y"].shape == (1, 32, 3, 3)


def test_what_is_refused_leaves_the_old_file(shared: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    target.write_bytes(b"old")
    with pytest.raises(ExportError, match=r"refuses the model: .*FancyOp"):
        export_optimised(load(shared / "models/broken/unknown_op.onnx"), target)
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.onnx"]


def test_a_folder_that_is_not_there(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"cannot write .*gone"):
        export_optimised(load(path), tmp_path / "gone/out.onnx")


def test_what_the_model_is_read_from_is_never_written_over(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "EXTERNAL_ABOVE", 10)
    apart = tmp_path / "apart.onnx"
    export(load(path), apart)
    weights = tmp_path / "other.onnx.data"
    proto = onnx.load(apart, load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = weights.name
    (tmp_path / "apart.onnx.data").rename(weights)
    apart.write_bytes(proto.SerializeToString())
    before = apart.read_bytes(), weights.read_bytes()
    for target in (apart, weights, tmp_path / "other.onnx"):
        with pytest.raises(ExportError, match="choose another name"):
            export_optimised(load(apart), target)
        with pytest.raises(ExportError, match="choose another name"):
            export(load(apart), target)
    assert (apart.read_bytes(), weights.read_bytes()) == before


def test_a_pipe_is_written_to_and_stays(path: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    written, _ = export_optimised(load(path), pipe)
    reader.join(10)
    assert pipe.is_fifo()
    assert len(received[0]) == written.nbytes
    onnx.load_model_from_string(received[0])


@pytest.mark.parametrize("name", [b"caf\xe9.onnx", b"caf\xe9/out.onnx", b"stored.onnx", b"made.onnx"])
def test_any_name_will_do(path: Path, tmp_path: Path, name: bytes) -> None:
    target = os.path.join(os.fsencode(tmp_path), name)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    export_optimised(load(path), os.fsdecode(target))
    assert [node.op_type for node in load(os.fsdecode(target)).graph.nodes] == ["FusedConv", "Neg"]


def test_stopped_in_time_nothing_is_written(path: Path, tmp_path: Path) -> None:
    def stop() -> None:
        raise RunCancelled

    with pytest.raises(RunCancelled):
        export_optimised(load(path), tmp_path / "out.onnx", go_on=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]


def test_onnx_runtime_itself_is_stopped(path: Path, tmp_path: Path) -> None:
    def stop() -> None:
        if multiprocessing.active_children():  # it has begun, and takes long to import alone
            raise RunCancelled

    with pytest.raises(RunCancelled):
        export_optimised(load(path), tmp_path / "out.onnx", go_on=stop)
    assert multiprocessing.active_children() == []
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]


def test_in_a_process_of_its_own_it_makes_the_same(path: Path, tmp_path: Path) -> None:
    asked = []
    export_optimised(load(path), tmp_path / "here.onnx")
    export_optimised(load(path), tmp_path / "apart.onnx", go_on=lambda: asked.append(multiprocessing.active_children()))
    assert any(asked)
    assert (tmp_path / "here.onnx").read_bytes() == (tmp_path / "apart.onnx").read_bytes()


def test_the_command_line(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "out.onnx")
    assert main(["export", str(path), target, "--onnxruntime", "extended"]) == 0
    assert "2 nodes" in capsys.readouterr().out
    assert main(["export", str(path), target, "--onnxruntime", "basic", "--nodes", "conv"]) == 2
    assert "--nodes" in capsys.readouterr().err
