"""Reductions along axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from engine import dtypes
from engine.shapes import values
from engine.shapes.call import Call, axes_in, axis_in
from engine.shapes.facts import KnownShape, Out, Unknown, Values
from engine.shapes.registry import rule

_FOLDS: dict[str, values.ElementFunction] = {
    "ReduceSum": values.add,
    "ReduceProd": values.multiply,
    "ReduceMax": values.greatest,
    "ReduceMin": values.least,
}


@rule(
    *_FOLDS, "ReduceMean", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare",
)  # fmt: skip
def reduction(call: Call) -> Out:
    """The named axes of length 1 or dropped; all of them where none is named, unless that is to do nothing."""
    keep = bool(call.attr("keepdims", 1))
    shape = call.shape(0)
    axes = _axes(call, shape, keep)
    if axes is None:
        return Out(tuple(call.length(f"dim{i}") for i in range(len(shape))))
    result = tuple(1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes)
    value, fold = call.value(0), _FOLDS.get(call.node.op_type)
    return Out(result, None, _folded(value, axes, keep, fold) if value is not None and fold else None)


def _axes(call: Call, shape: KnownShape, keep: bool) -> list[int] | None:
    """The axes reduced; None where only the run knows them but the rank stays."""
    if "axes" in call.node.attributes:
        axes = call.required_ints("axes")
    elif not call.has(1):
        axes = []
    elif call.value(1) is not None:
        axes = call.ints(1)
    elif keep:
        return None
    else:
        raise Unknown(call.why_no_value(1))
    if axes:
        return axes_in(axes, len(shape))
    return [] if call.attr("noop_with_empty_axes", 0) else list(range(len(shape)))


def _folded(value: Values, axes: list[int], keep: bool, fold: Callable[..., Any]) -> Values | None:
    if not axes or not value.size:
        return value if not axes else None
    lanes = np.moveaxis(value, axes, range(len(axes)))
    kept = lanes.shape[len(axes) :]
    lanes = lanes.reshape(-1, *kept)
    result = reduce(lambda a, b: values.each(fold, a, b), list(lanes)) if len(lanes) > 1 else lanes[0]
    result = result if isinstance(result, np.ndarray) else values.scalar(result)
    return np.expand_dims(result, axes) if keep else result


@rule("ArgMax", "ArgMin")
def arg_extremum(call: Call) -> Out:
    """One index for each lane along `axis`."""
    shape = call.rank_at_least(0, 1)
    axis = axis_in(call.attr("axis", 0), len(shape))
    middle = (1,) if call.attr("keepdims", 1) else ()
    return Out((*shape[:axis], *middle, *shape[axis + 1 :]), dtypes.INT64)


@rule("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def loss(call: Call) -> list[Any]:
    """A scalar, or with reduction "none" one loss for each target; and the log probabilities."""
    target = call.shape(1)
    return [Out(target if call.attr("reduction", "mean") == "none" else (), call.dtype(0)),
            Out(call.shape(0), call.dtype(0))]  # fmt: skip
