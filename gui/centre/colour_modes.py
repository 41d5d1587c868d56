"""What the nodes on the canvas can be coloured by. Knows no Qt.

A mode is a word; what a file beside the model says of the nodes has modes that begin with `FROM_FILE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.graph.ir import Node
from engine.session import ProviderEdge
from gui.canvas.palette import ColourBy
from gui.text import one_line, provider_name

if TYPE_CHECKING:
    from gui.document import Document

COLOUR_MODES = (
    ("category", "Category", "Colour by what kind of work an operator does (Alt+1)"),
    ("provider", "Provider", "Colour by who computed a node in the last run, or would in the next (Alt+2)"),
    ("time", "Time", "Colour by the time a node took in the last run (Alt+3)"),
    ("dtype", "dtype", "Colour by the element type of the first output (Alt+4)"),
    ("error", "Error", "Colour by the difference from CPU only in the last comparison (Alt+5)"),
    ("change", "Change", "Colour by what differs from the model compared with (Alt+6)"),
)
"""The word of each mode, its title, and what it shows."""
FROM_FILE = "file:"


def colour_by(mode: str, document: Document) -> ColourBy:
    """What the canvas is coloured by in a mode."""
    if mode.startswith(FROM_FILE):
        return ColourBy.NUMBER
    return ColourBy.PLAN if mode == "provider" and document.forecast.placements else ColourBy(mode)


def colour_title(mode: str) -> str:
    """The title for numbers of a file; empty for other modes, which have their own."""
    return f"attachment: {one_line(mode.removeprefix(FROM_FILE), 40)}" if mode.startswith(FROM_FILE) else ""


COPIES_SHOWN = ("provider", "time")
"""The modes in which the lines are marked along which tensors went from device to device."""


def shown_copies(mode: str, document: Document) -> Sequence[ProviderEdge]:
    """The edges that carried copies in the last run, in the modes that show them, or would in the next."""
    if mode == "provider" and document.forecast.copies:
        return document.forecast.copies
    times = document.run.times if document.run is not None and mode in COPIES_SHOWN else None
    return times.copies if times is not None else ()


def colour_values(mode: str, document: Document) -> Mapping[Node, object]:
    """The values that the canvas colours by; empty where there are none, or where the mode needs none."""
    run, changes, attached = document.run, document.differ.changes, document.attachment.found
    if mode.startswith(FROM_FILE):
        return attached.of_nodes(mode.removeprefix(FROM_FILE)) if attached is not None else {}
    if mode == "change":
        return changes.kind if changes is not None else {}
    if mode == "provider":
        placements = run.placements if run is not None else document.forecast.placements
        return {node: name for node, p in placements.items() if (name := provider_name(p))}
    if run is None:
        return {}
    return {"time": run.node_ms, "error": run.disagreement}.get(mode, {})
