"""Lines about a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from engine.graph.ir import Tensor, ValueSource
from engine.words import bytes_text, counted
from gui.document import Document
from gui.facts.quantisation import describe, quantisations
from gui.facts.schemas import input_name, output_name
from gui.models.lines import Line, LineKind
from gui.models.properties.parts import (
    BOUND,
    ERROR,
    FACT,
    INFERRED,
    LINK,
    MAX_LINES,
    bound_type,
    heading,
    metadata_lines,
    more_line,
    pair,
    sentence,
    short_value,
    tensor_line,
    text_line,
)
from gui.models.table import MUTED, PLAIN
from gui.text import one_line, type_text

_SOURCES = {
    ValueSource.INPUT: "graph input, must be fed",
    ValueSource.OVERRIDABLE: "initializer, may be fed over",
    ValueSource.CONSTANT: "constant",
    ValueSource.IMPLICIT_CONSTANT: "constant, initializer without an input",
    ValueSource.COMPUTED: "computed",
    ValueSource.ABSENT: "nobody makes it",
}


def tensor_lines(tensor: Tensor, document: Document) -> Iterator[Line]:
    """What a tensor is, its types, where its value lies, how it is quantised, who makes and who reads it."""
    run = document.run
    yield Line(LineKind.TITLE, "Tensor", one_line(tensor.name or "(no name)"), badge_colour="muted")
    yield pair("dtype", tensor.dtype.name if tensor.dtype else "unknown")
    yield sentence("source", _SOURCES[tensor.source], ERROR if tensor.source is ValueSource.ABSENT else PLAIN)
    value = short_value(tensor, run)
    if value:
        yield pair("value", value, FACT)
    yield pair("stored", type_text(tensor.stored_type) if tensor.stored_type else "nothing in the file",
               FACT if tensor.stored_type else MUTED)  # fmt: skip
    yield pair("inferred", type_text(tensor.inferred_type), INFERRED)
    bound = bound_type(tensor, document.binder)
    if bound is not None:
        yield pair("bound", type_text(bound), BOUND)
    if tensor.unknown_because:
        yield sentence("unknown", tensor.unknown_because)
    observed = run.observed.get(tensor) if run else None
    if observed is not None:
        yield pair("observed", type_text(observed), FACT)
    if tensor.denotation or any(tensor.dim_denotations):
        axes = ", ".join(d or "–" for d in tensor.dim_denotations)
        yield pair("stands for", " ".join(filter(None, (tensor.denotation, f"[{axes}]" if axes else ""))))
    if tensor.data is not None:
        yield pair("location", tensor.data.location)
        yield sentence("size", f"{counted(tensor.data.size, 'element')}, {bytes_text(tensor.data.nbytes)}")
        if tensor.data.problem:
            yield sentence("unreadable", tensor.data.problem, ERROR)
    if tensor.doc_string.strip():
        yield text_line(tensor.doc_string.strip(), MUTED)
    yield from _quantisation_lines(tensor, document)
    yield from _neighbour_lines(tensor)
    yield from metadata_lines(tensor.metadata)


def _quantisation_lines(tensor: Tensor, document: Document) -> Iterator[Line]:
    for one in quantisations(tensor):
        yield heading("Quantisation")
        if one.tensor is not tensor:
            makes = one.tensor.producer is not None and one.tensor.producer.op_type == "QuantizeLinear"
            yield tensor_line("becomes" if makes else "stands in", one.tensor, document.run)
        yield text_line(describe(one))
        for label, parameter in (("scale", one.scale), ("zero point", one.zero_point)):
            if parameter is not None:
                yield tensor_line(label, parameter, document.run)


def _neighbour_lines(tensor: Tensor) -> Iterator[Line]:
    if tensor.producer is not None:
        yield heading("Producer")
        slot = output_name(tensor.producer, tensor.producer_slot)
        yield pair(slot, tensor.producer.name, LINK, target=tensor.producer, detail=tensor.producer.qualified_op)
    yield heading(counted(len(tensor.consumers), "consumer").capitalize())
    for node, slot_index in tensor.consumers[:MAX_LINES]:
        yield pair(input_name(node, slot_index), node.name, LINK, target=node, detail=node.qualified_op)
    if len(tensor.consumers) > MAX_LINES:
        yield more_line(len(tensor.consumers) - MAX_LINES)
    if any(tensor is output for output in tensor.graph.outputs):
        yield pair("", "output of the graph")
