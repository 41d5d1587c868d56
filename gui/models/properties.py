"""What the Properties pane says: a list of lines about the model, a node or a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from engine.dtypes import BY_CODE
from engine.graph.data import SparseData, TensorData
from engine.graph.fusion import data_type
from engine.graph.ir import Graph, Model, Node, Tensor, ValueSource
from gui.canvas.labels import attribute_text
from gui.canvas.palette import category_of
from gui.document import Document, RunState
from gui.index import ModelIndex
from gui.models.lines import Line, LineKind
from gui.models.order import category_color, provider_name
from gui.models.table import MUTED, PLAIN, Style
from gui.schemas import default_values, input_name, output_name, summary_of
from gui.text import bytes_text, count_text, dtype_text, ms_text, one_line, plural, type_text

MAX_LINES = 400  # of one section; a node with more inputs says how many are left out

INFERRED = Style("accent", mono=True, italic=True)
STORED = Style("muted", mono=True)
FACT = Style("text", mono=True)
DEFAULT = Style("faint", mono=True)
LINK = Style("accent")
ERROR = Style("error")


def _pair(label: str, value: str, style: Style = PLAIN, **more: object) -> Line:
    return Line(LineKind.PAIR, label, one_line(value), style, tip=value, **more)  # type: ignore[arg-type]


def _heading(text: str) -> Line:
    return Line(LineKind.HEADING, text)


def lines_for(document: Document) -> list[Line]:
    """The lines about what is selected, or about the model where nothing is."""
    match document.selection:
        case Node() as node:
            return list(_node_lines(node, document.run, document.model))
        case Tensor() as tensor:
            return list(_tensor_lines(tensor, document.run))
    if document.model and document.index and document.graph:
        return list(_model_lines(document.model, document.index, document.graph))
    return []


# The model


def _model_lines(model: Model, index: ModelIndex, graph: Graph) -> Iterator[Line]:
    yield Line(LineKind.TITLE, "Model", one_line(model.graph.name or "unnamed"), badge_color="accent")
    yield _pair("format", f"ONNX IR {model.ir_version}")
    for domain, version in sorted(model.opset_imports.items()):
        yield _pair("opset", f"{domain or 'ai.onnx'} {version}")
    for label, value in (
        ("producer", f"{model.producer_name} {model.producer_version}".strip()),
        ("domain", model.domain),
        ("version", str(model.model_version) if model.model_version else ""),
        ("description", model.doc_string or model.graph.doc_string),
        ("file", model.path or ""),
    ):
        if value:
            yield _pair(label, value)
    yield _pair("nodes", f"{index.node_count:,}" + _in_subgraphs(index, model))
    yield _pair("parameters", f"{count_text(index.parameters)} ({index.parameters:,})")
    yield _pair("stored data", bytes_text(index.nbytes))
    if model.functions:
        yield _pair("functions", ", ".join(f.name for f in model.functions.values()))
    if graph is not model.graph:
        yield from _graph_lines(graph)
    yield from _value_section("Inputs", graph.feeds)
    yield from _value_section("Outputs", graph.outputs)
    yield _heading("Operators")
    most = max(index.histogram.values(), default=1)
    for op, count in index.histogram.most_common(MAX_LINES):
        domain, _, op_type = op.rpartition("::")
        yield Line(LineKind.COUNT, op, f"{count:,}", FACT, target=f"op:{op}", share=count / most,
                   badge_color=category_of(op_type, domain).color, tip=f"Find {op}")
    yield from _metadata(model.metadata)


def _in_subgraphs(index: ModelIndex, model: Model) -> str:
    inner = index.node_count - len(model.graph.nodes)
    return f", {inner:,} of them in subgraphs" if inner else ""


def _graph_lines(graph: Graph) -> Iterator[Line]:
    yield _heading("Graph shown")
    yield _pair("name", graph.name or "unnamed")
    if graph.owner is not None:
        yield _pair("belongs to", f"{graph.owner.name} / {graph.owner_attribute}", LINK, target=graph.owner)
    yield _pair("nodes", f"{len(graph.nodes):,}")


def _value_section(title: str, tensors: list[Tensor]) -> Iterator[Line]:
    if tensors:
        yield _heading(title)
    for tensor in tensors[:MAX_LINES]:
        yield _value("", tensor, None)
    if len(tensors) > MAX_LINES:
        yield _pair("", f"and {len(tensors) - MAX_LINES:,} more", MUTED)


def _metadata(metadata: Mapping[str, str]) -> Iterator[Line]:
    if metadata:
        yield _heading("Metadata")
    for key, value in list(metadata.items())[:MAX_LINES]:
        yield _pair(one_line(key, 60), value)


# A node


def _node_lines(node: Node, run: RunState | None, model: Model | None) -> Iterator[Line]:
    badge = category_color(node).name()
    yield Line(LineKind.TITLE, node.op_type, one_line(node.name), badge_color=badge, tip=summary_of(node))
    order = f"{node.index + 1} of {len(node.graph.order)}" if node.index >= 0 else "none: on or behind a cycle"
    yield _pair("run order", f"{order} (file: {node.file_index + 1})")
    since = f", since {node.since_version}" if node.since_version else ": no such operator in the standard"
    version = model.opset_imports.get(node.domain) if model else None
    opset = f" {version}" if version else ""
    yield _pair("opset", f"{node.domain or 'ai.onnx'}{opset}{since}")
    if node.stored_name != node.name:
        yield _pair("file's name", node.stored_name or "none")
    yield from _run_lines(node, run)
    if node.doc_string:
        yield _pair("description", node.doc_string)
    yield from _attribute_lines(node)
    yield from _slots("Inputs", node.inputs, partial(input_name, node), run)
    if node.captures:
        yield from _slots("Captured from outside", node.captures, lambda _slot: "", run)
    yield from _slots("Outputs", node.outputs, partial(output_name, node), run)
    if node.subgraphs:
        yield _heading("Subgraphs")
        for name, graph in node.subgraphs.items():
            yield _pair(name, graph.name or plural(len(graph.nodes), "node"), LINK, target=graph,
                        detail=plural(len(graph.nodes), "node"))  # fmt: skip
    yield from _metadata(node.metadata)


def _run_lines(node: Node, run: RunState | None) -> Iterator[Line]:
    if run is None:
        return
    placement = run.placements.get(node)
    if placement is not None:
        yield _pair("provider", provider_name(placement) or "none", Style(bold=True))
        for refusal in placement.refusals:
            named = refusal.reason.startswith(refusal.provider)
            yield _pair("declined", refusal.reason if named else f"{refusal.provider}: {refusal.reason}")
    if node in run.node_ms:
        total = sum(run.node_ms.values())
        share = f" ({run.node_ms[node] / total:.1%})" if total else ""
        yield _pair("time", f"{ms_text(run.node_ms[node])} ms{share}")
    if node in run.disagreement:
        yield _pair("difference", f"{run.disagreement[node]:.2g} of the range, against CPU only")


def _attribute_lines(node: Node) -> Iterator[Line]:
    defaults = default_values(node.op_type, node.since_version, node.domain)
    left_out = {name: value for name, value in defaults.items() if name not in node.attributes}
    if node.attributes or left_out:
        yield _heading("Attributes")
    for name, value in list(node.attributes.items())[:MAX_LINES]:
        if isinstance(value, Graph) or (isinstance(value, list) and value and isinstance(value[0], Graph)):
            continue
        yield _pair(name, _attribute(name, value), FACT)
    for name, value in left_out.items():
        yield _pair(name, f"{_attribute(name, value) or 'empty'} (default)", DEFAULT)


def _attribute(name: str, value: object) -> str:
    if name in ("to", "dtype", "output_dtype") and isinstance(value, int) and value in BY_CODE:
        return BY_CODE[value].name
    if isinstance(value, list) and all(isinstance(v, int | float | str) for v in value):
        shown = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in value[:64])
        return shown + (f", … {len(value):,} in all" if len(value) > 64 else "")
    if isinstance(value, str):
        return value
    if isinstance(value, TensorData | SparseData):
        return f"{dtype_text(value.dtype)} {attribute_text(value)}"
    return attribute_text(value) or str(value)


def _slots(
    title: str, tensors: Sequence[Tensor | None], name_of: Callable[[int], str], run: RunState | None
) -> Iterator[Line]:
    if not tensors:
        return
    yield _heading(title if len(tensors) > 1 or not title.endswith("s") else title[:-1])
    for slot, tensor in enumerate(tensors[:MAX_LINES]):
        yield _value(name_of(slot), tensor, run) if tensor else _pair(name_of(slot), "absent", Style("faint"))
    if len(tensors) > MAX_LINES:
        yield _pair("", f"and {len(tensors) - MAX_LINES:,} more", MUTED)


def _value(label: str, tensor: Tensor, run: RunState | None) -> Line:
    """A tensor as a link, with the best that is known of its type under it."""
    line = _pair(label, tensor.name or "(no name)", LINK, target=tensor)
    observed = run.observed.get(tensor) if run else None
    if observed is not None:
        line.detail, line.detail_style = f"{type_text(observed)}  observed", FACT
    elif tensor.data is not None:
        line.detail = f"{type_text(data_type(tensor))}  {bytes_text(tensor.data.nbytes)}"
        line.detail_style = FACT
    elif tensor.inferred_type is not None and tensor.inferred_type != tensor.stored_type:
        line.detail, line.detail_style = type_text(tensor.inferred_type), INFERRED
    else:
        line.detail, line.detail_style = type_text(tensor.stored_type), STORED
    if not label:
        line.label, line.value = line.value, line.detail
        line.style, line.label_style, line.detail = line.detail_style, LINK, ""
    return line


# A tensor

_SOURCES = {
    ValueSource.INPUT: "graph input, must be fed",
    ValueSource.OVERRIDABLE: "initializer, may be fed over",
    ValueSource.CONSTANT: "constant",
    ValueSource.IMPLICIT_CONSTANT: "constant, initializer without an input",
    ValueSource.COMPUTED: "computed",
    ValueSource.ABSENT: "nobody makes it",
}


def _tensor_lines(tensor: Tensor, run: RunState | None) -> Iterator[Line]:
    yield Line(LineKind.TITLE, "Tensor", one_line(tensor.name or "(no name)"), badge_color="muted")
    yield _pair("dtype", tensor.dtype.name if tensor.dtype else "unknown")
    yield _pair("source", _SOURCES[tensor.source], ERROR if tensor.source is ValueSource.ABSENT else PLAIN)
    yield _pair("stored", type_text(tensor.stored_type) if tensor.stored_type else "nothing in the file",
                FACT if tensor.stored_type else MUTED)  # fmt: skip
    yield _pair("inferred", type_text(tensor.inferred_type), INFERRED)
    if tensor.unknown_because:
        yield _pair("unknown", tensor.unknown_because)
    observed = run.observed.get(tensor) if run else None
    if observed is not None:
        yield _pair("observed", type_text(observed), FACT)
    if tensor.data is not None:
        yield _pair("location", tensor.data.location)
        yield _pair("size", f"{plural(tensor.data.size, 'element')}, {bytes_text(tensor.data.nbytes)}")
        if tensor.data.problem:
            yield _pair("unreadable", tensor.data.problem, ERROR)
    if tensor.doc_string:
        yield _pair("description", tensor.doc_string)
    if tensor.producer is not None:
        yield _heading("Producer")
        slot = output_name(tensor.producer, tensor.producer_slot)
        yield _pair(slot, tensor.producer.name, LINK, target=tensor.producer, detail=tensor.producer.qualified_op)
    yield _heading(plural(len(tensor.consumers), "consumer").capitalize())
    for node, slot_index in tensor.consumers[:MAX_LINES]:
        yield _pair(input_name(node, slot_index), node.name, LINK, target=node, detail=node.qualified_op)
    if any(tensor is output for output in tensor.graph.outputs):
        yield _pair("", "output of the graph")
    yield from _metadata(tensor.metadata)
