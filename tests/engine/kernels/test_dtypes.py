"""Every element type that a schema allows: the newest version of each operator takes it and gives the right type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx.defs
import pytest

import engine.kernels
from engine.dtypes import ALL, DType
from tests.engine.kernels.oracle import run

OPSET = 28
ELEMENTWISE = ("arithmetic", "logic", "activations", "softmax")
ONE = [1]
ARGUMENTS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    # "x" stands for data of the type under test, shape [1, 4, 2, 2]; "s" for a scalar of it; lists are int64.
    "Identity": (["x"], {}), "Reshape": (["x", [4, 4]], {}), "Flatten": (["x"], {}), "Transpose": (["x"], {}),
    "Squeeze": (["x", [0]], {}), "Unsqueeze": (["x", [0]], {}), "Expand": (["x", [2, 4, 2, 2]], {}),
    "DepthToSpace": (["x"], {"blocksize": 2}), "SpaceToDepth": (["x"], {"blocksize": 2}), "Trilu": (["x"], {}),
    "Concat": (["x", "x"], {"axis": 1}), "Split": (["x"], {"axis": 1, "num_outputs": 2, "outputs": 2}),
    "Slice": (["x", [1], [3], [1]], {}), "Tile": (["x", [1, 2, 1, 1]], {}), "Pad": (["x", [0, 1] + [0] * 6], {}),
    "CenterCropPad": (["x", [2, 3, 2, 2]], {}), "ReverseSequence": (["x", [1, 0, 1, 1]], {}),
    "Gather": (["x", ONE], {"axis": 1}), "GatherElements": (["x", [[[[0]]]]], {}), "GatherND": (["x", [[0]]], {}),
    "ScatterElements": (["x", [[[[0]]]], "u"], {}), "ScatterND": (["x", [[0, 0, 0, 0]], "v"], {}),
    "NonZero": (["x"], {}), "Compress": (["x", "c"], {"axis": 1}), "TopK": (["x", ONE], {"outputs": 2}),
    "ArgMax": (["x"], {}), "ArgMin": (["x"], {}), "Unique": (["x"], {"outputs": 4}), "CumSum": (["x", ONE], {}),
    "Resize": (["x", None, None, [1, 4, 4, 4]], {}), "EyeLike": (["m"], {}), "Range": (["s", "s", "t"], {}),
}  # fmt: skip


def data(dtype: DType, *shape: int) -> np.ndarray:
    if dtype.kind == "string":
        return np.resize(np.array(["b", "a"], object), shape)
    return np.resize(np.array([0, 1, 1, 0], np.float32), shape).astype(dtype.numpy)


def cases() -> Iterator[Any]:
    modules = {
        k.op_type: k.function.__module__.rpartition(".")[2] for k in engine.kernels.library() if not k.domain
    }  # fmt: skip
    names = sorted(op for op, module in modules.items() if module in ELEMENTWISE) + sorted(ARGUMENTS)
    for name in names:
        schema = onnx.defs.get_schema(name, OPSET)
        for dtype in ALL:
            if not schema.deprecated and f"tensor({dtype.name})" in data_types(schema):
                yield pytest.param(schema, dtype, id=f"{name}-{dtype}")


def data_types(schema: onnx.defs.OpSchema) -> set[str]:
    """What the tensor under test may be: the second input of Where, the first of all others."""
    return set(schema.inputs[1 if schema.name == "Where" else 0].types)


def arguments(schema: onnx.defs.OpSchema, dtype: DType) -> tuple[list[np.ndarray | None], dict[str, Any]]:
    if schema.name not in ARGUMENTS:
        count = sum(i.option.name == "Single" for i in schema.inputs) or 2
        attributes = {"direction": "LEFT"} if schema.name == "BitShift" else {}
        inputs: list[np.ndarray | None] = [data(dtype, 2, 4)] * count
        return ([np.ones((2, 4), bool), *inputs[1:]] if schema.name == "Where" else inputs), attributes
    made = {
        "x": data(dtype, 1, 4, 2, 2), "s": data(dtype, 1).reshape(()), "t": data(dtype, 2)[1:].reshape(()),
        "u": data(dtype, 1, 1, 1, 1), "v": data(dtype, 1), "m": data(dtype, 2, 2),
        "c": np.array([True, False, True, False]),
    }  # fmt: skip
    slots, attributes = ARGUMENTS[schema.name]
    return [made[s] if isinstance(s, str) else None if s is None else np.array(s) for s in slots], attributes


@pytest.mark.parametrize(("schema", "dtype"), list(cases()))
def test_allowed_type(schema: onnx.defs.OpSchema, dtype: DType) -> None:
    inputs, attributes = arguments(schema, dtype)
    out = run(schema.name, *inputs, opset=OPSET, **attributes)
    first = out[0] if isinstance(out, list) else out
    source = schema.inputs[1 if schema.name == "Where" else 0].type_str
    if schema.outputs[0].type_str == source:
        assert first.dtype == dtype.numpy
    else:
        assert first.dtype in (np.int64, np.bool_) or schema.name == "EyeLike"


def test_an_operator_with_a_kernel_has_one_for_each_of_its_versions() -> None:
    known = {(k.op_type, v) for k in engine.kernels.library() if not k.domain for v in k.since_versions}
    names = {op for op, _ in known}
    schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain == "" and s.name in names]
    assert [(s.name, s.since_version) for s in schemas if (s.name, s.since_version) not in known] == []
