"""``oinfer inspect``: what a model file holds, without running it."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from engine.cli.model import add_model, open_named
from engine.cli.output import (
    escape,
    findings_summary,
    heading,
    json_finding,
    json_shape,
    json_type,
    print_json,
    print_table,
)
from engine.dims import Shape
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Model, Node, Tensor, ValueSource
from engine.graph.types import TensorType, Type, format_shape
from engine.words import bytes_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model(parser)
    parser.add_argument("--shapes", action="store_true", help="list every tensor with its stored and inferred shape")


def execute(args: argparse.Namespace) -> int:
    """Print the report; always 0, since findings are `check`'s concern."""
    model = open_named(args)
    if args.json:
        print_json(as_json(model))
    else:
        print_report(model, args.shapes)
    return 0


def as_json(model: Model) -> dict[str, object]:
    """The report under the keys that docs/cli.md names."""
    graph = model.graph
    weights = parameters(graph)
    return {
        "path": model.path,
        "format": model.format,
        "ir_version": model.ir_version,
        "opset_imports": model.opset_imports,
        "producer_name": model.producer_name,
        "producer_version": model.producer_version,
        "domain": model.domain,
        "model_version": model.model_version,
        "doc_string": model.doc_string,
        "metadata": model.metadata,
        "graph_name": graph.name,
        "inputs": [{"name": t.name, "kind": t.source.value, **json_type(current_type(t))} for t in graph.inputs],
        "outputs": [{"name": t.name, **json_type(current_type(t))} for t in graph.outputs],
        "functions": [
            {"domain": f.domain, "name": f.name, "overload": f.overload, "nodes": len(f.body.nodes)}
            for f in model.functions.values()
        ],
        "op_histogram": dict(histogram(model)),
        "parameters": sum(data.size for data in weights),
        "parameter_bytes": sum(data.nbytes for data in weights),
        "fusion": [fusion_json(t) for t in fusion_rows(graph)],
        "order": [node_json(node) for node in graph.order],
        "subgraphs": [
            {"name": sub.prefix.rstrip("/"), "graph_name": sub.name, "order": [node_json(node) for node in sub.order]}
            for sub in graph.walk()
            if sub is not graph
        ],
        "tensors": {t.qualified_name: tensor_json(t) for t in all_tensors(graph)},
        "diagnostics": [json_finding(d) for d in model.diagnostics],
        "timings_ms": model.timings_ms,
    }


def current_type(tensor: Tensor) -> Type | None:
    """The inferred type, else the stored one."""
    return tensor.inferred_type or tensor.stored_type


def fusion_rows(graph: Graph) -> list[Tensor]:
    """Every graph input and initializer, once each: inputs in their order, then the other initializers."""
    inputs = set(graph.inputs)
    return graph.inputs + [t for t in graph.tensors.values() if t.data and not t.producer and t not in inputs]


def fusion_json(tensor: Tensor) -> dict[str, object]:
    """One row of the fusion of inputs and initializers."""
    return {
        "name": tensor.name,
        "kind": tensor.source.value,
        "dtype": tensor.dtype.name if tensor.dtype else None,
        "declared_shape": json_shape(declared_shape(tensor)),
        "stored_shape": list(tensor.data.dims) if tensor.data else None,
        "nbytes": tensor.data.nbytes if tensor.data else 0,
    }


def declared_shape(tensor: Tensor) -> Shape | None:
    """Shape that the graph input of this name declares; None for an initializer without an input."""
    return None if tensor.source is ValueSource.IMPLICIT_CONSTANT else tensor.stored_shape


def node_json(node: Node) -> dict[str, object]:
    """One row of the run order; absent inputs and outputs are empty strings, captured outer values stand apart."""
    return {
        "index": node.index,
        "file_index": node.file_index,
        "name": node.name,
        "op_type": node.op_type,
        "domain": node.domain,
        "inputs": [t.qualified_name if t else "" for t in node.inputs],
        "outputs": [t.qualified_name if t else "" for t in node.outputs],
        "captures": [t.qualified_name for t in node.captures],
    }


