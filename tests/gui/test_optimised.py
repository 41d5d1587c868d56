"""What ONNX Runtime makes of a model, in a window of its own, compared with the model."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from gui.window.windows import Windows

pytest.importorskip("onnxruntime")


def save(path: Path, operators: list[str]) -> Path:
    names = ["x", *(f"t{i}" for i in range(len(operators) - 1)), "y"]
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]], op.lower()) for i, op in enumerate(operators)]
    ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, [4]) for end in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_opens_compared_with_the_model(
    qtbot: QtBot, windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = save(tmp_path / "m.onnx", ["Relu", "Identity", "Neg"]), tmp_path / "made.onnx"
    window = windows.new_window(str(source))
    qtbot.waitUntil(lambda: window.document.model is not None and not window.document.busy)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.actions_by_name["optimised"].trigger()
    qtbot.waitUntil(lambda: len(windows.all) == 2 and windows.all[1].document.differ.changes is not None)
    made = windows.all[1]
    assert made.document.path == str(target)
    found = made.document.differ.found
    assert found is not None
    assert [node.name for node in found.removed] == ["identity"]
    assert "made.onnx" in made.windowTitle()
    assert window.document.differ.changes is None


def test_cancelled_it_ends_at_once_and_leaves_nothing(
    qtbot: QtBot, windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def under_way() -> bool:
        return any(process.name == "oinfer-optimise" for process in multiprocessing.active_children())

    source = save(tmp_path / "m.onnx", ["Relu", "Identity", "Neg"])
    window = windows.new_window(str(source))
    qtbot.waitUntil(lambda: window.document.model is not None and not window.document.busy)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "made.onnx"), ""))
    window.actions_by_name["optimised"].trigger()
    qtbot.waitUntil(under_way)
    window.actions_by_name["cancel"].trigger()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert not under_way()
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".ini"] == ["m.onnx"]
    assert len(windows.all) == 1


def test_a_model_that_is_refused_says_why(
    qtbot: QtBot, windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = windows.new_window(str(save(tmp_path / "m.onnx", ["NoSuchOperator"])))
    qtbot.waitUntil(lambda: window.document.model is not None and not window.document.busy)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "made.onnx"), ""))
    with qtbot.waitSignal(window.document.failed) as failed:
        window.actions_by_name["optimised"].trigger()
    assert failed.args is not None
    assert "NoSuchOperator" in failed.args[1]
    assert len(windows.all) == 1
    assert not (tmp_path / "made.onnx").exists()
