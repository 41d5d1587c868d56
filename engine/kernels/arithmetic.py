"""Arithmetic, elementwise: one operation of the array module where it has the operator's meaning, else written out."""
from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from engine.kernels.axes import Array, align_unidirectional
from engine.kernels.elementwise import blockwise
from engine.kernels.precision import in_float32, wide
from engine.kernels.registry import KernelContext, kernel
from engine.kernels.special import erf as error_function

Binary = Callable[[KernelContext, Array, Array], Array]


def unary(name: str) -> Callable[[KernelContext, Array], Array]:
    """The kernel that is the array module's function `name`."""

    def compute(ctx: KernelContext, x: Array) -> Array:
        return getattr(ctx.xp, name)(x)

    return compute


def binary(name: str) -> Binary:
    """The kernel that is the array module's broadcasting function `name`."""

    def compute(ctx: KernelContext, a: Array, b: Array) -> Array:
        return getattr(ctx.xp, name)(a, b)

    return compute


def unidirectional(function: Binary) -> Callable[..., Array]:
    """A binary kernel with the `broadcast` and `axis` attributes that operators had before opset 7."""

    def compute(ctx: KernelContext, a: Array, b: Array, *, broadcast: int = 0, axis: int | None = None) -> Array:
        return function(ctx, a, align_unidirectional(b, a.ndim, axis) if broadcast else b)

    return compute


_UNARY: dict[str, tuple[str, tuple[int, ...]]] = {
    "Abs": ("abs", (1, 6, 13)),
    "Neg": ("negative", (1, 6, 13)),
    "Sqrt": ("sqrt", (1, 6, 13)),
    "Exp": ("exp", (1, 6, 13)),
    "Log": ("log", (1, 6, 13)),
    "Floor": ("floor", (1, 6, 13)),
    "Ceil": ("ceil", (1, 6, 13)),
    "Round": ("rint", (11, 22)),
    "Sign": ("sign", (9, 13)),
    "Sin": ("sin", (7, 22)),
    "Cos": ("cos", (7, 22)),
    "Tan": ("tan", (7, 22)),
    "Asin": ("arcsin", (7, 22)),
    "Acos": ("arccos", (7, 22)),
    "Atan": ("arctan", (7, 22)),
    "Sinh": ("sinh", (9, 22)),
    "Cosh": ("cosh", (9, 22)),
    "Asinh": ("arcsinh", (9, 22)),
    "Acosh": ("arccosh", (9, 22)),
    "Atanh": ("arctanh", (9, 22)),
    "Tanh": ("tanh", (1, 6, 13)),
}
for _op, (_name, _versions) in _UNARY.items():
    kernel(_op, *_versions)(unary(_name))

for _op, _name in (("Add", "add"), ("Sub", "subtract"), ("Mul", "multiply")):
    kernel(_op, 1, 6)(unidirectional(binary(_name)))
    kernel(_op, 7, 13, 14)(binary(_name))


@kernel("Div", 7, 13, 14)
def div(ctx: KernelContext, a: Array, b: Array) -> Array:
    """Quotient; that of integers is rounded toward zero."""
    if a.dtype.kind == "u":
        return ctx.xp.floor_divide(a, b)
    if a.dtype.kind == "i":
        floor = ctx.xp.floor_divide(a, b)
        inexact = floor * b != a
        return floor + (inexact & ((a < 0) != (b < 0)))
    return ctx.xp.divide(a, b)


kernel("Div", 1, 6)(unidirectional(div))


@kernel("Mod", 10, 13, 28)
def mod(ctx: KernelContext, a: Array, b: Array, *, fmod: int = 0) -> Array:
    """Remainder with the sign of the divisor, or with `fmod` that of the dividend."""
    if not fmod:
        return ctx.xp.remainder(a, b)
    return ctx.xp.fmod(a, b)


@kernel("Pow", 7, 12, 13, 15)
def power(ctx: KernelContext, base: Array, exponent: Array) -> Array:
    """`base ** exponent` in the dtype of the base."""
    xp, dtype = ctx.xp, base.dtype
    if dtype.kind in "iu":
        return _integer_power(xp, base, exponent)
    base = wide(base)
    # Reading the exponent is free on the host only; there the usual ones are products, far faster than pow().
    special = _SMALL_POWERS.get(float(exponent.reshape(()))) if xp is np and exponent.size == 1 else None
    if special is not None and exponent.ndim <= base.ndim:
        return special(base).astype(dtype, copy=False)
    return xp.power(base, exponent.astype(base.dtype, copy=False)).astype(dtype, copy=False)


_SMALL_POWERS: dict[float, Callable[[Any], Any]] = {
    0.5: np.sqrt,
    1.0: lambda x: x,
    2.0: np.square,
    3.0: lambda x: np.multiply(np.square(x), x),
}


def _integer_power(xp: Any, base: Array, exponent: Array) -> Array:
    if exponent.dtype.kind in "iu":
        # A negative exponent leaves 1, -1 or 0 of an integer; the wrapped product of the others is exact.
        size = exponent if exponent.dtype.kind == "u" else xp.where(exponent < 0, 0, exponent)
        positive = xp.power(base, size.astype(base.dtype))
        if exponent.dtype.kind == "u":
            return positive
        odd = (exponent & 1) == 1
        inverse = xp.where(base == 1, 1, xp.where(base == -1, xp.where(odd, -1, 1), 0)) if base.dtype.kind == "i" \
            else xp.where(base == 1, 1, 0)  # fmt: skip
        return xp.where(exponent < 0, inverse, positive).astype(base.dtype, copy=False)
    return xp.power(base.astype(np.float64), exponent.astype(np.float64)).astype(base.dtype)


kernel("Pow", 1)(unidirectional(power))


@kernel("Reciprocal", 1, 6, 13)
def reciprocal(ctx: KernelContext, x: Array) -> Array:
    return ctx.xp.divide(x.dtype.type(1), x)


@kernel("Erf", 9, 13)
@blockwise
def erf(ctx: KernelContext, x: Array) -> Array:
    """The error function; integers give its value truncated."""
    if x.dtype.kind in "iu":
        return x * 0  # |erf| < 1
    return error_function(ctx.xp, x)


@kernel("Max", 1, 6, 8, 12, 13)
def maximum(ctx: KernelContext, *inputs: Array) -> Array:
    return reduce(ctx.xp.maximum, inputs)


@kernel("Min", 1, 6, 8, 12, 13)
def minimum(ctx: KernelContext, *inputs: Array) -> Array:
    return reduce(ctx.xp.minimum, inputs)


@kernel("Sum", 1, 6, 8, 13)
@in_float32
def variadic_sum(ctx: KernelContext, *inputs: Array) -> Array:
    return reduce(ctx.xp.add, inputs)


@kernel("Mean", 1, 6, 8, 13)
@in_float32
def mean(ctx: KernelContext, *inputs: Array) -> Array:
    return reduce(ctx.xp.add, inputs) / inputs[0].dtype.type(len(inputs))
