"""Operators that ONNX never released, by ONNX Runtime, which still runs them; normalisations fused at old opsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.kernels.oracle import run
from tests.engine.kernels.properties.strategies import agree, axis_of, data, examples, shapes

NUMBER = st.sampled_from([0.5, 1.0, 2.0])


@examples
@given(shapes(1), NUMBER, NUMBER, st.data())
def test_elementwise(shape: tuple[int, ...], alpha: float, beta: float, pick: Any) -> None:
    x = pick.draw(data(shape))
    for op in ("Affine", "ParametricSoftplus", "ScaledTanh"):
        agree(op, x, alpha=alpha, beta=beta, opset=8)
    agree("ThresholdedRelu", x, alpha=alpha, opset=8)
    assert run("Scale", x, scale=alpha, opset=8).tolist() == (x * np.float32(alpha)).tolist()
    assert run("MemcpyToHost", x, opset=8) is not None


@examples
@given(shapes(4, 4, 3, 5), NUMBER, st.data())
def test_images(shape: tuple[int, ...], scale: float, pick: Any) -> None:
    x = pick.draw(data(shape))
    agree("ImageScaler", x, scale=scale, bias=pick.draw(data((shape[1],))).tolist(), opset=8)
    agree("Crop", x, border=[1, 0, 1, 2], opset=8)
    agree("Crop", x, border=[1, 0, 0, 0], scale=[2, 1], opset=8)
    for across in (0, 1):
        agree("MeanVarianceNormalization", x, across_channels=across, opset=8, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("op", ["LayerNormalization", "SimplifiedLayerNormalization"])
@examples
@given(shapes(2, 3), st.data())
def test_fused_normalizations(op: str, shape: tuple[int, ...], pick: Any) -> None:
    axis = pick.draw(axis_of(len(shape)))
    x, scale = pick.draw(data(shape)), pick.draw(data(shape[axis % len(shape) :]))
    agree(op, x, scale, axis=axis, epsilon=0.01, opset=12, rtol=1e-4, atol=1e-4)
