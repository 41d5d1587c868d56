"""ONNX Runtime is never let tell others what it runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
ROOT = Path(__file__).resolve().parents[3]


def test_it_is_imported_in_one_place() -> None:
    importing = re.compile(r"^\s*(import onnxruntime|from onnxruntime )", re.MULTILINE)
    files = [path for folder in ("engine", "gui") for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in files if importing.search(path.read_text("utf-8"))] == ["support.py"]


def test_importing_it_begins_no_session_of_telemetry(tmp_path: Path) -> None:
    """Where it does, it keeps the session's number in the folder for temporary files."""
    dropped = {"ORT_DISABLE_TELEMETRY", "CI", "GITHUB_ACTIONS"}
    own = {name: str(tmp_path) for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME")}
    environment = {name: value for name, value in os.environ.items() if name not in dropped} | own
    code = "from engine.providers.ort.support import execution_providers; print(execution_providers())"
    made = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "CPU" in made.stdout
    assert list(tmp_path.iterdir()) == []
