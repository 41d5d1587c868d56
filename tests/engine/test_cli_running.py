"""`run` and `compare`: placements, what is kept, steps, tolerances, second opinions, saving."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from engine.cli import main


def info(name: str, shape: list[Any]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """stateN = state + x; y = 2 · stateN."""
    nodes = [helper.make_node("Add", ["state", "x"], ["stateN"], "add"),
             helper.make_node("Add", ["stateN", "stateN"], ["y"], "double")]  # fmt: skip
    graph = helper.make_graph(nodes, "g", [info("x", [2]), info("state", [2])], [info("y", [2]), info("stateN", [2])])
    path = tmp_path / "counter.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


ONES = ("--input", "x=ones", "--input", "state=zeros")


def report(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> dict[str, Any]:
    assert main([*map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(list(map(str, arguments))) == 2
    return capsys.readouterr().err


def test_steps_feed_states_back(counter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, "run", counter, *ONES, "--steps", 4)
    assert told["feedback"] == ["stateN=state"]
    assert len(told["runs_ms"]) == 4
    assert told["outputs"]["y"]["values"] == [8, 8]
    told = report(capsys, "run", counter, *ONES, "--steps", 3, "--feedback", "y=state")
    assert told["outputs"]["y"]["values"] == [14, 14]  # 2, then 2·3, then 2·7
    assert main(["run", str(counter), *ONES]) == 0
    assert "1 of its inputs look like states: --steps N" in capsys.readouterr().out
    assert main(["run", str(counter), *ONES, "--steps", "2"]) == 0
    assert "fed back: stateN=state" in capsys.readouterr().out


def test_statistics_and_patterns(counter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, "run", counter, *ONES, "--statistics")
    assert told["statistics"]["stateN"] == {
        "dtype": "float32", "shape": [2], "nan": 0, "inf": 0, "zeros": 0, "min": 1, "max": 1, "mean": 1, "std": 0,
    }  # fmt: skip
    assert told["peak_bytes"] == 16
    report(capsys, "run", counter, *ONES, "--outputs", tmp_path / "o.npz", "--tensors", "x*")
    with np.load(tmp_path / "o.npz") as written:
        assert set(written) == {"x", "y", "stateN"}
    assert main(["run", str(counter), *ONES, "--statistics"]) == 0
    assert "Tensors" in capsys.readouterr().out


def test_placements_are_taken_and_told(counter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    told = report(capsys, "run", counter, *ONES, "--providers", "ort", "--place", "node:double=CPU")
    assert told["providers"] == ["ORT", "CPU"]
    assert told["placement"] == {"ORT": 1, "CPU": 1}
    assert told["refusals"] == [
        {"provider": "ORT", "reason": "set aside: CPU was chosen for it", "taker": "CPU", "nodes": ["double"]}
    ]
    assert told["outputs"]["y"]["values"] == [2, 2]
    assert main(["run", str(counter), *ONES, "--providers", "ort", "--place", "op:Add=CPU"]) == 0
    assert "CPU: Add ×2 (ORT: set aside: CPU was chosen for it)" in capsys.readouterr().out


def test_compare_asks_for_a_second_opinion(counter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    told = report(capsys, "compare", counter, *ONES, "--repeat", 2, "--per-node", "--second-opinion", "ort")
    assert told["verdict"] == "equal to the last bit"
    assert told["second_opinion"]["verdict"] == "ORT agrees with both sides"
    assert [entry["node"] for entry in told["second_opinion"]["entries"]] == ["add", "double"]
    assert told["mixed"]["cold_ms"] == told["mixed"]["warmup_ms"][0]
    assert told["mixed"]["setup_ms"] > 0
    blocks = report(capsys, "compare", counter, *ONES, "--repeat", 2, "--providers", "ort")
    assert any("ran in blocks" in note for note in blocks["notes"])
    assert main(["compare", str(counter), *ONES, "--repeat", "1", "--second-opinion", "ort"]) == 0
    assert "outputs agree: equal to the last bit" in capsys.readouterr().out


def test_saved_tensors_can_be_compared_against(
    counter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "all.npz"
    report(capsys, "compare", counter, *ONES, "--repeat", 1, "--per-node", "--save", saved)
    with np.load(saved) as file:
        kept = {name: file[name] for name in file.files}
    assert kept.keys() == {"in:x", "in:state", "x", "state", "stateN", "y"}
    assert report(capsys, "compare", counter, *ONES, "--repeat", 1, "--against", saved)["agree"]
    assert report(capsys, "compare", counter, "--inputs", saved, "--repeat", 1, "--against", saved)["agree"]
    kept["stateN"] = kept["stateN"] * np.float32(1.001)
    np.savez(saved, **kept)
    told = report(capsys, "compare", counter, *ONES, "--repeat", 1, "--against", saved, status=1)
    assert told["verdict"] == "beyond the tolerance of 1e-04, within TF32 noise, from add on"
    told = report(capsys, "compare", counter, *ONES, "--repeat", 1, "--against", saved, "--rtol", "float32=0.01")
    assert told["agree"]
    assert told["tolerances"]["rtol"]["float32"] == 0.01
    assert main(["compare", str(counter), *ONES, "--repeat", "1", "--against", str(saved)]) == 1
    assert "outputs disagree: beyond the tolerance" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run", "--place", "Add"], "give op:OPERATOR=PROVIDER"),
        (["run", "--place", "op:Conv=CPU"], "no operator 'Conv' to place"),
        (["run", "--place", "op:Add=TPU"], "the providers of this run are"),
        (["run", "--feedback", "stateN=state"], "--feedback needs --steps"),
        (["run", "--steps", "2", "--feedback", "q=state"], "no output 'q'"),
        (["run", "--tensors", "x*"], "need --outputs"),
        (["compare", "--rtol", "int64=1"], "'int64' has no tolerance"),
        (["compare", "--rtol", "much"], "give a number"),
        (["compare", "--second-opinion", "CUDA"], "CUDA is not available"),
    ],
)
def test_bad_options_are_told_in_one_line(
    counter: Path, arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = arguments
    told = complaint(capsys, command, counter, *options)
    assert part in told
    assert told.count("\n") == 1
