"""What is said of a loop that takes long, so that nobody has to guess whether to wait."""

from __future__ import annotations

import sys
import time
from collections import Counter

from engine.cli.output import escape
from engine.graph.ir import Graph, Node
from engine.session import Observer

FIRST_AFTER = 10.0  # seconds; then after twice as many each time
_LOOPS = ("Loop", "Scan", "SequenceMap")


class LongLoops(Observer):
    """Tells on standard error of a loop that runs on and on, and that Ctrl+C ends it."""

    def __init__(self) -> None:
        self._since = self._due = 0.0
        self._trips: Counter[Graph] = Counter()

    def before_node(self, node: Node) -> None:
        if node.graph.owner is None:
            self._trips.clear()
            self._since = time.monotonic()
            self._due = self._since + FIRST_AFTER
        elif node is node.graph.order[0]:
            self._trips[node.graph] += 1
            now = time.monotonic()
            if now >= self._due:
                self._due += now - self._since
                self._tell(node.graph, now - self._since)

    def _tell(self, body: Graph, seconds: float) -> None:
        """Of the outermost loop that a graph is in."""
        found = None
        inside: Graph | None = body
        while inside is not None and inside.owner is not None:
            if inside.owner.op_type in _LOOPS:
                found = inside, inside.owner
            inside = inside.parent
        if found is None:
            return
        body, loop = found
        trips = f"{self._trips[body]:,} times through"
        told = f"{loop.qualified_name} ({loop.op_type}) has run for {seconds:.0f} s, {trips}"
        endless = loop.op_type == "Loop" and loop.inputs[:1] in ([], [None])
        why = "; it has no trip count, so the inputs say when it ends (--input, --inputs)" if endless else ""
        print(f"oinfer: {escape(told)}{why}; Ctrl+C stops it", file=sys.stderr, flush=True)
