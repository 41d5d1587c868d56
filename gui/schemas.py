"""What the ONNX standard says of a node: its formal names, its attribute defaults, its documentation. Knows no Qt."""

from __future__ import annotations

from functools import lru_cache

import onnx
import onnx.defs

from engine.graph.ir import Node

_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic


@lru_cache(maxsize=1024)
def _schema(op_type: str, version: int, domain: str) -> onnx.defs.OpSchema | None:
    try:
        return onnx.defs.get_schema(op_type, version, domain) if version else None
    except onnx.defs.SchemaError:
        return None


@lru_cache(maxsize=2048)
def _formal_names(op_type: str, version: int, domain: str, outputs: bool) -> tuple[tuple[str, ...], bool]:
    """Names of the formal inputs or outputs, and whether the last one stands for any number."""
    schema = _schema(op_type, version, domain)
    formal = () if schema is None else schema.outputs if outputs else schema.inputs
    return tuple(p.name for p in formal), bool(formal) and formal[-1].option == _VARIADIC


def input_name(node: Node, slot: int) -> str:
    """The operator's own name of an input, such as ``W`` of Conv; its number where the standard has none."""
    return _name(node, slot, outputs=False)


def output_name(node: Node, slot: int) -> str:
    """The operator's own name of an output."""
    return _name(node, slot, outputs=True)


def _name(node: Node, slot: int, outputs: bool) -> str:
    names, variadic = _formal_names(node.op_type, node.since_version, node.domain, outputs)
    if slot < len(names) - variadic:
        return names[slot]
    return f"{names[-1]}[{slot - len(names) + 1}]" if variadic else f"#{slot}"


@lru_cache(maxsize=1024)
def default_values(op_type: str, version: int, domain: str) -> dict[str, object]:
    """Values of the attributes that have a default, by name; empty for operators outside the standard."""
    schema = _schema(op_type, version, domain)
    found: dict[str, object] = {}
    for name, attribute in (schema.attributes if schema else {}).items():
        if attribute.default_value.name:
            value = onnx.helper.get_attribute_value(attribute.default_value)
            found[name] = value.decode() if isinstance(value, bytes) else value
    return found


def summary_of(node: Node) -> str:
    """The first sentences of the operator's documentation, as plain text; empty outside the standard."""
    schema = _schema(node.op_type, node.since_version, node.domain)
    paragraph = (schema.doc or "").strip().split("\n\n")[0] if schema else ""
    return " ".join(paragraph.split())
