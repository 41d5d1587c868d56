"""Where implementations may differ and all be right: the standard leaves the result open."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.dtypes import from_code
from engine.graph.ir import Model, Node, Tensor
from engine.kernels.registry import Value
from engine.words import counted

BEYOND_RANGE = "undefined by the standard: Cast of values that the target type cannot hold"
RANDOM = "undefined by the standard: random numbers"

_RANDOM = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
})  # fmt: skip


def undefined_by_standard(node: Node, values: Mapping[Tensor, Value]) -> str:
    """Why the standard allows more than one result of the node on these inputs, in words; "" where it does not.

    Sources: Cast 25 ("casting from floating point to … when out of range: undefined"), the random operators.
    """
    if node.domain:
        return ""
    if node.op_type in _RANDOM:
        return RANDOM
    if node.op_type == "Cast" and node.inputs and node.inputs[0] is not None:
        return BEYOND_RANGE if _leaves_range(values.get(node.inputs[0]), node.attributes.get("to")) else ""
    return ""


def unsettled_operators(model: Model) -> list[str]:
    """A note on the random operators of a model, whose results differ from run to run."""
    count = sum(node.op_type in _RANDOM and not node.domain for node in model.nodes())
    return [f"{counted(count, 'node')} draw random numbers: results differ where they are used"] if count else []


def _leaves_range(value: Value, code: object) -> bool:
    target = from_code(code) if isinstance(code, int) else None
    if target is None or target.kind not in ("int", "uint") or not isinstance(value, np.ndarray):
        return False
    if value.dtype.kind in "iubOUS":
        return False
    numbers = np.trunc(value.astype(np.float64))
    low = -(2.0 ** (target.bits - 1)) if target.kind == "int" else 0.0
    high = low + 2.0**target.bits - 1
    return not bool(np.all((numbers >= low) & (numbers <= high)))
