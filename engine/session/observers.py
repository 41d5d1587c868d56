"""Observers: whoever watches a run sees every node before and after, and can stop it between two nodes."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from engine.graph.ir import Node
from engine.kernels.registry import Value


class Observer:
    """Base of observers; every method may be left out. Called on the thread that runs the session."""

    def before_node(self, node: Node) -> None:
        """A node is about to be computed."""

    def after_node(self, node: Node, inputs: Sequence[Value], outputs: Sequence[Value], seconds: float) -> None:
        """A node has been computed in `seconds`; `inputs` and `outputs` are where its provider keeps them.

        A node that owns subgraphs comes after the nodes in them, and its time includes theirs.
        """

    def should_stop(self) -> bool:
        """Whether the run shall stop before the next node."""
        return False


class ObserverGroup(Observer):
    """Several observers as one; any of them can stop the run."""

    def __init__(self, *observers: Observer | None) -> None:
        self._observers = [o for o in observers if o is not None]

    def before_node(self, node: Node) -> None:
        for observer in self._observers:
            observer.before_node(node)

    def after_node(self, node: Node, inputs: Sequence[Value], outputs: Sequence[Value], seconds: float) -> None:
        for observer in self._observers:
            observer.after_node(node, inputs, outputs, seconds)

    def should_stop(self) -> bool:
        return any(observer.should_stop() for observer in self._observers)


class CancelToken(Observer):
    """Stops the run it watches once `cancel` has been called, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def should_stop(self) -> bool:
        return self._event.is_set()


class TimingObserver(Observer):
    """Seconds per node: one entry for each run, summed over the passes of a loop within a run."""

    def __init__(self) -> None:
        self.seconds: dict[Node, list[float]] = {}
        self._current: dict[Node, float] = {}

    def after_node(self, node: Node, inputs: Sequence[Value], outputs: Sequence[Value], seconds: float) -> None:
        self._current[node] = self._current.get(node, 0.0) + seconds

    def end_run(self) -> None:
        """Close the entry of the present run; called by whoever repeats runs."""
        for node, seconds in self._current.items():
            self.seconds.setdefault(node, []).append(seconds)
        self._current = {}


class ProgressObserver(Observer):
    """Tells `report(done, total, node)` before each node of the main graph."""

    def __init__(self, report: Callable[[int, int, Node], None]) -> None:
        self._report = report

    def before_node(self, node: Node) -> None:
        if node.graph.owner is None:
            self._report(node.index, len(node.graph.order), node)
