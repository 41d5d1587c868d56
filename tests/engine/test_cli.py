"""The command line: what it prints and how it ends, for people, for programs, and for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.cli import main
from engine.cli.output import escape
from tests.engine.cli_driving import ROOT, call, complaint, info, run_json, save


@pytest.fixture
def affine(tmp_path: Path) -> Path:
    """y = x * w + b with w overridable, stored backwards: Add before Mul."""
    nodes = [helper.make_node("Add", ["p", "b"], ["y"], "add"), helper.make_node("Mul", ["x", "w"], ["p"], "mul")]
    weights = (numpy_helper.from_array(np.array([2, 3], np.float32), "w"),
               numpy_helper.from_array(np.array([10, 20], np.float32), "b"))  # fmt: skip
    return save(tmp_path / "affine.onnx", nodes, [info("x", ["N", 2]), info("w", [2])], [info("y", ["N", 2])], weights)


def test_inspect_json_has_the_keys_others_rely_on(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run_json(capsys, "inspect", affine)
    assert {"ir_version", "opset_imports", "producer_name", "graph_name", "inputs", "outputs", "fusion", "order",
            "tensors", "diagnostics", "timings_ms"} <= set(report)  # fmt: skip
    assert report["ir_version"] == 8
    assert report["opset_imports"] == {"": 17}
    assert report["fusion"] == [
        {"name": "x", "kind": "input", "dtype": "float32", "declared_shape": ["N", 2], "stored_shape": None,
         "nbytes": 0},
        {"name": "w", "kind": "overridable initializer", "dtype": "float32", "declared_shape": [2],
         "stored_shape": [2], "nbytes": 8},
        {"name": "b", "kind": "implicit constant", "dtype": "float32", "declared_shape": None, "stored_shape": [2],
         "nbytes": 8},
    ]  # fmt: skip
    order = [(row["index"], row["file_index"], row["name"], row["inputs"], row["outputs"]) for row in report["order"]]
    assert order == [(0, 1, "mul", ["x", "w"], ["p"]), (1, 0, "add", ["p", "b"], ["y"])]
    assert report["tensors"]["p"] == {
        "dtype": "float32", "stored": None, "inferred": ["N", 2], "unknown_because": None,
    }  # fmt: skip
    assert set(report["timings_ms"]) == {"read", "link", "infer", "check"}
    assert report["parameters"] == 4


def test_the_weights_of_a_function_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are stored once, however often it is called."""
    weights = helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(np.ones(10, np.float32)))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    function = helper.make_function("local", "F", ["a"], ["b"], [weights, helper.make_node("Add", ["a", "k"], ["b"])],
                                    opsets)  # fmt: skip
    calls = [helper.make_node("F", [a], [b], domain="local") for a, b in ("xt", "ty")]
    graph = helper.make_graph(calls, "g", [info("x", [10])], [info("y", [10])])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, functions=[function], ir_version=8, opset_imports=opsets), path)
    report = run_json(capsys, "inspect", path)
    assert (report["parameters"], report["parameter_bytes"]) == (10, 40)


def test_inspect_names_tensors_of_subgraphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def branch(op: str) -> onnx.GraphProto:
        return helper.make_graph([helper.make_node(op, ["x"], ["r"], "in")], op, [], [info("r", ["N"])])

    node = helper.make_node("If", ["c"], ["y"], "choose", then_branch=branch("Neg"), else_branch=branch("Abs"))
    path = save(tmp_path / "if.onnx", [node], [info("c", [], TensorProto.BOOL), info("x", ["N"])], [info("y", ["N"])])
    report = run_json(capsys, "inspect", path)
    assert {"choose/then_branch/r", "choose/else_branch/r"} <= set(report["tensors"])
    assert report["order"][0]["captures"] == ["x"]
    names = {sub["name"]: sub["order"][0]["op_type"] for sub in report["subgraphs"]}
    assert names == {"choose/then_branch": "Neg", "choose/else_branch": "Abs"}


def test_inspect_for_people(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(affine), "--shapes"]) == 0
    told = capsys.readouterr().out
    assert "overridable initializer" in told
    assert "(file 1)  Mul  mul   p [N, 2]" in told
    assert "\033" not in told


