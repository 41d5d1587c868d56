"""What the ONNX standard allows of an operator: how many inputs and outputs, of which types, and which attributes."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import onnx

from engine.dtypes import DType
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Node, RefAttribute
from engine.graph.schemas import element_type, schema_of

_OPTION = onnx.defs.OpSchema.FormalParameterOption
_ENDLESS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Formal:
    """An input or output as the schema has it. `dtypes` are the element types of tensors that it takes, `others` the
    texts of its other types, such as ``seq(tensor(float))``."""

    name: str
    required: bool
    variadic: bool
    dtypes: frozenset[DType]
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Form:
    """The form of one version of an operator. `max_inputs` and `max_outputs` are None where there is no limit.

    `attributes` maps a name to its kind, one of `AttributeProto`'s names such as ``INTS``.
    """

    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    min_inputs: int
    max_inputs: int | None
    min_outputs: int
    max_outputs: int | None
    attributes: dict[str, str]
    required: frozenset[str]
    deprecated: bool

    def input(self, slot: int) -> Formal | None:
        """The formal input of a slot; the last one repeats where it is variadic."""
        return _at(self.inputs, slot)

    def output(self, slot: int) -> Formal | None:
        """The formal output of a slot."""
        return _at(self.outputs, slot)


def form_of(node: Node) -> Form | None:
    """The form of a node's operator; None for calls of model-local functions and outside the standard."""
    if not node.since_version or "function" in node.subgraphs:
        return None
    return _form(node.op_type, node.since_version, node.domain)


@cache
def _form(op_type: str, version: int, domain: str) -> Form | None:
    schema = schema_of(op_type, version, domain)
    if schema is None:
        return None
    attributes = schema.attributes
    return Form(
        inputs=_formals(schema.inputs),
        outputs=_formals(schema.outputs),
        min_inputs=schema.min_input,
        max_inputs=schema.max_input if schema.max_input < _ENDLESS else None,
        min_outputs=schema.min_output,
        max_outputs=schema.max_output if schema.max_output < _ENDLESS else None,
        attributes={name: str(a.type).partition(".")[2] for name, a in attributes.items()},
        required=frozenset(name for name, a in attributes.items() if a.required),
        deprecated=schema.deprecated,
    )


def _formals(parameters: Sequence[onnx.defs.OpSchema.FormalParameter]) -> tuple[Formal, ...]:
    return tuple(
        Formal(p.name, p.option == _OPTION.Single, p.option == _OPTION.Variadic, *_types(frozenset(p.types)))
        for p in parameters
    )


@cache
def _types(texts: frozenset[str]) -> tuple[frozenset[DType], frozenset[str]]:
    by_text = {text.replace(" ", ""): element_type(text) for text in texts}
    return (
        frozenset(dtype for dtype in by_text.values() if dtype is not None),
        frozenset(text for text, dtype in by_text.items() if dtype is None),
    )


def _at(formals: tuple[Formal, ...], slot: int) -> Formal | None:
    if slot < len(formals):
        return formals[slot]
    return formals[-1] if formals and formals[-1].variadic else None


_KINDS: dict[type, str] = {
    int: "INT", float: "FLOAT", str: "STRING", TensorData: "TENSOR", SparseData: "SPARSE_TENSOR", Graph: "GRAPH",
}  # fmt: skip


def kind_of(value: object) -> str:
    """The kind of an attribute's value as the standard names it; empty for an empty list and for references."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, list):
        return kind_of(value[0]) + "S" if value else ""
    return "" if isinstance(value, RefAttribute) else "TYPE_PROTO"
