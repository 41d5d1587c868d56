"""Fused and quantised operators of com.microsoft against ONNX Runtime."""
from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from tests.engine.kernels.oracle import SEVEN_BITS, assert_same, check, model_of, run_model, run_model_ort

rng = np.random.default_rng(28)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def contrib(op: str, *inputs: np.ndarray | None, tolerance: float = 1e-5, **options: object) -> None:
    check(op, *inputs, domain="com.microsoft", opset=17, rtol=tolerance, atol=tolerance, **options)


def test_activations() -> None:
    x = floats(2, 3, 8)
    contrib("Gelu", x)
    contrib("BiasGelu", x, floats(8))
    contrib("FastGelu", x)
    contrib("FastGelu", x, floats(8))
    contrib("QuickGelu", x)
    contrib("QuickGelu", x, alpha=0.5)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_fused_matmul(a: int, b: int) -> None:
    left, right = floats(2, *((5, 4) if a else (4, 5))), floats(2, *((6, 5) if b else (5, 6)))
    contrib("FusedMatMul", left, right, transA=a, transB=b, alpha=0.5)
    contrib("FusedMatMul", floats(4, 2, 5), floats(2, 5, 6), transBatchA=1)
    contrib("FusedMatMul", floats(5, 2, 4), floats(5, 2, 6), transA=1, transBatchA=1, transBatchB=1)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.1]), ("Clip", [-1.0, 1.0]),
     ("HardSigmoid", [0.3, 0.4])],
)  # fmt: skip
def test_fused_convolution_and_gemm(name: str, parameters: list[float] | None) -> None:
    extra = {} if parameters is None else {"activation_params": parameters}
    contrib("FusedConv", floats(1, 4, 6, 6), floats(4, 4, 3, 3), floats(4), activation=name, **extra)
    if name in ("Relu", "Tanh", "LeakyRelu"):
        alpha = {} if parameters is None else {"activation_alpha": parameters[0]}
        contrib("FusedGemm", floats(3, 4), floats(4, 5), floats(5), activation=name, **alpha)


def test_normalizations() -> None:
    x = floats(2, 3, 8)
    for skip in (floats(2, 3, 8), floats(1, 3, 8), floats(3, 8)):
        contrib("SkipLayerNormalization", x, skip, floats(8), floats(8), floats(8), outputs=4)
        contrib("SkipLayerNormalization", x, skip, floats(8))
    contrib("SkipSimplifiedLayerNormalization", x, x, floats(8), floats(8))
    words, segments = rng.integers(0, 9, (2, 5)).astype(np.int32), rng.integers(0, 2, (2, 5)).astype(np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    tables = floats(9, 8), floats(7, 8), floats(2, 8), floats(8), floats(8)
    contrib("EmbedLayerNormalization", words, segments, *tables, mask, outputs=3)


def scale(low: float = 0.02, high: float = 0.1) -> np.ndarray:
    return np.array(rng.uniform(low, high), np.float32)


def within_one_step(op: str, *inputs: np.ndarray | None, **options: object) -> None:
    """ONNX Runtime rounds some of these by way of tables and fixed point, so that one step of the scale may differ."""
    check(op, *inputs, domain="com.microsoft", opset=17, rtol=0, atol=1, **options)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantized_elementwise_and_pooling(dtype: type) -> None:
    def random(*shape: int) -> np.ndarray:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max + 1, shape).astype(dtype)

    def grain() -> tuple[np.ndarray, np.ndarray]:
        return scale(), np.array(rng.integers(0, 100), dtype)

    probability = np.array(1 / 256, np.float32), np.array(np.iinfo(dtype).min, dtype)
    for op in ("QLinearAdd", "QLinearMul"):
        within_one_step(op, random(2, 3, 8), *grain(), random(3, 8), *grain(), *grain())
    within_one_step("QLinearSigmoid", random(2, 3, 8), *grain(), *probability)
    within_one_step("QLinearLeakyRelu", random(2, 3, 8), *grain(), *grain(), alpha=0.1)
    within_one_step("QLinearConcat", *grain(), random(2, 3), *grain(), random(2, 4), *grain(), axis=1)
    within_one_step("QLinearGlobalAveragePool", random(2, 3, 4, 4), *grain(), *grain())
    within_one_step("QLinearAveragePool", random(2, 3, 6, 6), *grain(), *grain(), kernel_shape=[3, 3], pads=[1] * 4)
    inputs = [random(2, 3, 8), *grain(), *probability]
    model = model_of("QLinearSoftmax", inputs, domain="com.microsoft", opset=17, axis=-1)
    model.graph.node[0].attribute.append(helper.make_attribute("opset", 13))
    feeds = {f"i{k}": x for k, x in enumerate(inputs)}
    assert_same(run_model(model, feeds)[0], run_model_ort(model, feeds)[0], rtol=0, atol=1)


def test_quantized_products() -> None:
    a, b = rng.integers(0, 256, (3, 5)).astype(np.uint8), rng.integers(*SEVEN_BITS, (7, 5), np.int8)
    zeros = np.array(9, np.uint8), np.array(3, np.int8)
    bias = (floats(7) * 1000).astype(np.int32)
    out = np.array(4, np.float32), np.array(100, np.uint8)
    contrib("QGemm", a, scale(), zeros[0], b, scale(), zeros[1], bias, *out, transB=1)
    contrib("QGemm", a, scale(), zeros[0], b, np.abs(floats(7)), np.zeros(7, np.int8), transB=1)
    contrib("MatMulIntegerToFloat", a, b.T.copy(), scale(), scale(), *zeros, floats(7))
    contrib("DynamicQuantizeMatMul", floats(3, 5), b.T.copy(), scale(), zeros[1], floats(7))


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize(("depth", "block"), [(64, 32), (40, 32), (64, 16)])
def test_matmul_of_packed_weights(bits: int, depth: int, block: int) -> None:
    blocks = -(-depth // block)
    weights = rng.integers(0, 256, (6, blocks, block * bits // 8)).astype(np.uint8)
    zeros = rng.integers(0, 256, (6, -(-blocks * bits // 8))).astype(np.uint8)
    options = {"K": depth, "N": 6, "bits": bits, "block_size": block, "tolerance": 1e-3}
    contrib("MatMulNBits", floats(2, 3, depth), weights, floats(6, blocks), **options)
    contrib("MatMulNBits", floats(2, 3, depth), weights, floats(6, blocks), zeros, **options)


def test_gather_of_packed_rows() -> None:
    data, indices = rng.integers(0, 256, (10, 16)).astype(np.uint8), rng.integers(0, 10, (2, 3))
    contrib("GatherBlockQuantized", data, indices, floats(10, 2), block_size=16, bits=4, quantize_axis=1)


def test_lstm_with_quantized_weights() -> None:
    hidden = 16
    w, r = (rng.integers(*SEVEN_BITS, (1, width, 4 * hidden), np.int8) for width in (8, hidden))
    grain, zero = np.array([0.01], np.float32), np.zeros(1, np.int8)
    for state in (None, floats(1, 4, hidden)):
        contrib(
            "DynamicQuantizeLSTM", floats(3, 4, 8), w, r, floats(1, 8 * hidden), None, state, state, None, grain, zero,
            grain, zero, outputs=3, hidden_size=hidden, direction="forward",
        )  # fmt: skip
