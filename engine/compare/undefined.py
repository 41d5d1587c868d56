"""Results that the standard leaves undefined, named so that nobody hunts them as bugs.

The engine gives the same answer on every run, but another runtime, or another device, may well give another one.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from engine.dtypes import from_numpy
from engine.graph.ir import Model, Node, Tensor
from engine.kernels.quantization import integer_range
from engine.kernels.randomness import RANDOM
from engine.kernels.registry import Value, host_array
from engine.session import Observer
from engine.words import counted

Rule = Callable[[Node, Sequence[Any], Sequence[Any]], str]
"""(node, inputs, outputs) -> what is undefined in the outputs, in words; "" for nothing."""


class UndefinedResults(Observer):
    """Collects in `notes`, for each node whose outputs depend on what the specification leaves open, the reason."""

    def __init__(self) -> None:
        self.notes: dict[Node, str] = {}

    def after_node(self, node: Node, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """Note what the node's rule finds; of a node that runs several times the first finding stays."""
        if node not in self.notes:
            note = undefined_in(node, inputs, outputs)
            if note:
                self.notes[node] = note


def undefined_in(node: Node, inputs: Sequence[Value], outputs: Sequence[Value]) -> str:
    """What is undefined by the standard in these outputs of a node, in words; "" for nothing, or where it can't be told
    for lack of a value.

    Arrays may live on a device; those that a rule looks into are copied.
    """
    rule, read = _RULES.get(node.op_type, (None, 0)) if node.domain == "" else (None, 0)
    known = len(inputs) >= read and all(hasattr(value, "dtype") for value in (*inputs[:read], *outputs[:1]))
    return rule(node, inputs, outputs) if rule is not None and known else ""


def undefined_by_standard(node: Node, values: Mapping[Tensor, Value]) -> str:
    """Why the standard allows more than one result of the node among the values of a run, in words; "" where not."""
    inputs, outputs = ([tensor and values.get(tensor) for tensor in side] for side in (node.inputs, node.outputs))
    note = undefined_in(node, inputs, outputs)
    return f"undefined by the standard: {node.op_type} ({note})" if note else ""


def unsettled_operators(model: Model) -> list[str]:
    """A note on the random operators of a model, whose results differ from run to run."""
    count = sum(node.op_type in RANDOM and not node.domain for node in model.nodes())
    return [f"{counted(count, 'node')} draw random numbers: results differ where they are used"] if count else []


def _share(count: int, total: int) -> str:
    return f"{count:,} of {total:,} elements"


def _to_integers(node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> str:
    """Cast and QuantizeLinear: a float that is NaN, or for Cast beyond the integer type, has no defined result."""
    x, y = inputs[0], outputs[0]
    target = from_numpy(y.dtype)
    source = from_numpy(x.dtype)
    if target is None or source is None or source.kind != "float" or target.kind not in ("int", "uint"):
        return ""
    values = host_array(x).astype(np.float64)
    lost = np.isnan(values)
    if node.op_type != "QuantizeLinear":  # which saturates
        low, high = integer_range(target)
        lost |= (np.trunc(values) < low) | (values >= high + 1)
    count = int(lost.sum())
    return f"{_share(count, values.size)} are NaN or do not fit {target}" if count else ""


def _by_zero(node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> str:
    if inputs[1].dtype.kind not in "iu":
        return ""
    count = int((host_array(inputs[1]) == 0).sum())
    return f"integers are divided by {count:,} zeros" if count else ""


def _of_nothing(node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> str:
    empty = inputs[0].size == 0 and prod(outputs[0].shape) > 0
    return "it is the mean of no elements" if empty else ""


def _far_shift(node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> str:
    count = int((host_array(inputs[1]) >= 8 * inputs[0].dtype.itemsize).sum())
    return f"{count:,} shifts are as wide as the type or wider" if count else ""


def _written_twice(node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> str:
    """ScatterElements and ScatterND without reduction: which of two updates of one element wins."""
    if node.attributes.get("reduction", "none") != "none" or inputs[1].size == 0:
        return ""
    x, indices = inputs[0], host_array(inputs[1])
    if node.op_type == "ScatterND":
        sizes = np.array(x.shape[: indices.shape[-1]])
        places = np.where(indices < 0, indices + sizes, indices).reshape(-1, indices.shape[-1])
        repeated = len(np.unique(places, axis=0)) < len(places)
    else:
        axis = cast(int, node.attributes.get("axis", 0))
        ordered = np.sort(np.where(indices < 0, indices + x.shape[axis], indices), axis=axis)
        repeated = bool((np.diff(ordered, axis=axis) == 0).any())
    return "some elements are written more than once" if repeated else ""


def _drawn(node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> str:
    return "random numbers"


_RULES: dict[str, tuple[Rule, int]] = {
    "Cast": (_to_integers, 1), "CastLike": (_to_integers, 1), "QuantizeLinear": (_to_integers, 1),
    "Div": (_by_zero, 2), "Mod": (_by_zero, 2), "ReduceMean": (_of_nothing, 1), "BitShift": (_far_shift, 2),
    "ScatterElements": (_written_twice, 2), "Scatter": (_written_twice, 2), "ScatterND": (_written_twice, 2),
    **dict.fromkeys(RANDOM, (_drawn, 0)),
}  # fmt: skip
"""By operator the rule, and how many inputs it reads."""
