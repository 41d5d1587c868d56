"""Operators that work element by element, with and without broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine import dtypes
from engine.shapes import values
from engine.shapes.call import Call
from engine.shapes.facts import Out
from engine.shapes.registry import rule

Pair = tuple[Callable[..., Any], values.ElementFunction]
"""A function over arrays of plain numbers, and the one over single elements that may be expressions."""


@rule(
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp",
    "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "IsInf", "IsNaN", "LeakyRelu", "Log", "LogSoftmax", "Mish",
    "Relu", "Selu", "Shrink", "Sigmoid", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Swish", "Tan", "Tanh",
    "ThresholdedRelu", "LRN", "LpNormalization", "MeanVarianceNormalization", "CumProd", "SwiGLU",
)  # fmt: skip
def unary(call: Call) -> Out:
    """The shape of the first input."""
    return Out(call.shape(0))


@rule("PRelu")
def prelu(call: Call) -> Out:
    """The shape of the first input, to which the slope should broadcast; of a larger slope both do, when it is run."""
    shape, slope = call.shape(0), call.known_shape(1)
    by_channel = call.node.since_version < 7
    return Out(shape if by_channel or slope is None else call.broadcast(shape, slope))


@rule("Trilu", "CumSum", "ReverseSequence", "Scatter", "ScatterElements", "ScatterND", "TensorScatter")
def shaped_as_first(call: Call) -> Out:
    """The shape of the first input, whatever the others say."""
    return Out(call.shape(0))


def _reciprocal(x: Any) -> Any:
    return 1 / x


_UNARY: dict[str, Pair] = {
    "Abs": (np.abs, values.absolute),
    "Ceil": (np.ceil, lambda a: a),
    "Floor": (np.floor, lambda a: a),
    "Round": (np.rint, lambda a: a),
    "Neg": (np.negative, values.negate),
    "Not": (np.logical_not, values.negation),
    "Reciprocal": (_reciprocal, lambda a: None),
    "Sqrt": (np.sqrt, lambda a: None),
    "Sign": (np.sign, lambda a: None),
}


@rule(*_UNARY)
def unary_value(call: Call) -> Out:
    """The shape of the input, and its elements where they are few. An expression is whole: rounding leaves it."""
    plain, symbolic = _UNARY[call.node.op_type]
    value = call.value(0)
    return Out(call.shape(0), None, None if value is None else values.compute(plain, symbolic, call.dtype(0), value))


def _divide_ints(a: Any, b: Any) -> Any:
    if not np.all(b):
        raise ValueError("division by zero")
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) == (b < 0), quotient, -quotient)


def _power(a: Any, b: Any) -> Any:
    if isinstance(b, (int, float)) and 0 <= b <= 8 and float(b).is_integer() and a is not None:
        result = 1
        for _ in range(int(b)):
            result = values.multiply(result, a)
        return result
    return None


_BINARY: dict[str, Pair] = {
    "Add": (np.add, values.add),
    "Sub": (np.subtract, values.subtract),
    "Mul": (np.multiply, values.multiply),
    "Pow": (np.power, _power),
    "Equal": (np.equal, values.equal),
    "Greater": (np.greater, values.greater),
    "GreaterOrEqual": (np.greater_equal, values.greater_or_equal),
    "Less": (np.less, values.less),
    "LessOrEqual": (np.less_equal, values.less_or_equal),
    "And": (np.logical_and, values.both),
    "Or": (np.logical_or, values.either),
    "Xor": (np.logical_xor, values.exclusive),
}
_COMPARISONS = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor"})


@rule(*_BINARY)
def binary(call: Call) -> Out:
    """Two operands broadcast; before opset 7 the second one to the first."""
    plain, symbolic = _BINARY[call.node.op_type]
    return _binary(call, plain, symbolic, dtypes.BOOL if call.node.op_type in _COMPARISONS else None)


@rule("Div")
def division(call: Call) -> Out:
    """``a / b``, of ints rounded towards zero."""
    dtype = call.dtype(0)
    if dtype is not None and dtype.kind == "float":
        return _binary(call, np.divide, values.divide_floats, None)
    return _binary(call, _divide_ints, values.divide_ints, None)


@rule("Mod")
def modulo(call: Call) -> Out:
    """``a % b`` with the divisor's sign, or with ``fmod`` the dividend's."""
    if call.attr("fmod", 0):
        return _binary(call, np.fmod, lambda a, b: None, None)
    return _binary(call, np.mod, values.floor_modulo, None)


@rule("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(call: Call) -> Out:
    """Two operands broadcast."""
    return Out(call.broadcast(call.shape(0), call.shape(1)))


def _binary(call: Call, plain: Callable[..., Any], symbolic: values.ElementFunction, dtype: Any) -> Out:
    a_shape, b_shape = call.shape(0), call.shape(1)
    # The old attribute form: the second operand is stretched over the first, from `axis` on.
    old = call.node.since_version < 7 and call.node.domain == ""
    shape = a_shape if old else call.broadcast(a_shape, b_shape)
    value = None
    if values.is_small(shape) and not (old and "axis" in call.node.attributes):
        a, b = call.value(0), call.value(1)
        if a is not None and b is not None:
            value = values.compute(plain, symbolic, call.dtype(0), a, b)
    return Out(shape, dtype, value)


_VARIADIC: dict[str, Pair | None] = {
    "Max": (np.maximum, values.greatest),
    "Min": (np.minimum, values.least),
    "Sum": (np.add, values.add),
    "Mean": None,
}


@rule(*_VARIADIC)
def variadic(call: Call) -> Out:
    """Any number of operands broadcast."""
    shape = call.broadcast(*(call.shape(slot) for slot in call.slots))
    functions = _VARIADIC[call.node.op_type]
    if functions is None or not values.is_small(shape):
        return Out(shape)
    operands = [call.value(slot) for slot in call.slots]
    value = operands[0]
    for operand in operands[1:]:
        if value is not None and operand is not None:
            value = values.compute(*functions, call.dtype(0), value, operand)
        else:
            value = None
    return Out(shape, None, value)


@rule("Where")
def where(call: Call) -> Out:
    """Elements of the second or the third operand, as the first one says, all broadcast."""
    shape = call.broadcast(call.shape(0), call.shape(1), call.shape(2))
    operands = [call.value(slot) for slot in range(3)]
    if not values.is_small(shape) or any(o is None for o in operands):
        return Out(shape)
    return Out(shape, None, values.each(values.choose, *(o for o in operands if o is not None)))


@rule("Clip")
def clip(call: Call) -> Out:
    """The shape of the input; small values clipped."""
    shape, value = call.shape(0), call.value(0)
    for slot, function in ((1, values.greatest), (2, values.least)):
        if value is not None and call.has(slot):
            limit = call.value(slot)
            value = None if limit is None else values.each(function, value, limit)
    old_form = "min" in call.node.attributes or "max" in call.node.attributes
    return Out(shape, None, None if old_form else value)


@rule("Identity")
def identity(call: Call) -> Any:
    """The input, of whatever type."""
    fact = call.fact(0)
    value = call.value(0)
    return type(fact)(fact.type, value, fact.because)


@rule("Cast", "CastLike", "BitCast")
def cast(call: Call) -> Out:
    """The input with another element type."""
    dtype = call.dtype_attr("to") if "to" in call.node.attributes else call.dtype(1)
    value = call.value(0)
    keep = value is not None and dtype is not None and call.node.op_type != "BitCast"
    return Out(call.known_shape(0), dtype, values.cast(value, dtype) if keep else None)  # type: ignore[arg-type]


@rule("Dropout")
def dropout(call: Call) -> list[Any]:
    """Data and mask, both of the input's shape; the mask is bool from opset 10 on."""
    shape = call.shape(0)
    mask_dtype = dtypes.BOOL if call.node.since_version >= 10 else call.dtype(0)
    return [Out(shape, call.dtype(0)), Out(shape, mask_dtype)]


@rule("Bernoulli", "RandomNormalLike", "RandomUniformLike")
def like(call: Call) -> Out:
    """The shape of the input, in the dtype of the attribute or the input's own."""
    return Out(call.shape(0), call.dtype_attr("dtype") or call.dtype(0))
