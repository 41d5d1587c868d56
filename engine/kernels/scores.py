"""What classifiers and regressors of ai.onnx.ml do with their scores: transforms, the two-class cases, labels."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.errors import UnsupportedError

Labels = Sequence[int] | Sequence[str]


def transformed(scores: np.ndarray, transform: str) -> Any:
    """`post_transform` applied to scores [N, classes].

    Raises
    ------
    UnsupportedError: the transform is none that the specification names.
    """
    if transform == "NONE":
        return scores
    if transform == "LOGISTIC":
        return _logistic(scores)
    if transform == "SOFTMAX":
        return _softmax(scores, np.ones(scores.shape, bool))
    if transform == "SOFTMAX_ZERO":
        return _softmax(scores, np.abs(scores) > 1e-7)
    if transform == "PROBIT":
        return _probit(scores)
    raise UnsupportedError(f"post_transform {transform!r} is none of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT")


def two_columns(score: np.ndarray, transform: str, as_probability: bool) -> Any:
    """Scores [N, 2] of two classes from that of one [N]; ``1 - s`` completes a probability, ``-s`` a margin.

    As ONNX Runtime does: of the transforms LOGISTIC and PROBIT apply, the two softmaxes do not.
    """
    if transform == "LOGISTIC":
        return _logistic(np.stack([-score, score], axis=1))
    if transform == "PROBIT":
        return _probit(np.stack([1 - score, score], axis=1))
    return np.stack([1 - score if as_probability else -score, score], axis=1)


def labels_of(choice: np.ndarray, labels: Labels) -> Any:
    """The label of each chosen class: int64, or strings."""
    table = np.array(labels, object if labels and isinstance(labels[0], str) else np.int64)
    return table[choice]


def _logistic(x: np.ndarray) -> Any:
    return 1 / (1 + np.exp(-x))


def _softmax(x: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Softmax over the last axis; what does not count is 0."""
    if x.size == 0:
        return x
    powers = np.where(counted, np.exp(x - x.max(axis=-1, keepdims=True)), 0)
    total = powers.sum(axis=-1, keepdims=True)
    return (powers / np.where(total == 0, 1, total)).astype(x.dtype)


def _probit(p: np.ndarray) -> Any:
    """Inverse of the normal distribution function, by Winitzki's approximation of the inverse error function (2008)."""
    x = 2 * p - 1
    log = np.log((1 - x) * (1 + x))
    half = 2 / (np.pi * 0.147) + log / 2
    return (np.sign(x) * np.sqrt(2) * np.sqrt(np.sqrt(half * half - log / 0.147) - half)).astype(p.dtype)
