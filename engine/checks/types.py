"""Rules about types, after inference: is each operator defined for the types it gets and makes?"""
from __future__ import annotations

from collections.abc import Iterable

from engine.checks.findings import Findings, title
from engine.checks.forms import Formal, form_of
from engine.dtypes import DType
from engine.graph.ir import Graph, Node, Tensor
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type

_TEXTS = {"float32": "float", "float64": "double"}


def check_types(scopes: Iterable[Graph], clashing: set[str], findings: Findings) -> None:
    """Report dtype-not-allowed, but not for nodes in `clashing`, whose types are known to contradict each other."""
    for graph in scopes:
        for node in graph.nodes:
            form = form_of(node)
            if form is None or form.deprecated:
                continue
            for slot, tensor in enumerate(node.inputs):
                if tensor is not None and _is_refused(tensor, formal := form.input(slot)):
                    _report(node, "takes", formal, tensor, clashing, findings)
                    break
            else:
                for slot, tensor in enumerate(node.outputs):
                    if tensor is not None and _is_refused(tensor, formal := form.output(slot)):
                        _report(node, "makes", formal, tensor, clashing, findings)
                        break


def _is_refused(tensor: Tensor, formal: Formal | None) -> bool:
    type_ = tensor.inferred_type or tensor.stored_type
    if formal is None or type_ is None:
        return False
    if isinstance(type_, TensorType):
        return type_.dtype is not None and type_.dtype not in formal.dtypes
    text = _text(type_)
    return bool(text) and text not in formal.others


def _text(type_: Type | None) -> str:
    """A type as schemas write it, such as ``seq(tensor(float))``; empty where it is not fully known."""
    if isinstance(type_, TensorType):
        return f"tensor({_TEXTS.get(type_.dtype.name, type_.dtype.name)})" if type_.dtype else ""
    if isinstance(type_, (SequenceType, OptionalType)):
        element = _text(type_.element)
        return f"{'seq' if isinstance(type_, SequenceType) else 'optional'}({element})" if element else ""
    if isinstance(type_, MapType) and type_.key is not None:
        value = _text(type_.value)
        return f"map({_TEXTS.get(type_.key.name, type_.key.name)},{value})" if value else ""
    return ""


def _report(
    node: Node, verb: str, formal: Formal | None, tensor: Tensor, clashing: set[str], findings: Findings
) -> None:
    if formal is None or node.qualified_name in clashing:
        return
    type_ = tensor.inferred_type or tensor.stored_type
    actual = str(type_.dtype) if isinstance(type_, TensorType) else _text(type_)
    slot = "input" if verb == "takes" else "output"
    message = (
        f"{title(node)}: its {slot} {formal.name} is {actual}, and version {node.since_version} {verb} "
        f"{_listed(formal.dtypes, formal.others)}"
    )
    findings.add("dtype-not-allowed", message, node, tensor)


def _listed(dtypes: frozenset[DType], others: frozenset[str]) -> str:
    names = [t.name for t in sorted(dtypes, key=lambda t: t.code)] + sorted(others)
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
