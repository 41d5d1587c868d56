"""Optimiser steps of ai.onnx.preview.training, each over any number of tensors."""
from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.registry import KernelContext, host_array, kernel

TRAINING = "ai.onnx.preview.training"


def _groups(tensors: tuple[Any, ...], parts: int) -> list[tuple[Any, ...]]:
    """Inputs listed part by part (all values, all gradients, …) as one tuple for each optimised tensor."""
    count = len(tensors) // parts
    return [tuple(tensors[part * count + i] for part in range(parts)) for i in range(count)]


def _in_parts(results: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(value for part in zip(*results) for value in part)


def _scalar(value: Any) -> float:
    return float(host_array(value).reshape(-1)[0])


@kernel("Adagrad", 1, domain=TRAINING, host_inputs=(0, 1))
def adagrad(
    ctx: KernelContext,
    rate: Any,
    step: Any,
    *tensors: Any,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> tuple[Any, ...]:
    """One step of Adagrad: new values, then new sums of squared gradients (Adagrad 1)."""
    pace = _scalar(rate) / (1 + _scalar(step) * decay_factor)
    results = []
    for x, gradient, squares in _groups(tensors, 3):
        slope = norm_coefficient * x + gradient
        total = squares + slope * slope
        results.append((x - pace * slope / (ctx.xp.sqrt(total) + epsilon), total))
    return _in_parts(results)


@kernel("Adam", 1, domain=TRAINING, host_inputs=(0, 1))
def adam(
    ctx: KernelContext,
    rate: Any,
    step: Any,
    *tensors: Any,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> tuple[Any, ...]:
    """One step of Adam: new values, mean gradients, mean squared gradients (Adam 1)."""
    pace, count = _scalar(rate), _scalar(step)
    if count > 0:
        pace *= float(np.sqrt(1 - beta**count)) / (1 - alpha**count)
    results = []
    for x, gradient, mean, squares in _groups(tensors, 4):
        slope = norm_coefficient * x + gradient
        new_mean = alpha * mean + (1 - alpha) * slope
        new_squares = beta * squares + (1 - beta) * slope * slope
        moved = x - pace * new_mean / (ctx.xp.sqrt(new_squares) + epsilon)
        results.append(((1 - norm_coefficient_post) * moved, new_mean, new_squares))
    return _in_parts(results)


@kernel("Momentum", 1, domain=TRAINING, host_inputs=(0, 1))
def momentum(
    ctx: KernelContext,
    rate: Any,
    step: Any,
    *tensors: Any,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> tuple[Any, ...]:
    """One step of gradient descent with momentum, plain or Nesterov's: new values, then momenta (Momentum 1)."""
    if mode not in ("standard", "nesterov"):
        raise UnsupportedError(f"mode {mode!r} is neither standard nor nesterov")
    pace, weight = _scalar(rate), beta if _scalar(step) > 0 else 1.0
    results = []
    for x, gradient, velocity in _groups(tensors, 3):
        slope = norm_coefficient * x + gradient
        speed = alpha * velocity + weight * slope
        results.append((x - pace * (slope + alpha * speed if mode == "nesterov" else speed), speed))
    return _in_parts(results)
