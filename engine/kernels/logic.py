"""Comparison, Boolean and bitwise logic, choice by condition, and tests for NaN and infinity."""
from __future__ import annotations

from engine.kernels.arithmetic import binary, unary, unidirectional
from engine.kernels.axes import Array
from engine.kernels.registry import KernelContext, kernel

_COMPARISONS = {
    "Less": ("less", (1,), (7, 9, 13)),
    "Greater": ("greater", (1,), (7, 9, 13)),
    "LessOrEqual": ("less_equal", (), (12, 16)),
    "GreaterOrEqual": ("greater_equal", (), (12, 16)),
    "And": ("logical_and", (1,), (7,)),
    "Or": ("logical_or", (1,), (7,)),
    "Xor": ("logical_xor", (1,), (7,)),
    "BitwiseAnd": ("bitwise_and", (), (18,)),
    "BitwiseOr": ("bitwise_or", (), (18,)),
    "BitwiseXor": ("bitwise_xor", (), (18,)),
}
for _op, (_name, _old, _new) in _COMPARISONS.items():
    if _old:
        kernel(_op, *_old)(unidirectional(binary(_name)))
    kernel(_op, *_new)(binary(_name))

kernel("Not", 1)(unary("logical_not"))
kernel("BitwiseNot", 18)(unary("invert"))
kernel("IsNaN", 9, 13, 20)(unary("isnan"))


@kernel("Equal", 7, 11, 13, 19)
def equal(ctx: KernelContext, a: Array, b: Array) -> Array:
    """Equality; also of strings, whose comparison yields an object array."""
    return ctx.xp.equal(a, b).astype(bool, copy=False)


kernel("Equal", 1)(unidirectional(equal))


@kernel("Where", 9, 16)
def where(ctx: KernelContext, condition: Array, x: Array, y: Array) -> Array:
    return ctx.xp.where(condition, x, y)


@kernel("IsInf", 10, 20)
def is_inf(ctx: KernelContext, x: Array, *, detect_negative: int = 1, detect_positive: int = 1) -> Array:
    infinite = ctx.xp.isinf(x)
    if not detect_negative:
        infinite = infinite & ~ctx.xp.signbit(x)
    if not detect_positive:
        infinite = infinite & ctx.xp.signbit(x)
    return infinite


@kernel("BitShift", 11, 28)
def bit_shift(ctx: KernelContext, x: Array, amount: Array, *, direction: str) -> Array:
    """Arithmetic shift; an amount outside [0, bits) leaves the fill alone: 0, or -1 right of a negative number."""
    xp, bits = ctx.xp, x.dtype.itemsize * 8
    inside = (amount >= 0) & (amount < bits)
    safe = xp.where(inside, amount, 0).astype(x.dtype)
    if direction == "LEFT":
        return xp.where(inside, xp.left_shift(x, safe), 0).astype(x.dtype, copy=False)
    return xp.where(inside, xp.right_shift(x, safe), xp.where(x < 0, -1, 0)).astype(x.dtype, copy=False)
