"""What tests of the command line share: models made for them, and commands run here or in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from engine.cli import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "models" / "sample_cnn.onnx"


def save(path: Path, nodes: list, inputs: list, outputs: list, initializers: tuple = (), ir_version: int = 8) -> Path:
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializer=list(initializers))
    model = helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, path)
    return path


def info(name: str, shape: list | None, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> Any:
    assert main([*map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 2) -> str:
    assert main([*map(str, arguments)]) == status
    captured = capsys.readouterr()
    assert captured.err.startswith("oinfer: ")
    assert captured.err.count("\n") == 1
    return captured.err


def call(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "engine", *map(str, arguments)], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
