"""Rules about versions: what a model uses that its IR version does not have, and functions that read other opsets.

Source: the history of `Version` in onnx.proto (IR version 14).
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.checks.findings import Findings, title
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Model
from engine.graph.schemas import since_version
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type

_DTYPE_SINCE = {
    "bfloat16": 4,
    "float8e4m3fn": 9, "float8e4m3fnuz": 9, "float8e5m2": 9, "float8e5m2fnuz": 9,
    "uint4": 10, "int4": 10,
    "float4e2m1": 11,
    "float8e8m0": 12,
    "uint2": 13, "int2": 13,
    "float6e2m3": 14, "float6e3m2": 14,
}  # fmt: skip
"""The IR version that brought an element type, where it was not there from the beginning."""


def check_versions(model: Model, scopes: Iterable[Graph], findings: Findings) -> None:
    """Report newer-than-ir, once for each thing that is too new, and function-opset."""
    needed: dict[str, int] = {}
    for graph in scopes:
        for what, version in _features(graph, model.ir_version):
            needed.setdefault(what, version)
    for function in model.functions.values():
        needed["model-local functions"] = 8
        if function.attribute_defaults:
            needed["attribute defaults of functions"] = 9
        if function.overload:
            needed["overloads of functions"] = 10
    if model.opset_imports and 0 < model.ir_version < 3:
        needed["opset imports"] = 3
    for what, version in needed.items():
        if 0 < model.ir_version < version:
            message = f"it uses {what}, which came with IR {version}, and states IR {model.ir_version}"
            findings.add("newer-than-ir", message)
    _check_function_opsets(model, findings)


def _features(graph: Graph, ir_version: int) -> Iterator[tuple[str, int]]:
    """What a graph uses that is newer than its IR version, with the version that brought it."""
    for tensor in graph.tensors.values():
        if isinstance(tensor.data, SparseData) and ir_version < 6:
            yield "sparse constants", 6
        if tensor.stored_type is not None:
            yield from _newer_types(tensor.stored_type, ir_version)
    for node in graph.nodes:
        for value in node.attributes.values():
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, (TensorData, SparseData)):
                    yield from _newer_types(TensorType(item.dtype), ir_version)


def _newer_types(type_: Type | None, ir_version: int) -> Iterator[tuple[str, int]]:
    if isinstance(type_, TensorType):
        since = _DTYPE_SINCE.get(type_.dtype.name, 0) if type_.dtype else 0
        if since > ir_version:
            yield f"the element type {type_.dtype}", since
    elif isinstance(type_, (SequenceType, OptionalType)):
        if isinstance(type_, OptionalType) and ir_version < 8:
            yield "optional types", 8
        yield from _newer_types(type_.element, ir_version)
    elif isinstance(type_, MapType):
        yield from _newer_types(type_.value, ir_version)


def _check_function_opsets(model: Model, findings: Findings) -> None:
    """A function may import another opset than the model, as long as its operators mean the same in both."""
    for function in model.functions.values():
        for node in (node for graph in function.body.walk() for node in graph.nodes):
            inside, outside = node.opset, model.opset_imports.get(node.domain)
            if node.domain not in function.opset_imports or outside is None or inside == outside:
                continue
            if (node.domain, node.op_type, node.overload) in model.functions:
                continue
            if since_version(node.op_type, outside, node.domain) != node.since_version:
                message = (
                    f"the function {function.name!r} imports opset {inside} of {node.domain or 'ai.onnx'}, the model "
                    f"{outside}, and {title(node)} differs between them"
                )
                findings.add("function-opset", message)
                break
