"""Linear models and support vector machines of ai.onnx.ml."""
from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.registry import ML, KernelContext, kernel
from engine.kernels.scores import labels_of, transformed, two_columns


def _features(x: np.ndarray) -> np.ndarray:
    """Features as float32 [N, F]; a vector is one row."""
    return (x.reshape(1, -1) if x.ndim == 1 else x).astype(np.float32, copy=False)


@kernel("LinearRegressor", 1, domain=ML, generic=False)
def linear_regressor(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    coefficients: list[float] | None = None,
    intercepts: list[float] | None = None,
    targets: int = 1,
    post_transform: str = "NONE",
) -> Any:
    """``x @ coefficients' + intercepts`` (LinearRegressor 1)."""
    y = _features(x) @ np.array(coefficients or [], np.float32).reshape(targets, -1).T
    return transformed(y if not intercepts else y + np.array(intercepts, np.float32), post_transform)


@kernel("LinearClassifier", 1, domain=ML, generic=False)
def linear_classifier(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    coefficients: list[float],
    intercepts: list[float] | None = None,
    classlabels_ints: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> tuple[np.ndarray, np.ndarray]:
    """Label and scores of a linear model; one score serves two classes (LinearClassifier 1)."""
    features = _features(x)
    labels: Any = classlabels_ints or classlabels_strings or []
    weights = ctx.prepared("weights", lambda: np.array(coefficients, np.float32))
    scores = features @ weights.reshape(-1, features.shape[1]).T
    if intercepts:
        scores = scores + np.array(intercepts, np.float32)
    if scores.shape[1] > 1:
        return labels_of(scores.argmax(axis=1), labels), transformed(scores, post_transform)
    if len(labels) == 2:
        wins = (scores[:, 0] > 0).astype(int)
        return labels_of(wins, labels), two_columns(scores[:, 0], post_transform, as_probability=True)
    wins = scores[:, 0] > 0
    named = labels_of(np.zeros(1, int), labels or [1])[0]
    return np.where(wins, named, "" if isinstance(named, str) else 0), transformed(scores, post_transform)


def _kernel_matrix(x: np.ndarray, vectors: np.ndarray, kind: str, params: list[float] | None) -> Any:
    """The kernel function of each row of x with each support vector, [N, vectors]."""
    gamma, coef0, degree = params or (0.0, 0.0, 0.0)
    if kind == "RBF":
        squares = (x * x).sum(axis=1)[:, None] + (vectors * vectors).sum(axis=1) - 2 * (x @ vectors.T)
        return np.exp(np.float32(-gamma) * np.maximum(squares, 0))
    dot = x @ vectors.T
    if kind == "LINEAR":
        return dot
    bent = dot * np.float32(gamma) + np.float32(coef0)
    if kind == "POLY":
        return bent ** np.float32(degree)
    if kind == "SIGMOID":
        return np.tanh(bent)
    raise UnsupportedError(f"kernel_type {kind!r} is none of LINEAR, POLY, RBF, SIGMOID")


@kernel("SVMRegressor", 1, domain=ML, generic=False)
def svm_regressor(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    coefficients: list[float] | None = None,
    rho: list[float] | None = None,
    support_vectors: list[float] | None = None,
    n_supports: int = 0,
    one_class: int = 0,
    kernel_type: str = "LINEAR",
    kernel_params: list[float] | None = None,
    post_transform: str = "NONE",
) -> np.ndarray:
    """Weighted kernel values plus rho; the sign of that for one class (SVMRegressor 1)."""
    features, weights = _features(x), ctx.prepared("weights", lambda: np.array(coefficients or [], np.float32))
    if n_supports:
        vectors = ctx.prepared("vectors", lambda: np.array(support_vectors, np.float32).reshape(n_supports, -1))
        y = _kernel_matrix(features, vectors, kernel_type, kernel_params) @ weights
    else:
        y = features @ weights
    y = y[:, None] + np.float32((rho or [0.0])[0])
    return np.where(y > 0, np.float32(1), np.float32(-1)) if one_class else transformed(y, post_transform)


@kernel("SVMClassifier", 1, domain=ML, generic=False)
def svm_classifier(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    coefficients: list[float],
    rho: list[float],
    classlabels_ints: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
    kernel_type: str = "LINEAR",
    kernel_params: list[float] | None = None,
    post_transform: str = "NONE",
    prob_a: list[float] | None = None,
    prob_b: list[float] | None = None,
    support_vectors: list[float] | None = None,
    vectors_per_class: list[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Label and scores by votes of every pair of classes, or by a linear score a class (SVMClassifier 1).

    With prob_a and prob_b the scores are probabilities, coupled from those of the pairs; the votes still choose.
    """
    labels: Any = classlabels_ints or classlabels_strings or []
    features, classes = _features(x), max(len(labels), 1)
    weights = ctx.prepared("weights", lambda: np.array(coefficients, np.float32))
    if not vectors_per_class:
        scores = features @ weights.reshape(classes, -1).T + np.float32(rho[0])
        return labels_of(scores.argmax(axis=1), labels), transformed(scores, post_transform)
    total = sum(vectors_per_class)
    vectors = ctx.prepared("vectors", lambda: np.array(support_vectors, np.float32).reshape(total, -1))
    values = _kernel_matrix(features, vectors, kernel_type, kernel_params)
    margins = _pair_margins(values, weights.reshape(-1, total), vectors_per_class, rho)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    votes = np.zeros((len(features), classes), np.int64)
    for margin, (i, j) in zip(margins.T, pairs):
        votes[:, i] += margin > 0
        votes[:, j] += margin <= 0
    if prob_a and prob_b:
        table = transformed(_coupled(_pair_probabilities(margins, pairs, classes, prob_a, prob_b)), post_transform)
    elif len(pairs) == 1:
        table = two_columns(margins[:, 0], post_transform, as_probability=post_transform != "NONE")
    else:
        table = transformed(margins, post_transform)
    return labels_of(votes.argmax(axis=1), labels), table


def _pair_margins(values: np.ndarray, weights: np.ndarray, counts: list[int], rho: list[float]) -> np.ndarray:
    """For each pair of classes i < j, above 0 where i wins, [N, pairs].

    Row j - 1 of the weights holds those of the vectors of class i against j, row i those of class j against i.
    """
    ends = np.cumsum(counts)
    parts = [slice(end - count, end) for end, count in zip(ends, counts)]
    columns: list[np.ndarray] = []
    for i in range(len(counts)):
        for j in range(i + 1, len(counts)):
            own, other = weights[j - 1, parts[i]], weights[i, parts[j]]
            margin = values[:, parts[i]] @ own + values[:, parts[j]] @ other
            columns.append(margin + np.float32(rho[len(columns)]))
    return np.stack(columns, axis=1)


def _pair_probabilities(
    margins: np.ndarray, pairs: list[tuple[int, int]], classes: int, a: list[float], b: list[float]
) -> np.ndarray:
    """Probability of i against j, [N, classes, classes], by Platt's sigmoid of the margin."""
    result = np.zeros((len(margins), classes, classes), np.float64)
    for k, (i, j) in enumerate(pairs):
        p = 1 / (1 + np.exp(margins[:, k].astype(np.float64) * a[k] + b[k]))
        result[:, i, j] = np.clip(p, 1e-7, 1 - 1e-7)
        result[:, j, i] = 1 - result[:, i, j]
    return result


def _coupled(pairwise: np.ndarray) -> np.ndarray:
    """Class probabilities from pairwise ones: the second method of Wu, Lin and Weng (JMLR 5, 2004).

    It minimises the sum over pairs of ``(r_ji p_i - r_ij p_j)²`` with the probabilities adding up to 1, by the paper's
    own iteration, which stops at an error of 0.005 / classes.
    """
    rows, classes = pairwise.shape[:2]
    r = pairwise.transpose(0, 2, 1)  # r[n, i, j]: probability of j against i
    q = -r * pairwise
    diagonal = np.arange(classes)
    q[:, diagonal, diagonal] = (r * r).sum(axis=2)
    p = np.full((rows, classes), 1 / classes)
    active = np.ones(rows, bool)
    for _ in range(max(100, classes)):
        qp = np.einsum("nij,nj->ni", q, p)
        energy = (p * qp).sum(axis=1)
        active &= np.abs(qp - energy[:, None]).max(axis=1) >= 0.005 / classes
        if not active.any():
            break
        for t in range(classes):
            change = np.where(active, (energy - qp[:, t]) / q[:, t, t], 0)
            p[:, t] += change
            energy = (energy + change * (change * q[:, t, t] + 2 * qp[:, t])) / (1 + change) ** 2
            qp = (qp + change[:, None] * q[:, t]) / (1 + change)[:, None]
            p /= (1 + change)[:, None]
    return p.astype(np.float32)
