"""What the command line says of a loop that runs on and on."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from onnx import TensorProto, helper

from engine.cli import main, patience
from tests.engine.cli_driving import info, save


def counting_loop(path: Path, trip_count: str) -> Path:
    """A loop that adds 1 to x, as often as `trip_count` says and while x is below 8."""
    nodes = [
        helper.make_node("Add", ["v", "one"], ["v2"]),
        helper.make_node("Less", ["v2", "limit"], ["below"]),
    ]
    flag, whole = TensorProto.BOOL, TensorProto.INT64
    body = helper.make_graph(nodes, "b", [info("i", [], whole), info("c", [], flag), info("v", [])],
                             [info("below", [], flag), info("v2", [])])  # fmt: skip
    constants = tuple(helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in
                      (("one", 1.0), ("limit", 8.0)))  # fmt: skip
    loop = helper.make_node("Loop", [trip_count, "", "x"], ["y"], "again", body=body)
    trips = [info("n", [], whole)] if trip_count else []
    return save(path, [loop], [info("x", []), *trips], [info("y", [])], constants)


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize("trip_count", ["", "n"])
def test_a_long_loop_is_told_of(
    command: str, trip_count: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks = count(step=4)  # seconds, by a clock that only this test moves
    monkeypatch.setattr(patience, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    path = counting_loop(tmp_path / "m.onnx", trip_count)
    given = ["--input", "x=0"] + (["--input", "n=20"] if trip_count else [])
    once = ["--repeat", "1", "--warmup", "0"]
    assert main([command, str(path), *given, *once, "--providers", "CPU"]) == 0
    first, second = capsys.readouterr().err.splitlines()[:2]
    assert first.startswith("oinfer: again (Loop) has run for 12 s, 3 times through;")
    assert second.startswith("oinfer: again (Loop) has run for 24 s, 6 times through;")
    assert first.endswith("; Ctrl+C stops it")
    assert ("no trip count" in first) is not bool(trip_count)


def test_a_short_one_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(counting_loop(tmp_path / "m.onnx", "")), "--input", "x=0"]) == 0
    assert capsys.readouterr().err == ""
