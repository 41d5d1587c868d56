"""Operators that give back their input: Identity, Dropout in inference, casts and transposes that undo each other."""
from __future__ import annotations

import numpy as np

from engine.dtypes import DType, from_code
from engine.graph.ir import Node, Tensor
from engine.optimiser.rewriting import Rewriting, constant_value


def remove_no_ops(work: Rewriting) -> None:
    """Let the readers of a no-op read its input, and its input's input where two operators undo each other."""
    for node in work.nodes():
        source = node.inputs[0] if node.inputs else None
        target = node.outputs[0] if node.outputs else None
        if node.domain or source is None or target is None or target in target.graph.outputs:
            continue
        rule = _RULES.get(node.op_type)
        found = rule(node, source) if rule else None
        if found is not None and target.consumers:
            what = "removed: it gives back its input" if found is source else "removed: it undoes what comes before"
            work.note(what, node)
            work.replace(target, found)


def _identity(node: Node, source: Tensor) -> Tensor | None:
    return source


def _dropout(node: Node, source: Tensor) -> Tensor | None:
    """Not where the mask is read or training is asked for; before opset 7 an attribute tells that it is a test."""
    if any(t is not None and (t.consumers or t in t.graph.outputs) for t in node.outputs[1:]):
        return None
    if node.since_version < 7:
        return source if node.attributes.get("is_test") else None
    training = node.inputs[2] if len(node.inputs) > 2 else None
    value = constant_value(training)
    return source if training is None or (value is not None and not value.any()) else None


def _cast(node: Node, source: Tensor) -> Tensor | None:
    wanted, before = _cast_target(node), source.producer
    if wanted is None:
        return None
    if source.dtype is wanted:
        return source
    if before is None or before.op_type != "Cast" or before.domain or before.graph is not node.graph:
        return None
    first = before.inputs[0]
    through = _cast_target(before)
    if first is not None and first.dtype is wanted and through is not None and is_lossless(wanted, through):
        return first
    return None


def _cast_target(node: Node) -> DType | None:
    code = node.attributes.get("to")
    return from_code(code) if isinstance(code, int) else None


def is_lossless(narrow: DType, through: DType) -> bool:
    """Whether every value of one type is exact in the other."""
    if {narrow.kind, through.kind} <= {"int", "uint"} and narrow.bits >= 8 and through.bits >= 8:
        return bool(np.can_cast(narrow.numpy, through.numpy, "safe"))
    if narrow.kind == through.kind == "float":
        return (narrow.name, through.name) in _WIDER
    return False


_WIDER = {
    ("float16", "float32"), ("bfloat16", "float32"), ("float16", "float64"), ("bfloat16", "float64"),
    ("float32", "float64"),
}  # fmt: skip


def _transpose(node: Node, source: Tensor) -> Tensor | None:
    permutation = _permutation(node)
    if permutation is None:
        return None
    if permutation == list(range(len(permutation))):
        return source
    before = source.producer
    if before is None or before.op_type != "Transpose" or before.domain or before.graph is not node.graph:
        return None
    earlier = _permutation(before)
    if earlier is not None and [earlier[axis] for axis in permutation] == list(range(len(permutation))):
        return before.inputs[0]
    return None


def _permutation(node: Node) -> list[int] | None:
    stated = node.attributes.get("perm")
    if isinstance(stated, list):
        return [axis for axis in stated if isinstance(axis, int)]
    shape = node.inputs[0].inferred_shape if node.inputs[0] is not None else None
    return None if shape is None else list(reversed(range(len(shape))))


_RULES = {"Identity": _identity, "Dropout": _dropout, "Cast": _cast, "Transpose": _transpose}
