"""Arithmetic on the elements of small tensors, some of them expressions and some not known.

Shapes are computed by the model itself, as int tensors: these functions follow them. Where all elements are plain
numbers NumPy computes in the tensor's own dtype, as a kernel would; else element by element, None where it can't tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from engine.dims import DimTooComplex, Expr, is_at_least, maximum, minimum
from engine.dtypes import DType
from engine.errors import DataError
from engine.graph.data import SparseData, TensorData
from engine.shapes.facts import Values, concrete

MAX_ELEMENTS = 64
"""Tensors of more elements are not followed: no shape is that long."""

_PLAIN = (int, float, bool)
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1

Element: TypeAlias = Any  # int | float | bool | Expr | None
ElementFunction: TypeAlias = Callable[..., Element]


def from_data(data: TensorData | SparseData) -> Values | None:
    """Elements of stored data, if they are few and numbers; nothing is read otherwise."""
    dims = concrete(data.dims)
    if dims is None or data.size > MAX_ELEMENTS or data.dtype.numpy.kind not in "iufb":
        return None
    try:
        return data.array().astype(object)
    except DataError:
        return None


def filled(shape: tuple[int, ...], element: Element) -> Values:
    """A tensor of one element throughout."""
    values = np.empty(shape, object)
    values.fill(element)
    return values


def vector(elements: list[Element]) -> Values:
    """A 1-D tensor."""
    values = np.empty(len(elements), object)
    values[:] = elements
    return values


def scalar(element: Element) -> Values:
    """A tensor of rank 0."""
    return filled((), element)


def is_small(shape: tuple[Any, ...] | None) -> bool:
    """Whether a tensor of that shape is worth following."""
    return shape is not None and all(isinstance(d, int) for d in shape) and math.prod(shape) <= MAX_ELEMENTS


def is_plain(values: Values) -> bool:
    """Whether all elements are plain numbers."""
    return all(isinstance(e, _PLAIN) for e in values.reshape(-1))


def known(values: Values | None) -> Values | None:
    """The values, or None if nothing at all is known of them."""
    if values is None or values.size > MAX_ELEMENTS or (values.size and all(e is None for e in values.reshape(-1))):
        return None
    return values


def each(function: ElementFunction, *operands: Values) -> Values:
    """`function` on each element of the broadcast operands; None where it cannot tell."""

    def careful(*elements: Element) -> Element:
        try:
            result = function(*elements)
        except (ZeroDivisionError, OverflowError, DimTooComplex, ValueError):
            return None
        if isinstance(result, int) and not _INT64_MIN <= result <= _INT64_MAX:
            return None
        return result

    with np.errstate(all="ignore"):
        result = np.frompyfunc(careful, len(operands), 1)(*operands)
    return result if isinstance(result, np.ndarray) else scalar(result)


def compute(function: Callable[..., Any], symbolic: ElementFunction, dtype: DType | None, *operands: Values) -> Values:
    """NumPy's `function` in `dtype` where all operands are plain numbers, else `symbolic` on each element."""
    if dtype is not None and dtype.numpy.kind in "iufb" and all(map(is_plain, operands)):
        try:
            with np.errstate(all="ignore"):
                return np.asarray(function(*(o.astype(dtype.numpy) for o in operands))).astype(object)
        except (OverflowError, ValueError, TypeError):
            return each(lambda *_: None, *operands)
    return each(symbolic, *operands)


def _strict(function: ElementFunction) -> ElementFunction:
    """The function made to give None where an operand is None."""

    def applied(*elements: Element) -> Element:
        return None if None in elements else function(*elements)

    return applied


def _int_like(element: Element) -> Element:
    """A float that is a whole number as an int, so that it can join an expression; None for other floats."""
    if isinstance(element, float):
        return int(element) if element.is_integer() else None
    return element


def _with_expr(function: ElementFunction) -> ElementFunction:
    """The function on operands some of which are expressions, whole floats taken as ints."""

    def applied(*elements: Element) -> Element:
        if any(isinstance(e, Expr) for e in elements):
            elements = tuple(map(_int_like, elements))
        return None if None in elements else function(*elements)

    return applied


@_with_expr
def add(a: Element, b: Element) -> Element:
    """``a + b``."""
    return a + b


@_with_expr
def subtract(a: Element, b: Element) -> Element:
    """``a - b``."""
    return a - b


def multiply(a: Element, b: Element) -> Element:
    """``a * b``; 0 whatever the other is."""
    if (isinstance(a, int) and a == 0) or (isinstance(b, int) and b == 0):
        return 0
    return _with_expr(lambda x, y: x * y)(a, b)


