"""The documentation of a node's operator, in the version that the model's opset selects, offline. Knows no Qt."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import onnx.defs

from engine.dtypes import BY_NAME
from engine.graph.ir import Function, Model, Node
from engine.graph.schemas import schema_of
from gui.facts.markup import Block, BlockKind, blocks_of, plain
from gui.facts.schemas import default_values, kernel_parameters

Schema = onnx.defs.OpSchema
_OPTIONAL = Schema.FormalParameterOption.Optional
_VARIADIC = Schema.FormalParameterOption.Variadic
MOST_TYPES = 12


@dataclass(frozen=True, slots=True)
class AttributeDoc:
    """An attribute of an operator: its kind ("int", "floats", …), whether it must be given, its default or None."""

    name: str
    kind: str
    required: bool
    default: object | None
    text: str


def attribute_docs(node: Node) -> tuple[AttributeDoc, ...]:
    """The attributes of a node's operator, by name; empty where nobody documents it."""
    return _attribute_docs(node.op_type, node.since_version, node.domain)


@lru_cache(maxsize=512)
def _attribute_docs(op_type: str, version: int, domain: str) -> tuple[AttributeDoc, ...]:
    defaults = default_values(op_type, version, domain)
    schema = schema_of(op_type, version, domain)
    if schema is None:
        keywords = [p for p in kernel_parameters(op_type, domain)[0].values() if p.kind is p.KEYWORD_ONLY]
        return tuple(
            AttributeDoc(p.name, str(p.annotation), p.default is p.empty, defaults.get(p.name), "") for p in keywords
        )
    return tuple(
        AttributeDoc(name, _kind(attribute), bool(attribute.required), defaults.get(name),
                     plain(" ".join(attribute.description.split())))
        for name, attribute in sorted(schema.attributes.items())
    )  # fmt: skip


def _kind(attribute: Schema.Attribute) -> str:
    return str(attribute.type.name).lower()  # type: ignore[attr-defined]  # an enum; the stub has a plain class


def documentation(node: Node, model: Model | None) -> list[Block]:
    """All that is known of a node's operator: what it does, its attributes, inputs, outputs and versions."""
    function = model.functions.get((node.domain, node.op_type, node.overload)) if model is not None else None
    schema = schema_of(node.op_type, node.since_version, node.domain)
    domain = node.domain or "ai.onnx"
    if function is not None:
        return [Block(BlockKind.TITLE, node.op_type, f"{domain}, a function of this model"), *_of_function(function)]
    if schema is not None:
        note = f"{domain}, since version {schema.since_version}" + (", deprecated" if schema.deprecated else "")
        return [Block(BlockKind.TITLE, node.op_type, note), *_of_schema(schema, node)]
    parameters, doc = kernel_parameters(node.op_type, node.domain)
    title = Block(BlockKind.TITLE, node.op_type, domain)
    if not doc and not parameters:
        return [title, Block(BlockKind.TEXT, "Neither the ONNX standard nor OInfer's kernels know this operator.")]
    return [title, *_of_kernel(node, doc)]


def _of_schema(schema: Schema, node: Node) -> Iterator[Block]:
    yield from blocks_of(schema.doc or "")
    if schema.attributes:
        yield Block(BlockKind.HEADING, "Attributes")
    for doc in attribute_docs(node):
        yield Block(BlockKind.TERM, doc.name, _attribute_note(doc))
        yield from blocks_of(schema.attributes[doc.name].description)
    for title, formals in (("Inputs", schema.inputs), ("Outputs", schema.outputs)):
        if formals:
            yield Block(BlockKind.HEADING, title)
        for formal in formals:
            option = {_OPTIONAL: ", optional", _VARIADIC: ", any number"}.get(formal.option, "")
            yield Block(BlockKind.TERM, formal.name, f"{formal.type_str}{option}")
            yield from blocks_of(formal.description)
    if schema.type_constraints:
        yield Block(BlockKind.HEADING, "Types")
    for constraint in schema.type_constraints:
        yield Block(BlockKind.TERM, constraint.type_param_str, _types(constraint.allowed_type_strs))
    yield from _versions(schema)


def _attribute_note(doc: AttributeDoc) -> str:
    if doc.required:
        return f"{doc.kind}, required"
    return f"{doc.kind}, default {doc.default!r}" if doc.default is not None else f"{doc.kind}, optional"


def _types(names: Sequence[str]) -> str:
    """Allowed types in the window's short names."""
    shown = []
    for name in names:
        inner = name.removeprefix("tensor(").removesuffix(")") if name.startswith("tensor(") else ""
        known = BY_NAME.get({"float": "float32", "double": "float64"}.get(inner, inner))
        shown.append(known.short if known else name)
    cut = f" and {len(shown) - MOST_TYPES} more" if len(shown) > MOST_TYPES + 1 else ""
    return ", ".join(shown[:MOST_TYPES] if cut else shown) + cut


def _versions(schema: Schema) -> Iterator[Block]:
    others = sorted(_all_versions()[schema.domain, schema.name])
    if len(others) > 1:
        yield Block(BlockKind.HEADING, "Versions")
        yield Block(BlockKind.TEXT, ", ".join(f"[{v}]" if v == schema.since_version else str(v) for v in others))


@cache
def _all_versions() -> dict[tuple[str, str], set[int]]:
    versions: dict[tuple[str, str], set[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        versions.setdefault((schema.domain, schema.name), set()).add(schema.since_version)
    return versions


def _of_function(function: Function) -> Iterator[Block]:
    yield from blocks_of(function.doc_string)
    names = [*function.attributes, *function.attribute_defaults]
    for title, terms in (
        ("Attributes", names),
        ("Inputs", [t.name for t in function.body.inputs]),
        ("Outputs", [t.name for t in function.body.outputs]),
    ):
        if terms:
            yield Block(BlockKind.HEADING, title)
        for name in terms:
            yield Block(BlockKind.TERM, name, f"default {function.attribute_defaults[name]!r}"
                        if title == "Attributes" and name in function.attribute_defaults else "")  # fmt: skip


def _of_kernel(node: Node, doc: str) -> Iterator[Block]:
    yield from blocks_of(doc)
    parameters = kernel_parameters(node.op_type, node.domain)[0]
    inputs = [p for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    docs = attribute_docs(node)
    if docs:
        yield Block(BlockKind.HEADING, "Attributes")
    for attribute in docs:
        yield Block(BlockKind.TERM, attribute.name, _attribute_note(attribute))
    if inputs:
        yield Block(BlockKind.HEADING, "Inputs")
    for p in inputs:
        optional = p.default is not inspect.Parameter.empty
        yield Block(BlockKind.TERM, p.name, "optional" if optional else "")
    yield Block(BlockKind.TEXT, "Outside the ONNX standard; this is what OInfer's own kernel does and understands.")
