"""Tensors of two runs held together: outputs, and every tensor in run order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.agreement import Agreement, Tolerances, compare_values
from engine.compare.undefined import undefined_by_standard
from engine.graph.ir import Graph, Model, Node, Tensor
from engine.kernels.registry import Value
from engine.session import RunResult

_QUANTISING = frozenset({
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul", "QLinearAdd",
    "QLinearMul", "QLinearConcat", "QLinearGlobalAveragePool", "QLinearAveragePool", "QLinearLeakyRelu",
    "QLinearSigmoid", "QLinearSoftmax", "QGemm",
})  # fmt: skip
_CODE_BITS = 8
"""Integers of at most so many bits are the codes of a quantised model."""


@dataclass(frozen=True, slots=True)
class TensorAgreement:
    """How one tensor compares.

    `node` computes it, or is None for tensors that no node computes. `note` says what else explains a difference.
    """

    tensor: Tensor
    node: Node | None
    agreement: Agreement
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The agreement's fields with the names of node and tensor."""
        node = None if self.node is None else self.node.qualified_name
        return {
            "node": node, "tensor": self.tensor.qualified_name, **self.agreement.to_json(), "note": self.note,
        }  # fmt: skip


def run_order(graph: Graph) -> Iterator[Node]:
    """Every node in run order; the nodes of subgraphs before the node that owns them, since they finish first."""
    for node in graph.order:
        for subgraph in node.subgraphs.values():
            yield from run_order(subgraph)
        yield node


def compare_outputs(
    model: Model, actual: RunResult, expected: RunResult, tolerances: Tolerances
) -> dict[str, Agreement]:
    """The graph's outputs, by name."""
    steps = Steps(model)
    by_name = {tensor.name: tensor for tensor in model.graph.outputs}
    return {
        name: compare_values(actual.outputs[name], value, tolerances, steps.of(by_name[name]))
        for name, value in expected.outputs.items()
    }


def compare_nodes(
    model: Model, actual: Mapping[Tensor, Value], expected: Mapping[Tensor, Value], tolerances: Tolerances
) -> Iterator[TensorAgreement]:
    """Every tensor that nodes computed on both sides, in run order."""
    steps = Steps(model)
    for node in run_order(model.graph):
        for tensor in node.outputs:
            if tensor is not None and tensor in actual and tensor in expected:
                agreement = compare_values(actual[tensor], expected[tensor], tolerances, steps.of(tensor))
                note = "" if agreement.equal else undefined_by_standard(node, expected)
                yield TensorAgreement(tensor, node, agreement, note)


class Steps:
    """What one quantisation step is worth in each tensor of a model."""

    def __init__(self, model: Model) -> None:
        self._quantised = any(node.op_type in _QUANTISING for node in model.nodes())

    def of(self, tensor: Tensor) -> float | np.ndarray | None:
        """1 for codes, the scale for what has just been dequantised, broadcast to it; None for other tensors."""
        if not self._quantised or tensor.dtype is None:
            return None
        if tensor.dtype.kind in ("int", "uint"):
            return 1.0 if tensor.dtype.bits <= _CODE_BITS else None
        node = tensor.producer
        if node is None or node.op_type != "DequantizeLinear" or node.attributes.get("block_size"):
            return None
        scale = node.inputs[1] if len(node.inputs) > 1 else None
        if scale is None or scale.data is None or scale.data.problem:
            return None
        return _along_axis(np.asarray(scale.data.array(), np.float64), node)


def _along_axis(scale: np.ndarray, node: Node) -> float | np.ndarray | None:
    if scale.size == 1:
        return float(scale.reshape(-1)[0])
    shape = node.inputs[0].inferred_shape if node.inputs[0] is not None else None
    axis = node.attributes.get("axis", 1)
    if shape is None or not isinstance(axis, int) or scale.ndim != 1:
        return None
    return scale.reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])
