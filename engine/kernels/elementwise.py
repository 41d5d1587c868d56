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
from engine.kernels.precision import HALF, every_half, wide
from engine.kernels.registry import KernelContext

BLOCK = 1 << 14
"""Elements per block: 64 KiB of float32, so that input, output and two temporaries fit a second-level cache."""

ROWS = 1 << 16
"""Elements per piece of what reduces rows: it has twice as many operations, each with a cost of its own."""

F = TypeVar("F", bound=Callable[..., Any])


def blockwise(function: F) -> F:
    """Let a kernel with one input and one output of its dtype run block by block on the host, rounding once.

    The function must be elementwise; it may change what it allocated, never `x`. On the host it gets vectors, so that
    no operation collapses to a scalar.
    """

    @wraps(function)
    def blocked(ctx: KernelContext, x: Array, **attributes: Any) -> Array:
        if is_tabulated(ctx, x):
            name = f"{function.__name__} {sorted(attributes.items())}"
            return by_table(ctx, name, lambda every: function(ctx, wide(every), **attributes), x)
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


def is_tabulated(ctx: KernelContext, x: Array) -> bool:
    """Whether an array on the host has at least as many elements as its type, of 16 bits, has values."""
    return ctx.xp is np and x.dtype in HALF and x.size >= 1 << 16


def by_table(
    ctx: KernelContext, name: str, function: Callable[[Array], Array], x: Array, *sources: Array | None
) -> Array:
    """A function of one float of 16 bits, and of `sources`, computed for all values there are and looked up.

    NumPy takes four to ten times as long to convert a float16 there and back as to look it up.
    """
    table = ctx.prepared(name, lambda: function(every_half(x.dtype)).astype(x.dtype), *sources)
    return table.take(x.view(np.uint16))


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


def in_rows(rows: int, width: int, task: Callable[[slice], None], elements: int = ROWS) -> None:
    """Call `task` with parts of range(rows): whole rows of `width` elements, in pieces of about so many elements.

    For what reduces rows one by one: the threads share the pieces, and each stays in the cache.
    """
    count = max(1, min(rows, -(-rows * width // elements)))
    share(count, lambda index: task(piece(index, count, rows)))


def by_rows(x: Any, function: Callable[[Any], Any], elements: int = ROWS) -> Any:
    """`function` of the rows [n, width] along the last axis of an array on the host, in pieces as of `in_rows`.

    It gives an array of the same shape and dtype.
    """
    rows = x.reshape(-1, x.shape[-1])
    y = np.empty(rows.shape, x.dtype)

    def task(part: slice) -> None:
        y[part] = function(rows[part])

    in_rows(len(rows), rows.shape[1], task, elements)
    return y.reshape(x.shape)
