"""Lines about what an attached file says of the selection, or of the model and the graph shown."""

from __future__ import annotations

from collections.abc import Iterator

from gui.document import Document
from gui.models.lines import Line
from gui.models.properties.parts import FACT, MAX_LINES, heading, more_line, pair
from gui.text import one_line


def attached_lines(document: Document) -> Iterator[Line]:
    """A section of facts; nothing where there are none."""
    attached, subject = document.attachment.found, document.selection or document.graph
    if attached is None:
        return
    facts = dict(attached.facts.get(subject, {})) if subject is not None else {}
    if document.selection is None:
        facts |= attached.about_model
    if facts:
        yield heading("Attachment")
    for name, words in list(facts.items())[:MAX_LINES]:
        yield pair(one_line(name, 60), words, FACT, tip=f"{name}\n{words}")
    if len(facts) > MAX_LINES:
        yield more_line(len(facts) - MAX_LINES)
