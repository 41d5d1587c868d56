"""The CUDA C kernels, their source compiled for the host: against the library's kernels over NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.kernels import library
from engine.kernels.registry import KernelRegistry
from engine.providers import CUDAProvider
from tests.engine.providers.fake_cupy import FakeCuPy
from tests.engine.providers.nodes import Context, make_node

RNG = np.random.default_rng(11)
SLIDING = [
    {}, {"strides": [2, 2]}, {"pads": [1, 1, 1, 1]}, {"pads": [0, 1, 2, 1], "strides": [1, 3]},
    {"dilations": [2, 1]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, {"auto_pad": "SAME_LOWER", "strides": [2, 1]},
]  # fmt: skip


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def both(op_type: str, *inputs: np.ndarray | None, wanted: tuple[bool, ...] = (True,), **attributes: Any) -> Any:
    """The result on the stand-in and on the CPU, and what the stand-in was asked for."""
    cupy, on_device, on_host = FakeCuPy(), KernelRegistry(), KernelRegistry(library())
    CUDAProvider(cupy).register_kernels(on_device)
    node = make_node(op_type, *("float32" for _ in inputs), **attributes)
    results = []
    for registry, xp, values in ((on_device, cupy, [None if x is None else cupy.asarray(x) for x in inputs]),
                                 (on_host, np, list(inputs))):  # fmt: skip
        found, refusal = registry.find(node)
        assert found, refusal
        results.append(found.function(Context(node, xp, wanted), *values, **found.bind_attributes(node)))
    first = results[0][0] if isinstance(results[0], tuple) else results[0]
    second = results[1][0] if isinstance(results[1], tuple) else results[1]
    return first.get(), second, cupy.calls


@pytest.mark.parametrize("sliding", SLIDING)
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("with_bias", [False, True])
def test_depthwise(sliding: dict[str, Any], times: int, with_bias: bool) -> None:
    x, w, b = floats(2, 3, 9, 8), floats(3 * times, 1, 3, 2), floats(3 * times) if with_bias else None
    ours, wanted, calls = both("Conv", x, w, b, group=3, **sliding)
    assert calls["RawKernel depthwise"] == 1
    np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("activation", ["", "Relu", "Sigmoid", "Clip"])
@pytest.mark.parametrize("adds", [False, True])
def test_fused_depthwise(activation: str, adds: bool) -> None:
    x, w, b, z = floats(2, 3, 5, 4), floats(3, 1, 3, 3), floats(3), floats(2, 3, 5, 4) if adds else None
    ours, wanted, calls = both("FusedConv", x, w, b, z, domain="com.microsoft", version=1, group=3, pads=[1, 1, 1, 1],
                               activation=activation, activation_params=[-0.5, 0.5])  # fmt: skip
    assert calls["RawKernel depthwise"] == 1
    np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-6)
    grouped = both("FusedConv", x, floats(3, 3, 3, 3), b, None, domain="com.microsoft", version=1)
    assert "RawKernel depthwise" not in grouped[2]


@pytest.mark.parametrize("sliding", SLIDING)
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("include", [0, 1])
def test_pooling(sliding: dict[str, Any], ceil_mode: int, op_type: str, include: int) -> None:
    extra = {"count_include_pad": include} if op_type == "AveragePool" else {}
    attributes = {"kernel_shape": [3, 2], "ceil_mode": ceil_mode, **extra, **sliding}
    ours, wanted, calls = both(op_type, floats(2, 3, 9, 8), **attributes)
    assert sum(calls[f"RawKernel {name}"] for name in ("max_pool", "average_pool")) == 1
    np.testing.assert_allclose(ours, wanted, rtol=1e-6, atol=1e-6)


def test_nan_wins_and_negative_infinity_is_a_value() -> None:
    x = np.full((1, 1, 2, 4), -np.inf, np.float32)
    x[0, 0, 0, 2] = np.nan
    ours, wanted, _ = both("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    np.testing.assert_array_equal(ours, wanted)
    np.testing.assert_array_equal(ours, [[[[-np.inf, np.nan]]]])


@pytest.mark.parametrize(
    ("op_type", "shapes", "attributes", "wanted"),
    [
        ("Conv", [(1, 4, 5, 5), (4, 2, 3, 3)], {"group": 2}, (True,)),  # two channels a group
        ("Conv", [(1, 3, 9), (3, 1, 3)], {"group": 3}, (True,)),  # one spatial axis
        ("Conv", [(1, 1, 5, 5), (2, 1, 3, 3)], {}, (True,)),  # one group
        ("MaxPool", [(1, 2, 5, 5)], {"kernel_shape": [2, 2]}, (True, True)),  # indices are wanted
        ("AveragePool", [(1, 2, 3, 4, 5)], {"kernel_shape": [2, 2, 2]}, (True,)),
    ],
)
def test_everything_else_goes_the_general_way(
    op_type: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any], wanted: tuple[bool, ...]
) -> None:
    ours, expected, calls = both(op_type, *(floats(*shape) for shape in shapes), wanted=wanted, **attributes)
    assert not any(name.startswith("RawKernel") for name in calls)
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_more_elements_than_threads_and_none_at_all() -> None:
    big = floats(1, 2, 300, 200)
    ours, wanted, _ = both("MaxPool", big, kernel_shape=[1, 1])
    np.testing.assert_array_equal(ours, wanted)
    ours, wanted, calls = both("MaxPool", floats(0, 2, 4, 4), kernel_shape=[2, 2])
    assert ours.shape == wanted.shape == (0, 2, 3, 3)
    assert calls["RawKernel max_pool"] == 0
