"""What the Properties pane says: a list of lines about the model, a node or a tensor."""

from __future__ import annotations

from engine.graph.ir import Node, Tensor
from gui.document import Document
from gui.models.lines import Line
from gui.models.properties.attached import attached_lines
from gui.models.properties.model import model_lines
from gui.models.properties.node import node_lines
from gui.models.properties.tensor import tensor_lines

__all__ = ["lines_for"]


def lines_for(document: Document) -> list[Line]:
    """The lines about what is selected, or about the model where nothing is."""
    match document.selection:
        case Node() as node:
            lines = node_lines(node, document)
        case Tensor() as tensor:
            lines = tensor_lines(tensor, document)
        case _:
            lines = model_lines(document)
    return [*lines, *attached_lines(document)]
