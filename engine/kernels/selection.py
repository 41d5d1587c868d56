"""Order and choice: greatest elements, distinct elements, boxes that don't overlap, running sums."""
from __future__ import annotations

from typing import Any

import numpy as np

from engine.kernels.axes import Array, along, as_ints, normalise_axis
from engine.kernels.precision import in_float32, wide
from engine.kernels.registry import KernelContext, kernel


@kernel("TopK", 10, host_inputs=(1,))
def top_k_10(ctx: KernelContext, x: Array, k: np.ndarray, *, axis: int = -1) -> tuple[Array, Array]:
    return _top_k(ctx.xp, x, as_ints(k)[0], axis, True)


@kernel("TopK", 11, 24, host_inputs=(1,))
def top_k(
    ctx: KernelContext, x: Array, k: np.ndarray, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[Array, Array]:
    """The `k` extreme values and their indices; sorted in either case, which an unsorted request leaves free."""
    return _top_k(ctx.xp, x, as_ints(k)[0], axis, bool(largest))


@kernel("TopK", 1)
def top_k_1(ctx: KernelContext, x: Array, *, k: int, axis: int = -1) -> tuple[Array, Array]:
    return _top_k(ctx.xp, x, k, axis, True)


def _top_k(xp: Any, x: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    axis = normalise_axis(axis, x.ndim)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"k is {k}, but axis {axis} has {x.shape[axis]} elements")
    keys = wide(x)
    if largest:
        # Of equals the lower index comes first: sort the reversed axis, then read the order backwards.
        backwards = xp.flip(keys, axis)
        order = x.shape[axis] - 1 - xp.flip(xp.argsort(backwards, axis=axis, kind="stable"), axis)
    else:
        order = xp.argsort(keys, axis=axis, kind="stable")
    order = order[along(axis, x.ndim, slice(0, k))]
    return xp.take_along_axis(x, order, axis), order.astype(np.int64, copy=False)


def _extreme(op_type: str, name: str) -> None:
    @kernel(op_type, 1, 11, 12, 13)
    def arg_extreme(
        ctx: KernelContext, x: Array, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Array:
        axis = normalise_axis(axis, x.ndim)
        x = wide(x)
        if select_last_index:
            found = x.shape[axis] - 1 - getattr(ctx.xp, name)(ctx.xp.flip(x, axis), axis=axis)
        else:
            found = getattr(ctx.xp, name)(x, axis=axis)
        found = ctx.xp.asarray(found, dtype=np.int64)
        return ctx.xp.expand_dims(found, axis) if keepdims else found


_extreme("ArgMax", "argmax")
_extreme("ArgMin", "argmin")


@kernel("Unique", 11, 28, generic=False)
def unique(
    ctx: KernelContext, x: Array, *, axis: int | None = None, sorted: int = 1
) -> tuple[Array, Array, Array, Array]:
    """Distinct elements (slices along `axis`), where each first occurs, which one each element is, and how often."""
    along_axis = 0 if axis is None else normalise_axis(axis, x.ndim)
    if x.dtype == object and axis is not None:  # NumPy compares no slices of words, but the places of words in order
        words, places = np.unique(x, return_inverse=True)
        rows, *others = unique(ctx, places.reshape(x.shape), axis=axis, sorted=sorted)
        return words[rows], *others
    values, first, inverse, counts = np.unique(
        x.reshape(-1) if axis is None else x,
        return_index=True, return_inverse=True, return_counts=True, axis=along_axis,
    )  # fmt: skip
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        values, first, inverse, counts = np.take(values, order, along_axis), first[order], rank[inverse], counts[order]
    return values, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


@kernel("CumSum", 11, 14, host_inputs=(1,))
@in_float32
def cum_sum(ctx: KernelContext, x: Array, axis: np.ndarray, *, exclusive: int = 0, reverse: int = 0) -> Array:
    return _running(ctx.xp, "cumsum", 0, x, axis, exclusive, reverse)


@kernel("CumProd", 26, host_inputs=(1,))
@in_float32
def cum_prod(ctx: KernelContext, x: Array, axis: np.ndarray, *, exclusive: int = 0, reverse: int = 0) -> Array:
    return _running(ctx.xp, "cumprod", 1, x, axis, exclusive, reverse)


def _running(
    xp: Any, name: str, neutral: int, x: Array, axis: np.ndarray, exclusive: int, reverse: int
) -> Array:
    """Running sums or products; `exclusive` ones leave out the element itself and begin with the neutral element."""
    a = normalise_axis(as_ints(axis)[0], x.ndim)
    if reverse:
        x = xp.flip(x, a)
    if exclusive:
        start = xp.full_like(x[along(a, x.ndim, slice(0, 1))], neutral)
        x = xp.concatenate((start, x[along(a, x.ndim, slice(0, -1))]), axis=a)
    result = getattr(xp, name)(x, axis=a, dtype=x.dtype)
    return xp.flip(result, a) if reverse else result


@kernel("NonMaxSuppression", 10, 11, generic=False)
def non_max_suppression(
    ctx: KernelContext, boxes: Array, scores: Array, max_output: Array | None = None,
    iou_threshold: Array | None = None, score_threshold: Array | None = None, *, center_point_box: int = 0,
) -> Array:  # fmt: skip
    """Rows [batch, class, box] of the boxes kept, greedily by falling score, per batch and class.

    Parameters
    ----------
    boxes: [batch, box, 4], two opposite corners (y, x) each, or centre and size (x, y, w, h).
    scores: [batch, class, box].
    """
    limit = 0 if max_output is None else as_ints(max_output)[0]
    overlap = 0.0 if iou_threshold is None else float(iou_threshold.reshape(-1)[0])
    floor = None if score_threshold is None else score_threshold.reshape(-1)[0]
    chosen: list[tuple[int, int, int]] = []
    for batch in range(boxes.shape[0] if limit > 0 else 0):
        corners = _corners(boxes[batch], bool(center_point_box))
        for label in range(scores.shape[1]):
            score = scores[batch, label]
            candidates = np.arange(score.size) if floor is None else np.flatnonzero(score > floor)
            order = candidates[np.argsort(-score[candidates], kind="stable")]
            chosen.extend((batch, label, int(box)) for box in _keep(corners[order], order, overlap, limit))
    return np.array(chosen, dtype=np.int64).reshape(-1, 3)


def _corners(boxes: np.ndarray, centred: bool) -> np.ndarray:
    """Boxes as [low 0, low 1, high 0, high 1]."""
    if centred:
        half = boxes[:, 2:] / 2
        return np.concatenate((boxes[:, :2] - half, boxes[:, :2] + half), axis=1)
    first, second = boxes[:, :2], boxes[:, 2:]
    return np.concatenate((np.minimum(first, second), np.maximum(first, second)), axis=1)


def _keep(corners: np.ndarray, order: np.ndarray, threshold: float, limit: int) -> list[int]:
    """Which of the boxes, sorted by falling score, stay; each one kept removes those it overlaps too much."""
    area = np.prod(corners[:, 2:] - corners[:, :2], axis=1)
    kept: list[int] = []
    alive = np.arange(len(corners))
    while alive.size and len(kept) < limit:
        best, rest = alive[0], alive[1:]
        kept.append(int(order[best]))
        low = np.maximum(corners[rest, :2], corners[best, :2])
        high = np.minimum(corners[rest, 2:], corners[best, 2:])
        common = np.prod(np.maximum(high - low, 0), axis=1)
        union = area[rest] + area[best] - common
        # An empty union overlaps nothing; comparing products avoids the division by zero.
        alive = rest[~((common > threshold * union) & (union > 0) & (area[best] > 0))]
    return kept
