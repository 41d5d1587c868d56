"""Losses: negative log likelihood and softmax cross entropy of class scores [N, C, d1, …] against labels [N, d1, …]."""
from __future__ import annotations

from typing import Any

from engine.kernels.axes import Array
from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel
from engine.kernels.softmax import log_softmax_along


@kernel("NegativeLogLikelihoodLoss", 12, 13, 22)
@in_float32
def negative_log_likelihood_loss(
    ctx: KernelContext, x: Array, target: Array, weight: Array | None = None, *, ignore_index: int | None = None,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    return _loss(ctx.xp, x, target, weight, ignore_index, reduction)


@kernel("SoftmaxCrossEntropyLoss", 12, 13)
@in_float32
def softmax_cross_entropy_loss(
    ctx: KernelContext, scores: Array, labels: Array, weights: Array | None = None, *,
    ignore_index: int | None = None, reduction: str = "mean",
) -> tuple[Array, Array]:  # fmt: skip
    """The loss, and the log-probabilities [N, C, d1, …]."""
    log_prob = log_softmax_along(ctx.xp, scores, 1)
    return _loss(ctx.xp, log_prob, labels, weights, ignore_index, reduction), log_prob


def _loss(
    xp: Any, log_prob: Array, labels: Array, weight: Array | None, ignored: int | None, reduction: str
) -> Array:
    kept = labels == labels if ignored is None else labels != ignored
    classes = xp.where(kept, labels, 0)
    picked = xp.squeeze(xp.take_along_axis(log_prob, xp.expand_dims(classes, 1), axis=1), axis=1)
    factor = kept.astype(log_prob.dtype)
    if weight is not None:
        factor = factor * xp.take(weight, classes)
    loss = xp.where(kept, -picked * factor, log_prob.dtype.type(0))
    if reduction == "none":
        return loss
    total = loss.sum()
    return total if reduction == "sum" else total / factor.sum()
