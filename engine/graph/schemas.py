"""What the ONNX standard itself knows of operators: which schema an opset selects, and how far the opsets go."""
from __future__ import annotations

from functools import cache

import onnx

NEWEST_OPSETS = {
    "": onnx.defs.onnx_opset_version(),
    "ai.onnx.ml": onnx.defs.onnx_ml_opset_version(),
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": 1,
}
"""The domains that ONNX defines, with their newest opset in the installed `onnx`."""


def canonical_domain(domain: str) -> str:
    """The domain with the two spellings of the default one made equal."""
    return "" if domain == "ai.onnx" else domain


@cache
def since_version(op_type: str, opset: int, domain: str) -> int:
    """The version of the operator's schema that an opset selects; 0 where an ONNX domain has no such operator.

    Domains that ONNX doesn't define count as version 1.
    """
    if domain not in NEWEST_OPSETS:
        return 1
    try:
        return int(onnx.defs.get_schema(op_type, max(opset, 1), domain).since_version)
    except onnx.defs.SchemaError:
        return 0
