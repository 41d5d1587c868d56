"""What there is to say of an item on the canvas, as its tooltip or aloud: plain text, as all words of a model are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from engine.graph.ir import Graph, Node, Tensor
from engine.graph.modules import module_path
from engine.shapes.bind import Binder
from gui.canvas.groups import Group
from gui.canvas.labels import clean, format_dims
from gui.facts.schemas import input_name, output_name

MOST_READERS = 4


def tip_text(item: object, binder: Binder | None = None, more: Sequence[str] = ()) -> str:
    """What `item_lines` says, and `more`, for `setToolTip`."""
    lines = [*item_lines(item, binder), *more]
    # As HTML with everything escaped, since Qt would guess whether plain text is meant to be HTML.
    return f"<p style='white-space:pre'>{escape(chr(10).join(lines), quote=False)}</p>" if lines else ""


def item_lines(item: object, binder: Binder | None = None) -> list[str]:
    """Name, operator, shape or size of an item; the shape also with the sizes that its symbols have."""
    if isinstance(item, Node):
        lines = [clean(item.name, 120), clean(item.qualified_op, 80), clean("/".join(module_path(item)), 120)]
    elif isinstance(item, Tensor):
        shape = item.inferred_shape if item.inferred_shape is not None else item.stored_shape
        lines = [clean(item.name, 120), f"{item.dtype or 'unknown type'}  {clean(format_dims(shape), 160)}"]
        bound = binder.shape(shape) if binder is not None else shape
        lines += [f"= {clean(format_dims(bound), 160)}"] if bound != shape else []
        lines += [clean(item.unknown_because, 160)] if item.unknown_because else []
        lines += _uses(item)
    elif isinstance(item, Group):
        lines = [clean("/".join(item.path), 160), clean(item.kind, 80), f"{item.nodes:,} nodes"]
        lines += [f"one of {item.twins:,} of the same structure"] if item.twins > 1 else []
    elif isinstance(item, Graph):
        lines = [clean(item.name, 120), f"{len(item.nodes):,} nodes"]
    else:
        return []
    return list(filter(None, lines))


def _uses(tensor: Tensor) -> list[str]:
    """Who makes a tensor and who reads it, with the slots by number, from 0, and formal name."""
    lines = []
    if tensor.producer is not None:
        slot = tensor.producer_slot
        name = clean(output_name(tensor.producer, slot), 24)
        lines.append(f"output {slot} ({name}) of {clean(tensor.producer.name, 60)}")
    for node, slot in tensor.consumers[:MOST_READERS]:
        lines.append(f"input {slot} ({clean(input_name(node, slot), 24)}) of {clean(node.name, 60)}")
    more = len(tensor.consumers) - MOST_READERS
    return [*lines, f"and of {more:,} more"] if more > 0 else lines