def test_check_passes_and_fails(affine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run_json(capsys, "check", affine)
    assert report["ok"]
    assert [d["code"] for d in report["diagnostics"]] == ["unsorted"]
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], "A"), helper.make_node("Neg", ["a"], ["b"], "B")]
    cycle = save(tmp_path / "cycle.onnx", nodes, [info("x", [1])], [info("a", [1])])
    report = run_json(capsys, "check", cycle, status=1)
    assert not report["ok"]
    finding = report["diagnostics"][0]
    assert set(finding) == {"code", "severity", "message", "node", "tensor", "hint"}
    assert finding["code"] == "cycle"
    assert finding["severity"] == "error"
    assert main(["check", str(cycle)]) == 1
    assert "A → B → A" in capsys.readouterr().out


def test_check_counts_what_is_too_many_to_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    nodes += [helper.make_node("Neg", ["x"], [f"dead{i}"], f"n{i}") for i in range(500)]
    path = save(tmp_path / "dead.onnx", nodes, [info("x", [1])], [info("y", [1])])
    assert main(["check", str(path)]) == 0
    told = capsys.readouterr().out
    assert "500 remarks" in told
    assert told.count("reaches an output") == 20
    assert "and 480 more" in told
    assert told.count("→ Remove it") == 1
    assert len(run_json(capsys, "check", path)["diagnostics"]) == 500


def test_run_computes_what_the_hand_computes(
    affine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "i.npz", x=np.array([[1, 1], [0, -1]], np.float32))
    outputs = tmp_path / "o.npz"
    report = run_json(capsys, "run", affine, "--inputs", tmp_path / "i.npz", "--outputs", outputs, "--repeat", 3,
                      "--providers", "CPU")  # fmt: skip
    with np.load(outputs) as written:
        assert list(written) == ["y"]
        assert written["y"].tolist() == [[12, 23], [10, 17]]
    assert report["providers"] == ["CPU"]
    assert report["placement"] == {"CPU": 2}
    assert len(report["runs_ms"]) == 3
    assert report["fallbacks"] == []
    assert report["dims"] == {"N": 2}
    assert report["outputs"]["y"] == {
        "dtype": "float32", "shape": [2, 2], "nan": 0, "inf": 0, "zeros": 0, "min": 10, "max": 23, "mean": 15.5,
        "std": pytest.approx(25.25**0.5),
        "values": [[12, 23], [10, 17]],
    }  # fmt: skip


def test_run_feeds_an_overridable_initializer(
    affine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "i.npz", **{"in:w": np.array([0, 1], np.float32), "out:y": np.zeros(1)})
    report = run_json(capsys, "run", affine, "--inputs", tmp_path / "i.npz", "--input", "x=5", "--dim", "N=1")
    assert report["outputs"]["y"]["values"] == [[10, 25]]