@_with_expr
def divide_ints(a: Element, b: Element) -> Element:
    """Division of ints, rounded towards zero as ONNX does."""
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient
    exact = a // b
    if (exact * b if isinstance(exact, (int, Expr)) else None) is a:
        return exact
    return exact if is_at_least(a, 0) and is_at_least(b, 0) else None


@_with_expr
def divide_floats(a: Element, b: Element) -> Element:
    """Division of floats; of expressions only where it leaves no rest."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        exact = a // b
        return exact if exact * b is a else None
    return a / b


@_with_expr
def floor_modulo(a: Element, b: Element) -> Element:
    """``a % b`` with the sign of the divisor."""
    return a % b


@_with_expr
def negate(a: Element) -> Element:
    """``-a``."""
    return -a


@_with_expr
def absolute(a: Element) -> Element:
    """Absolute value."""
    if isinstance(a, Expr):
        return a if is_at_least(a, 0) else -a if is_at_least(-a, 0) else None
    return abs(a)


def least(a: Element, b: Element) -> Element:
    """The lesser of two."""
    return _with_expr(lambda x, y: minimum(x, y) if isinstance(x, Expr) or isinstance(y, Expr) else min(x, y))(a, b)


def greatest(a: Element, b: Element) -> Element:
    """The greater of two."""
    return _with_expr(lambda x, y: maximum(x, y) if isinstance(x, Expr) or isinstance(y, Expr) else max(x, y))(a, b)


def same(a: Element, b: Element) -> bool:
    """Whether two elements are known and equal."""
    return a is not None and (a is b or (isinstance(a, _PLAIN) and isinstance(b, _PLAIN) and a == b))


@_with_expr
def equal(a: Element, b: Element) -> bool | None:
    """Whether ``a == b``, None where it depends."""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        return bool(a == b)
    difference = a - b
    if isinstance(difference, int):
        return difference == 0
    return False if is_at_least(difference, 1) or is_at_least(-difference, 1) else None


@_with_expr
def greater(a: Element, b: Element) -> bool | None:
    """Whether ``a > b``, None where it depends."""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        return bool(a > b)
    return True if is_at_least(a, b + 1) else False if is_at_least(b, a) else None


@_with_expr
def greater_or_equal(a: Element, b: Element) -> bool | None:
    """Whether ``a >= b``, None where it depends."""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        return bool(a >= b)
    return True if is_at_least(a, b) else False if is_at_least(b, a + 1) else None


def less(a: Element, b: Element) -> bool | None:
    """Whether ``a < b``, None where it depends."""
    return greater(b, a)  # type: ignore[no-any-return]


def less_or_equal(a: Element, b: Element) -> bool | None:
    """Whether ``a <= b``, None where it depends."""
    return greater_or_equal(b, a)  # type: ignore[no-any-return]


def both(a: Element, b: Element) -> bool | None:
    """Logical and: False as soon as one is."""
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def either(a: Element, b: Element) -> bool | None:
    """Logical or: True as soon as one is."""
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


@_strict
def negation(a: Element) -> bool:
    """Logical not."""
    return not a


@_strict
def exclusive(a: Element, b: Element) -> bool:
    """Logical exclusive or."""
    return bool(a) != bool(b)


def choose(condition: Element, a: Element, b: Element) -> Element:
    """`a` where the condition holds, `b` where it does not; where that is not known, their value if they agree."""
    if condition is None:
        return a if same(a, b) else None
    return a if condition else b


def merge(a: Values | None, b: Values | None) -> Values | None:
    """What two tensors of one shape have in common."""
    if a is None or b is None or a.shape != b.shape:
        return None
    return known(each(lambda x, y: x if same(x, y) else None, a, b))


def same_values(a: Values | None, b: Values | None) -> bool:
    """Whether two tensors are known alike, unknown elements included."""
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and all(x is y or same(x, y) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True))


def cast(values: Values, dtype: DType) -> Values:
    """The values converted to another element type; expressions stay as they are."""
    kind = dtype.numpy.kind
    if kind not in "iufb":
        return filled(values.shape, None)
    if is_plain(values):
        return each(lambda e: _cast_plain(e, dtype), values)
    if kind == "b":
        return each(lambda e: greater(e, 0) or None if isinstance(e, Expr) else e if e is None else bool(e), values)
    return each(lambda e: e if e is None or isinstance(e, Expr) else _cast_plain(e, dtype), values)


def _cast_plain(element: int | float | bool, dtype: DType) -> Element:
    kind = dtype.numpy.kind
    if kind == "b":
        return bool(element)
    if kind == "f":
        return float(dtype.numpy.type(element))
    whole = int(element)  # towards zero; nan and inf raise, and so become unknown
    info = np.iinfo(dtype.numpy)
    return whole if info.min <= whole <= info.max else None
