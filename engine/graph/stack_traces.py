"""The line of the source program that a node comes from, which torch.onnx leaves in its metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.graph.ir import Node

_KEY = "pkg.torch.onnx.stack_trace"
_FRAME = re.compile(
    r'File "(?P<path>[^"\n]+)", line (?P<line>\d{1,9}), in (?P<function>[^\n]*)(?:\n    (?P<code>[^\n]*))?'
)
_LONGEST = 1 << 14  # characters of a trace that are looked at: it comes from the file
_LIBRARIES = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class Frame:
    """One call on the way to a node: where it stands, and its code where the trace has it."""

    path: str
    line: int
    function: str
    code: str = ""

    @property
    def in_library(self) -> bool:
        """Whether it stands in an installed package rather than in the program that made the model."""
        return any(library in self.path for library in _LIBRARIES)


def source_frames(node: Node) -> list[Frame]:
    """The calls that led to a node, outermost first; empty where the file doesn't say."""
    trace = node.metadata.get(_KEY, "")[:_LONGEST]
    return [
        Frame(m["path"], int(m["line"]), m["function"].strip(), (m["code"] or "").strip())
        for m in _FRAME.finditer(trace)
    ]


def source_frame(node: Node) -> Frame | None:
    """The innermost call that isn't a library's, else the innermost; None where the file doesn't say."""
    frames = source_frames(node)
    own = [frame for frame in frames if not frame.in_library]
    chosen = own or frames
    return chosen[-1] if chosen else None
