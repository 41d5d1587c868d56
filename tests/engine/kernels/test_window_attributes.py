"""Attributes of sliding windows that the specification does not allow: every operator says what it wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from engine.dims.windows import WindowError, pad_pairs, per_axis
from engine.errors import NodeError
from engine.session import Session
from tests.engine.kernels.oracle import run
from tests.engine.session.models import model_of, value

X, W = np.ones((1, 2, 5, 5), np.float32), np.ones((2, 2, 3, 3), np.float32)
SMALL, ZERO = np.ones((1, 2, 5, 5), np.uint8), np.zeros((), np.uint8)
ONE = np.ones((), np.float32)
OPERATORS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "Conv": ((X, W), {}),
    "ConvTranspose": ((X, W), {}),
    "ConvInteger": ((SMALL, W.astype(np.uint8)), {}),
    "QLinearConv": ((SMALL, ONE, ZERO, W.astype(np.uint8), ONE, ZERO, ONE, ZERO), {}),
    "MaxPool": ((X,), {"kernel_shape": [3, 3]}),
    "AveragePool": ((X,), {"kernel_shape": [3, 3]}),
    "LpPool": ((X,), {"kernel_shape": [3, 3]}),
}
BAD: list[tuple[str, Any, str]] = [
    ("strides", [0, 1], r"attribute 'strides' is \[0, 1\]: each entry must be 1 or more"),
    ("strides", [-1, 1], r"attribute 'strides' is \[-1, 1\]: each entry must be 1 or more"),
    ("strides", [1], r"attribute 'strides' is \[1\]: 2 spatial axes need 2 entries"),
    ("dilations", [1, 0], r"attribute 'dilations' is \[1, 0\]: each entry must be 1 or more"),
    ("pads", [1, 1], r"attribute 'pads' is \[1, 1\]: 2 spatial axes need 4 entries"),
    ("pads", [0, -1, 0, 0], r"attribute 'pads' is \[0, -1, 0, 0\]: each entry must be 0 or more"),
    ("auto_pad", "SAME", "attribute 'auto_pad' is 'SAME', which is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER"),
]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(("name", "wrong", "message"), BAD)
def test_every_sliding_operator(operator: str, name: str, wrong: Any, message: str) -> None:
    inputs, attributes = OPERATORS[operator]
    with pytest.raises(WindowError, match=message):
        run(operator, *inputs, **{**attributes, name: wrong})


@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(("kernel", "message"), [
    ([0, 1], r"'kernel_shape' is \[0, 1\]: each entry must be 1 or more"),
    ([2, -1], r"'kernel_shape' is \[2, -1\]: each entry must be 1 or more"),
    ([2], r"'kernel_shape' is \[2\]: 2 spatial axes need 2 entries"),
])  # fmt: skip
def test_kernels_of_pools(operator: str, kernel: list[int], message: str) -> None:
    with pytest.raises(WindowError, match=message):
        run(operator, X, kernel_shape=kernel)


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose", "ConvInteger", "QLinearConv"])
@pytest.mark.parametrize("group", [0, -1])
def test_groups(operator: str, group: int) -> None:
    inputs, _ = OPERATORS[operator]
    with pytest.raises(WindowError, match=f"attribute 'group' is {group}: it must be 1 or more"):
        run(operator, *inputs, group=group)


def test_transposed_and_unpooled() -> None:
    with pytest.raises(WindowError, match=r"'output_padding' is \[-1, 0\]: each entry must be 0 or more"):
        run("ConvTranspose", X, W, output_padding=[-1, 0])
    with pytest.raises(WindowError, match=r"'output_shape' is \[7\]: 2 spatial axes need 2 entries"):
        run("ConvTranspose", X, W, output_shape=[7])
    indices = np.zeros(X.shape, np.int64)
    with pytest.raises(WindowError, match=r"'pads' is \[1\]: 2 spatial axes need 4 entries"):
        run("MaxUnpool", X, indices, kernel_shape=[2, 2], pads=[1])
    with pytest.raises(WindowError, match=r"'strides' is \[0, 2\]: each entry must be 1 or more"):
        run("MaxUnpool", X, indices, kernel_shape=[2, 2], strides=[0, 2])


def test_absent_attributes_have_their_defaults() -> None:
    assert per_axis("strides", None, 2) == per_axis("strides", [], 2) == (1, 1)
    assert pad_pairs(None, 2) == pad_pairs([0, 0, 0, 0], 2) == [(0, 0), (0, 0)]
    assert pad_pairs([1, 2, 3, 4], 2) == [(1, 3), (2, 4)]
    assert pad_pairs([1, 2, 3, 4], 2, "VALID") == pad_pairs([1, 2, 3, 4], 2, "SAME_UPPER") == [(0, 0), (0, 0)]


def test_a_model_says_so_when_it_is_opened_and_when_it_runs() -> None:
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[0, 1])
    model = model_of([node], [value("x", TensorProto.FLOAT, [1, 2, 5, 5])], [value("y", shape=None)])
    told = "attribute 'strides' is [0, 1]: each entry must be 1 or more"
    assert [told in finding.message for finding in model.diagnostics if finding.code == "shape-clash"] == [True]
    with pytest.raises(NodeError) as failed:
        Session(model).run({"x": X})
    assert f"MaxPool 'MaxPool_0' (opset 17) failed: {told}. It got 'x' float32[1, 2, 5, 5]" in str(failed.value)
