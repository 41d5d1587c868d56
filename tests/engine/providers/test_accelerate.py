"""Accelerate on the stand-in: each fast path against NumPy, which path was taken, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.errors import DeviceError
from engine.kernels import library
from engine.kernels.registry import KernelRegistry
from engine.providers import AccelerateProvider
from tests.engine.providers.conftest import Standin
from tests.engine.providers.nodes import Context, make_node

RNG = np.random.default_rng(3)


def floats(*shape: int, low: float = 0.5, high: float = 3.0) -> np.ndarray:
    return np.asarray(RNG.uniform(low, high, shape), np.float32)


def run(standin: Standin, op_type: str, *inputs: np.ndarray | None, **attributes: Any) -> np.ndarray:
    """The provider's kernel for the latest version of an operator, on `inputs`."""
    provider = AccelerateProvider(standin.path)
    registry = KernelRegistry()
    provider.register_kernels(registry)
    node = make_node(op_type, *("float32" for x in inputs if x is not None), **attributes)
    found, refusal = registry.find(node)
    assert found, refusal
    return found.function(Context(node), *inputs, **found.bind_attributes(node))


def on_cpu(op_type: str, *inputs: np.ndarray | None, **attributes: Any) -> np.ndarray:
    """The library's kernel for the same."""
    node = make_node(op_type, *("float32" for x in inputs if x is not None), **attributes)
    found, refusal = KernelRegistry(library()).find(node)
    assert found, refusal
    return found.function(Context(node), *inputs, **found.bind_attributes(node))


BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}


@pytest.mark.parametrize("op_type", BINARY)
@pytest.mark.parametrize(
    ("a", "b", "calls"),
    [
        (floats(3, 5), floats(3, 5), 1),
        (floats(3, 5), floats(), 1),
        (floats(3, 5), floats(1, 1), 1),
        (floats(), floats(4), 1),
        (floats(2, 3, 64), floats(64), 6),
        (floats(2, 3, 64), floats(1, 64), 6),
        (floats(2, 3, 4), floats(4), 0),  # rows too short for a call each
        (floats(2, 64), floats(2, 1), 0),  # a broadcast other than along the last axis
        (floats(64), floats(2, 64), 0),
        (floats(1), floats(1, 1, 1), 1),
        (floats(6, 5)[::2], floats(3, 5), 0),  # not contiguous
        (floats(0, 5), floats(5), 0),
    ],
)
def test_arithmetic(accelerate: Standin, op_type: str, a: np.ndarray, b: np.ndarray, calls: int) -> None:
    result = run(accelerate, op_type, a, b)
    wanted = BINARY[op_type](a, b)
    assert result.dtype == np.float32
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=1e-6)
    taken = sum(accelerate.calls(f"vDSP_{f}{op_type.lower()}") for f in ("v", "vs", "sv"))
    taken += accelerate.calls("vDSP_vsmsa") + (accelerate.calls("vDSP_vsadd") if op_type == "Sub" else 0)
    assert taken == calls


def test_the_two_forms_that_take_the_right_operand_first(accelerate: Standin) -> None:
    a, b = np.array([6, 8], np.float32), np.array([3, 2], np.float32)
    np.testing.assert_array_equal(run(accelerate, "Sub", a, b), [3, 6])
    np.testing.assert_array_equal(run(accelerate, "Div", a, b), [2, 4])
    np.testing.assert_array_equal(run(accelerate, "Sub", a[0].reshape(()), b), [3, 4])
    np.testing.assert_array_equal(run(accelerate, "Div", a[0].reshape(()), b), [2, 3])


@pytest.mark.parametrize(
    ("op_type", "symbol", "reference"),
    [("Exp", "vvexpf", np.exp), ("Log", "vvlogf", np.log), ("Sqrt", "vvsqrtf", np.sqrt), ("Tanh", "vvtanhf", np.tanh),
     ("Reciprocal", "vvrecf", np.reciprocal)],
)  # fmt: skip
def test_unary(accelerate: Standin, op_type: str, symbol: str, reference: Callable[..., Any]) -> None:
    for x in (floats(2, 7), floats(), floats(4, 6).T):
        np.testing.assert_allclose(run(accelerate, op_type, x), reference(x), rtol=1e-6)
    assert accelerate.calls(symbol) == 2  # the transposed one went by NumPy


