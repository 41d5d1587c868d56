"""Where the shape of a tensor comes from, in words: the rule, what it was given, and what is not known."""

from __future__ import annotations

from engine.errors import DataError
from engine.graph.data import TensorData
from engine.graph.ir import Node, Tensor, ValueSource
from engine.graph.types import Type
from engine.shapes import rules
from engine.shapes.facts import is_complete
from engine.words import counted

_MOST_VALUES = 8
"""Elements of a small constant that are written out."""
_MOST_INPUTS = 32
"""Inputs of a node that are written out; who has thousands of them reads no further."""


def shape_origin(tensor: Tensor) -> str:
    """Why a tensor has the type that was inferred, as lines of text; each input with its type, constants with values.

    An unknown shape also says which node first could not tell, and why.
    """
    lines = [_source(tensor)]
    node = tensor.producer
    if node is not None and tensor.data is None:
        given = [(slot, t) for slot, t in enumerate(node.inputs) if t is not None]
        lines += [f"  input {slot}: {_given(t)}" for slot, t in given[:_MOST_INPUTS]]
        lines += [f"  and {counted(len(given) - _MOST_INPUTS, 'more input')}"] if len(given) > _MOST_INPUTS else []
        lines += _settings(node)
    if tensor.unknown_because:
        known = is_complete(tensor.inferred_type)
        lines.append(tensor.unknown_because if known else f"not known: {tensor.unknown_because}")
    return "\n".join(lines)


def _source(tensor: Tensor) -> str:
    if tensor.data is not None:
        return f"stored in the file: {tensor.data.dtype}{list(tensor.data.dims)}"
    node = tensor.producer
    if node is None:
        return {
            ValueSource.INPUT: "an input, as the file declares it; open dims got names",
            ValueSource.ABSENT: "nothing in the file defines it",
        }.get(tensor.source, "given to the subgraph by the node that holds it")
    if "function" in node.subgraphs:
        how = "the nodes of the function"
    elif rules.find(node.domain, node.op_type) is not None:
        how = "the rule"
    else:
        how = "the file, for want of a rule"
    return f"by {how} of {node.qualified_op}, version {node.since_version}, in {node.name!r}"


def _given(tensor: Tensor) -> str:
    text = f"{tensor.name!r} {_written(tensor.inferred_type)}"
    data = tensor.data
    if isinstance(data, TensorData) and data.size <= _MOST_VALUES and data.dtype.kind in ("int", "uint", "float"):
        try:
            return f"{text} = {data.array().tolist()}"
        except DataError:
            return text
    return text


def _settings(node: Node) -> list[str]:
    """Attributes that can matter to a shape: numbers, lists of numbers and short texts."""
    plain = {
        name: value
        for name, value in node.attributes.items()
        if isinstance(value, (int, float, str)) or (isinstance(value, list) and len(value) <= _MOST_VALUES)
    }
    return [f"  {name} = {str(value)[:80]}" for name, value in plain.items()]


def _written(type_: Type | None) -> str:
    return str(type_) if type_ is not None else "of unknown type"
