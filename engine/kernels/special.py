"""Special functions that array modules lack."""
from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from engine.kernels.axes import Array

# erf(x) = tanh(x * g(x^2)) with g(x^2) = atanh(erf(x)) / x, which is nearly 1.128 + 0.103 x^2: a polynomial is enough,
# and outside the fitted range (|x| < 4.1) it only has to stay large. Fitted by reweighted least squares against
# math.erf and math.erfc to a relative error of 1e-7 in erf; in float32 the error is 1.7e-7 absolute, 2.7e-7 relative.
_G = (1.128379274246934, 0.10276905629071047, -0.00019183185186179356, -0.0006197838147731326, 8.763703013704621e-05,
      -5.6684299696456885e-06, 1.41849757410956e-07)  # fmt: skip

_STEP, _TERMS, _END = 0.125, 11, 6.0


def erf(xp: Any, x: Array) -> Array:
    """The error function of a float32 or float64 array, elementwise; absolute error 2e-7 and 3e-16."""
    return _erf_table(xp, x) if x.dtype == np.float64 else _erf_tanh(xp, x)


def _erf_tanh(xp: Any, x: Array) -> Array:
    square = x * x
    inner = square * _G[-1]
    for coefficient in _G[-2:0:-1]:
        inner += coefficient
        inner *= square
    inner += _G[0]
    inner *= x
    return xp.tanh(inner)


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