@pytest.mark.parametrize(
    ("a", "b", "calls"),
    [
        (floats(3, 4), floats(4, 5), 1),
        (floats(2, 6, 3, 4), floats(4, 5), 1),  # batch dims join the rows
        (floats(2, 1, 3, 4), floats(6, 4, 5), 12),
        (floats(3, 4), floats(2, 4, 5), 2),
        (floats(4, 3).T, floats(5, 4).T, 1),  # read where they lie
        (floats(2, 4, 3).transpose(0, 2, 1), floats(4, 5), 2),
        (floats(6, 8)[::2, ::2], floats(4, 5), 0),
        (floats(4), floats(4, 5), 0),
        (floats(3, 0), floats(0, 5), 0),
        (floats(1, 4), floats(4, 1), 1),
    ],
)
def test_matmul(accelerate: Standin, a: np.ndarray, b: np.ndarray, calls: int) -> None:
    result = run(accelerate, "MatMul", a, b)
    np.testing.assert_allclose(result, a @ b, rtol=1e-6, atol=1e-7)
    assert result.shape == (a @ b).shape
    assert accelerate.calls("cblas_sgemm") == calls


@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("c", [None, floats(), floats(5), floats(3, 1), floats(3, 5)])
def test_gemm(accelerate: Standin, transposed: tuple[int, int], c: np.ndarray | None) -> None:
    a = floats(4, 3) if transposed[0] else floats(3, 4)
    b = floats(5, 4) if transposed[1] else floats(4, 5)
    result = run(accelerate, "Gemm", a, b, c, alpha=0.5, beta=2.0, transA=transposed[0], transB=transposed[1])
    wanted = 0.5 * ((a.T if transposed[0] else a) @ (b.T if transposed[1] else b)) + (0 if c is None else 2 * c)
    np.testing.assert_allclose(result, wanted, rtol=1e-6)
    assert accelerate.calls("cblas_sgemm") == 1


