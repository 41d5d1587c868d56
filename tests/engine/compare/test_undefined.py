"""Which results are marked as undefined, and that they are the same on every run."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from engine.compare.undefined import UndefinedResults, undefined_by_standard
from engine.graph.loader import load_model_proto
from engine.session import Session
from tests.engine.kernels.oracle import model_of, run


def notes(op: str, *inputs: np.ndarray, **options: Any) -> list[str]:
    watch = UndefinedResults()
    session = Session(load_model_proto(model_of(op, inputs, **options)))
    session.run({f"i{k}": x for k, x in enumerate(inputs)}, watch)
    return list(watch.notes.values())


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize(("values", "to", "note"), [
    (f32(-1.5, 255.9, 300, np.nan), TensorProto.UINT8, ["3 of 4 elements are NaN or do not fit uint8"]),
    (f32(-0.9, 255.9), TensorProto.UINT8, []), (f32(127.9, -128.9), TensorProto.INT8, []),
    (f32(2**31), TensorProto.INT32, ["1 of 1 elements are NaN or do not fit int32"]),
    (f32(np.inf), TensorProto.INT64, ["1 of 1 elements are NaN or do not fit int64"]),
    (f32(np.inf, np.nan), TensorProto.FLOAT16, []), (ints(300), TensorProto.UINT8, []),
])  # fmt: skip
def test_casts(values: np.ndarray, to: int, note: list[str]) -> None:
    assert notes("Cast", values, to=to) == note


def test_casts_of_small_floats() -> None:
    assert notes("Cast", f32(1, 300).astype(ml_dtypes.bfloat16), to=TensorProto.INT8) == [
        "1 of 2 elements are NaN or do not fit int8"
    ]


def test_quantisation_of_nan_and_not_of_far_values() -> None:
    scale, zero = np.array(1, np.float32), np.array(0, np.int8)
    assert notes("QuantizeLinear", f32(1e9, -1e9), scale, zero) == []
    assert notes("QuantizeLinear", f32(1, np.nan), scale, zero) == ["1 of 2 elements are NaN or do not fit int8"]


def test_integer_division_by_zero() -> None:
    assert notes("Div", ints(1, 2), ints(0, 1)) == ["integers are divided by 1 zeros"]
    assert notes("Mod", ints(1, 2), ints(0, 0)) == ["integers are divided by 2 zeros"]
    assert notes("Div", f32(1), f32(0)) == []


def test_means_of_nothing() -> None:
    assert notes("ReduceMean", np.zeros((0, 3), np.float32), ints(0)) == ["it is the mean of no elements"]
    assert notes("ReduceMean", np.zeros((0, 3), np.float32), ints(1)) == []
    assert notes("ReduceSum", np.zeros((0, 3), np.float32), ints(0)) == []


def test_shifts_out_of_the_type() -> None:
    one = np.array([1], np.uint8)
    assert notes("BitShift", one, one * 7, direction="LEFT") == []
    assert notes("BitShift", one, one * 8, direction="LEFT") == ["1 shifts are as wide as the type or wider"]


def test_writes_to_one_place() -> None:
    x, twice = np.zeros((4, 2), np.float32), ["some elements are written more than once"]
    updates = np.ones((2, 2), np.float32)
    assert notes("ScatterElements", x, ints(0, 1, 1, 1).reshape(2, 2), updates, opset=18) == twice
    assert notes("ScatterElements", x, ints(0, 1, -3, 2).reshape(2, 2), updates, opset=18) == []
    assert notes("ScatterElements", x, ints(1, 1, 1, 1).reshape(2, 2), updates, opset=18, reduction="add") == []
    assert notes("ScatterND", x, ints(1, -3).reshape(2, 1), updates, opset=18) == twice
    assert notes("ScatterND", x, ints(1, 2).reshape(2, 1), updates, opset=18) == []


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("target", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_undefined_casts_are_the_same_wherever_they_stand(source: Any, target: Any) -> None:
    """Vector instructions and the loop over what they leave may differ; results must not."""
    pattern = np.array([-1.5, 3e4, np.nan, np.inf, -np.inf, -3e4, 1], source)
    y = run("Cast", np.tile(pattern, 77), to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
    assert (y.reshape(77, 7) == y[:7]).all()
    assert y[6] == 1


def test_a_comparison_names_the_operator() -> None:
    model = load_model_proto(model_of("Cast", [f32(1, 300)], to=TensorProto.UINT8))
    (node,) = model.graph.nodes
    values = Session(model).run({"i0": f32(1, 300)}).values
    assert undefined_by_standard(node, values) == (
        "undefined by the standard: Cast (1 of 2 elements are NaN or do not fit uint8)"
    )
    assert undefined_by_standard(node, {}) == ""


def test_random_numbers_are_undefined() -> None:
    assert notes("RandomNormal", shape=[2]) == ["random numbers"]
