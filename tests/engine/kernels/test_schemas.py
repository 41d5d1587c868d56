"""Kernels against the schemas: none missing, no attribute overlooked, defaults as specified."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx.defs
import pytest

import engine.kernels
from engine.kernels.registry import Kernel
from tests.engine.kernels import coverage

KERNELS: dict[coverage.Key, Kernel] = {
    (k.domain, k.op_type, version): k for k in engine.kernels.library() for version in k.since_versions
}


def test_every_version_of_every_operator_has_a_kernel() -> None:
    pytest.importorskip("onnxruntime")
    assert coverage.missing() == []


def test_what_is_left_out_has_no_kernel_and_exists() -> None:
    pytest.importorskip("onnxruntime")
    exist = {key[:2] for key in (*coverage.standard(), *coverage.microsoft())}
    left_out = {*coverage.LEFT_OUT, *(("com.microsoft", name) for name in coverage.LEFT_OUT_MICROSOFT)}
    assert left_out <= exist
    assert not left_out & {key[:2] for key in KERNELS}


WITHOUT_MEANING = {
    "consumed_inputs": "a hint for memory reuse before opset 6",
    "nodes_hitrates": "statistics for the layout of trees",
    "nodes_hitrates_as_tensor": "statistics for the layout of trees",
    "output_sequence": "whether Y is wanted, which the node's outputs say as well",
    "broadcast": "of Gemm before opset 7, whose C broadcasts either way",
}
"""Attributes that change no value."""

ACCEPTED = {
    ("Dropout", "ratio"): "before opset 12 we run Dropout for inference, where it is the identity",
    ("Dropout", "is_test"): "the same",
    ("SequenceEmpty", "dtype"): "a list holds no dtype",
}


def schemas() -> Iterator[tuple[onnx.defs.OpSchema, Kernel]]:
    for schema in onnx.defs.get_all_schemas_with_history():
        found = KERNELS.get((schema.domain, schema.name, schema.since_version))
        if found is not None:
            yield schema, found


def test_no_attribute_is_overlooked() -> None:
    for schema, found in schemas():
        known = found.required | found.optional | WITHOUT_MEANING.keys()
        overlooked = {a for a in schema.attributes if a not in known and (schema.name, a) not in ACCEPTED}
        assert not overlooked, f"{schema.name} {schema.since_version}: {overlooked}"


def test_no_attribute_of_com_microsoft_and_no_input_is_overlooked() -> None:
    state = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    for schema in state.get_all_operator_schema():
        found = KERNELS.get((schema.domain, schema.name, 1)) if schema.domain == "com.microsoft" else None
        if found is not None:
            overlooked = schema.attributes.keys() - found.required - found.optional
            assert not overlooked, f"{schema.name}: {overlooked}"
            assert len(schema.inputs) <= positions(found), schema.name


def positions(found: Kernel) -> float:
    """How many inputs a kernel takes."""
    parameters = list(inspect.signature(found.function).parameters.values())[1:]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return float("inf") if variadic else sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


DEFAULTS = {
    ("GridSample", "mode"): "version 16 says bilinear for linear",
    ("GRU", "direction"): "version 1 has a spelling mistake",
    ("RNN", "activations"): "one name a direction is taken; the default lists those of two",
    ("MeanVarianceNormalization", "axes"): "None stands for [0, 2, 3]",
}
"""Defaults that a kernel writes in another way, and why. Attributes of a `TypedDict` have theirs where it is read."""


def test_defaults_are_those_of_the_specification() -> None:
    for schema, found in schemas():
        parameters = inspect.signature(found.function).parameters
        for name, attribute in schema.attributes.items():
            if name in parameters and attribute.default_value.name and (schema.name, name) not in DEFAULTS:
                specified = plain(onnx.helper.get_attribute_value(attribute.default_value))
                default = parameters[name].default
                ours = [] if default is None and isinstance(specified, list) else default
                assert ours == specified or np.isclose(ours, specified, rtol=1e-6), (schema.name, name, ours, specified)


def plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else list(value) if isinstance(value, (list, tuple)) else value


def test_inputs_of_the_schema_are_taken() -> None:
    for schema, found in schemas():
        variadic = bool(schema.inputs) and schema.inputs[-1].option is onnx.defs.OpSchema.FormalParameterOption.Variadic
        wanted = float("inf") if variadic else len(schema.inputs)
        assert positions(found) >= wanted, f"{schema.name} {schema.since_version} takes {positions(found)} inputs"
