"""Comparison, Boolean and bitwise logic."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run


@pytest.mark.parametrize("op", ["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])
def test_comparison_of_nan_is_false(op: str) -> None:
    a = np.array([[1, 2, np.nan]], np.float32)
    out = check(op, a, np.array([[2], [np.nan]], np.float32))
    assert out[0].tolist() == [op.startswith("Less"), op.endswith("Equal"), False]
    assert not out[1].any()


def test_strings_compare() -> None:
    out = run("Equal", np.array(["a", "bc"], object), np.array(["a", "b"], object))
    assert out.dtype == bool
    assert out.tolist() == [True, False]


@pytest.mark.parametrize(("op", "expected"), [("And", [0, 0, 0, 1]), ("Or", [0, 1, 1, 1]), ("Xor", [0, 1, 1, 0])])
def test_boolean(op: str, expected: list[int]) -> None:
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    assert check(op, a, b).tolist() == [bool(v) for v in expected]


@pytest.mark.parametrize(("op", "expected"), [("BitwiseAnd", [0]), ("BitwiseOr", [-1]), ("BitwiseXor", [-1])])
def test_bitwise(op: str, expected: list[int]) -> None:
    assert check(op, np.array([5], np.int8), np.array([-6], np.int8)).tolist() == expected


def test_where_broadcasts_and_carries_strings() -> None:
    condition = np.array([[True], [False]])
    assert check("Where", condition, np.array([1, 2], np.int64), np.array([9], np.int64)).tolist() == [[1, 2], [9, 9]]
    assert run("Where", condition, np.array(["x"], object), np.array(["y"], object)).tolist() == [["x"], ["y"]]


@pytest.mark.parametrize(
    ("negative", "positive", "expected"), [(1, 1, [1, 1, 0]), (0, 1, [0, 1, 0]), (1, 0, [1, 0, 0])]
)
def test_infinities_by_sign(negative: int, positive: int, expected: list[int]) -> None:
    x = np.array([-np.inf, np.inf, np.nan], np.float32)
    out = check("IsInf", x, detect_negative=negative, detect_positive=positive)
    assert out.tolist() == [bool(v) for v in expected]


def test_shift() -> None:
    assert check("BitShift", np.array([16, 255], np.uint8), np.array([2, 1], np.uint8), direction="RIGHT").tolist() == [
        4,
        127,
    ]
    assert check("BitShift", np.array([16, 255], np.uint8), np.array([2, 1], np.uint8), direction="LEFT").tolist() == [
        64,
        254,
    ]


def test_shift_of_signed_numbers_keeps_the_fill() -> None:
    x, amount = np.array([-8, -8, -8, 8], np.int32), np.array([1, 32, -1, 40], np.int32)
    assert run("BitShift", x, amount, direction="RIGHT", opset=28).tolist() == [-4, -1, -1, 0]
    assert run("BitShift", x, amount, direction="LEFT", opset=28).tolist() == [-16, 0, 0, 0]
