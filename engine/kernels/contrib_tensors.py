"""Operators of com.microsoft that move, fill and compare tensors; most are ONNX's own under another domain.

Source: the schemas of ONNX Runtime 1.32 (`onnxruntime.capi`, domain com.microsoft, version 1).
"""
from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.axes import as_ints, normalise_axis
from engine.kernels.constants import arange
from engine.kernels.convolution import conv_transpose
from engine.kernels.indexing import gather_nd
from engine.kernels.movement import pad
from engine.kernels.precision import in_float32
from engine.kernels.registry import MICROSOFT, KernelContext, kernel
from engine.kernels.reshaping import trilu
from engine.kernels.sampling import grid_sample
from engine.kernels.selection import unique
from engine.kernels.windows import Sliding

kernel("GatherND", 1, domain=MICROSOFT)(gather_nd)
kernel("GridSample", 1, domain=MICROSOFT)(grid_sample)
kernel("Pad", 1, domain=MICROSOFT, host_inputs=(1, 2))(pad)
kernel("Trilu", 1, domain=MICROSOFT, host_inputs=(1,))(trilu)


@kernel("Range", 1, domain=MICROSOFT, host_inputs=(0, 1, 2))
def range_from(ctx: KernelContext, start: Any, limit: Any, delta: Any = None) -> Any:
    """Range whose step is 1 by default."""
    return arange(ctx, start, limit, np.ones((), start.dtype) if delta is None else delta)


@kernel("ExpandDims", 1, domain=MICROSOFT, host_inputs=(1,))
def expand_dims(ctx: KernelContext, x: Any, axis: Any) -> Any:
    """A new axis of length 1 at `axis`, which counts in the result."""
    return ctx.xp.expand_dims(x, normalise_axis(as_ints(axis)[0], x.ndim + 1))


@kernel("Unique", 1, domain=MICROSOFT, generic=False)
def unique_in_order(ctx: KernelContext, x: Any) -> Any:
    """Distinct elements of a vector by first occurrence, which of them each element is, and how often they occur."""
    values, _, inverse, counts = unique(ctx, x, sorted=0)
    return values, inverse, counts


@kernel("CDist", 1, domain=MICROSOFT)
def pairwise_distances(ctx: KernelContext, a: Any, b: Any, *, metric: str = "sqeuclidean") -> Any:
    """Distance of every row of a [M, K] to every row of b [N, K], [M, N]; squared for sqeuclidean."""
    if metric not in ("euclidean", "sqeuclidean"):
        raise UnsupportedError(f"metric {metric!r} is none of euclidean, sqeuclidean")
    apart = a[:, None] - b[None]
    squares = (apart * apart).sum(axis=2)
    return ctx.xp.sqrt(squares) if metric == "euclidean" else squares


@kernel("Inverse", 1, domain=MICROSOFT)
@in_float32
def inverse(ctx: KernelContext, x: Any) -> Any:
    """Inverse of each matrix of the last two axes."""
    return ctx.xp.linalg.inv(x)


@kernel("ConvTransposeWithDynamicPads", 1, domain=MICROSOFT, host_inputs=(2,))
def conv_transpose_with_dynamic_pads(
    ctx: KernelContext,
    x: Any,
    w: Any,
    padding: Any = None,
    b: Any = None,
    *,
    kernel_shape: list[int] | None = None,
    group: int = 1,
    output_padding: list[int] | None = None,
    **sliding: Unpack[Sliding],
) -> Any:
    """ConvTranspose whose padding is an input."""
    if padding is not None:
        sliding["pads"] = as_ints(padding)
    return conv_transpose(ctx, x, w, b, group=group, output_padding=output_padding, **sliding)
