"""Normalisations against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(23)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def same(op: str, *inputs: np.ndarray, tolerance: float = 1e-5, **options: object) -> None:
    check(op, *inputs, rtol=tolerance, atol=tolerance, **options)


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization(opset: int) -> None:
    for shape in [(2, 6, 4, 5), (2, 6), (2, 6, 3, 2, 2)]:
        inputs = [floats(*shape), floats(6), floats(6), floats(6), np.abs(floats(6))]
        same("BatchNormalization", *inputs, opset=opset, epsilon=0.1)


@pytest.mark.parametrize("opset", [14, 15])
def test_batch_normalization_in_training(opset: int) -> None:
    inputs = [floats(4, 3, 5, 5), floats(3), floats(3), floats(3), np.abs(floats(3))]
    same("BatchNormalization", *inputs, opset=opset, outputs=3, training_mode=1, momentum=0.7)


@pytest.mark.parametrize("opset", [1, 6, 7, 9])
def test_batch_normalization_in_training_before_opset_14(opset: int) -> None:
    """`is_test` 0, later the number of outputs, asks for the batch's own statistics."""
    x = np.array([[1.0, 10.0], [3.0, 30.0]], np.float32)
    ones, zeros = np.ones(2, np.float32), np.zeros(2, np.float32)
    options = {"is_test": 0, **({"consumed_inputs": [0, 0, 0, 1, 1]} if opset == 1 else {})} if opset < 7 else {}
    y, mean, var, saved_mean, saved_var = run(
        "BatchNormalization", x, ones, zeros, zeros, ones, opset=opset, outputs=5, momentum=0.5, epsilon=0.0, **options
    )
    np.testing.assert_allclose(y, [[-1, -1], [1, 1]], rtol=1e-6)
    np.testing.assert_allclose(saved_mean, [2, 20])
    np.testing.assert_allclose(saved_var, [1, 100])
    np.testing.assert_allclose(mean, [1, 10])
    np.testing.assert_allclose(var, [1, 50.5])


def test_batch_normalization_of_each_element() -> None:
    """spatial=0: every element of a sample has statistics of its own."""
    x = floats(2, 3, 4)
    scale, bias, mean, var = floats(3, 4), floats(3, 4), floats(3, 4), np.abs(floats(3, 4))
    y = run("BatchNormalization", x, scale, bias, mean, var, opset=7, spatial=0)
    np.testing.assert_allclose(y, (x - mean) / np.sqrt(var + 1e-5) * scale + bias, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opset", [9, 14, 15])
def test_batch_normalization_of_numbers_in_a_row(opset: int) -> None:
    """[N] is one channel, as the specification says."""
    inputs = [floats(5), floats(1), floats(1), floats(1), np.abs(floats(1))]
    same("BatchNormalization", *inputs, opset=opset, epsilon=0.1)


def test_batch_normalization_of_mixed_dtypes() -> None:
    x, ones = floats(2, 3, 4).astype(np.float16), np.ones(3, np.float32)
    y = run("BatchNormalization", x, ones, ones * 0, ones * 0, ones, opset=15, epsilon=0.0)
    assert y.dtype == np.float16
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("axis", [-1, 2, 1])
def test_layer_and_rms_normalization(axis: int) -> None:
    x = floats(2, 6, 4, 5)
    shape = x.shape[axis:] if axis > 0 else x.shape[-1:]
    same("LayerNormalization", x, floats(*shape), floats(*shape), axis=axis, outputs=3, opset=17, epsilon=0.1)
    same("LayerNormalization", x, floats(*shape), axis=axis, opset=17)
    same("RMSNormalization", x, floats(*shape), axis=axis, opset=23)


def test_layer_normalization_large_enough_to_share() -> None:
    """By rows in pieces, to the last bit as one row alone."""
    x, scale, bias = floats(2, 257, 130), floats(130), floats(130)
    check("LayerNormalization", x, scale, bias, outputs=3, rtol=1e-5, atol=1e-5)
    whole = run("LayerNormalization", x, scale, bias, outputs=3)
    for row in ((0, 0), (0, 256), (1, 128)):
        alone = run("LayerNormalization", x[row][None], scale, bias, outputs=3)
        for part, all_rows in zip(alone, whole, strict=True):
            np.testing.assert_array_equal(part[0], all_rows[row])


def test_layer_normalization_of_halves_takes_its_statistics_in_float32() -> None:
    x = np.full((1, 4096), 100, np.float16)
    x[0, ::2] = 102
    y, mean, _ = run("LayerNormalization", x, np.ones(4096, np.float16), outputs=3, opset=17)
    assert y.dtype == np.float16
    assert mean.dtype == np.float32
    np.testing.assert_allclose(mean, [[101]])
    np.testing.assert_allclose(y[0, :2].astype(np.float32), [1, -1], atol=1e-3)


def test_layer_normalization_gives_its_statistics_in_the_stash_type() -> None:
    """As the specification says; the values are still those of the wider type."""
    x, ones = rng.standard_normal((2, 8)), np.ones(8)
    y, mean, factor = run("LayerNormalization", x, ones, outputs=3, opset=17)
    assert [part.dtype for part in (y, mean, factor)] == [np.float64, np.float32, np.float32]
    np.testing.assert_allclose(y, (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5), rtol=1e-12)
    _, mean, _ = run("LayerNormalization", x, ones, outputs=3, opset=17, stash_type=onnx.TensorProto.BFLOAT16)
    assert mean.dtype == ml_dtypes.bfloat16
    assert run("LayerNormalization", x, ones, outputs=3, opset=17, stash_type=0)[1].dtype == np.float32  # no type


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_group_and_instance_normalization(groups: int) -> None:
    x = floats(2, 6, 4, 5)
    same("GroupNormalization", x, floats(6), floats(6), num_groups=groups, opset=21)
    same("GroupNormalization", x, floats(groups), floats(groups), num_groups=groups, opset=18)
    same("InstanceNormalization", x, floats(6), floats(6), opset=22, epsilon=0.1)


def test_lrn_sums_over_channels() -> None:
    """Case 23: with N = 2 and C = 5."""
    for size in (1, 3, 5):
        same("LRN", floats(2, 5, 3, 3), size=size, alpha=0.5, bias=2.0, opset=13)
    y = run("LRN", np.array([[[1.0], [2.0], [3.0]]], np.float32), size=2, alpha=2.0, beta=1.0, bias=0.0, opset=13)
    np.testing.assert_allclose(y[0, :, 0], [1 / 5, 2 / 13, 3 / 9], rtol=1e-6)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(p: int) -> None:
    same("LpNormalization", floats(2, 3, 4), axis=1, p=p, opset=22)
    assert not run("LpNormalization", np.zeros((2, 3), np.float32), p=p).any()


def test_mean_variance_normalization() -> None:
    same("MeanVarianceNormalization", floats(2, 3, 4, 5), opset=13)
    same("MeanVarianceNormalization", floats(2, 3, 4, 5), opset=13, axes=[1, 2])


def test_bfloat16_stays_bfloat16() -> None:
    x = floats(2, 4, 3, 3).astype(ml_dtypes.bfloat16)
    ones = np.ones(4, ml_dtypes.bfloat16)
    for op in ("InstanceNormalization", "BatchNormalization"):
        extra = [ones, ones] if op == "BatchNormalization" else []
        assert run(op, x, ones, ones, *extra, opset=22).dtype == ml_dtypes.bfloat16
