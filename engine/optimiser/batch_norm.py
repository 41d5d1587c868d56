"""BatchNormalization in inference, and per-channel additions, folded into the layer before."""
from __future__ import annotations

import numpy as np

from engine.graph.ir import Node
from engine.optimiser.rewriting import Rewriting, constant_value, constant_values, only_reader, other_operand

_FLOATS = (np.float32, np.float64)


def fold_batch_norms(work: Rewriting) -> None:
    """Scale the weights of a Conv, ConvTranspose or Gemm as the BatchNormalization behind it would scale the result."""
    for node in work.nodes():
        norm = only_reader(node.outputs[0]) if node.op_type in _CHANNEL_AXIS and not node.domain else None
        if norm is None or norm.op_type != "BatchNormalization" or norm.domain or not _is_inference(norm):
            continue
        scaled = _scale_and_shift(norm)
        weights = constant_value(node.inputs[1])
        bias_of = node.inputs[2] if len(node.inputs) > 2 else None
        bias = constant_value(bias_of)
        if scaled is None or weights is None or weights.dtype not in _FLOATS or (bias_of is not None and bias is None):
            continue
        factor, shift = scaled
        along = _along_channels(node, weights, factor.size)
        if along is None or (node.op_type == "Gemm" and not _is_plain_gemm(node, bias)):
            continue
        new_weights = (weights * factor.reshape(along)).astype(weights.dtype)
        old_bias = np.zeros(()) if bias is None else bias.astype(np.float64)
        new_bias = (old_bias * factor + shift).astype(weights.dtype)
        work.set_input(node, 1, work.constant(node.graph, f"{node.name}/weights", new_weights))
        work.set_input(node, 2, work.constant(node.graph, f"{node.name}/bias", new_bias))
        work.take_over(node, norm, "became one: the normalisation is in the weights")


_CHANNEL_AXIS = {"Conv": 0, "ConvTranspose": 1, "Gemm": 1}
"""The axis of the weights that holds the channels of the result: those of one group, for a ConvTranspose of several."""


def _is_inference(norm: Node) -> bool:
    """Whether a BatchNormalization applies given statistics, one a channel."""
    if any(tensor is not None for tensor in norm.outputs[1:]) or norm.attributes.get("spatial", 1) != 1:
        return False
    return not norm.attributes.get("training_mode")


def _scale_and_shift(norm: Node) -> tuple[np.ndarray, np.ndarray] | None:
    """What the normalisation multiplies each channel by, and then adds, in float64."""
    values = constant_values(norm.inputs[1:5])
    epsilon = norm.attributes.get("epsilon", 1e-5)
    if values is None or not isinstance(epsilon, float) or any(v.dtype not in _FLOATS for v in values):
        return None
    scale, shift, mean, variance = (value.astype(np.float64) for value in values)
    if any(v.shape != scale.shape or v.ndim != 1 for v in (scale, shift, mean, variance)):
        return None
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + epsilon)
    return (factor, shift - mean * factor) if np.isfinite(factor).all() else None


def _along_channels(node: Node, weights: np.ndarray, channels: int) -> tuple[int, ...] | None:
    """The shape in which one factor a channel broadcasts against the weights; None where they do not fit."""
    axis = _CHANNEL_AXIS[node.op_type]
    if node.op_type == "Gemm" and node.attributes.get("transB"):
        axis = 0
    if weights.ndim <= axis or weights.shape[axis] != channels:
        return None
    return tuple(channels if i == axis else 1 for i in range(weights.ndim))


def _is_plain_gemm(node: Node, bias: np.ndarray | None) -> bool:
    plain = node.attributes.get("alpha", 1.0) == 1.0 and node.attributes.get("beta", 1.0) == 1.0
    return plain and (bias is None or bias.ndim == 1)


def fold_channel_additions(work: Rewriting) -> None:
    """Make a constant added to each channel of a Conv without bias its bias."""
    for node in work.nodes():
        if node.op_type not in ("Conv", "ConvTranspose") or node.domain or len(node.inputs) > 2:
            continue
        add = only_reader(node.outputs[0])
        if add is None or add.op_type != "Add" or add.domain or add.since_version < 7 or node.inputs[1] is None:
            continue
        bias = _channel_bias(node, constant_value(other_operand(add, node.outputs[0])))
        if bias is not None:
            work.set_input(node, 2, work.constant(node.graph, f"{node.name}/bias", bias))
            work.take_over(node, add, "became one: what is added is the bias")


def _channel_bias(node: Node, value: np.ndarray | None) -> np.ndarray | None:
    """A constant as the bias of a convolution: one number for each of its channels."""
    output = node.outputs[0]
    shape = output.inferred_shape if output is not None else None
    if value is None or shape is None or value.dtype not in _FLOATS or not isinstance(shape[1], int):
        return None
    spatial, channels = len(shape) - 2, shape[1]
    fits = value.shape in ((channels, *(1,) * spatial), (1, channels, *(1,) * spatial))
    return value.reshape(-1) if fits else None
