"""The single-node cases of the ONNX standard: what inference says of each output is what the case expects."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from engine import dtypes, load_model_proto
from engine.graph.types import OptionalType, SequenceType, TensorType, Type
from engine.shapes.infer import CODES, infer_shapes


def disagreement(type_: Type | None, value: Any) -> str:
    """Why a value cannot be of a type, or ""; what the type leaves open fits anything."""
    if isinstance(type_, OptionalType):
        return "" if value is None else disagreement(type_.element, value)
    if isinstance(type_, SequenceType):
        return next(filter(None, (disagreement(type_.element, v) for v in value)), "")
    if not isinstance(type_, TensorType):
        return ""
    array = array_of(value)
    strings = array.dtype.kind in "USO" and type_.dtype is dtypes.STRING
    if type_.dtype is not None and not strings and type_.dtype.numpy != array.dtype:
        return f"{type_} is not {array.dtype}"
    shape = array.shape if type_.shape is None else type_.shape
    if len(shape) == array.ndim and all(not isinstance(d, int) or d == n for d, n in zip(shape, array.shape)):
        return ""
    return f"{type_} is not {array.shape}"


def array_of(value: Any) -> np.ndarray:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def with_constants(model: onnx.ModelProto, inputs: list[Any]) -> onnx.ModelProto:
    """The model with small inputs as initializers, so that shapes computed from them are known, and bare outputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for declared, value in zip(made.graph.input, inputs):
        if value is None or isinstance(value, (list, dict)):
            continue
        array = array_of(value)
        if array.dtype.kind in "iufb" and array.size <= 64:
            made.graph.initializer.append(numpy_helper.from_array(array, declared.name))
    for output in made.graph.output:
        output.ClearField("type")
    return made


@pytest.mark.slow
def test_every_case() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        cases = [case for case in load_model_tests(kind="node") if case.model is not None]
    wrong, known = [], 0
    for case in cases:
        inputs, outputs = case.data_sets[0]
        model = load_model_proto(with_constants(case.model, inputs))
        infer_shapes(model)
        found = [d.message for d in model.diagnostics if d.code in CODES - {"forced-dim"}]
        found += [disagreement(t.inferred_type, value) for t, value in zip(model.graph.outputs, outputs)]
        wrong += [f"{case.name}: {text}" for text in found if text]
        known += all(t.unknown_because == "" for t in model.graph.outputs)
    assert wrong == []
    assert known > 0.95 * len(cases)
