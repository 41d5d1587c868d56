"""What the ONNX standard says of a node: its formal names, its attribute defaults, its documentation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import onnx
import onnx.defs

from engine.graph.ir import Node
from gui.canvas.labels import attribute_text

_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic


@lru_cache(maxsize=1024)
def _schema(op_type: str, version: int, domain: str) -> onnx.defs.OpSchema | None:
    try:
        return onnx.defs.get_schema(op_type, version, domain) if version else None
    except onnx.defs.SchemaError:
        return None


def schema_of(node: Node) -> onnx.defs.OpSchema | None:
    """The operator's schema at the version that the model's opset selects, or None outside the standard."""
    return _schema(node.op_type, node.since_version, node.domain)


def input_names(node: Node) -> list[str]:
    """The operator's own name of each input, such as ``X``, ``W``; numbers where it has none."""
    schema = schema_of(node)
    return _names(schema.inputs if schema else (), len(node.inputs))


def output_names(node: Node) -> list[str]:
    """The operator's own name of each output."""
    schema = schema_of(node)
    return _names(schema.outputs if schema else (), len(node.outputs))


def _names(formal: Sequence[onnx.defs.OpSchema.FormalParameter], count: int) -> list[str]:
    names = []
    for slot in range(count):
        if slot < len(formal) and formal[slot].option != _VARIADIC:
            names.append(formal[slot].name)
        elif formal and formal[-1].option == _VARIADIC:
            names.append(f"{formal[-1].name}[{slot - len(formal) + 1}]")
        else:
            names.append(f"#{slot}")
    return names


def default_attributes(node: Node) -> dict[str, str]:
    """Text of the defaults of those attributes that the node leaves out."""
    schema = schema_of(node)
    found = {}
    for name, attribute in (schema.attributes if schema else {}).items():
        if name not in node.attributes and attribute.default_value.name:
            value = onnx.helper.get_attribute_value(attribute.default_value)
            found[name] = attribute_text(value.decode() if isinstance(value, bytes) else value)
    return found


def summary_of(node: Node) -> str:
    """The first sentences of the operator's documentation, as plain text; empty outside the standard."""
    schema = schema_of(node)
    paragraph = (schema.doc or "").strip().split("\n\n")[0] if schema else ""
    return " ".join(paragraph.split())
