"""Lines about the model and the graph shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.costs import CostTable
from engine.graph.ir import Graph, Model, Tensor
from engine.shapes.bind import Binder
from engine.words import bytes_text, counted
from gui.canvas.palette import category_of
from gui.document import Document
from gui.facts.index import ModelIndex
from gui.finding.search import term
from gui.models.lines import Line, LineKind
from gui.models.properties.parts import (
    FACT,
    LINK,
    MAX_LINES,
    STRONG,
    amount,
    heading,
    metadata_lines,
    more_line,
    pair,
    sentence,
    tensor_line,
    text_line,
)
from gui.models.table import MUTED
from gui.running.costing import Costing
from gui.text import count_text, one_line

MAX_MODULES = 60
PROMINENT = (
    "license", "licence", "license_url", "licence_url", "license_link", "licenses", "copyright", "author", "authors",
    "company", "organization", "maintainer", "source", "homepage", "url",
)  # fmt: skip
"""Metadata keys, in lower case, that say who made a model and on which terms."""


def model_lines(document: Document) -> Iterator[Line]:
    """Who made the model and for what, its size and cost, its inputs, outputs and operators."""
    model, index, graph = document.model, document.index, document.graph
    if model is None or index is None or graph is None:
        return
    yield Line(LineKind.TITLE, "Model", one_line(model.graph.name or "unnamed"), badge_colour="accent")
    terms = [key for key in model.metadata if key.casefold().replace(" ", "_") in PROMINENT]
    for key in terms:
        yield pair(one_line(key, 40).casefold(), model.metadata[key], STRONG)
    yield from _format_lines(model)
    if graph is not model.graph:
        yield from _graph_lines(graph)
    yield from _total_lines(model, index)
    yield from _cost_lines(document.costing)
    yield from _stored_lines(index)
    yield from _value_section("Inputs", graph.feeds, document.binder)
    yield from _value_section("Outputs", graph.outputs, document.binder)
    yield from _operator_lines(index, document.costing)
    yield from _module_lines(document.costing.table)
    if model.functions:
        yield heading("Functions")
        for function in list(model.functions.values())[:MAX_LINES]:
            name = f"{function.domain}::{function.name}"
            yield pair(one_line(name, 60), counted(len(function.body.nodes), "node"), LINK, target=term("op", name))
    yield from metadata_lines(model.metadata, tuple(terms))


def _format_lines(model: Model) -> Iterator[Line]:
    yield pair("format", model.format)
    for place, (domain, version) in enumerate(sorted(model.opset_imports.items())):
        yield pair("" if place else "opset", f"{domain or 'ai.onnx'} {version}")
    for label, value in (
        ("producer", f"{model.producer_name} {model.producer_version}".strip()),
        ("domain", model.domain),
        ("version", str(model.model_version) if model.model_version else ""),
        ("file", model.path or ""),
    ):
        if value:
            yield pair(label, value)
    for text in dict.fromkeys((model.doc_string, model.graph.doc_string)):
        if text.strip():
            yield text_line(text.strip(), MUTED)


def _graph_lines(graph: Graph) -> Iterator[Line]:
    yield heading("Graph shown")
    yield pair("name", graph.name or "unnamed")
    if graph.owner is not None:
        yield pair("belongs to", f"{graph.owner.name} / {graph.owner_attribute}", LINK, target=graph.owner)
    yield pair("nodes", f"{len(graph.nodes):,}")
    if graph.doc_string.strip():
        yield text_line(graph.doc_string.strip(), MUTED)


def _total_lines(model: Model, index: ModelIndex) -> Iterator[Line]:
    yield heading("Totals")
    inner = index.node_count - len(model.graph.nodes)
    yield sentence("nodes", f"{index.node_count:,}" + (f", {inner:,} of them in subgraphs" if inner else ""))
    short, exact = count_text(index.parameters), f"{index.parameters:,}"
    yield sentence("parameters", exact if short == exact else f"{short} ({exact})",
               tip="Elements of floating-point constants and of those stored in 8 bits or less")  # fmt: skip
    yield pair("stored data", bytes_text(index.nbytes))


def _cost_lines(costing: Costing) -> Iterator[Line]:
    """What one run takes, for the sizes that the symbolic dims have."""
    table = costing.table
    if table is None:
        return
    total = table.total
    yield pair("MACs", amount(total.macs), tip="Multiplications that are added up")
    yield pair("FLOPs", amount(total.flops), tip="Operations on single elements; a multiply-accumulate counts as two")
    read, written = total.bytes_read, total.bytes_written
    if isinstance(read, int) and isinstance(written, int):
        yield sentence("traffic", f"{bytes_text(read)} in, {bytes_text(written)} out",
                   tip="Sizes of all nodes' inputs and of their outputs")  # fmt: skip
    if costing.dims:
        sizes = ", ".join(f"{name} = {size}" for name, size in list(costing.dims.items())[:8])
        yield text_line(f"counted for {sizes}", MUTED)
    if total.incomplete:
        yield text_line(f"{counted(total.incomplete, 'node')} not or not fully counted", MUTED)


def _stored_lines(index: ModelIndex) -> Iterator[Line]:
    if index.stored:
        yield heading("Stored data by element type")
    most = max((stored.nbytes for stored in index.stored.values()), default=0) or 1
    for dtype, stored in sorted(index.stored.items(), key=lambda item: -item[1].nbytes):
        tip = f"{counted(stored.tensors, 'tensor')}, {stored.elements:,} elements: find them"
        yield Line(LineKind.COUNT, dtype, bytes_text(stored.nbytes), FACT, share=stored.nbytes / most, tip=tip,
                   target=f"is:constant dtype:{dtype}", badge_colour="")  # fmt: skip


def _value_section(title: str, tensors: list[Tensor], binder: Binder | None) -> Iterator[Line]:
    if tensors:
        yield heading(title)
    for tensor in tensors[:MAX_LINES]:
        yield tensor_line("", tensor, None, binder)
    if len(tensors) > MAX_LINES:
        yield more_line(len(tensors) - MAX_LINES)


def _operator_lines(index: ModelIndex, costing: Costing) -> Iterator[Line]:
    yield heading(counted(len(index.histogram), "operator").capitalize())
    most = max(index.histogram.values(), default=1)
    for op, count in index.histogram.most_common(MAX_LINES):
        domain, _, op_type = op.rpartition("::")
        yield Line(LineKind.COUNT, one_line(op, 80), f"{count:,}", FACT, target=term("op", op), share=count / most,
                   badge_colour=category_of(op_type, domain).colour, tip=_operator_tip(op, count, costing))  # fmt: skip
    if len(index.histogram) > MAX_LINES:
        yield more_line(len(index.histogram) - MAX_LINES)


def _module_lines(table: CostTable | None) -> Iterator[Line]:
    """What the outermost modules that are more than one cost, the dearest first."""
    by_module = table.by_module if table is not None else {}
    counts = Counter(map(len, by_module))
    depth = min((depth for depth, count in counts.items() if depth and count > 1), default=None)
    if depth is None:
        return
    modules = {path: total for path, total in by_module.items() if len(path) == depth}
    yield heading(counted(len(modules), "module").capitalize())
    flops = {path: total.flops if isinstance(total.flops, int) else 0 for path, total in modules.items()}
    most = max(flops.values()) or 1
    for path in sorted(modules, key=lambda path: -flops[path])[:MAX_MODULES]:
        total, name = modules[path], path[-1] if "." in path[-1] else "/".join(path)
        tip = f"{name}\n{counted(total.nodes, 'node')}, {count_text(total.parameters)} stored elements\n"
        tip += f"{amount(total.macs)} MACs, {amount(total.flops)} FLOPs"
        yield Line(LineKind.COUNT, one_line(name, 80), f"{amount(total.flops)} FLOPs", FACT, share=flops[path] / most,
                   target=term("module", "/".join(path)), tip=tip, badge_colour="")  # fmt: skip
    if len(modules) > MAX_MODULES:
        yield more_line(len(modules) - MAX_MODULES)


def _operator_tip(op: str, count: int, costing: Costing) -> str:
    tip = f"Find {counted(count, f'{op} node')}"
    table = costing.table
    if table is None or op not in table.by_op:
        return tip
    flops, total = table.by_op[op].flops, table.total.flops
    share = f" ({flops / total:.1%})" if isinstance(flops, int) and isinstance(total, int) and total else ""
    return f"{tip}\n{amount(table.by_op[op].macs)} MACs, {amount(flops)} FLOPs{share}"
