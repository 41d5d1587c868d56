"""How elementwise formulas are evaluated: large arrays in cache-size blocks, half floats in float32, rounded once.

A formula of several array operations reads and writes memory once per operation. Over blocks that stay in the cache
only the first read and the last write reach memory, and the temporaries are small.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any, TypeVar

import numpy as np

from engine.kernels.axes import Array
from engine.kernels.parallel import piece, share
from engine.kernels.precision import wide
from engine.kernels.registry import KernelContext

BLOCK = 1 << 14
"""Elements per block: 64 KiB of float32, so that input, output and two temporaries fit a second-level cache."""

F = TypeVar("F", bound=Callable[..., Any])


def blockwise(function: F) -> F:
    """Let a kernel with one input and one output of its dtype run block by block on the host, rounding once.

    The function must be elementwise; it may change what it allocated, never `x`. On the host it gets vectors, so that
    no operation collapses to a scalar.
    """

    @wraps(function)
    def blocked(ctx: KernelContext, x: Array, **attributes: Any) -> Array:
        if ctx.xp is not np:
            return function(ctx, wide(x), **attributes).astype(x.dtype, copy=False)
        source = x.reshape(-1)
        if x.size <= BLOCK:
            return function(ctx, wide(source), **attributes).astype(x.dtype, copy=False).reshape(x.shape)
        result = np.empty(source.shape, x.dtype)

        def task(part: tuple[slice, ...]) -> None:
            result[part] = function(ctx, wide(source[part]), **attributes)

        in_blocks(source.shape, task)
        return result.reshape(x.shape)

    return blocked  # type: ignore[return-value]


def in_blocks(shape: tuple[int, ...], task: Callable[[tuple[slice, ...]], None]) -> None:
    """Call `task` with the index of each part of an array [..., rank 1 or more], in pieces of about `BLOCK` elements.

    Cuts go through the first axis that is longer than 1. The threads share the pieces.
    """
    axis = next((i for i, n in enumerate(shape) if n > 1), 0)
    count = max(1, min(shape[axis], -(-prod(shape) // BLOCK)))
    before = (slice(None),) * axis

    def numbered(index: int) -> None:
        task((*before, piece(index, count, shape[axis])))

    share(count, numbered)