def tensor_json(tensor: Tensor) -> dict[str, object]:
    """What is known of one tensor."""
    return {
        "dtype": tensor.dtype.name if tensor.dtype else None,
        "stored": json_shape(tensor.stored_shape),
        "inferred": json_shape(tensor.inferred_shape),
        "unknown_because": tensor.unknown_because or None,
    }


def all_tensors(graph: Graph) -> Iterator[Tensor]:
    """Tensors of the graph and all its subgraphs."""
    for scope in graph.walk():
        yield from scope.tensors.values()


def parameters(graph: Graph) -> list[TensorData | SparseData]:
    """Constants that are weights, subgraphs included: floats and integers of at most 8 bits; wider ones index.

    Those of a function count once, however often it is called.
    """
    stored = (t.data for scope in graph.walk_stored() for t in scope.tensors.values() if t.data is not None)
    return [d for d in stored if d.dtype.kind == "float" or (d.dtype.kind in ("int", "uint") and d.dtype.bits <= 8)]


def histogram(model: Model) -> list[tuple[str, int]]:
    """Operators with their counts, subgraphs included, the most used first."""
    counts = Counter(node.qualified_op for node in model.nodes())
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def print_report(model: Model, shapes: bool) -> None:
    """The report for people."""
    graph = model.graph
    constants, weights = [t for t in fusion_rows(graph) if t.data], parameters(graph)
    opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in model.opset_imports.items())
    print(escape(str(model.path)))
    print_table([
        ("graph", graph.name or "-"),
        ("format", f"{model.format}; opsets {opsets or 'none'}"),
        ("producer", f"{model.producer_name} {model.producer_version}".strip() or "-"),
        ("nodes", f"{len(graph.nodes)}, with subgraphs {sum(1 for _ in model.nodes())}"),
        ("parameters", f"{sum(data.size for data in weights):,} in {len(weights)} tensors, "
                       f"{bytes_text(sum(data.nbytes for data in weights))}"),
        ("functions", ", ".join(f"{f.domain}::{f.name}" for f in model.functions.values()) or "none"),
        *((f"metadata {key}", value) for key, value in model.metadata.items()),
    ])  # fmt: skip
    heading("Inputs")
    print_table((t.name, t.source.value, current_type(t)) for t in graph.inputs)
    heading("Outputs")
    print_table((t.name, current_type(t)) for t in graph.outputs)
    heading("Operators")
    print_table((count, op) for op, count in histogram(model))
    heading("Initializers")
    print_table(_fusion_cells(t) for t in constants)
    heading("Run order")
    print_table(
        ((n.index, f"(file {n.file_index})" if n.index != n.file_index else "", n.qualified_op, n.name,
          ", ".join(f"{t.name} {_shape_text(t)}" for t in n.outputs if t)) for n in graph.order),
        ("#", "", "op", "name", "outputs"),
    )  # fmt: skip
    if shapes:
        heading("Shapes")
        rows = ((t.qualified_name, t.dtype, format_shape(t.stored_shape), format_shape(t.inferred_shape),
                 t.unknown_because) for t in all_tensors(graph))  # fmt: skip
        print_table(rows, ("tensor", "dtype", "stored", "inferred", ""))
    if model.diagnostics:
        heading(f"Findings: {findings_summary(model.diagnostics)} (see oinfer check)")
    heading("Timings")
    print("  " + ", ".join(f"{phase} {ms:.1f} ms" for phase, ms in model.timings_ms.items()))


def _fusion_cells(tensor: Tensor) -> tuple[object, ...]:
    stored = tuple(tensor.data.dims) if tensor.data else None
    declared = declared_shape(tensor)
    note = f"declared {format_shape(declared)}" if declared not in (None, stored) else ""
    size = bytes_text(tensor.data.nbytes) if tensor.data else ""
    return tensor.name, tensor.source.value, f"{tensor.dtype}{format_shape(stored)}", size, note


def _shape_text(tensor: Tensor) -> str:
    current = current_type(tensor)
    return format_shape(current.shape) if isinstance(current, TensorType) else str(current or "?")
