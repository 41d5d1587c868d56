"""Constants, shapes, ranges."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from tests.engine.kernels.oracle import check, run


@pytest.mark.parametrize(("attributes", "dtype", "shape"), [
    ({"value": numpy_helper.from_array(np.ones((2, 1), np.int8))}, np.int8, (2, 1)),
    ({"value_float": 1.0}, np.float32, ()), ({"value_floats": [1.0, 1.0]}, np.float32, (2,)),
    ({"value_int": 1}, np.int64, ()), ({"value_ints": [1]}, np.int64, (1,)),
])  # fmt: skip
def test_constant_forms(attributes: dict, dtype: type, shape: tuple[int, ...]) -> None:
    out = run("Constant", **attributes)
    assert (out.dtype, out.shape) == (dtype, shape)
    assert (out == 1).all()


def test_constant_strings_and_sparse() -> None:
    assert run("Constant", value_string="ab").item() == "ab"
    assert run("Constant", value_strings=["a", "bc"]).tolist() == ["a", "bc"]
    values = helper.make_tensor("v", T.FLOAT, [2], [5, 7])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("i", T.INT64, [2], [1, 3]), [2, 2])
    assert run("Constant", sparse_value=sparse).tolist() == [[0, 5], [0, 7]]


def test_constant_of_shape() -> None:
    assert check("ConstantOfShape", np.array([2, 3])).tolist() == [[0.0] * 3] * 2
    value = numpy_helper.from_array(np.array([7], np.int32))
    assert check("ConstantOfShape", np.array([], np.int64), value=value).shape == ()
    assert check("ConstantOfShape", np.array([0, 2]), value=value).shape == (0, 2)


@pytest.mark.parametrize(("start", "end", "expected"), [
    (None, None, [2, 3, 4]), (1, None, [3, 4]), (-1, None, [4]), (0, -1, [2, 3]), (-9, 9, [2, 3, 4]), (2, 1, []),
])  # fmt: skip
def test_shape_between(start: int | None, end: int | None, expected: list[int]) -> None:
    options = {k: v for k, v in (("start", start), ("end", end)) if v is not None}
    assert check("Shape", np.zeros((2, 3, 4), np.float32), **options).tolist() == expected


def test_size() -> None:
    assert check("Size", np.zeros((2, 0, 4), np.float32)).tolist() == 0


@pytest.mark.parametrize(
    ("args", "expected"), [((3, 9, 3), [3, 6]), ((10, 4, -2), [10, 8, 6]), ((1, 1, 1), []), ((0, -1, 1), [])]
)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32])
def test_range(args: tuple[int, int, int], expected: list[int], dtype: type) -> None:
    assert check("Range", *(np.array(v, dtype) for v in args)).tolist() == expected


def test_range_of_fractions_and_halves() -> None:
    assert check("Range", *(np.array(v, np.float32) for v in (0, 1, 0.3)), rtol=1e-6).shape == (4,)
    big = run("Range", *(np.array(v, np.float16) for v in (2046, 2054, 1)), opset=27)
    assert big.tolist() == [2046, 2047, 2048, 2048, 2050, 2052, 2052, 2052]


def test_eye_like() -> None:
    assert check("EyeLike", np.zeros((2, 3), np.int32), k=1, dtype=T.FLOAT).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert check("EyeLike", np.zeros((2, 2), np.int32)).dtype == np.int32


@pytest.mark.parametrize("op", ["ConstantOfShape", "Tile", "Pad", "Range", "OneHot", "Resize"])
def test_results_beyond_the_free_memory_are_refused_before_they_are_allocated(op: str) -> None:
    one, huge = np.ones(1, np.float32), np.array([1 << 42])
    inputs = {
        "ConstantOfShape": [huge], "Tile": [one, huge], "Pad": [one, np.array([0, 1 << 42])],
        "Range": [np.array(0), huge.reshape(()), np.array(1)], "OneHot": [np.array([0]), huge, np.zeros(2, np.float32)],
        "Resize": [one, None, None, huge],
    }[op]  # fmt: skip
    with pytest.raises(MemoryError, match=r"43980465111.* TiB.* free"):
        run(op, *inputs)
