"""Reductions against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(24)
OPS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
AXES: list[list[int] | None] = [None, [0], [1, 2], [-1], [0, 1, 2]]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_axes_and_keepdims(op: str, dtype: type) -> None:
    x = (np.abs(rng.standard_normal((3, 4, 5))) * 2 + 1).astype(dtype)
    if dtype is np.int32 and op in ("LogSum", "LogSumExp", "L2", "Prod"):
        x = np.ones_like(x)  # what the operator rounds, or overflows to, is not specified
    for axes in AXES:
        for keepdims in (0, 1):
            attribute = {} if axes is None else {"axes": axes}
            check(f"Reduce{op}", x, opset=11, keepdims=keepdims, rtol=1e-5, atol=1e-5, **attribute)
            inputs = [x] if axes is None else [x, np.array(axes, np.int64)]
            opset = 13 if op == "Sum" else 18
            check(f"Reduce{op}", *inputs, opset=opset, keepdims=keepdims, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("op", "value"), [("Sum", -2.0), ("SumSquare", 4.0), ("L1", 2.0), ("L2", 2.0), ("Max", -2.0), ("LogSumExp", -2.0)]
)
def test_no_axes_reduce_each_element_alone(op: str, value: float) -> None:
    """Case 25: an identity only where the operator changes no single element."""
    x = np.full((2, 3), -2, np.float32)
    for axes in (np.zeros(0, np.int64), None):
        inputs = [x] if axes is None else [x, axes]
        y = run(f"Reduce{op}", *inputs, opset=18, noop_with_empty_axes=1)
        np.testing.assert_allclose(y, np.full((2, 3), value), rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "value"),
    [("Sum", 0), ("Prod", 1), ("Max", -np.inf), ("Min", np.inf), ("L1", 0), ("LogSum", -np.inf), ("Mean", np.nan)],
)
def test_empty_reductions(op: str, value: float) -> None:
    """Case 25."""
    y = run(f"Reduce{op}", np.zeros((0, 3), np.float32), np.array([0]), opset=20, keepdims=0)
    np.testing.assert_array_equal(y, np.full(3, value, np.float32))


def test_empty_maximum_of_integers_and_booleans() -> None:
    assert (run("ReduceMax", np.zeros((0, 2), np.int32), np.array([0]), opset=20) == np.iinfo(np.int32).min).all()
    assert not run("ReduceMax", np.zeros((0, 2), bool), np.array([0]), opset=20).any()
    assert run("ReduceMin", np.zeros((0, 2), bool), np.array([0]), opset=20).all()


def test_mean_of_float16_does_not_overflow() -> None:
    """Case 31: the sum of 4096 hundreds is beyond float16, their mean is not."""
    assert float(run("ReduceMean", np.full((4096,), 100, np.float16), opset=18, keepdims=0)) == 100


def test_sum_of_bfloat16_is_taken_in_float32() -> None:
    y = run("ReduceSum", np.ones(1000, ml_dtypes.bfloat16), opset=13, keepdims=0)
    assert y.dtype == ml_dtypes.bfloat16
    assert float(y) == 1000


def test_integers_wrap_and_means_truncate() -> None:
    assert int(run("ReduceSum", np.array([2**31 - 1, 1], np.int32), opset=13, keepdims=0)) == -(2**31)
    assert int(run("ReduceMean", np.array([-3, -4], np.int32), opset=18, keepdims=0)) == -3


def test_log_sum_exp_of_large_and_infinite_values() -> None:
    x = np.array([[1000, 1000], [-np.inf, -np.inf], [np.inf, 0]], np.float32)
    y = run("ReduceLogSumExp", x, np.array([1]), opset=18, keepdims=0)
    np.testing.assert_allclose(y, [1000 + np.log(2), -np.inf, np.inf])


def test_axes_outside_the_rank_are_named() -> None:
    with pytest.raises(ValueError, match="axis 3"):
        run("ReduceSum", np.zeros((2, 2), np.float32), np.array([3]), opset=13)