SLIDING = [
    {}, {"strides": [2, 2]}, {"pads": [1, 1, 1, 1]}, {"pads": [0, 1, 2, 1], "strides": [1, 3]},
    {"dilations": [2, 1]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
]  # fmt: skip


@pytest.mark.parametrize("sliding", SLIDING)
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("with_bias", [False, True])
def test_convolution(accelerate: Standin, sliding: dict[str, Any], group: int, with_bias: bool) -> None:
    x, w, b = floats(2, 4, 9, 8), floats(6, 4 // group, 3, 2), floats(6) if with_bias else None
    result = run(accelerate, "Conv", x, w, b, group=group, **sliding)
    np.testing.assert_allclose(result, on_cpu("Conv", x, w, b, group=group, **sliding), rtol=1e-6)
    assert accelerate.calls("cblas_sgemm") == 2 * group  # one for each image and group


@pytest.mark.parametrize(
    ("x", "w", "calls"),
    [
        (floats(2, 4, 5, 6), floats(3, 4, 1, 1), 2),  # pointwise: multiplied where it lies
        (floats(2, 4, 5, 6).transpose(0, 1, 3, 2), floats(3, 4, 1, 1), 2),
        (floats(1, 4, 7), floats(3, 4, 3), 1),
        (floats(1, 2, 5, 6, 4), floats(3, 2, 2, 2, 2), 1),
        (floats(0, 4, 5, 6), floats(3, 4, 1, 1), 0),
        (floats(1, 8, 80, 500), floats(2, 8, 5, 5), 8),  # gathered in bands of rows
    ],
)
def test_convolution_of_other_forms(accelerate: Standin, x: np.ndarray, w: np.ndarray, calls: int) -> None:
    b = floats(len(w))
    np.testing.assert_allclose(run(accelerate, "Conv", x, w, b), on_cpu("Conv", x, w, b), rtol=1e-6)
    assert accelerate.calls("cblas_sgemm") == calls


def test_depthwise_convolution_is_no_product(accelerate: Standin) -> None:
    x, w = floats(1, 4, 6, 6), floats(4, 1, 3, 3)
    np.testing.assert_allclose(run(accelerate, "Conv", x, w, group=4), on_cpu("Conv", x, w, group=4), rtol=1e-6)
    assert accelerate.calls("cblas_sgemm") == 0


@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", "Tanh", "LeakyRelu"])
def test_fused_convolution(accelerate: Standin, activation: str) -> None:
    x, w, b = floats(1, 4, 6, 6) - 1.5, floats(3, 4, 3, 3) - np.float32(1.5), floats(3)
    z = floats(1, 3, 4, 4)
    attributes: dict[str, Any] = {"activation": activation, "domain": "com.microsoft", "version": 1}
    if activation == "LeakyRelu":
        attributes["activation_params"] = [0.1]
    for more in ([], [z]):
        kept = [a.copy() for a in (x, w, b, z)]
        result = run(accelerate, "FusedConv", x, w, b, *more, **attributes)
        wanted = on_cpu("FusedConv", x, w, b, *more, **attributes)
        np.testing.assert_allclose(result, wanted, rtol=1e-6, atol=2e-6)
        for array, before in zip((x, w, b, z), kept):
            np.testing.assert_array_equal(array, before)
    assert accelerate.calls("cblas_sgemm") == (0 if activation == "LeakyRelu" else 2)


def test_activations(accelerate: Standin) -> None:
    x = np.linspace(-20, 20, 70, dtype=np.float32).reshape(7, 10)
    for op_type, attributes, calls in (("Sigmoid", {}, 1), ("Swish", {}, 2), ("Swish", {"alpha": 0.5}, 2)):
        for value in (x, x.T):
            wanted = on_cpu(op_type, value, **attributes)
            np.testing.assert_allclose(run(accelerate, op_type, value, **attributes), wanted, rtol=1e-6, atol=1e-12)
        assert accelerate.calls("vvexpf") >= calls
    assert np.isnan(run(accelerate, "Sigmoid", np.float32([np.nan]))[0])
    assert run(accelerate, "Sigmoid", np.float32([-200, 200])).tolist() == [0, 1]


def test_shapes_that_do_not_fit_are_an_error(accelerate: Standin) -> None:
    with pytest.raises(ValueError):
        run(accelerate, "MatMul", floats(3, 4), floats(5, 4))
    with pytest.raises(ValueError):
        run(accelerate, "Gemm", floats(3, 4), floats(5, 4))
    with pytest.raises(ValueError):
        run(accelerate, "Add", floats(3, 4), floats(3, 5))


def test_inputs_are_left_alone(accelerate: Standin) -> None:
    a, b, c = floats(3, 4), floats(4, 5), floats(5)
    kept = [x.copy() for x in (a, b, c)]
    run(accelerate, "Gemm", a, b, c, alpha=2.0)
    run(accelerate, "MatMul", a, b)
    for x, before in zip((a, b, c), kept):
        np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    ("op_type", "inputs", "reason"),
    [("MatMul", ("float16", "float16"), "no float16 MatMul kernel"), ("Add", ("int64", "int64"), "no int64 Add kernel"),
     ("Conv", ("float16", "float16"), "no float16 Conv kernel"), ("Relu", ("float32",), "no kernel for Relu"),
     ("Exp", (None,), "not known before the run")],
)  # fmt: skip
def test_refusals(accelerate: Standin, op_type: str, inputs: tuple[str | None, ...], reason: str) -> None:
    registry = KernelRegistry()
    AccelerateProvider(accelerate.path).register_kernels(registry)
    found, refusal = registry.find(make_node(op_type, *inputs))
    assert found is None
    assert reason in refusal


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has the framework")
def test_elsewhere_it_is_unavailable() -> None:
    provider = AccelerateProvider()
    assert provider.available().reason == "only on macOS"
    with pytest.raises(DeviceError, match="only on macOS"):
        provider.register_kernels(KernelRegistry())


def test_a_library_without_the_symbols_is_unavailable(tmp_path: Any) -> None:
    missing = AccelerateProvider(str(tmp_path / "no.so")).available()
    assert not missing
    assert "cannot be loaded" in missing.reason


@pytest.mark.mac
def test_the_framework_itself() -> None:
    provider = AccelerateProvider()
    assert provider.available()
    registry = KernelRegistry()
    provider.register_kernels(registry)
    a, b = floats(7, 9), floats(9, 5)
    node = make_node("MatMul", "float32", "float32")
    found, _ = registry.find(node)
    assert found
    np.testing.assert_allclose(found.function(Context(node), a, b), a @ b, rtol=1e-5)
