"""Optimisers (ai.onnx.preview.training)."""

from __future__ import annotations

from typing import Any

from engine.shapes.call import Call
from engine.shapes.facts import Out
from engine.shapes.registry import rule

TRAINING = "ai.onnx.preview.training"


@rule("Adagrad", "Adam", "Momentum", domain=TRAINING)
def optimiser(call: Call) -> list[Any]:
    """For each tensor its new value and its new states. Inputs: rate, count, tensors, gradients, then the states."""
    given = list(call.slots[2:])
    tensors = len(given) // (4 if call.node.op_type == "Adam" else 3)
    kept = given[:tensors] + given[2 * tensors :]
    return [Out(call.shape(slot), call.dtype(slot)) for slot in kept]


@rule("Gradient", domain="ai.onnx.preview.training")
def gradient(call: Call) -> list[Any]:
    """One derivative for each tensor of `xs`, which are the first inputs, shaped as it."""
    return call.outputs(lambda slot: Out(call.shape(slot), call.dtype(slot)))
