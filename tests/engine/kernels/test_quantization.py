"""Quantised arithmetic against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from tests.engine.kernels.oracle import SEVEN_BITS, check, run

rng = np.random.default_rng(26)
INTEGERS = [np.uint8, np.int8, np.uint16, np.int16]


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def scale(low: float = 0.02, high: float = 0.1) -> np.ndarray:
    return np.array(rng.uniform(low, high), np.float32)


def random(dtype: type, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def factor_of(other: type, dtype: type, *shape: int) -> np.ndarray:
    """Random numbers that ONNX Runtime multiplies exactly with those of type `other`."""
    seven = (other, dtype) == (np.uint8, np.int8)
    return rng.integers(*SEVEN_BITS, shape, dtype, endpoint=True) if seven else random(dtype, *shape)


def exactly(op: str, *inputs: np.ndarray | None, **options: object) -> None:
    check(op, *inputs, rtol=0, atol=0, **options)


def test_quantize_by_hand() -> None:
    """Case 27: halves tie to even before the zero point is added."""
    x = np.array([1, 3, 5, -1, -3, 1000, -1000], np.float32)
    y = run("QuantizeLinear", x, np.array(2, np.float32), np.array(128, np.uint8))
    np.testing.assert_array_equal(y, [128, 130, 130, 128, 126, 255, 0])
    assert y.dtype == np.uint8


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quantize_and_dequantize_by_tensor_axis_and_block(dtype: type) -> None:
    x, q = floats(3, 6, 8) * 40, random(dtype, 3, 6, 8)
    for shape, options in [((), {}), ((6,), {}), ((8,), {"axis": -1}), ((3, 3, 8), {"axis": 1, "block_size": 2}),
                           ((3, 6, 3), {"axis": -1, "block_size": 3})]:  # fmt: skip
        grain = np.asarray(np.abs(floats(*shape)) + np.float32(0.1), np.float32)
        zero = np.asarray(rng.integers(0, 100, shape), dtype)
        exactly("QuantizeLinear", x, grain, zero, opset=21, **options)
        check("DequantizeLinear", q, grain, zero, opset=21, **options)


@pytest.mark.parametrize("opset", [10, 13, 19, 21])
def test_quantize_of_each_version(opset: int) -> None:
    exactly("QuantizeLinear", floats(4, 3) * 9, scale(), np.array(3, np.uint8), opset=opset)
    check("DequantizeLinear", random(np.int8, 4, 3), scale(), np.array(3, np.int8), opset=opset)
    check("DequantizeLinear", np.array([2**31 - 1, -5], np.int32), scale(), opset=opset)


def test_quantize_to_small_types() -> None:
    x = np.array([-9, -7.6, -0.5, 0.5, 1.5, 7.4, 99], np.float32)
    one = np.array(1, np.float32)
    signed = run("QuantizeLinear", x, one, np.array(0, ml_dtypes.int4), opset=21)
    assert signed.dtype == ml_dtypes.int4
    np.testing.assert_array_equal(signed.astype(int), [-8, -8, 0, 0, 2, 7, 7])
    unsigned = run("QuantizeLinear", x, one, np.array(8, ml_dtypes.uint4), opset=21)
    np.testing.assert_array_equal(unsigned.astype(int), [0, 0, 8, 8, 10, 15, 15])
    np.testing.assert_array_equal(run("DequantizeLinear", signed, one, opset=21), signed.astype(np.float32))


def test_quantize_to_float8_saturates_unless_told_not_to() -> None:
    """Case 27."""
    x, one = np.array([1.8131605, 464, 1e9, np.nan, -1e9], np.float32), np.array(1, np.float32)
    zero = np.array(0, ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(
        run("QuantizeLinear", x, one, zero, opset=21).astype(np.float32), [1.875, 448, 448, np.nan, -448]
    )
    wild = run("QuantizeLinear", x, one, zero, opset=21, saturate=0).astype(np.float32)
    np.testing.assert_array_equal(wild, [1.875, 448, np.nan, np.nan, np.nan])


def test_output_dtype_names_the_type_without_a_zero_point() -> None:
    y = run("QuantizeLinear", floats(3), scale(), output_dtype=3, opset=21)
    assert y.dtype == np.int8
    half = run("DequantizeLinear", random(np.int8, 3), scale(), output_dtype=10, opset=25)
    assert half.dtype == np.float16


def test_quantize_then_dequantize_ties_to_even() -> None:
    """Case 30, without the Resize between."""
    one = np.array(1, np.float32)
    x = np.array([2, 3, 5, 5.5, 4.5, 4], np.float32)
    y = run("DequantizeLinear", run("QuantizeLinear", x, one, opset=13), one, opset=13)
    np.testing.assert_array_equal(y, [2, 3, 5, 6, 4, 4])


@pytest.mark.parametrize("factor", [1, -1, 0])
def test_dynamic_quantize(factor: int) -> None:
    exactly("DynamicQuantizeLinear", np.abs(floats(5, 6)) * factor, outputs=3)
    exactly("DynamicQuantizeLinear", floats(5, 6), outputs=3)


@pytest.mark.parametrize(("a", "b"), list(itertools.product([np.uint8, np.int8], repeat=2)))
def test_integer_products(a: type, b: type) -> None:
    for depth in (5, 300, 2000):
        left, right = random(a, 2, 7, depth), factor_of(a, b, depth, 6)
        zeros = np.array(7, a), np.array(9, b)
        exactly("MatMulInteger", left, right)
        exactly("MatMulInteger", left, right, *zeros)
        exactly("MatMulInteger", left, right, None, random(b, 6))
        if (a, b) != (np.int8, np.uint8):  # ONNX Runtime has no such kernel
            out = scale(1, 10), np.array(3, a)
            exactly("QLinearMatMul", left, scale(), zeros[0], right, scale(), zeros[1], *out, opset=21)
            columns = np.abs(floats(6)) * np.float32(0.05), random(b, 6)
            exactly("QLinearMatMul", left, scale(), zeros[0], right, *columns, *out, opset=21)


def test_a_quantised_product_of_two_vectors_is_one_number() -> None:
    """Whose scales and zero points may be vectors of one."""
    a, half, nought = np.array([2, 4], np.uint8), np.array([0.5], np.float32), np.zeros(1, np.uint8)
    y = check("QLinearMatMul", a, half, nought, a, half, nought, half, nought, opset=21)
    assert (y.shape, y[()]) == ((), 10)


@pytest.mark.parametrize(
    ("group", "kernel", "channels"),
    [(1, (3, 3), 4), (4, (3, 3), 4), (2, (1, 1), 4), (1, (1, 1), 700), (1, (3, 3), 100)],
)
def test_integer_convolutions(group: int, kernel: tuple[int, int], channels: int) -> None:
    for a, b in [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)]:
        x, w = random(a, 1, channels, 7, 8), factor_of(a, b, 8, channels // group, *kernel)
        zero = np.array(100, a)
        exactly("ConvInteger", x, w, zero, group=group, pads=[1, 1, 0, 1] if kernel == (3, 3) else [0] * 4)
        bias, out = (floats(8) * 1000).astype(np.int32), (scale(1, 10), np.array(5, a))
        inputs = [x, scale(), zero, w]
        exactly("QLinearConv", *inputs, scale(), np.array(0, b), *out, bias, group=group, strides=[2, 1])
        if b is np.int8:
            each = np.abs(floats(8)) * np.float32(0.05)
            exactly("QLinearConv", *inputs, each, np.zeros(8, np.int8), *out, group=group)


def test_matmul_integer_of_rows() -> None:
    """A vector as zero point of the left operand holds one value a row."""
    a, zeros = np.array([[5, 5], [9, 9]], np.uint8), np.array([5, 8], np.uint8)
    y = run("MatMulInteger", a, np.eye(2, dtype=np.uint8), zeros)
    np.testing.assert_array_equal(y, [[0, 0], [1, 1]])


@pytest.mark.parametrize(("channels", "group"), [(3, 1), (40, 1), (300, 1), (4, 2), (160, 160)])
def test_integer_convolutions_are_exact(channels: int, group: int) -> None:
    """Held against int64: ONNX Runtime itself saturates products of uint8 and int8 on processors without VNNI."""
    x, w = np.full((2, channels, 5, 6), 255, np.uint8), random(np.int8, group, channels // group, 3, 2)
    x[0] = random(np.uint8, channels, 5, 6)
    w[0] = -128  # the greatest sums that there can be
    x_zero, w_zero = np.array(7, np.uint8), random(np.int8, group)
    w_zero[0] = 127
    real_x = (x.astype(np.int64) - 7).reshape(2, group, -1, 5, 6)
    real_w = w.astype(np.int64) - w_zero.reshape(-1, 1, 1, 1)
    exact = sum(
        np.einsum("ngchw,gc->nghw", real_x[..., i : i + 3, j : j + 5], real_w[:, :, i, j])
        for i, j in itertools.product(range(3), range(2))
    )
    np.testing.assert_array_equal(run("ConvInteger", x, w, x_zero, w_zero, group=group), exact)
    bias = random(np.int32, group) >> 8
    y = run("QLinearConv", x, np.float32(0.5), x_zero, w, np.float32(0.25), w_zero, np.float32(2), np.uint8(100), bias,
            group=group)  # fmt: skip
    total = (exact + bias.reshape(-1, 1, 1)).astype(np.float32)
    np.testing.assert_array_equal(y, np.clip(np.rint(total / 16) + 100, 0, 255).astype(np.uint8))
