"""Special functions that array modules lack."""
from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from engine.kernels.axes import Array

# erf(x) = x * P(x^2) / Q(x^2) on |x| <= _SATURATED, beyond which erf is 1 in float32. A minimax fit of degree (5, 5)
# by reweighted least squares against math.erf: relative error 2e-8, 4e-7 after float32 rounding.
_SATURATED = 3.925
_P = (1.1283791457831156, 0.19059298694521082, 0.05276917264926888, 0.003772510948700332, 0.00028484167790013574,
      2.0460206129842644e-06)  # fmt: skip
_Q = (1.0, 0.5022413675541244, 0.11418238250083401, 0.014983119682422939, 0.001163846476902025,
      3.804760706301147e-05)  # fmt: skip

_STEP, _TERMS, _END = 0.125, 11, 6.0


def erf(xp: Any, x: Array) -> Array:
    """The error function of a float32 or float64 array, elementwise; absolute error 4e-7 and 2e-16."""
    return _erf_table(xp, x) if x.dtype == np.float64 else _erf_rational(xp, x)


def _erf_rational(xp: Any, x: Array) -> Array:
    x = xp.clip(x, -_SATURATED, _SATURATED)
    square = x * x
    result = _horner(_P, square)
    result *= x
    result /= _horner(_Q, square)
    return xp.clip(result, -1, 1)


def _horner(coefficients: tuple[float, ...], t: Array) -> Array:
    result = t * coefficients[-1]
    result += coefficients[-2]
    for c in coefficients[-3::-1]:
        result *= t
        result += c
    return result


def _erf_table(xp: Any, x: Array) -> Array:
    """Taylor series about the nearest of a grid of points, by their coefficients at every grid point."""
    size = xp.minimum(xp.abs(x), _END)
    known = xp.where(size == size, size, 0)  # NaN indexes nothing
    nearest = xp.rint(known / _STEP).astype(np.int64)
    offset = size - nearest * _STEP
    table = xp.asarray(_taylor_table())
    result = xp.take(table[_TERMS - 1], nearest)
    for k in range(_TERMS - 2, -1, -1):
        result = result * offset + xp.take(table[k], nearest)
    return xp.copysign(result, x)


@cache
def _taylor_table() -> np.ndarray:
    """Taylor coefficients of erf [term, grid point]; the derivatives are Hermite polynomials times a Gaussian."""
    grid = np.arange(round(_END / _STEP) + 1) * _STEP
    table = np.empty((_TERMS, grid.size))
    table[0] = [math.erf(v) for v in grid]
    gauss = 2 / math.sqrt(math.pi) * np.exp(-grid * grid)
    older, hermite = np.zeros_like(grid), np.ones_like(grid)
    for k in range(1, _TERMS):
        table[k] = (-1) ** (k - 1) * hermite * gauss / math.factorial(k)
        older, hermite = hermite, 2 * grid * hermite - 2 * (k - 1) * older
    return table
