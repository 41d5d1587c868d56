"""Arithmetic, logic, activations, casts and softmax over random shapes, dtypes and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from tests.engine.kernels.properties.strategies import (
    FLOATS,
    HALVES,
    INTEGERS,
    agree,
    axis_of,
    broadcast_pair,
    data,
    examples,
    optional,
    shapes,
)

REAL = st.sampled_from((*FLOATS, *HALVES))
SMALL = st.floats(0.0625, 2, width=32)

UNARY = [
    "Abs", "Neg", "Sqrt", "Exp", "Log", "Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan",
    "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Tanh", "Reciprocal", "Erf", "Relu", "Sigmoid", "Softplus", "Softsign",
    "HardSwish", "Mish", "IsNaN", "IsInf", "Identity",
]  # fmt: skip


@pytest.mark.parametrize("op", UNARY)
@examples
@given(st.data())
def test_unary(op: str, pick: Any) -> None:
    x = pick.draw(data(pick.draw(shapes()), pick.draw(REAL), special=True))
    agree(op, np.asarray(np.nan_to_num(x)) if op == "Sign" else x, opset=22)  # the sign of NaN: docs/semantics.md


@pytest.mark.parametrize("op", ["Abs", "Neg", "Sign", "Relu"])
@examples
@given(st.data())
def test_unary_of_integers(op: str, pick: Any) -> None:
    signed = INTEGERS if op in ("Abs", "Sign") else [dtype for dtype in INTEGERS if np.dtype(dtype).kind == "i"]
    agree(op, pick.draw(data(pick.draw(shapes()), pick.draw(st.sampled_from(signed)), -100, 100)), opset=22)


ACTIVATIONS: dict[str, dict[str, Any]] = {
    "LeakyRelu": {"alpha": st.floats(-2, 2, width=32)}, "Elu": {"alpha": SMALL}, "Celu": {"alpha": SMALL},
    "Selu": {"alpha": SMALL, "gamma": SMALL}, "HardSigmoid": {"alpha": SMALL, "beta": SMALL},
    "ThresholdedRelu": {"alpha": SMALL}, "Shrink": {"lambd": SMALL, "bias": SMALL},
    "Gelu": {"approximate": st.sampled_from(["none", "tanh"])}, "Swish": {"alpha": SMALL},
}  # fmt: skip


@pytest.mark.parametrize("op", ACTIVATIONS)
@examples
@given(st.data())
def test_activations(op: str, pick: Any) -> None:
    x = pick.draw(data(pick.draw(shapes()), np.float32 if op == "Celu" else pick.draw(REAL)))
    agree(op, x, opset=24 if op == "Swish" else 22, **optional(pick.draw, **ACTIVATIONS[op]))


ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Max", "Min")
COMPARISON = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")


@pytest.mark.parametrize("op", [*ARITHMETIC, *COMPARISON])
@examples
@given(st.data())
def test_binary(op: str, pick: Any) -> None:
    dtype = pick.draw(st.sampled_from((*FLOATS, *HALVES, *INTEGERS)))
    a, b = (pick.draw(data(shape, dtype, -50, 50, special=True)) for shape in pick.draw(broadcast_pair()))
    if op == "Div" and b.dtype.kind in "iu":
        b = np.where(b == 0, 3, b).astype(dtype)
    agree(op, a, b)


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
@examples
@given(broadcast_pair(), st.data())
def test_logic(op: str, pair: Any, pick: Any) -> None:
    agree(op, *(pick.draw(data(shape, bool)) for shape in pair))


@pytest.mark.parametrize("op", ["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
@examples
@given(broadcast_pair(), st.sampled_from(INTEGERS), st.data())
def test_bitwise(op: str, pair: Any, dtype: Any, pick: Any) -> None:
    agree(op, *(pick.draw(data(shape, dtype, -100, 100)) for shape in pair))


@examples
@given(broadcast_pair(), st.sampled_from([np.uint8, np.uint32, np.uint64]), st.sampled_from(["LEFT", "RIGHT"]),
       st.data())  # fmt: skip
def test_bit_shift(pair: Any, dtype: Any, direction: str, pick: Any) -> None:
    a, b = pick.draw(data(pair[0], dtype, 0, 100)), pick.draw(data(pair[1], dtype, 0, 7))
    agree("BitShift", a, b, direction=direction)


@examples
@given(broadcast_pair(), st.sampled_from((*FLOATS, *INTEGERS)), st.integers(0, 1), st.data())
def test_mod(pair: Any, dtype: Any, fmod: int, pick: Any) -> None:
    a, b = (pick.draw(data(shape, dtype, -50, 50)) for shape in pair)
    b = np.where(b == 0, 3, b).astype(dtype)
    agree("Mod", a, b, fmod=1 if a.dtype.kind == "f" else fmod)


@examples
@given(broadcast_pair(), st.sampled_from((*FLOATS, np.int32, np.int64)), st.sampled_from((*FLOATS, np.int32, np.int64)),
       st.data())  # fmt: skip
def test_pow(pair: Any, base: Any, exponent: Any, pick: Any) -> None:
    a = pick.draw(data(pair[0], base, 0 if np.dtype(exponent).kind == "f" else -4, 4))
    b = pick.draw(data(pair[1], exponent, 0 if np.dtype(base).kind == "i" else -3, 3))
    agree("Pow", a, b)


@pytest.mark.parametrize("op", ["Max", "Min", "Sum", "Mean"])
@examples
@given(shapes(), st.integers(1, 4), st.data())
def test_variadic(op: str, shape: tuple[int, ...], count: int, pick: Any) -> None:
    inputs = [pick.draw(data([1 if pick.draw(st.integers(0, 4)) == 0 else d for d in shape])) for _ in range(count)]
    agree(op, *inputs)


@examples
@given(broadcast_pair(), st.sampled_from((*FLOATS, np.int32, np.int64)), st.data())
def test_prelu_where_clip(pair: Any, dtype: Any, pick: Any) -> None:
    a, b = (pick.draw(data(shape, dtype)) for shape in pair)
    agree("Where", pick.draw(data(pair[1], bool)), a, b)
    if np.broadcast_shapes(*pair) == a.shape:
        agree("PRelu", a, b)
    agree("Clip", a, pick.draw(data((), dtype, -2, 1)) if pick.draw(st.booleans()) else None,
          pick.draw(data((), dtype, 0, 3)) if pick.draw(st.booleans()) else None)  # fmt: skip


CASTABLE = (np.float16, np.float32, np.float64, bool, *INTEGERS)


@pytest.mark.parametrize("target", CASTABLE)
@examples
@given(st.sampled_from(CASTABLE), shapes(), st.data())
def test_cast(target: Any, source: Any, shape: tuple[int, ...], pick: Any) -> None:
    low = 0 if np.dtype(target).kind == "u" and np.dtype(source).kind == "f" else -100
    agree("Cast", pick.draw(data(shape, source, low, 100)), to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [11, 13])
@examples
@given(st.data())
def test_softmax(op: str, opset: int, pick: Any) -> None:
    x = pick.draw(data(pick.draw(shapes(1)), pick.draw(REAL), -10, 10))
    axis = pick.draw(axis_of(x.ndim))
    agree(op, x, opset=opset, **({"axis": axis} if x.ndim > 1 or pick.draw(st.booleans()) else {"axis": 0}))


@examples
@given(shapes(2, 2), shapes(0, 2), st.sampled_from(["mean", "sum", "none"]), st.booleans(), st.data())
def test_losses(head: tuple[int, ...], rest: tuple[int, ...], reduction: str, weighted: bool, pick: Any) -> None:
    classes = head[1]
    x, target = pick.draw(data((*head, *rest))), pick.draw(data((head[0], *rest), np.int64, 0, classes - 1))
    weight = pick.draw(data((classes,), low=0.1)) if weighted else None
    ignored = optional(pick.draw, ignore_index=st.integers(0, classes - 1))
    if ignored and (target == ignored["ignore_index"]).all():
        ignored = {}
    agree("NegativeLogLikelihoodLoss", x, target, weight, reduction=reduction, **ignored)
    agree("SoftmaxCrossEntropyLoss", x, target, weight, reduction=reduction, outputs=2, **ignored)
