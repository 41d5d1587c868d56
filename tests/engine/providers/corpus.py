"""The shared models that run, with the inputs their expected outputs were made with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine.graph.ir import Model
from engine.session import RunResult, Session
from engine.shapes.infer import infer_shapes
from tests.conftest import SHARED

CONTROL_FLOW = frozenset({"If", "Loop", "Scan"})


def names() -> list[str]:
    """Models whose inputs are all kept beside their expected outputs, such as ``gen/mnist_ts``."""
    return sorted(_names()) if SHARED.is_dir() else []


def _names() -> Iterator[str]:
    for path in (SHARED / "models" / "expected").glob("*.npz"):
        folder, _, stem = path.stem.partition("__")
        if stem != "yolo_n_dyn":  # its input is too large to be kept
            yield f"{folder}/{stem}"


def load(shared: Path, name: str) -> tuple[Model, dict[str, Any]]:
    """A model and its inputs."""
    model = engine.load(str(shared / "models" / f"{name}.onnx"))
    infer_shapes(model)
    with np.load(shared / "models" / "expected" / f"{name.replace('/', '__')}.npz") as file:
        return model, {key.removeprefix("in:"): file[key] for key in file.files if key.startswith("in:")}


@cache
def on_cpu(shared: Path, name: str) -> RunResult:
    """The model run on the CPU alone."""
    model, feeds = load(shared, name)
    return Session(model, []).run(feeds, keep="none")


def branches(model: Model) -> bool:
    """Whether what runs depends on values, so that copies cannot be told beforehand."""
    return any(node.op_type in CONTROL_FLOW for node in model.nodes())
