"""Which values stand as rows in the nodes that read them, instead of being boxes with lines. No Qt."""

from __future__ import annotations

from engine.graph.ir import Node, Tensor, ValueSource


def is_constant_row(tensor: Tensor) -> bool:
    """Whether a tensor is drawn as a row of its readers instead of a line: constants, and inputs with a default."""
    if tensor.producer is not None:
        return is_folded(tensor.producer)
    return tensor.is_constant or tensor.source is ValueSource.OVERRIDABLE


def is_folded(node: Node) -> bool:
    """Whether a node is a Constant that only nodes read, so that its value stands in them and needs no box."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return False
    tensor = node.outputs[0] if node.outputs else None
    return tensor is not None and bool(tensor.consumers) and all(tensor is not t for t in node.graph.outputs)
