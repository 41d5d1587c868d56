"""Operators that only rearrange axes and dims: their results are views of the input wherever the layout allows."""
from __future__ import annotations

from math import prod

import numpy as np

from engine.kernels.axes import Array, as_ints, broadcast_shapes, normalise_axes, zero_of
from engine.kernels.registry import KernelContext, kernel

_LATE = (21, 23, 24, 25)


@kernel("Reshape", 5, 13, 14, 19, *_LATE, host_inputs=(1,))
def reshape(ctx: KernelContext, x: Array, shape: np.ndarray, *, allowzero: int = 0) -> Array:
    return x.reshape(resolve_reshape(x.shape, as_ints(shape), bool(allowzero)))


@kernel("Reshape", 1)
def reshape_1(ctx: KernelContext, x: Array, *, shape: list[int]) -> Array:
    """Version 1 holds the shape as an attribute."""
    return x.reshape(resolve_reshape(x.shape, shape, False))


def resolve_reshape(dims: tuple[int, ...], wanted: list[int], allowzero: bool) -> tuple[int, ...]:
    """The dims that `wanted` asks for: 0 copies the dim of that place (unless `allowzero`), one -1 takes the rest.

    Raises
    ------
    ValueError: the numbers of elements differ, or `wanted` is contradictory; the message says both sizes.
    """
    target = list(wanted)
    if not allowzero:
        if any(d == 0 and i >= len(dims) for i, d in enumerate(target)):
            raise ValueError(f"shape {wanted} copies a dim that {list(dims)} does not have")
        target = [dims[i] if d == 0 else d for i, d in enumerate(target)]
    elif 0 in target and -1 in target:
        raise ValueError(f"shape {wanted} holds 0 and -1, which allowzero=1 forbids")
    if target.count(-1) > 1:
        raise ValueError(f"shape {wanted} holds more than one -1")
    size = prod(dims)
    if -1 in target:
        rest = prod(d for d in target if d != -1)
        if rest == 0 or size % rest:
            raise ValueError(f"{list(dims)} of {size} elements can't be split into groups of {rest} for shape {wanted}")
        target[target.index(-1)] = size // rest
    if prod(target) != size:
        raise ValueError(f"{list(dims)} has {size} elements, but shape {target} needs {prod(target)}")
    return tuple(target)


@kernel("Flatten", 1, 9, 11, 13, *_LATE)
def flatten(ctx: KernelContext, x: Array, *, axis: int = 1) -> Array:
    """A matrix: the dims before `axis` make its rows, those from `axis` on its columns."""
    if not -x.ndim <= axis <= x.ndim:
        raise ValueError(f"axis {axis} is outside [{-x.ndim}, {x.ndim}]")
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))


@kernel("Squeeze", 13, *_LATE, host_inputs=(1,))
def squeeze(ctx: KernelContext, x: Array, axes: np.ndarray | None = None) -> Array:
    return _squeeze(x, None if axes is None else as_ints(axes))


@kernel("Squeeze", 1, 11)
def squeeze_attribute(ctx: KernelContext, x: Array, *, axes: list[int] | None = None) -> Array:
    return _squeeze(x, axes)


def _squeeze(x: Array, axes: list[int] | None) -> Array:
    gone = normalise_axes(axes, x.ndim) if axes is not None else [i for i, d in enumerate(x.shape) if d == 1]
    for a in gone:
        if x.shape[a] != 1:
            raise ValueError(f"axis {a} of {list(x.shape)} can't be squeezed: its size is {x.shape[a]}, not 1")
    return x.reshape(tuple(d for i, d in enumerate(x.shape) if i not in gone))


@kernel("Unsqueeze", 13, *_LATE, host_inputs=(1,))
def unsqueeze(ctx: KernelContext, x: Array, axes: np.ndarray) -> Array:
    return _unsqueeze(x, as_ints(axes))


@kernel("Unsqueeze", 1, 11)
def unsqueeze_attribute(ctx: KernelContext, x: Array, *, axes: list[int]) -> Array:
    return _unsqueeze(x, axes)


def _unsqueeze(x: Array, axes: list[int]) -> Array:
    rank = x.ndim + len(axes)
    new = set(normalise_axes(axes, rank))
    old = iter(x.shape)
    return x.reshape(tuple(1 if i in new else next(old) for i in range(rank)))


@kernel("Transpose", 1, 13, *_LATE)
def transpose(ctx: KernelContext, x: Array, *, perm: list[int] | None = None) -> Array:
    return x.transpose(perm) if perm is not None and x.ndim else x.transpose()


@kernel("Expand", 8, 13, host_inputs=(1,))
def expand(ctx: KernelContext, x: Array, shape: np.ndarray) -> Array:
    """Broadcast in both directions: a dim of 1 in `shape` keeps that of `x`."""
    return ctx.xp.broadcast_to(x, broadcast_shapes(x.shape, as_ints(shape)))


@kernel("DepthToSpace", 1, 11, 13, 28)
def depth_to_space(ctx: KernelContext, x: Array, *, blocksize: int, mode: str = "DCR") -> Array:
    """Channels moved into blocks of pixels; the block index leads the channels (DCR) or follows them (CRD)."""
    n, c, h, w = x.shape
    b = blocksize
    if c % (b * b):
        raise ValueError(f"{c} channels do not part into blocks of {b} x {b} pixels")
    if mode == "DCR":
        blocks = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(n, c // (b * b), h * b, w * b)


@kernel("SpaceToDepth", 1, 13, 28)
def space_to_depth(ctx: KernelContext, x: Array, *, blocksize: int, mode: str = "DCR") -> Array:
    """Blocks of pixels moved into channels, the inverse of `depth_to_space` with the same mode."""
    n, c, h, w = x.shape
    b = blocksize
    blocks = x.reshape(n, c, h // b, b, w // b, b)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return blocks.transpose(order).reshape(n, c * b * b, h // b, w // b)


@kernel("Trilu", 14, host_inputs=(1,))
def trilu(ctx: KernelContext, x: Array, k: np.ndarray | None = None, *, upper: int = 1) -> Array:
    """The triangle of the last two axes on one side of the `k`-th diagonal; the other side is zero."""
    if x.ndim < 2:
        raise ValueError("the input has no matrices: it needs two axes at least")
    offset = 0 if k is None else as_ints(k)[0]
    rows, columns = x.shape[-2:]
    distance = ctx.xp.arange(columns)[None, :] - ctx.xp.arange(rows)[:, None]
    kept = distance >= offset if upper else distance <= offset
    return ctx.xp.where(kept, x, zero_of(x.dtype))
