"""What the ONNX standard says of a node: its formal names, its attribute defaults, its documentation. Knows no Qt.

For operators that the standard doesn't have, the kernels of the engine stand in: their signatures follow the operator's
specification, and their docstrings say what they compute.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

import onnx.defs

from engine.graph.ir import Node
from engine.graph.schemas import default_attributes, schema_of

Schema = onnx.defs.OpSchema
_VARIADIC = Schema.FormalParameterOption.Variadic


@lru_cache(maxsize=1024)
def kernel_parameters(op_type: str, domain: str) -> tuple[Mapping[str, inspect.Parameter], str]:
    """Parameters of the engine's kernel for an operator, without its context, and its docstring; empty without one."""
    function = _kernels().get((domain, op_type))
    if function is None:
        return {}, ""
    parameters = dict(list(inspect.signature(function).parameters.items())[1:])
    return parameters, inspect.getdoc(function) or ""


@cache
def _kernels() -> dict[tuple[str, str], Callable[..., Any]]:
    from engine.kernels.registry import LIBRARY  # with its modules, which take a moment
    from engine.providers import cpu  # noqa: F401 - importing it declares the kernels

    return {(kernel.domain, kernel.op_type): kernel.function for kernel in LIBRARY}


@lru_cache(maxsize=2048)
def _formal_names(op_type: str, version: int, domain: str, outputs: bool) -> tuple[tuple[str, ...], bool]:
    """Names of the formal inputs or outputs, and whether the last one stands for any number."""
    schema = schema_of(op_type, version, domain)
    if schema is not None:
        formal = schema.outputs if outputs else schema.inputs
        return tuple(p.name for p in formal), bool(formal) and formal[-1].option == _VARIADIC
    if outputs:
        return (), False
    parameters = [p for p in kernel_parameters(op_type, domain)[0].values() if p.kind is not p.KEYWORD_ONLY]
    variadic = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
    return tuple(p.name for p in parameters), variadic


def input_name(node: Node, slot: int) -> str:
    """The operator's own name of an input, such as ``W`` of Conv; its number where nobody names it."""
    return _name(node, slot, outputs=False)


def output_name(node: Node, slot: int) -> str:
    """The operator's own name of an output."""
    return _name(node, slot, outputs=True)


def _name(node: Node, slot: int, outputs: bool) -> str:
    body = node.subgraphs.get("function")
    if body is not None:  # a call: the names of the function's own parameters
        tensors = body.outputs if outputs else body.inputs
        return tensors[slot].name[:40] if slot < len(tensors) else f"#{slot}"
    names, variadic = _formal_names(node.op_type, node.since_version, node.domain, outputs)
    if slot < len(names) - variadic:
        return names[slot]
    return f"{names[-1]}[{slot - len(names) + 1}]" if variadic else f"#{slot}"


@lru_cache(maxsize=1024)
def default_values(op_type: str, version: int, domain: str) -> dict[str, object]:
    """Values of the attributes that have a default, by name."""
    if schema_of(op_type, version, domain) is not None:
        return default_attributes(op_type, version, domain)
    parameters = kernel_parameters(op_type, domain)[0].values()
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    return {p.name: p.default for p in keywords if p.default not in (p.empty, None)}


def summary_of(node: Node) -> str:
    """The first sentences of the operator's documentation, as plain text; empty where there is none."""
    schema = schema_of(node.op_type, node.since_version, node.domain)
    doc = schema.doc if schema is not None else kernel_parameters(node.op_type, node.domain)[1]
    return " ".join((doc or "").strip().split("\n\n")[0].split())
