"""Casts."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto as T

from engine.dtypes import ALL
from tests.engine.kernels.oracle import check, run


def cast(x: np.ndarray, to: int, **options: object) -> np.ndarray:
    return run("Cast", x, to=to, **options)


def test_floats_to_integers_drop_the_fraction() -> None:
    assert check("Cast", np.array([-1.9, 1.9, 3e9], np.float32), to=T.INT64).tolist() == [-1, 1, 3000000000]
    assert check("Cast", np.array([0, -0.0, 0.1, np.nan], np.float32), to=T.BOOL).tolist() == [False, False, True, True]


def test_integers_wrap() -> None:
    assert check("Cast", np.array([200, -1, 300], np.int16), to=T.INT8).tolist() == [-56, -1, 44]
    assert check("Cast", np.array([-1], np.int32), to=T.UINT8).tolist() == [255]


@pytest.mark.parametrize("code", [T.UINT8, T.INT8, T.UINT16, T.INT16, T.INT32, T.UINT32])
def test_out_of_range_is_the_same_wherever_it_stands(code: int) -> None:
    values = np.array([-1.5, 255.9, 300, np.nan, 1e20, -np.inf], np.float32)
    row = np.tile(values, 100)
    alone = np.concatenate([cast(v.reshape(1), code) for v in values])
    np.testing.assert_array_equal(cast(row, code), np.tile(alone, 100))


@pytest.mark.parametrize(("saturate", "expected"), [
    (1, [1.875, 448, 448, 448, 448, -448]), (0, [1.875, 448, np.nan, np.nan, np.nan, np.nan]),
])  # fmt: skip
def test_float8_saturates(saturate: int, expected: list[float]) -> None:
    x = np.array([1.8131605, 464, 465, 3e10, np.inf, -np.inf], np.float32)
    out = cast(x, T.FLOAT8E4M3FN, saturate=saturate)
    assert out.dtype == ml_dtypes.float8_e4m3fn
    np.testing.assert_array_equal(out.astype(np.float32), expected)
    assert np.isnan(cast(np.array([np.nan], np.float32), T.FLOAT8E4M3FN).astype(np.float32))[0]


def test_bfloat16_rounds_ties_to_even() -> None:
    out = cast(np.array([1.00390625, 1.01171875], np.float32), T.BFLOAT16)
    assert out.astype(np.float32).tolist() == [1.0, 1.015625]


@pytest.mark.parametrize(("mode", "expected"), [("up", [1, 4, 4]), ("down", [1, 2, 2]), ("nearest", [1, 2, 4])])
def test_float8e8m0_rounds_to_powers_of_two(mode: str, expected: list[float]) -> None:
    out = cast(np.array([1, 2.5, 3], np.float32), T.FLOAT8E8M0, round_mode=mode, opset=24)
    assert out.astype(np.float32).tolist() == expected


def test_strings() -> None:
    numbers = cast(np.array(["1.5", "1e-5", "NaN", "-INF", "+inf"], object), T.FLOAT)
    np.testing.assert_array_equal(numbers, np.array([1.5, 1e-5, np.nan, -np.inf, np.inf], np.float32))
    assert cast(np.array(["7", "-3", "9007199254740993"], object), T.INT64).tolist() == [7, -3, 9007199254740993]
    assert cast(np.array([1.5, np.nan, -np.inf], np.float32), T.STRING).tolist() == ["1.5", "NaN", "-INF"]
    assert cast(np.array([[-3], [4]], np.int32), T.STRING).tolist() == [["-3"], ["4"]]


@pytest.mark.parametrize("target", [t for t in ALL if t.kind in ("float", "int", "uint", "bool")], ids=lambda t: t.name)
def test_zero_and_one_survive_every_cast(target) -> None:
    x = np.array([0, 1, 1], np.float32) if target.name != "float8e8m0" else np.ones(3, np.float32)
    there = cast(x, target.code, opset=28)
    assert there.dtype == target.numpy
    np.testing.assert_array_equal(cast(there, T.FLOAT, opset=28), x)


def test_cast_like_and_the_first_version() -> None:
    assert run("CastLike", np.array([1.7], np.float32), np.array([0], np.int8)).dtype == np.int8
    assert run("Cast", np.array([1.7], np.float32), opset=5, to="INT32").tolist() == [1]


def test_bit_cast_keeps_the_bits() -> None:
    assert run("BitCast", np.array([1.0], np.float32), to=T.INT32, opset=26).tolist() == [0x3F800000]
