"""Gradient (ai.onnx.preview.training): derivatives of a part of the graph that the node names, in reverse mode.

The part is computed anew from the node's inputs, then walked backwards: each operator's rule turns the derivative of
its output into those of its inputs, which add up where a tensor is read more than once.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.graph.ir import Graph, Node, Tensor
from engine.kernels.axes import Array
from engine.kernels.registry import LIBRARY, KernelContext, KernelRegistry, T, Value, kernel
from engine.kernels.training import TRAINING

Rule = Callable[[Array, Sequence[Array], Array, Node], Sequence[Array]]
"""(derivative of the output, inputs, output, node) -> derivative of each input, which may be broadcast."""


@dataclass(frozen=True, slots=True)
class _Inner:
    """The context of a node that is computed within the Gradient node."""

    node: Node
    outer: KernelContext
    wanted: tuple[bool, ...] = (True,)

    @property
    def xp(self) -> Any:
        return self.outer.xp

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        raise UnsupportedError("Gradient through control flow")

    def prepared(self, name: str, make: Callable[[], T], *sources: Value) -> T:
        return make()


@kernel("Gradient", 1, domain=TRAINING, generic=False)
def gradient(
    ctx: KernelContext, *inputs: Array, xs: list[str], y: str, zs: list[str] | None = None
) -> tuple[Array, ...]:
    """Derivative of the sum of tensor `y` by each of `xs`, where `xs` and then `zs` have the values of the inputs.

    Raises
    ------
    UnsupportedError: an operator on the way from `xs` to `y` has no rule here, or a name is unknown.
    """
    graph = ctx.node.graph
    target, *given = (_named(graph, name) for name in (y, *xs, *(zs or [])))
    values: dict[Tensor, Array] = dict(zip(given, inputs))
    order = _compute(ctx, target, values)
    total: dict[Tensor, Array] = {target: np.ones_like(values[target])}
    for node in reversed(order):
        output = node.outputs[0]
        if output is None or output not in total:
            continue
        rule = _RULES.get(node.op_type) if node.domain == "" else None
        if rule is None:
            raise UnsupportedError(f"there is no rule for the Gradient of {node.qualified_op}")
        tensors = [tensor for tensor in node.inputs if tensor is not None]
        shares = rule(total[output], [values[t] for t in tensors], values[output], node)
        for tensor, share in zip(tensors, shares):
            share = _summed_to(share, values[tensor].shape)
            total[tensor] = total[tensor] + share if tensor in total else share
    return tuple(total.get(tensor, np.zeros_like(values[tensor])) for tensor in given[: len(xs)])


def _named(graph: Graph, name: str) -> Tensor:
    found = graph.find(name)
    if found is None:
        raise UnsupportedError(f"Gradient names {name!r}, which is no tensor of its graph")
    return found


def _compute(ctx: KernelContext, target: Tensor, values: dict[Tensor, Array]) -> list[Node]:
    """Fill in `values` up to the target; the nodes that were computed for it, in order."""
    registry = KernelRegistry(LIBRARY)
    wanted, order = [target], list[Node]()
    while wanted:
        tensor = wanted[-1]
        node = tensor.producer
        if tensor in values:
            wanted.pop()
        elif tensor.data is not None:
            values[tensor] = tensor.data.array()
        elif node is None or node is ctx.node:
            raise UnsupportedError(f"{tensor.name!r} depends on neither xs nor zs of Gradient")
        elif missing := [t for t in node.inputs if t is not None and t not in values]:
            wanted += missing
        else:
            found, why = registry.find(node)
            if found is None:
                raise UnsupportedError(why)
            arguments = [None if t is None else values[t] for t in node.inputs]
            result = found.function(_Inner(node, ctx), *arguments, **found.bind_attributes(node))
            values[tensor] = np.asarray(result[0] if isinstance(result, tuple) else result)
            order.append(node)
    return order


def _summed_to(share: Array, shape: tuple[int, ...]) -> Array:
    """A derivative summed over the axes along which its tensor was broadcast."""
    extra = tuple(range(share.ndim - len(shape)))
    share = share.sum(axis=extra)
    stretched = tuple(i for i, (n, m) in enumerate(zip(shape, share.shape)) if n != m)
    return share.sum(axis=stretched, keepdims=True)


def _of_product(g: Array, inputs: Sequence[Array], y: Array, node: Node) -> Sequence[Array]:
    a, b = inputs
    if min(a.ndim, b.ndim) < 2:
        raise UnsupportedError("there is no rule for the Gradient of MatMul with a vector")
    return np.matmul(g, b.swapaxes(-1, -2)), np.matmul(a.swapaxes(-1, -2), g)


def _of_transpose(g: Array, inputs: Sequence[Array], y: Array, node: Node) -> Sequence[Array]:
    order = node.attributes.get("perm") or list(range(g.ndim))[::-1]
    return [g.transpose(np.argsort(np.asarray(order)))]


def _of_reshape(g: Array, inputs: Sequence[Array], y: Array, node: Node) -> Sequence[Array]:
    return [g.reshape(inputs[0].shape)]


_RULES: dict[str, Rule] = {
    "Identity": lambda g, x, y, n: [g],
    "Add": lambda g, x, y, n: [g, g],
    "Sub": lambda g, x, y, n: [g, -g],
    "Mul": lambda g, x, y, n: [g * x[1], g * x[0]],
    "Div": lambda g, x, y, n: [g / x[1], -g * x[0] / x[1] ** 2],
    "Sum": lambda g, x, y, n: [g] * len(x),
    "Neg": lambda g, x, y, n: [-g],
    "Abs": lambda g, x, y, n: [g * np.sign(x[0])],
    "Exp": lambda g, x, y, n: [g * y],
    "Log": lambda g, x, y, n: [g / x[0]],
    "Sqrt": lambda g, x, y, n: [g / (2 * y)],
    "Sin": lambda g, x, y, n: [g * np.cos(x[0])],
    "Cos": lambda g, x, y, n: [-g * np.sin(x[0])],
    "Tanh": lambda g, x, y, n: [g * (1 - y * y)],
    "Sigmoid": lambda g, x, y, n: [g * y * (1 - y)],
    "Relu": lambda g, x, y, n: [g * (x[0] > 0)],
    "MatMul": _of_product, "Transpose": _of_transpose, "Reshape": _of_reshape, "Flatten": _of_reshape,
    "Squeeze": _of_reshape, "Unsqueeze": _of_reshape,
}  # fmt: skip
