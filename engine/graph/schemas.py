"""What the ONNX standard itself knows of operators: which schema an opset selects, and how far the opsets go."""
from __future__ import annotations

from functools import cache

import onnx

from engine import dtypes
from engine.dtypes import DType

Schema = onnx.defs.OpSchema

NEWEST_OPSETS = {
    "": onnx.defs.onnx_opset_version(),
    "ai.onnx.ml": onnx.defs.onnx_ml_opset_version(),
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": 1,
}
"""The domains that ONNX defines, with their newest opset in the installed `onnx`."""

UNRELEASED = frozenset({
    "Affine", "Crop", "ImageScaler", "LayerNormalization", "MeanVarianceNormalization", "MemcpyFromHost",
    "MemcpyToHost", "ParametricSoftplus", "Scale", "ScaledTanh", "SimplifiedLayerNormalization", "ThresholdedRelu",
})  # fmt: skip
"""Operators that files hold in the standard's domain before, or without, ONNX having released them: experiments of its
first years, and what ONNX Runtime writes into files that it optimised. They count as version 1."""


def canonical_domain(domain: str) -> str:
    """The domain with the two spellings of the default one made equal."""
    return "" if domain == "ai.onnx" else domain


def schema_of(op_type: str, version: int, domain: str) -> Schema | None:
    """The standard's schema of an operator under an opset or schema version; None where it has none."""
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None


@cache
def since_version(op_type: str, opset: int, domain: str) -> int:
    """The version of the operator's schema that an opset selects; 0 where an ONNX domain has no such operator.

    Domains that ONNX doesn't define count as version 1.
    """
    if domain not in NEWEST_OPSETS:
        return 1
    schema = schema_of(op_type, min(max(opset, 1), NEWEST_OPSETS[domain]), domain)
    if schema is None:
        return 1 if domain == "" and op_type in UNRELEASED else 0
    return int(schema.since_version)


def why_unknown(op_type: str, opset: int, domain: str) -> str:
    """Why an opset of an ONNX domain has no such operator, in words: it came later, or its case is another."""
    message = f"opset {opset} of {domain or 'ai.onnx'} has no operator {op_type!r}"
    name, first = _first_opsets(domain).get(op_type.casefold(), ("", 0))
    if name == op_type:
        return f"{message}: it came with opset {first}"
    return f"{message}: is {name!r} meant?" if name else message


@cache
def default_attributes(op_type: str, version: int, domain: str) -> dict[str, object]:
    """Values of the attributes that have a default in a schema version, by name; empty where there is no schema."""
    schema = schema_of(op_type, version, domain)
    if schema is None:
        return {}
    found: dict[str, object] = {}
    for name, attribute in schema.attributes.items():
        if attribute.default_value.name:
            value = onnx.helper.get_attribute_value(attribute.default_value)
            found[name] = value.decode() if isinstance(value, bytes) else value
    return found


_ELEMENT_NAMES = {"float": "float32", "double": "float64"}


def element_type(text: str) -> DType | None:
    """The element type of a schema's type text such as ``tensor(float)``; None for all other texts."""
    if not text.startswith("tensor("):
        return None
    name = text[len("tensor(") : -1]
    return dtypes.BY_NAME.get(_ELEMENT_NAMES.get(name, name))


@cache
def _first_opsets(domain: str) -> dict[str, tuple[str, int]]:
    """Each operator of a domain by its name in lower case: the name, and the first opset that has it."""
    first: dict[str, tuple[str, int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == domain:
            key = schema.name.casefold()
            since = min(schema.since_version, first.get(key, ("", schema.since_version))[1])
            first[key] = schema.name, since
    return first