def test_all_tensors_are_written_under_their_names(
    affine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = tmp_path / "o.npz"
    run_json(capsys, "run", affine, "--input", "x=ones", "--outputs", outputs, "--all-tensors")
    with np.load(outputs) as written:
        assert {"x", "p", "y"} <= set(written)
        assert written["p"].tolist() == [[2, 3]]
    assert "--outputs" in complaint(capsys, "run", affine, "--all-tensors")


def test_run_is_seeded(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def values(seed: int) -> Any:
        return run_json(capsys, "run", affine, "--dim", "N=2", "--seed", seed)["outputs"]["y"]["values"]

    assert values(1) == values(1) != values(2)


def test_run_for_people_tells_assumed_dims(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(affine), "--input", "x=ones"]) == 0
    told = capsys.readouterr().out
    assert "N = 1 (set with --dim)" in told
    assert "[[12.0, 23.0]]" in told
    assert "CPU 2/2" in told


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--dim", "M=3"], "no symbolic dim 'M'; they have N"),
        (["--dim", "N="], "give NAME=VALUE"),
        (["--dim", "N=-1"], "whole number"),
        (["--dim", "N=" + "9" * 5000], "whole number"),
        (["--dim", "N=99999999999999"], "memory"),
        (["--shape", "x=2x"], "1x3x224x224"),
        (["--shape", "x=2x3"], "wants float32[N, 2], but was given float32[2, 3]"),
        (["--input", "q=ones"], "no input 'q'"),
        (["--input", "x=nonsense"], "no way to make an input"),
        (["--inputs", "nowhere.npz"], "does not exist"),
        (["--input", "x=nowhere.npz"], "does not exist"),
        (["--providers", "TPU"], "no execution provider 'TPU'"),
        (["--repeat", "0"], "at least 1"),
        (["--seed", "-1"], "whole number"),
    ],
)
def test_bad_options_are_told_in_one_line(
    affine: Path, arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert part in complaint(capsys, "run", affine, *arguments)


def test_outputs_that_cannot_be_written(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "the folder /nowhere does not exist" in complaint(capsys, "run", affine, "--outputs", "/nowhere/o.npz")
    assert "/ cannot be written: Is a directory" in complaint(capsys, "run", affine, "--outputs", "/", status=1)


@pytest.mark.parametrize("arguments", [["run", "--outputs"], ["compare", "--save"], ["render"]])
def test_results_are_not_written_over_the_model(
    affine: Path, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *option = arguments
    link = tmp_path / "picture.svg"
    link.symlink_to(affine)
    before = affine.read_bytes()
    assert "is the model itself" in complaint(capsys, command, affine, *option, link, status=1)
    assert affine.read_bytes() == before


def test_wrong_feeds_are_told_with_both_types(
    affine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "i.npz", x=np.zeros((1, 2)))
    message = complaint(capsys, "run", affine, "--inputs", tmp_path / "i.npz")
    assert "wants float32[N, 2], but was given float64[1, 2]" in message


def test_a_constant_of_ir_3_is_not_fed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weight = numpy_helper.from_array(np.ones(1, np.float32), "w")
    path = save(tmp_path / "m.onnx", [helper.make_node("Add", ["x", "w"], ["y"])], [info("x", [1]), info("w", [1])],
                [info("y", [1])], (weight,), ir_version=3)  # fmt: skip
    assert "constant of this model (IR version 3)" in complaint(capsys, "run", path, "--input", "w=zeros")


def test_a_run_that_fails_names_the_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = helper.make_node("Add", ["x", "z"], ["y"], "sum")
    path = save(tmp_path / "m.onnx", [node], [info("x", ["A"]), info("z", ["B"])], [info("y", None)])
    message = complaint(capsys, "run", path, "--dim", "A=2", "--dim", "B=3", status=1)
    assert "sum" in message
    assert "Add" in message


def test_missing_kernels_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = helper.make_node("Frobnicate", ["x"], ["y"], "f", domain="com.acme")
    path = save(tmp_path / "m.onnx", [node], [info("x", [1])], [info("y", [1])])
    assert "com.acme::Frobnicate" in complaint(capsys, "run", path, status=1)
    assert main(["inspect", str(path)]) == 0


def test_files_that_cannot_be_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "page.onnx").write_text("<!DOCTYPE html><html>not found</html>")
    for path, part in (("none.onnx", "no such file"), (".", "folder"), ("empty.onnx", "empty"), ("page.onnx", "page")):
        for command in ("inspect", "check", "run", "compare"):
            assert part in complaint(capsys, command, tmp_path / path)
    assert "no such file" in complaint(capsys, tmp_path / "none.onnx")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    affine.chmod(0)
    assert "permission" in complaint(capsys, "inspect", affine).lower()


def test_json_tells_errors_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path / "none.onnx"), "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "ModelFormatError"
    assert "no such file" in error["message"]


def test_hostile_names_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b[31mred\nb\u202ec"
    node = helper.make_node("Neg", ["x"], [name], name)
    path = save(tmp_path / "m.onnx", [node], [info("x", [1])], [info(name, [1])])
    for arguments in (["inspect", str(path), "--shapes"], ["run", str(path)]):
        assert main(arguments) == 0
        told = capsys.readouterr().out
        assert "\x1b" not in told
        assert "\u202e" not in told
        assert r"a\x1b[31mred\nb\u202ec" in told
    assert run_json(capsys, "inspect", path)["order"][0]["name"] == name


@pytest.mark.parametrize(
    ("text", "shown"), [("plain é 名", "plain é 名"), ("\x9b1m", r"\x9b1m"), ("\ud800", r"\ud800")]
)
def test_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_values_that_are_not_finite_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "m.onnx", [helper.make_node("Log", ["x"], ["y"])], [info("x", [3])], [info("y", [3])])
    np.save(tmp_path / "x.npy", np.array([1, 0, -1], np.float32))
    output = run_json(capsys, "run", path, "--inputs", tmp_path / "x.npy")["outputs"]["y"]
    assert (output["nan"], output["inf"], output["max"]) == (1, 1, 0)
    assert output["values"] == [0, None, None]


def test_compare_agrees_with_itself(affine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run_json(capsys, "compare", affine, "--repeat", 3, "--warmup", 0, "--per-node", "--providers", "CPU")
    assert {"mixed_ms", "cpu_only_ms", "speedup_pct", "agree", "outputs", "mixed", "cpu_only"} <= set(report)
    assert report["agree"] is True
    assert len(report["mixed"]["runs_ms"]) == len(report["cpu_only"]["runs_ms"]) == 3
    assert report["first_divergence"] is None
    np.savez(tmp_path / "wrong.npz", y=np.full((1, 2), 7, np.float32))
    report = run_json(capsys, "compare", affine, "--repeat", 1, "--warmup", 0, "--against", tmp_path / "wrong.npz",
                      status=1)  # fmt: skip
    assert report["agree"] is False


def test_compare_for_people(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(affine), "--repeat", "2"]) == 0
    told = capsys.readouterr().out
    assert "outputs agree" in told
    assert "CPU 2/2" in told


def test_render_refuses_other_endings(affine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ".svg, .png, .pdf" in complaint(capsys, "render", affine, "out.gif")
    assert "does not exist" in complaint(capsys, "render", affine, "/nowhere/out.svg")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_render_writes_a_picture(affine: Path, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"graph.{ending}"
    done = call("render", affine, picture)
    assert done.returncode == 0, done.stderr
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    assert picture.read_bytes().startswith(start)


@pytest.mark.parametrize("scale", ["0", "-1", "nan", "inf", "1e9", "two"])
def test_a_scale_that_makes_no_picture_is_refused(
    affine: Path, tmp_path: Path, scale: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", str(affine), str(tmp_path / "g.png"), f"--scale={scale}"]) == 2
    assert "no number above 0" in capsys.readouterr().err


def test_no_command_but_render_imports_qt(affine: Path) -> None:
    code = """
import sys
from engine.cli import main
for arguments in (["inspect"], ["check"], ["run"], ["compare", "--repeat", "1"]):
    assert main([*arguments, sys.argv[1]]) == 0
sys.exit(any(name.split(".")[0] in ("PySide6", "shiboken6", "gui", "pyqtgraph") for name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code, affine], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="displays are told by variables on Linux alone")
def test_window_needs_a_display(affine: Path) -> None:
    done = call(affine, DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
    assert done.returncode == 1
    assert done.stderr.startswith("oinfer: there is no display")


def test_a_fault_of_our_own_is_one_line_too(
    affine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(path: str) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("engine.cli.check.open_named", fail)
    assert "ZeroDivisionError: boom" in complaint(capsys, "check", affine, status=1)
    monkeypatch.setenv("OINFER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["check", str(affine)])


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert "required: MODEL" in complaint(capsys, "inspect")
    assert "unrecognized" in complaint(capsys, "inspect", "a.onnx", "b.onnx")
    assert "--smoke" in complaint(capsys, "--picture", "x.png")
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "compare" in capsys.readouterr().out


def test_an_error_quotes_no_more_than_a_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "x" * 100_000
    path = save(tmp_path / "m.onnx", [helper.make_node("Relu", [name], ["y"])], [info("a", [2])], [info("y", [2])])
    told = complaint(capsys, "run", path, status=1)
    assert name[:1000] in told
    assert len(told) < 3000
    assert told.endswith("…\n")


def test_help_keeps_the_names_of_providers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert "Time the chosen providers against CPU only" in " ".join(capsys.readouterr().out.split())
