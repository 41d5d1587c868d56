"""Lines about a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from engine.costs import node_cost
from engine.dtypes import BY_CODE
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Node, Tensor
from engine.graph.modules import module_path
from engine.graph.stack_traces import source_frame, source_frames
from engine.words import bytes_text, counted
from gui.canvas.labels import attribute_text
from gui.document import Document
from gui.facts.operator_docs import attribute_docs
from gui.facts.schemas import input_name, output_name, summary_of
from gui.finding.search import term
from gui.models.lines import Line, LineKind
from gui.models.order import category_colour
from gui.models.properties.parts import (
    DEFAULT,
    FACT,
    LINK,
    MAX_LINES,
    STRONG,
    amount,
    graph_line,
    heading,
    metadata_lines,
    more_line,
    pair,
    sentence,
    tensor_line,
    text_line,
)
from gui.models.table import MUTED, Style
from gui.running.state import RunState
from gui.text import dtype_text, ms_text, one_line, provider_name

SOURCE_KEYS = ("pkg.torch.onnx.stack_trace",)  # shown in lines of their own


def node_lines(node: Node, document: Document) -> Iterator[Line]:
    """What a node is, where it comes from, how it ran, its attributes, inputs, outputs and subgraphs."""
    run, model = document.run, document.model
    yield Line(LineKind.TITLE, node.op_type, one_line(node.name), badge_colour=category_colour(node).name(),
               tip=summary_of(node))  # fmt: skip
    order = f"{node.index + 1:,} of {len(node.graph.order):,}" if node.index >= 0 else "none: on or behind a cycle"
    yield sentence("run order", f"{order} (file: {node.file_index + 1:,})")
    since = f", since {node.since_version}" if node.since_version else ": no such operator in the standard"
    version = model.opset_imports.get(node.domain) if model else None
    opset = f" {version}" if version else ""
    yield sentence("opset", f"{node.domain or 'ai.onnx'}{opset}{since}")
    if node.stored_name != node.name:
        yield pair("file's name", node.stored_name or "none")
    yield from _source_lines(node)
    yield from _run_lines(node, run)
    yield from _cost_lines(node, document)
    if node.doc_string.strip():
        yield text_line(node.doc_string.strip(), MUTED)
    yield from _attribute_lines(node)
    yield from _slots("Inputs", node.inputs, partial(input_name, node), document)
    if node.captures:
        yield from _slots("Captured from outside", node.captures, lambda _slot: "", document)
    yield from _slots("Outputs", node.outputs, partial(output_name, node), document)
    if node.subgraphs:
        yield heading("Subgraphs")
        for name, graph in node.subgraphs.items():
            yield graph_line(name, graph, _how_it_ran(graph, run))
    yield from metadata_lines(node.metadata, SOURCE_KEYS)


def _source_lines(node: Node) -> Iterator[Line]:
    """The module and the line of the source program, where the exporter left them."""
    modules = module_path(node)
    if modules:
        yield pair("module", modules[-1] if "." in modules[-1] else "/".join(modules), LINK,
                   target=term("module", "/".join(modules)), tip="\n".join(modules))  # fmt: skip
    frame = source_frame(node)
    if frame is not None:
        trace = "\n".join(f"{f.path}:{f.line} in {f.function}\n    {f.code}" for f in source_frames(node))
        where = f"{frame.path.replace(chr(92), '/').rsplit('/', 1)[-1]}:{frame.line} in {frame.function}"
        yield pair("source", where, detail=one_line(frame.code), detail_style=FACT, tip=trace)


def _run_lines(node: Node, run: RunState | None) -> Iterator[Line]:
    if run is None:
        return
    placement = run.placements.get(node)
    if placement is not None:
        yield pair("provider", provider_name(placement) or "none", STRONG)
        for refusal in placement.refusals:
            named = refusal.reason.startswith(refusal.provider)
            yield sentence("declined", refusal.reason if named else f"{refusal.provider}: {refusal.reason}")
    if node in run.node_ms:
        total = sum(ms for other, ms in run.node_ms.items() if other.graph.owner is None)
        share = f" ({run.node_ms[node] / total:.1%})" if total else ""
        yield pair("time", f"{ms_text(run.node_ms[node])} ms{share}")
    for change in run.made_over.told.get(node, []) if run.made_over is not None else []:
        yield sentence("fast mode", change)
    if node in run.disagreement:
        apart = run.disagreement[node]
        words = f"up to {apart:.2g} of the range" if apart else "none"
        yield sentence("difference", f"{words}, against CPU only")


def _how_it_ran(graph: Graph, run: RunState | None) -> str:
    """Whether the last run took a subgraph, and how many passes a loop made."""
    if run is None or graph.owner not in run.node_ms or not graph.nodes:
        return ""
    if not any(node in run.node_ms for node in graph.nodes):
        return "not run"
    trip = run.values.get(graph.inputs[0]) if graph.owner.op_type == "Loop" and graph.inputs else None
    return f"ran, {counted(int(trip.item()) + 1, 'pass')}" if isinstance(trip, np.ndarray) and trip.size == 1 else "ran"


def _cost_lines(node: Node, document: Document) -> Iterator[Line]:
    table = document.costing.table
    cost = table.costs.get(node) if table is not None else None
    if cost is None:
        return
    if cost.flops is None:
        yield sentence("FLOPs", "not counted", MUTED, tip=cost.unknown_because)
        return
    total = table.total.flops if table is not None else None
    share = f" ({cost.flops / total:.1%})" if isinstance(total, int) and isinstance(cost.flops, int) and total else ""
    symbolic = cost if node.subgraphs else node_cost(node)  # a large subgraph takes its time
    tip = f"MACs {symbolic.macs}\nFLOPs {symbolic.flops}"
    yield sentence("FLOPs", f"{amount(cost.flops)}{share}, {amount(cost.macs)} MACs", tip=tip)
    if isinstance(cost.bytes_read, int) and isinstance(cost.bytes_written, int):
        yield sentence("traffic", f"{bytes_text(cost.bytes_read)} in, {bytes_text(cost.bytes_written)} out",
                   tip=f"{symbolic.bytes_read} bytes read\n{symbolic.bytes_written} bytes written")  # fmt: skip


def _attribute_lines(node: Node) -> Iterator[Line]:
    """Those the file gives, then those it leaves out, at their default or absent."""
    docs = {doc.name: doc for doc in attribute_docs(node)}
    given = {name: value for name, value in node.attributes.items() if not _holds_graphs(value)}
    left_out = [doc for doc in docs.values() if doc.name not in node.attributes and doc.kind not in ("graph", "graphs")]
    if given or left_out:
        yield heading("Attributes")
    for name, value in list(given.items())[:MAX_LINES]:
        doc, text = docs.get(name), attribute_value(name, value)
        said = doc.text if doc is not None else "Not an attribute of this operator's version" if docs else ""
        at_default = " (default)" if doc is not None and doc.default is not None and value == doc.default else ""
        yield pair(name, text + at_default, FACT, tip=_attribute_tip(text, said))
    for doc in left_out:
        text = "absent" if doc.default is None else f"{attribute_value(doc.name, doc.default) or 'empty'} (default)"
        yield pair(doc.name, text, DEFAULT, tip=_attribute_tip("", doc.text))


def _attribute_tip(value: str, text: str) -> str:
    return "\n\n".join(filter(None, (value, text)))


def _holds_graphs(value: object) -> bool:
    return isinstance(value, Graph) or (isinstance(value, list) and bool(value) and isinstance(value[0], Graph))


def attribute_value(name: str, value: object) -> str:
    """The value of an attribute in a line; the name of an element type where it stands for one."""
    if name in ("to", "dtype", "output_dtype") and isinstance(value, int) and value in BY_CODE:
        return BY_CODE[value].name
    if isinstance(value, list) and isinstance(next(iter(value), 0), int | float | str):  # all are of one type
        shown = ", ".join(f"{v:.6g}" if isinstance(v, float) else one_line(str(v), 200) for v in value[:64])
        return shown + (f", … {len(value):,} in all" if len(value) > 64 else "")
    if isinstance(value, str):
        return value
    if isinstance(value, TensorData | SparseData):
        return f"{dtype_text(value.dtype)} {attribute_text(value)}"
    return attribute_text(value) or str(value)


def _slots(
    title: str, tensors: Sequence[Tensor | None], name_of: Callable[[int], str], document: Document
) -> Iterator[Line]:
    if not tensors:
        return
    yield heading(title if len(tensors) > 1 or not title.endswith("s") else title[:-1])
    for slot, tensor in enumerate(tensors[:MAX_LINES]):
        name = name_of(slot)
        if tensor is not None:
            yield tensor_line(name, tensor, document.run, document.binder)
        else:
            yield pair(name, "absent", Style("faint"))
    if len(tensors) > MAX_LINES:
        yield more_line(len(tensors) - MAX_LINES)
