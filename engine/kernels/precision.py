"""Half-precision arithmetic: operators that add up many terms compute in float32 and round their result once."""
from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

HALF = frozenset({np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)})

F = TypeVar("F", bound=Callable[..., Any])


def wide(x: Any) -> Any:
    """The array in the precision that sums are taken in: float32 for float16 and bfloat16, else as it is."""
    if x.dtype == np.float16 and isinstance(x, np.ndarray) and x.size >= _LOOKED_UP:
        return _every_float16().take(x.view(np.uint16))  # takes half the time of NumPy's conversion
    return x.astype(np.float32) if x.dtype in HALF else x


_LOOKED_UP = 1 << 12


@cache
def _every_float16() -> np.ndarray:
    return every_half(np.dtype(np.float16)).astype(np.float32)


def every_half(dtype: np.dtype) -> np.ndarray:
    """All values of a type of 16 bits, in the order of their bits."""
    return np.arange(1 << 16, dtype=np.uint16).view(dtype)


def in_float32(function: F) -> F:
    """Make a kernel widen its half-precision inputs to float32 and round its float32 results back to that dtype."""

    @wraps(function)
    def in_wide(ctx: Any, *inputs: Any, **attributes: Any) -> Any:
        half = next((x.dtype for x in inputs if x is not None and x.dtype in HALF), None)
        if half is None:
            return function(ctx, *inputs, **attributes)
        widened = [None if x is None else ctx.prepared(f"wide {i}", partial(wide, x), x) for i, x in enumerate(inputs)]
        outputs = function(ctx, *widened, **attributes)
        if isinstance(outputs, tuple):
            return tuple(_narrow(y, half) for y in outputs)
        return _narrow(outputs, half)

    return in_wide  # type: ignore[return-value]


def _narrow(y: Any, half: np.dtype) -> Any:
    return y.astype(half) if y is not None and y.dtype == np.float32 else y
